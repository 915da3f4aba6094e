package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/job"
)

// DownloadsHeld reports whether a Hold stops all downloads, or a Site's circuit its.
func (s *Store) DownloadsHeld(ctx context.Context, site string) (held bool, err error) {
	err = s.db.QueryRow(ctx, s.sql.Get("DownloadsHeld"), site).Scan(&held)
	return held, classify("DownloadsHeld", err)
}

// RecordStall moves a Job and counts its stall, if it is still in the state j
// holds; class stale otherwise.
func (s *Store) RecordStall(ctx context.Context, j job.Job, to job.State, reason string) (job.Job, error) {
	if !job.Allowed(j.State, to) {
		return j, notAllowed(j.State, to)
	}
	var changed time.Time
	err := s.db.QueryRow(ctx, s.sql.Get("RecordStall"), j.ID, j.State, to, reason).Scan(&changed)
	if errors.Is(err, pgx.ErrNoRows) {
		return j, lost(j)
	}
	if err != nil {
		return j, classify("RecordStall", err)
	}
	from := j.State
	j.State, j.Class, j.Reason, j.Stalls, j.RetryAt, j.ChangedAt = to, fault.Stall, reason, j.Stalls+1, time.Time{}, changed
	s.moved(from, j)
	return j, nil
}

// notAllowed is a transition that JOB-1 does not have.
func notAllowed(from, to job.State) error {
	return fault.Newf(fault.Invalid, "move", "a Job", "%s to %s is not an allowed transition", from, to)
}

// lost is a compare-and-set that lost.
func lost(j job.Job) error {
	return fault.Newf(fault.Stale, "move", "a Job", "Job %d is no longer %s", j.ID, j.State)
}
