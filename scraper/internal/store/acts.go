package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"mangrove/internal/failpoint"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/queue"
)

// JobByID reads one Job; class not-found if there is none.
func (s *Store) JobByID(ctx context.Context, id int64) (a queue.Acted, err error) {
	var retryAt *time.Time
	err = s.db.QueryRow(ctx, s.sql.Get("JobByID"), id).Scan(&a.ID, &a.Key.Site, &a.Key.SeriesID, &a.State, &a.Unattended,
		&a.Class, &a.Reason, &a.Retries, &a.Stalls, &retryAt, &a.ChangedAt, &a.ResumeTo, &a.Priority)
	if errors.Is(err, pgx.ErrNoRows) {
		return a, fault.Newf(fault.NotFound, "find", "a Job", "there is no Job %d", id)
	}
	a.RetryAt = orZero(retryAt)
	return a, classify("JobByID", err)
}

// ActOnJob carries out an act if the Job is still as it was found.
func (s *Store) ActOnJob(ctx context.Context, a queue.Step) error {
	j := job.Job{ID: a.ID, State: a.To}
	err := s.inTx(ctx, "ActOnJob", func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, s.sql.Get("ActOnJob"), a.ID, a.From, a.To, a.ResumeTo, a.Told, a.SetBack, a.Keep).Scan(&j.Key.Site, &j.Key.SeriesID)
		var pgErr *pgconn.PgError
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return fault.Newf(fault.Stale, "act on", "a Job", "Job %d is no longer %s", a.ID, a.From)
		case errors.As(err, &pgErr) && pgErr.ConstraintName == "jobs_outstanding":
			return fault.Newf(fault.Conflict, "act on", "a Job", "another Job of the Series of Job %d is under way", a.ID)
		case err != nil || !a.SetBack:
			return err
		}
		failpoint.Reach(failpoint.RetryTold)
		_, err = tx.Exec(ctx, s.sql.Get("RetryChapters"), a.ID)
		return err
	})
	if err == nil {
		s.moved(a.From, j)
	}
	return err
}

// RetryChapters sets what a Job set aside waiting again (JOB-5).
func (s *Store) RetryChapters(ctx context.Context, id int64) error {
	_, err := s.exec(ctx, "RetryChapters", id)
	return err
}

// JobsIn lists Jobs that have been in a state since before.
func (s *Store) JobsIn(ctx context.Context, state job.State, before time.Time) ([]int64, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("JobsIn"), state, before)
	if err != nil {
		return nil, classify("JobsIn", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	return ids, classify("JobsIn", err)
}

// SetPriority orders a Job among those of its Site; class not-found if there is none.
func (s *Store) SetPriority(ctx context.Context, id int64, p job.Priority) error {
	n, err := s.exec(ctx, "SetPriority", id, p)
	if err == nil && n == 0 {
		return fault.Newf(fault.NotFound, "find", "a Job", "there is no Job %d", id)
	}
	return err
}

// Yield puts the Jobs of j's Site that are downloading, other than j, back in the queue.
func (s *Store) Yield(ctx context.Context, j job.Job) error {
	_, err := s.exec(ctx, "Yield", j.Key.Site, j.ID)
	return err
}
