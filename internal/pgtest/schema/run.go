package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/pgcluster"
	"mangrove/internal/pgtest"
	"mangrove/migrations"
)

// run migrates a new database, dumps its schema to w and drops it.
func run(ctx context.Context, getenv func(string) string, w io.Writer) (err error) {
	server, err := url.Parse(getenv(pgtest.Env))
	if err != nil || server.Scheme == "" {
		return fmt.Errorf("%s is not set; run `make generate`", pgtest.Env)
	}
	programs, err := pgcluster.Find(pgcluster.Lookup{Bin: getenv("MANGROVE_POSTGRES_BIN"), Path: getenv("PATH")})
	if err != nil {
		return err
	}
	name := "schema_" + strings.ToLower(rand.Text())
	database := *server
	database.Path = "/" + name
	defer func() {
		conn, cerr := pgx.Connect(context.WithoutCancel(ctx), server.String())
		if cerr == nil {
			_, cerr = conn.Exec(context.WithoutCancel(ctx), "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
			_ = conn.Close(context.WithoutCancel(ctx))
		}
		err = errors.Join(err, cerr)
	}()
	if err := migrations.Apply(ctx, migrations.Database{AdminURL: database.String()}); err != nil {
		return err
	}
	dump := exec.CommandContext(ctx, filepath.Join(programs.Dir, "pg_dump"), "--schema-only", "--dbname="+database.String())
	out, err := dump.Output()
	if err != nil {
		return fmt.Errorf("pg_dump: %w", err)
	}
	_, err = io.WriteString(w, stable(string(out)))
	return err
}

// stable takes out what differs between two dumps of one schema: versions, the
// random word of \restrict, and runs of empty lines.
func stable(dump string) string {
	var b strings.Builder
	b.WriteString("-- What the migrations add up to. Written by `make generate`; do not edit.\n\n")
	empty := true
	for line := range strings.Lines(dump) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "-- Dumped "), strings.HasPrefix(line, `\restrict `), strings.HasPrefix(line, `\unrestrict `),
			strings.HasPrefix(line, "SET transaction_timeout"), line == "--":
			continue
		case line == "" && empty:
			continue
		}
		empty = line == ""
		b.WriteString(line + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
