package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/config"
	"mangrove/internal/pgtest"
	"mangrove/migrations"
)

// TestADatabaseIsLookedAt before it is tried: it has to answer and to be Mangrove's,
// and nothing in it is changed (features H20).
func TestADatabaseIsLookedAt(t *testing.T) {
	ours, newer, empty := pgtest.New(t).Admin, pgtest.New(t).Admin, pgtest.New(t).Admin
	change := func(address, statement string, args ...any) {
		t.Helper()
		c, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
		if _, err := c.Exec(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	change(newer, "INSERT INTO mangrove.migrations (version_id, is_applied) VALUES ($1, true)", migrations.Latest()+1)
	change(empty, "DROP SCHEMA mangrove CASCADE")
	for name, tt := range map[string]struct {
		address config.Secret
		code    int
		want    string
	}{
		"ours":        {config.Secret(ours), config.ExitOK, "answers, migrated to version"},
		"newer":       {config.Secret(newer), config.ExitConfig, "newer Mangrove"},
		"strange":     {config.Secret(empty), config.ExitConfig, "holds no Mangrove"},
		"not there":   {config.Secret(pgtest.Empty(t)), config.ExitConfig, "does not exist"},
		"no answer":   {"postgres://mo:hunter2@127.0.0.1:1/m", config.ExitDatabase, "does not answer"},
		"no address":  {"", config.ExitConfig, "is not set"},
		"nothing new": {config.Secret(ours), config.ExitOK, "answers"},
	} {
		var out bytes.Buffer
		err := database(t.Context(), config.Config{DatabaseURL: tt.address}, &out)
		code, said := config.ExitOK, out.String()
		var e *exit
		if errors.As(err, &e) {
			code, said = e.code, e.Error()
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if code != tt.code || !strings.Contains(said, tt.want) || strings.Contains(said, "hunter2") {
			t.Errorf("%s: %d %q, want %d with %q", name, code, said, tt.code, tt.want)
		}
	}
	var there bool
	c, err := pgx.Connect(t.Context(), empty)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
	if err := c.QueryRow(t.Context(), "SELECT to_regclass('mangrove.migrations') IS NOT NULL").Scan(&there); err != nil || there {
		t.Errorf("looking made the schema (%v)", err)
	}
}
