package pgtest_test

import (
	"errors"
	"strings"
	"testing"

	"mangrove/internal/pgtest"
	"mangrove/migrations"
)

// The search's extension in another schema is no surprise at the first search: the
// start says what to run, and goes on once it was run.
func TestTrigramsElsewhereAreSaidAtTheStart(t *testing.T) {
	admin := pgtest.New(t).Admin
	c := connect(t, admin)
	if _, err := c.Exec(t.Context(), "ALTER EXTENSION pg_trgm SET SCHEMA public"); err != nil {
		t.Fatal(err)
	}
	d := migrations.Database{AdminURL: admin, ReaderPassword: "pgtest", ScraperPassword: "pgtest"}
	const says = "ALTER EXTENSION pg_trgm SET SCHEMA reader"
	if err := migrations.Apply(t.Context(), d); !errors.Is(err, migrations.ErrNoTrigrams) || !strings.Contains(err.Error(), says) {
		t.Fatalf("got %v", err)
	}
	if _, err := c.Exec(t.Context(), says); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Apply(t.Context(), d); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
