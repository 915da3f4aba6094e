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

// RecordCrash records a crash during j and counts those since with the same
// fingerprint, this one included.
func (s *Store) RecordCrash(ctx context.Context, j job.Job, fingerprint string, now, since time.Time) (n int, err error) {
	err = s.db.QueryRow(ctx, s.sql.Get("RecordCrash"), j.ID, fingerprint, now, since).Scan(&n)
	return n, classify("RecordCrash", err)
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
