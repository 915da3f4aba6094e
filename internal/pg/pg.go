// Package pg opens PostgreSQL for a service and loads its named SQL. It knows
// no table: statements live in .sql files beside the stores that use them, each
// introduced by a line "-- name: Word". It refuses to build SQL from strings.
package pg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"mangrove/internal/fault"
)

// Options shape a pool.
type Options struct {
	// MaxConns bounds the pool; it is also held open, so that steady work
	// opens no new backend. 0 means 8.
	MaxConns int32
	// Schema is the one schema on the search path.
	Schema string
	// ReadOnly refuses every write, whatever the role may do.
	ReadOnly bool
	// Tracer watches every statement, in tests.
	Tracer pgx.QueryTracer
}

// Open makes a pool for url and does not wait for the server: Ping does that.
// Time-outs are set on every connection so that nothing waits for ever (C31).
func Open(ctx context.Context, url string, o Options) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The parser's own message may repeat the address with its password.
		return nil, fault.Newf(fault.Invalid, "read", "the database address", "not understood")
	}
	cfg.MaxConns = o.MaxConns
	if cfg.MaxConns == 0 {
		cfg.MaxConns = 8
	}
	cfg.MinConns = 1
	cfg.MaxConnIdleTime = 30 * time.Minute
	cfg.HealthCheckPeriod = time.Minute
	cfg.ConnConfig.ConnectTimeout = 5 * time.Second
	cfg.ConnConfig.Tracer = o.Tracer
	params := cfg.ConnConfig.RuntimeParams
	params["statement_timeout"] = "15s"
	params["lock_timeout"] = "3s"
	params["idle_in_transaction_session_timeout"] = "30s"
	params["timezone"] = "UTC"
	if o.ReadOnly {
		params["default_transaction_read_only"] = "on"
	}
	if o.Schema != "" {
		params["search_path"] = o.Schema
	}
	return pgxpool.NewWithConfig(ctx, cfg)
}

// Beginner is a pool or a connection.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// InTx runs fn in one transaction: committed if fn returns nil, else rolled
// back. The error of fn comes back as it is.
func InTx(ctx context.Context, db Beginner, fn func(pgx.Tx) error) error {
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// Down reports whether err means that the database did not answer or is not
// taking connections, rather than that it refused one statement. Such an error
// is nobody's fault but the database's (SUP-3).
func Down(err error) bool {
	if err == nil {
		return false
	}
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return strings.HasPrefix(pgErr.Code, "08") || strings.HasPrefix(pgErr.Code, "57P") || pgErr.Code == "53300"
	}
	var connectErr *pgconn.ConnectError
	return errors.As(err, &connectErr) || pgconn.Timeout(err) || pgconn.SafeToRetry(err)
}

// Statements are SQL texts by name.
type Statements map[string]string

// LoadStatements reads every .sql file at the root of files. A name that
// stands twice, or text before the first name, is an error.
func LoadStatements(files fs.FS) (Statements, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	out := Statements{}
	for _, file := range names {
		data, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		name := ""
		var body strings.Builder
		flush := func() error {
			text := strings.TrimSpace(body.String())
			body.Reset()
			if name == "" {
				if text != "" {
					return fmt.Errorf("%s: SQL before the first name", file)
				}
				return nil
			}
			if text == "" {
				return fmt.Errorf("%s: statement %s is empty", file, name)
			}
			if _, twice := out[name]; twice {
				return fmt.Errorf("%s: statement %s stands twice", file, name)
			}
			out[name] = text
			return nil
		}
		for line := range strings.Lines(string(data)) {
			if next, ok := strings.CutPrefix(line, "-- name: "); ok {
				if err := flush(); err != nil {
					return nil, err
				}
				name = strings.TrimSpace(next)
				continue
			}
			if strings.HasPrefix(line, "--") {
				continue
			}
			body.WriteString(line)
		}
		if err := flush(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// MustLoadStatements is LoadStatements for files embedded in the program,
// whose faults a test finds before anyone runs it.
func MustLoadStatements(files fs.FS) Statements {
	s, err := LoadStatements(files)
	if err != nil {
		panic(err)
	}
	return s
}

// Get returns the statement called name and panics on a name that no file
// holds: that is a slip in the program, not in its input.
func (s Statements) Get(name string) string {
	text, ok := s[name]
	if !ok {
		panic("no statement is called " + name)
	}
	return text
}

// Names lists the statements in order, for the test that prepares each one.
func (s Statements) Names() []string {
	var out []string
	for name := range s {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}
