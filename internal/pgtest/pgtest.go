// Package pgtest gives each test a database of its own, on a real PostgreSQL:
// a clone of a template that was migrated once. The server is the one named by
// MANGROVE_TEST_DATABASE_URL (`make test` starts a private one). Without it
// tests skip on a person's machine and fail under CI, so that a green run never
// means that nothing was tested.
package pgtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"mangrove/internal/pg"
	"mangrove/migrations"
)

// Env names the server tests may use: an address of a superuser.
const Env = "MANGROVE_TEST_DATABASE_URL"

// passwords are the same in every test database: roles belong to the server.
const password = "pgtest"

// URLs are the addresses of one test's database.
type URLs struct {
	// Admin may do everything; Reader and Scraper are the services' roles.
	Admin, Reader, Scraper string
}

// New returns a fresh migrated database that is dropped when the test ends.
func New(t testing.TB) URLs {
	t.Helper()
	server := os.Getenv(Env)
	if server == "" {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is not set; run `make test`", Env)
		}
		t.Skipf("%s is not set; run `make test`, which starts a server", Env)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	template, err := ensureTemplate(ctx, server)
	if err != nil {
		t.Fatalf("make the template database: %v", err)
	}
	name := "t_" + strings.ToLower(rand.Text())
	if err := exec(ctx, server, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s", name, template)); err != nil {
		t.Fatalf("clone the template database: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := exec(ctx, server, fmt.Sprintf("DROP DATABASE %s WITH (FORCE)", name)); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	urls := URLs{Admin: withDatabase(t, server, name)}
	for role, to := range map[string]*string{migrations.Reader: &urls.Reader, migrations.Scraper: &urls.Scraper} {
		if *to, err = migrations.RoleURL(urls.Admin, role, password); err != nil {
			t.Fatal(err)
		}
	}
	return urls
}

// Empty returns the admin address of a database that does not exist yet, dropped
// when the test ends, for tests of migration itself.
func Empty(t testing.TB) string {
	t.Helper()
	server := New(t).Admin
	name := "e_" + strings.ToLower(rand.Text())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := exec(ctx, os.Getenv(Env), fmt.Sprintf("DROP DATABASE IF EXISTS %s WITH (FORCE)", name)); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	return withDatabase(t, server, name)
}

// Pool opens a pool as one role on its schema, closed when the test ends.
func Pool(t testing.TB, address, schema string, tracer pgx.QueryTracer) *pgxpool.Pool {
	t.Helper()
	pool, err := pg.Open(context.Background(), address, pg.Options{Schema: schema, Tracer: tracer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// Numbered makes the ids of titles and books count from 1 in a fresh database, for
// tests that name them. What they are otherwise is tested where they are made.
func Numbered(t testing.TB, u URLs) URLs {
	t.Helper()
	pool := Pool(t, u.Admin, "reader", nil)
	for _, sql := range []string{"ALTER TABLE titles DISABLE TRIGGER title_id", "ALTER TABLE books DISABLE TRIGGER book_id"} {
		if _, err := pool.Exec(context.Background(), sql); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

func withDatabase(t testing.TB, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// ensureTemplate makes the migrated template once a server and schema: its name
// holds the digest of the migrations, so that a changed one gets a new template.
func ensureTemplate(ctx context.Context, server string) (string, error) {
	name := "template_" + digest()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	// Test programs run side by side; one makes the template.
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext('mangrove pgtest'))"); err != nil {
		return "", err
	}
	var there bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&there); err != nil || there {
		return name, err
	}
	making := "making_" + digest()
	if _, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+making+" WITH (FORCE)"); err != nil {
		return "", err
	}
	u, err := url.Parse(server)
	if err != nil {
		return "", err
	}
	u.Path = "/" + making
	if err := migrations.Apply(ctx, migrations.Database{AdminURL: u.String(), ReaderPassword: password, ScraperPassword: password}); err != nil {
		return "", err
	}
	_, err = conn.Exec(ctx, fmt.Sprintf("ALTER DATABASE %s RENAME TO %s", making, name))
	return name, err
}

func digest() string {
	h := sha256.New()
	names, _ := fs.Glob(migrations.Files(), "*.sql")
	for _, n := range names {
		data, _ := fs.ReadFile(migrations.Files(), n)
		_, _ = h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

func exec(ctx context.Context, address, statement string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	for {
		_, err = conn.Exec(ctx, statement)
		var pgErr *pgconn.PgError
		// 55006: someone is still connected to the template; they leave at once.
		if pgErr, _ = err.(*pgconn.PgError); pgErr == nil || pgErr.Code != "55006" || ctx.Err() != nil {
			return err
		}
	}
}
