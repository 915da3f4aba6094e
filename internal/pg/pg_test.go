package pg

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestLoadStatements(t *testing.T) {
	s, err := LoadStatements(fstest.MapFS{
		"a.sql": {Data: []byte("-- what the file is for\n\n-- name: First\n-- why\nSELECT 1;\n\n-- name: Second\nSELECT\n  2;\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Statements{"First": "SELECT 1;", "Second": "SELECT\n  2;"}
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
}

func TestLoadStatementsRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"SELECT 1;": "before the first name",
		"-- name: A\nSELECT 1;\n-- name: A\nSELECT 2;": "twice",
		"-- name: A\n-- name: B\nSELECT 1;":            "empty",
	} {
		if _, err := LoadStatements(fstest.MapFS{"a.sql": {Data: []byte(text)}}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v, want an error saying %q", text, err, says)
		}
	}
}

func TestDown(t *testing.T) {
	for code, want := range map[string]bool{"57P01": true, "08006": true, "53300": true, "23505": false, "42501": false} {
		if got := Down(&pgconn.PgError{Code: code}); got != want {
			t.Errorf("Down(%s) = %v, want %v", code, got, want)
		}
	}
	if Down(nil) || Down(errors.New("other")) {
		t.Error("an error that says nothing of the database counts as the database being down")
	}
}
