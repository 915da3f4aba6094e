// Package migrations holds the database's numbered changes and applies them:
// two schemas, three roles and their grants (OWN-1), as goose SQL in sql/, with
// the schema they add up to dumped in schema.sql. It is run by the owner's
// role, never by a service at run time, and it knows no service's queries.
package migrations

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	gooselock "github.com/pressly/goose/v3/lock"
)

//go:embed sql/*.sql
var files embed.FS

// The roles. The owner never logs in at run time.
const (
	Owner   = "mangrove_owner"
	Reader  = "mangrove_reader"
	Scraper = "mangrove_scraper"
)

// MinServerVersion is PostgreSQL 14, as server_version_num counts.
const MinServerVersion = 140000

// ErrNewer means that a newer Mangrove has migrated the database: this binary
// must not touch it. ErrOlder means that it is not yet migrated.
var (
	ErrNewer = errors.New("the database was migrated by a newer Mangrove")
	ErrOlder = errors.New("the database is not migrated yet")
)

// Database says where to migrate.
type Database struct {
	// AdminURL is a role that may create roles and the database; it makes the
	// three roles and hands its work to the owner. OwnerURL is used instead
	// where the three roles exist already and may log in.
	AdminURL, OwnerURL string
	// ReaderPassword and ScraperPassword are set with AdminURL only.
	ReaderPassword, ScraperPassword string
}

// Latest is the version this binary migrates to.
func Latest() int64 {
	names, err := fs.Glob(files, "sql/*.sql")
	if err != nil || len(names) == 0 {
		panic("migrations: none embedded")
	}
	last := names[len(names)-1]
	var n int64
	if _, err := fmt.Sscanf(last, "sql/%05d_", &n); err != nil {
		panic("migrations: " + last + " has no number")
	}
	return n
}

// Apply brings the database to Latest. However many start it at once, each
// migration runs once: the others wait on an advisory lock. It returns ErrNewer
// without touching anything when the database is ahead of this binary.
func Apply(ctx context.Context, d Database) error {
	if d.AdminURL != "" {
		if err := prepare(ctx, d); err != nil {
			return err
		}
	}
	db, err := open(d)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	version, err := current(ctx, db)
	if err != nil {
		return err
	}
	if version > Latest() {
		return fmt.Errorf("%w (database %d, this program %d)", ErrNewer, version, Latest())
	}
	if d.AdminURL == "" {
		for _, schema := range []string{"mangrove", "scraper", "reader"} {
			if _, err := db.ExecContext(ctx, "CREATE SCHEMA IF NOT EXISTS "+schema); err != nil {
				return fmt.Errorf("create schema %s: %w", schema, err)
			}
		}
	}
	if err := trigrams(ctx, db); err != nil {
		return err
	}
	provider, err := provide(db)
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	_, err = db.ExecContext(ctx, "GRANT USAGE ON SCHEMA mangrove TO "+Reader+", "+Scraper+
		"; GRANT SELECT ON mangrove.migrations TO "+Reader+", "+Scraper)
	return err
}

// Down takes the database back to an older version, for a downgrade. The caller
// saves first what must outlive it (POLL-11).
func Down(ctx context.Context, d Database, version int64) error {
	if version < 0 || version >= Latest() {
		return fmt.Errorf("there is no older version %d to go back to; this is %d", version, Latest())
	}
	db, err := open(d)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	provider, err := provide(db)
	if err != nil {
		return err
	}
	if _, err := provider.DownTo(ctx, version); err != nil {
		return fmt.Errorf("migrate down: %w", err)
	}
	return nil
}

// Current is the version that the database of d was migrated to: ErrOlder where it holds
// no Mangrove, ErrNewer where it is ahead of this binary. It changes and creates nothing.
func Current(ctx context.Context, d Database) (int64, error) {
	address := d.OwnerURL
	if d.AdminURL != "" {
		address = d.AdminURL
	}
	cfg, err := parse(address)
	if err != nil {
		return 0, err
	}
	db := stdlib.OpenDB(*cfg)
	defer func() { _ = db.Close() }()
	version, err := current(ctx, db)
	switch {
	case err != nil:
		return 0, err
	case version == 0:
		return 0, ErrOlder
	case version > Latest():
		return version, fmt.Errorf("%w (database %d, this program %d)", ErrNewer, version, Latest())
	}
	return version, nil
}

// open connects as the owner.
func open(d Database) (*sql.DB, error) {
	address := d.OwnerURL
	if d.AdminURL != "" {
		address = d.AdminURL
	}
	cfg, err := parse(address)
	if err != nil {
		return nil, err
	}
	return stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		if d.AdminURL == "" {
			return nil
		}
		_, err := c.Exec(ctx, "SET ROLE "+Owner)
		return err
	})), nil
}

func provide(db *sql.DB) (*goose.Provider, error) {
	locker, err := gooselock.NewPostgresSessionLocker()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db, Files(), goose.WithTableName("mangrove.migrations"), goose.WithSessionLocker(locker))
}

// Querier is a pool, a connection or a transaction.
type Querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Version is the version the database was migrated to; ErrOlder when it never was, or
// why it did not answer.
func Version(ctx context.Context, q Querier) (int64, error) {
	var version int64
	err := q.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM mangrove.migrations WHERE is_applied").Scan(&version)
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && (pgErr.Code == "42P01" || pgErr.Code == "3F000" || pgErr.Code == "42501") {
		return 0, ErrOlder
	}
	return version, err
}

// Check compares the database with this binary, for a service at start: nil,
// ErrOlder, ErrNewer, or why the database did not answer.
func Check(ctx context.Context, q Querier) error {
	version, err := Version(ctx, q)
	switch {
	case err != nil:
		return err
	case version < Latest():
		return fmt.Errorf("%w (database %d, this program %d)", ErrOlder, version, Latest())
	case version > Latest():
		return fmt.Errorf("%w (database %d, this program %d)", ErrNewer, version, Latest())
	}
	return nil
}

// RoleURL derives the address of a role from the admin's: same server and
// database, other user.
func RoleURL(adminURL, role, password string) (string, error) {
	u, err := url.Parse(adminURL)
	if err != nil {
		return "", errors.New("the database address is not understood")
	}
	u.User = url.UserPassword(role, password)
	// A user or password in the query would win over the one just set.
	q := u.Query()
	for _, name := range []string{"user", "password", "passfile", "sslpassword"} {
		q.Del(name)
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

func parse(address string) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, errors.New("the database address is not understood")
	}
	return cfg, nil
}

// current reads the version without creating anything.
func current(ctx context.Context, db *sql.DB) (int64, error) {
	var there bool
	if err := db.QueryRowContext(ctx, "SELECT to_regclass('mangrove.migrations') IS NOT NULL").Scan(&there); err != nil {
		return 0, err
	}
	if !there {
		return 0, nil
	}
	var version int64
	err := db.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM mangrove.migrations WHERE is_applied").Scan(&version)
	return version, err
}

// advisoryKey serialises the preparation of roles across everything that
// starts at once. It is an arbitrary constant.
const advisoryKey = 0x6d616e67726f7665

// prepare makes the database and the roles, as the admin, one caller at a time.
func prepare(ctx context.Context, d Database) error {
	conn, err := connectCreating(ctx, d.AdminURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var server int
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&server); err != nil {
		return err
	}
	if server < MinServerVersion {
		return fmt.Errorf("the server is PostgreSQL %d; Mangrove needs 14 or newer", server/10000)
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(advisoryKey)); err != nil {
		return err
	}
	if newer, err := alreadyNewer(ctx, conn); err != nil || newer != nil {
		return errors.Join(err, newer)
	}
	statements := []string{"CREATE ROLE " + Owner + " NOLOGIN", "CREATE ROLE " + Reader + " LOGIN", "CREATE ROLE " + Scraper + " LOGIN"}
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil && !isCode(err, "42710") && !isCode(err, "23505") {
			return fmt.Errorf("create the database roles: %w", err)
		}
	}
	for role, password := range map[string]string{Reader: d.ReaderPassword, Scraper: d.ScraperPassword} {
		if password == "" {
			continue
		}
		if strings.ContainsAny(password, `'\`) {
			return errors.New("a role's password holds a quote or a backslash")
		}
		// Utility statements take no parameters; the check above stands in.
		if _, err := conn.Exec(ctx, "ALTER ROLE "+role+" PASSWORD '"+password+"'"); err != nil {
			return fmt.Errorf("set the password of %s: %w", role, err)
		}
	}
	var database, me string
	if err := conn.QueryRow(ctx, "SELECT current_database(), current_user").Scan(&database, &me); err != nil {
		return err
	}
	quotedDB, quotedMe := pgx.Identifier{database}.Sanitize(), pgx.Identifier{me}.Sanitize()
	grant := "GRANT " + Owner + " TO " + quotedMe
	if server >= 160000 {
		grant += " WITH SET TRUE, INHERIT TRUE"
	}
	var member bool
	if err := conn.QueryRow(ctx, "SELECT pg_has_role(current_user, $1, 'USAGE') AND rolsuper FROM pg_roles WHERE rolname = current_user", Owner).Scan(&member); err != nil {
		return err
	}
	if !member {
		if _, err := conn.Exec(ctx, grant); err != nil {
			return fmt.Errorf("join the owner role: %w", err)
		}
	}
	for _, s := range []string{
		"REVOKE ALL ON DATABASE " + quotedDB + " FROM PUBLIC",
		"GRANT CONNECT ON DATABASE " + quotedDB + " TO " + Owner + ", " + Reader + ", " + Scraper,
		"REVOKE ALL ON SCHEMA public FROM PUBLIC",
		"CREATE SCHEMA IF NOT EXISTS mangrove AUTHORIZATION " + Owner,
		"CREATE SCHEMA IF NOT EXISTS scraper AUTHORIZATION " + Owner,
		"CREATE SCHEMA IF NOT EXISTS reader AUTHORIZATION " + Owner,
	} {
		if _, err := conn.Exec(ctx, s); err != nil && !isCode(err, "01007") {
			return fmt.Errorf("prepare the database: %w", err)
		}
	}
	// The admin may; whether it is there for the migrations is asked later.
	_, err = conn.Exec(ctx, createTrigrams)
	if err != nil && !lacks(err) {
		return fmt.Errorf("prepare the database: %w", err)
	}
	return nil
}

func alreadyNewer(ctx context.Context, conn *pgx.Conn) (newer, err error) {
	var there bool
	if err := conn.QueryRow(ctx, "SELECT to_regclass('mangrove.migrations') IS NOT NULL").Scan(&there); err != nil || !there {
		return nil, err
	}
	if err := Check(ctx, conn); errors.Is(err, ErrNewer) {
		return err, nil
	}
	return nil, nil
}

// connectCreating connects to address, making its database first when the
// server answers that there is none.
func connectCreating(ctx context.Context, address string) (*pgx.Conn, error) {
	cfg, err := parse(address)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if !isCode(err, "3D000") {
		return conn, err
	}
	maintenance := cfg.Copy()
	maintenance.Database = "postgres"
	first, err := pgx.ConnectConfig(ctx, maintenance)
	if err != nil {
		return nil, err
	}
	_, err = first.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{cfg.Database}.Sanitize()+" ENCODING 'UTF8' TEMPLATE template0")
	_ = first.Close(ctx)
	if err != nil && !isCode(err, "42P04") && !isCode(err, "23505") {
		return nil, fmt.Errorf("create the database: %w", err)
	}
	return pgx.ConnectConfig(ctx, cfg)
}

func isCode(err error, code string) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == code
}

// Files are the migrations, by name, for whoever wants to know whether they changed.
func Files() fs.FS {
	sub, err := fs.Sub(files, "sql")
	if err != nil {
		panic(err)
	}
	return sub
}
