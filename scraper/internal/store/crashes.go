package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/scraper/internal/job"
)

// UnderWay lists the Jobs of a Site whose unit of work had begun and not ended.
func (s *Store) UnderWay(ctx context.Context, site string) ([]job.Job, error) {
	return s.jobs(ctx, "UnderWay", site)
}

// RecordCrash records a crash during j, whose unit is under way no longer, and
// moves j when it is the limit-th since with the same fingerprint, in one transaction.
func (s *Store) RecordCrash(ctx context.Context, j job.Job, fingerprint string, now, since time.Time, limit int, c job.Change) (moved job.Job, poison bool, err error) {
	err = s.inTx(ctx, "RecordCrash", func(tx pgx.Tx) error {
		n := 0
		if err := tx.QueryRow(ctx, s.sql.Get("RecordCrash"), j.ID, fingerprint, now, since).Scan(&n); err != nil || n < limit {
			return err
		}
		poison = true
		moved, err = s.move(ctx, tx, j, c)
		return err
	})
	if err != nil {
		return j, false, err
	}
	if poison {
		s.moved(j.State, moved)
	}
	return moved, poison, nil
}

// jobs runs a statement whose rows are Jobs.
func (s *Store) jobs(ctx context.Context, name string, args ...any) ([]job.Job, error) {
	rows, err := s.db.Query(ctx, s.sql.Get(name), args...)
	if err != nil {
		return nil, classify(name, err)
	}
	out, err := pgx.CollectRows(rows, scanJob)
	return out, classify(name, err)
}
