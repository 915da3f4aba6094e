package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/source"
)

// JobChapter is one chapter of a Job.
type JobChapter struct {
	ChapterID string
	State     job.ChapterState
	Pages     int
	Reason    string
}

// RequestJob orders a download; asked is false when one is outstanding (JOB-2).
func (s *Store) RequestJob(ctx context.Context, key source.Key, unattended bool) (asked bool, err error) {
	var id int64
	err = s.db.QueryRow(ctx, s.sql.Get("RequestJob"), key.Site, key.SeriesID, unattended).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err == nil {
		s.moved("", job.Job{ID: id, Key: key, State: job.Requested})
	}
	return err == nil, classify("RequestJob", err)
}

// RecoverJobs puts what was under way when a process died back to where its
// checkpoint says, for the Sites this process works.
func (s *Store) RecoverJobs(ctx context.Context, sites []string) (int64, error) {
	n, err := s.exec(ctx, "RecoverJobs", sites)
	if n > 0 {
		s.events.Tell(incident.Event{Event: "recovered", Site: strings.Join(sites, " "), Reason: fmt.Sprintf("Jobs that were under way: %d", n)})
	}
	return n, err
}

// NextJob is the Job whose unit comes next on a Site, if any may run.
func (s *Store) NextJob(ctx context.Context, site string, now time.Time) (job.Job, bool, error) {
	return s.oneJob(ctx, "NextJob", site, now)
}

// RetryingJob is the Job of a Site that waits for its retry, or is at it, if any.
func (s *Store) RetryingJob(ctx context.Context, site string, now time.Time) (job.Job, bool, error) {
	return s.oneJob(ctx, "RetryingJob", site, now)
}

// LatestJob is the outstanding Job of a Series, or else its latest.
func (s *Store) LatestJob(ctx context.Context, key source.Key) (job.Job, bool, error) {
	return s.oneJob(ctx, "LatestJob", key.Site, key.SeriesID)
}

func (s *Store) oneJob(ctx context.Context, name string, args ...any) (job.Job, bool, error) {
	found, err := s.jobs(ctx, name, args...)
	if err != nil || len(found) == 0 {
		return job.Job{}, false, err
	}
	return found[0], true, nil
}

func scanJob(row pgx.CollectableRow) (j job.Job, err error) {
	var retryAt *time.Time
	err = row.Scan(&j.ID, &j.Key.Site, &j.Key.SeriesID, &j.State, &j.Unattended, &j.Class, &j.Reason, &j.Retries, &j.Stalls, &retryAt, &j.ChangedAt)
	j.RetryAt = orZero(retryAt)
	return j, err
}

// NextRetry is when a waiting Job of a Site wants to be tried again; zero if none does.
func (s *Store) NextRetry(ctx context.Context, site string) (time.Time, error) {
	var at *time.Time
	err := s.db.QueryRow(ctx, s.sql.Get("NextRetry"), site).Scan(&at)
	return orZero(at), classify("NextRetry", err)
}

// Move changes the state of j if it is still the one j holds; class stale otherwise.
func (s *Store) Move(ctx context.Context, j job.Job, c job.Change) (job.Job, error) {
	from := j.State
	j, err := s.move(ctx, s.db, j, c)
	if err == nil {
		s.moved(from, j)
	}
	return j, err
}

func (s *Store) move(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, j job.Job, c job.Change) (job.Job, error) {
	if !job.Allowed(j.State, c.To) {
		return j, notAllowed(j.State, c.To)
	}
	var changed time.Time
	err := q.QueryRow(ctx, s.sql.Get("MoveJob"), j.ID, j.State, c.To, c.Class, c.Reason, c.Retries, orNull(c.RetryAt)).Scan(&changed)
	if errors.Is(err, pgx.ErrNoRows) {
		return j, lost(j)
	}
	if err != nil {
		return j, classify("MoveJob", err)
	}
	j.State, j.Class, j.Reason, j.Retries, j.RetryAt, j.ChangedAt = c.To, c.Class, c.Reason, c.Retries, c.RetryAt, changed
	return j, nil
}

// Plan records the chapters a Job is for and moves it, in one transaction.
func (s *Store) Plan(ctx context.Context, j job.Job, chapters []job.Planned, c job.Change) (job.Job, error) {
	ids, replaces := make([]string, len(chapters)), make([]string, len(chapters))
	for i, ch := range chapters {
		ids[i], replaces[i] = ch.ID, ch.Replaces
	}
	from := j.State
	err := s.inTx(ctx, "Plan", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, s.sql.Get("PlanChapters"), j.ID, ids, replaces); err != nil {
			return err
		}
		var err error
		j, err = s.move(ctx, tx, j, c)
		return err
	})
	if err == nil {
		s.moved(from, j)
	}
	return j, err
}

// NextChapter returns the next chapter of j still to be fetched.
func (s *Store) NextChapter(ctx context.Context, j job.Job) (source.Chapter, bool, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("NextChapter"), j.ID)
	if err != nil {
		return source.Chapter{}, false, classify("NextChapter", err)
	}
	ch, err := pgx.CollectExactlyOneRow(rows, scanChapter)
	if errors.Is(err, pgx.ErrNoRows) {
		return ch, false, nil
	}
	return ch, err == nil, classify("NextChapter", err)
}

// StartChapter marks a chapter of j under way, and returns what is known of it.
func (s *Store) StartChapter(ctx context.Context, j job.Job, chapterID string, since time.Time) (st job.Start, err error) {
	err = s.db.QueryRow(ctx, s.sql.Get("StartChapter"), j.ID, chapterID, j.Key.Site, j.Key.SeriesID, since).Scan(&st.Fetched, &st.AcceptMissing, &st.Replaces)
	if errors.Is(err, pgx.ErrNoRows) {
		return st, fault.Newf(fault.Stale, "start", "a chapter", "it is no longer part of Job %d", j.ID)
	}
	return st, classify("StartChapter", err)
}

// AcceptMissing lets a chapter of a Job that was set aside for its pages be
// published without them; class stale when it was not set aside for that.
func (s *Store) AcceptMissing(ctx context.Context, jobID int64, chapterID string) error {
	n, err := s.exec(ctx, "AcceptMissing", jobID, chapterID)
	if err == nil && n == 0 {
		return fault.Newf(fault.Stale, "accept", "a chapter", "no chapter %s of Job %d is set aside for its pages", chapterID, jobID)
	}
	return err
}

// RecordFetched records that all pages of a chapter have been fetched.
func (s *Store) RecordFetched(ctx context.Context, key source.Key, chapterID string, now time.Time) error {
	_, err := s.exec(ctx, "RecordFetched", key.Site, key.SeriesID, chapterID, now)
	return err
}

// PruneFetches forgets the fetches before t.
func (s *Store) PruneFetches(ctx context.Context, t time.Time) error {
	_, err := s.exec(ctx, "PruneFetches", t)
	return err
}

// SetAside records a chapter that j goes on without.
func (s *Store) SetAside(ctx context.Context, j job.Job, chapterID string, class fault.Class, reason string) error {
	_, err := s.exec(ctx, "MarkJobChapter", j.ID, chapterID, job.ChapterSetAside, class, reason, 0)
	if err == nil {
		s.events.Tell(incident.Event{
			Event: "chapter", Site: j.Key.Site, Series: j.Key.SeriesID, Job: j.ID, Chapter: chapterID, To: string(job.ChapterSetAside), Class: string(class), Reason: reason,
		})
	}
	return err
}

// RecordExternal records that a chapter of j can only be read elsewhere: it is
// part of the Job no longer.
func (s *Store) RecordExternal(ctx context.Context, j job.Job, chapterID string) error {
	return s.inTx(ctx, "RecordExternal", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, s.sql.Get("MarkExternal"), j.Key.Site, j.Key.SeriesID, chapterID); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, s.sql.Get("DropJobChapter"), j.ID, chapterID)
		return err
	})
}

// JobChapters lists the chapters of a Job.
func (s *Store) JobChapters(ctx context.Context, id int64) ([]JobChapter, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("JobChapters"), id)
	if err != nil {
		return nil, classify("JobChapters", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c JobChapter, err error) {
		err = row.Scan(&c.ChapterID, &c.State, &c.Pages, &c.Reason)
		return c, err
	})
	return out, classify("JobChapters", err)
}

// QuarantinedSince lists Jobs of a Site that its adapter could not read, newest
// first, ten at most.
func (s *Store) QuarantinedSince(ctx context.Context, site string, since time.Time) ([]job.Job, error) {
	return s.jobs(ctx, "QuarantinedSince", site, since)
}
