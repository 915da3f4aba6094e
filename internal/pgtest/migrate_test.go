package pgtest_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"mangrove/internal/pgtest"
	"mangrove/migrations"
)

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func TestMigrationsRunOnceHoweverManyStart(t *testing.T) {
	admin := pgtest.Empty(t)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			d := migrations.Database{AdminURL: admin, ReaderPassword: "pgtest", ScraperPassword: "pgtest"}
			if err := migrations.Apply(context.Background(), d); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	c := connect(t, admin)
	var applied, distinct int64
	if err := c.QueryRow(t.Context(), "SELECT count(*), count(DISTINCT version_id) FROM mangrove.migrations WHERE version_id > 0").Scan(&applied, &distinct); err != nil {
		t.Fatal(err)
	}
	// Numbers may leave gaps, so that the files are counted and not the last number.
	files, err := fs.Glob(migrations.Files(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	if applied != int64(len(files)) || distinct != applied {
		t.Errorf("%d rows for %d versions, want %d once each", applied, distinct, len(files))
	}
	var owners int
	if err := c.QueryRow(t.Context(), `SELECT count(*) FROM pg_tables WHERE schemaname IN ('reader', 'scraper', 'mangrove') AND tableowner <> 'mangrove_owner'`).Scan(&owners); err != nil || owners != 0 {
		t.Errorf("%d tables do not belong to the owner's role (%v)", owners, err)
	}
}

func TestANewerDatabaseIsNotTouched(t *testing.T) {
	urls := pgtest.New(t)
	c := connect(t, urls.Admin)
	if err := migrations.Check(t.Context(), connect(t, urls.Reader)); err != nil {
		t.Errorf("a service does not recognise its own version: %v", err)
	}
	if _, err := c.Exec(t.Context(), "INSERT INTO mangrove.migrations (version_id, is_applied) VALUES ($1, true)", migrations.Latest()+1); err != nil {
		t.Fatal(err)
	}
	d := migrations.Database{AdminURL: urls.Admin, ReaderPassword: "other", ScraperPassword: "other"}
	if err := migrations.Apply(t.Context(), d); !errors.Is(err, migrations.ErrNewer) {
		t.Errorf("migrating got %v, want ErrNewer", err)
	}
	// Not even the roles' passwords were changed.
	for _, url := range []string{urls.Reader, urls.Scraper} {
		if err := migrations.Check(t.Context(), connect(t, url)); !errors.Is(err, migrations.ErrNewer) {
			t.Errorf("a service got %v, want ErrNewer", err)
		}
	}
}

func TestAnOlderDatabaseIsWaitedFor(t *testing.T) {
	urls := pgtest.New(t)
	c := connect(t, urls.Admin)
	if _, err := c.Exec(t.Context(), "DELETE FROM mangrove.migrations WHERE version_id = $1", migrations.Latest()); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Check(t.Context(), connect(t, urls.Scraper)); !errors.Is(err, migrations.ErrOlder) {
		t.Errorf("got %v, want ErrOlder", err)
	}
	if _, err := c.Exec(t.Context(), "DROP TABLE mangrove.migrations"); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Check(t.Context(), connect(t, urls.Scraper)); !errors.Is(err, migrations.ErrOlder) {
		t.Errorf("never migrated: got %v, want ErrOlder", err)
	}
}

func TestMigratingTwiceIsNoHarm(t *testing.T) {
	admin := pgtest.Empty(t)
	d := migrations.Database{AdminURL: admin}
	if err := migrations.Apply(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Apply(t.Context(), d); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

// A downgrade past people keeps out whom they kept out, and finds the claim as
// the older program expects it.
func TestGoingBackBeforePeople(t *testing.T) {
	admin := pgtest.Empty(t)
	d := migrations.Database{AdminURL: admin, ReaderPassword: "pgtest", ScraperPassword: "pgtest"}
	if err := migrations.Apply(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	c := connect(t, admin)
	for _, sql := range []string{
		"INSERT INTO reader.users (name, name_key, password_hash, role, disabled_at) VALUES ('Mo', 'mo', 'hash', 'administrator', NULL), ('Ada', 'ada', 'hash', 'member', now()), ('Kim', 'kim', NULL, 'guest', NULL)",
		"UPDATE reader.claim SET claimed_at = now()",
	} {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := migrations.Down(t.Context(), d, 20); err != nil {
		t.Fatal(err)
	}
	var got string
	err := c.QueryRow(t.Context(), `SELECT string_agg(concat_ws(' ', name, CASE WHEN password_hash ~ '^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$' THEN 'locked' ELSE password_hash END, id = (SELECT claimed_by FROM reader.claim)), ', ' ORDER BY id) FROM reader.users`).Scan(&got)
	if want := "Mo hash t, Ada locked f"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if err := migrations.Apply(t.Context(), d); err != nil {
		t.Errorf("and forward again: %v", err)
	}
}

// Where an operator made the three roles and the database, nobody needs a role
// that may create roles.
func TestWithAnAddressPerRole(t *testing.T) {
	admin := pgtest.Empty(t)
	server := connect(t, pgtest.New(t).Admin)
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	name := pgx.Identifier{u.Path[1:]}.Sanitize()
	for _, sql := range []string{
		"ALTER ROLE mangrove_owner LOGIN PASSWORD 'pgtest'", "CREATE DATABASE " + name, "GRANT CREATE ON DATABASE " + name + " TO mangrove_owner",
	} {
		if _, err := server.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	owner, err := migrations.RoleURL(admin, migrations.Owner, "pgtest")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := migrations.Apply(t.Context(), migrations.Database{OwnerURL: owner}); err != nil {
			t.Fatal(err)
		}
	}
	for _, role := range []string{migrations.Reader, migrations.Scraper} {
		own, err := migrations.RoleURL(admin, role, "pgtest")
		if err != nil {
			t.Fatal(err)
		}
		if err := migrations.Check(t.Context(), connect(t, own)); err != nil {
			t.Errorf("%s: %v", role, err)
		}
	}
}

// From each schema there ever was, the library, its ids, the places people read to and
// the ages of failures arrive in this one as they were (feature H21).
func TestAnUpgradeFromEverySchemaKeepsIDs(t *testing.T) {
	files, err := fs.Glob(migrations.Files(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		var from int64
		if _, err := fmt.Sscanf(file, "%d_", &from); err != nil {
			t.Fatal(err)
		}
		// Before 3 no role may do anything, and what is there at the newest is not upgraded.
		if from < 3 || from == migrations.Latest() {
			continue
		}
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			admin := pgtest.New(t).Admin
			d := migrations.Database{AdminURL: admin}
			if err := migrations.Down(t.Context(), d, from); err != nil {
				t.Fatal(err)
			}
			c := connect(t, admin)
			for _, sql := range filled {
				if _, err := c.Exec(t.Context(), sql); err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
			}
			before := standing(t, c)
			if err := migrations.Apply(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, standing(t, connect(t, admin))); diff != "" {
				t.Errorf("(-before +after)\n%s", diff)
			}
		})
	}
}

// filled are the statements that fill a small library, by what every schema has.
var filled = []string{
	"INSERT INTO reader.users (name, name_key, password_hash, role) VALUES ('Mo', 'mo', 'hash', 'administrator')",
	"INSERT INTO scraper.series (site, series_id, title, url, origin) SELECT 'comic', n::text, 'Title ' || n, 'https://comic.example/' || n, 'followed' FROM generate_series(1, 30) n",
	"INSERT INTO scraper.poll_failures (site, series_id, outcome, failing_since) SELECT 'comic', n::text, 'errors', timestamptz '2026-01-02 03:04:05Z' + n * interval '1 day' FROM generate_series(1, 9) n",
	"INSERT INTO reader.titles (site, series_id, title) SELECT 'comic', n::text, 'Title ' || n FROM generate_series(1, 30) n",
	"INSERT INTO reader.books (title_id, chapter_id, path, page_count, size, fingerprint, published_at) SELECT t.id, 'c' || n, t.series_id || '/' || n || '.cbz', 20, 1000, md5(t.series_id || n), now() FROM reader.titles t, generate_series(1, 4) n",
	"INSERT INTO reader.progress (user_id, book_id, page, finished) SELECT u.id, b.id, 7, b.chapter_id = 'c1' FROM reader.users u, reader.books b WHERE b.chapter_id IN ('c1', 'c2')",
	"INSERT INTO reader.bookmarks (user_id, site, series_id, title) SELECT u.id, t.site, t.series_id, t.title FROM reader.users u, reader.titles t",
}

// standing is what must not change, a line each.
func standing(t *testing.T, c *pgx.Conn) []string {
	t.Helper()
	rows, err := c.Query(t.Context(), `
		SELECT concat_ws(' ', 'title', id, site, series_id, title) AS line FROM reader.titles
		UNION ALL SELECT concat_ws(' ', 'book', id, title_id, chapter_id, path, fingerprint) FROM reader.books
		UNION ALL SELECT concat_ws(' ', 'place', u.name, p.user_id, p.book_id, p.page, p.finished, extract(epoch FROM p.changed_at)) FROM reader.progress p JOIN reader.users u ON u.id = p.user_id
		UNION ALL SELECT concat_ws(' ', 'follow', user_id, site, series_id, title) FROM reader.bookmarks
		UNION ALL SELECT concat_ws(' ', 'failing', site, series_id, outcome, extract(epoch FROM failing_since)) FROM scraper.poll_failures
		ORDER BY line`)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 30+120+60+30+9 {
		t.Fatalf("%d lines", len(lines))
	}
	return lines
}
