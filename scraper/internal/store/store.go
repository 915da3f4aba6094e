// Package store holds all SQL of the scraper: one .sql and one .go file per
// noun. It carries out what the packages above decide and decides nothing
// itself; every change of a state is compare-and-set. It opens no table of the
// reader's (OWN-1), and its errors are classified: the database being down is
// away, a lost compare-and-set is stale.
package store

import (
	"context"
	"embed"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"mangrove/internal/fault"
	"mangrove/internal/pg"
	"mangrove/scraper/internal/incident"
)

//go:embed *.sql
var files embed.FS

// Schema is the scraper's schema.
const Schema = "scraper"

// database is a pool, or the one connection of a claimed Lane.
type database interface {
	pg.Beginner
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Store is the scraper's database.
type Store struct {
	db  database
	sql pg.Statements
	// events is told of every change of state; nil is told nothing.
	events *incident.EventLog
}

// New makes a Store on a pool whose search path is Schema.
func New(pool *pgxpool.Pool) *Store {
	return &Store{db: pool, sql: pg.MustLoadStatements(files)}
}

// Statements are the SQL texts by name, for the test that prepares each one.
func (s *Store) Statements() pg.Statements { return s.sql }

// exec runs a named statement and returns how many rows it touched.
func (s *Store) exec(ctx context.Context, name string, args ...any) (int64, error) {
	tag, err := s.db.Exec(ctx, s.sql.Get(name), args...)
	return tag.RowsAffected(), classify(name, err)
}

// classify says whose fault a failed statement is.
func classify(name string, err error) error {
	var f *fault.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return err
	case pg.Down(err):
		return fault.New(fault.Away, "reach", "the database", err)
	}
	return fault.New(fault.Unknown, "run statement", name, err)
}

// inTx runs fn in a transaction and classifies what comes of it.
func (s *Store) inTx(ctx context.Context, name string, fn func(tx pgx.Tx) error) error {
	return classify(name, pg.InTx(ctx, s.db, fn))
}

// orZero turns a nullable time into one whose zero means none.
func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// orNull is the opposite of orZero.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
