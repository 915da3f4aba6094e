// Package store is all of the reader's SQL: one .sql and one .go file for each
// noun, and the only place that opens the reader's tables (OWN-1). It turns
// rows into the types of the packages above it and database errors into faults
// once; it decides nothing that a statement does not say.
package store

import (
	"context"
	"embed"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"mangrove/internal/fault"
	"mangrove/internal/pg"
)

//go:embed *.sql
var files embed.FS

// Statements are the reader's named SQL, for the test that prepares each one.
func Statements() pg.Statements { return pg.MustLoadStatements(files) }

// Store runs the reader's statements on one pool.
type Store struct {
	pool *pgxpool.Pool
	sql  pg.Statements
}

// New makes a store on a pool whose search path is the reader's schema.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool, sql: Statements()} }

// wrap classifies a database error: no row is NotFound; a database that is down
// keeps its error, which pg.Down recognises above.
func wrap(op, subject string, err error) error {
	if err == nil {
		return nil
	}
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		return err
	case errors.Is(err, pgx.ErrNoRows):
		return fault.New(fault.NotFound, op, subject, err)
	case pg.Down(err):
		return fault.New(fault.Away, op, subject, err)
	}
	return fault.New(fault.Unknown, op, subject, err)
}

func (s *Store) tx(ctx context.Context, op, subject string, fn func(pgx.Tx) error) error {
	return wrap(op, subject, pg.InTx(ctx, s.pool, fn))
}
