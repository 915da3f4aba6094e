// Package queue orders Jobs: which one's unit of work comes next on a Site, and
// when a new one may be asked for. It does no work itself and asks no Site.
package queue

import (
	"context"
	"time"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/source"
)

// Store keeps the queue.
type Store interface {
	NextJob(ctx context.Context, site string, now time.Time) (job.Job, bool, error)
	NextRetry(ctx context.Context, site string) (time.Time, error)
	RetryingJob(ctx context.Context, site string, now time.Time) (job.Job, bool, error)
	LatestJob(ctx context.Context, key source.Key) (job.Job, bool, error)
	RequestJob(ctx context.Context, key source.Key, unattended bool) (bool, error)
	Move(ctx context.Context, j job.Job, c job.Change) (job.Job, error)
	// Yield puts the Site's Jobs under way other than j back in the queue.
	Yield(ctx context.Context, j job.Job) error
}

// Queue hands out Jobs.
type Queue struct{ store Store }

// New makes a Queue.
func New(store Store) *Queue { return &Queue{store} }

// Next is the Job whose unit of work comes next on a Site, in a state in which
// its unit can run: a waiting retry is back in the queue, an unattended Job that
// was ready needs nobody's word.
func (q *Queue) Next(ctx context.Context, site string, now time.Time) (job.Job, bool, error) {
	return q.ready(ctx, site, now, q.store.NextJob)
}

// Retrying is the Job of a Site that waits for its one retry, in a state in which
// its unit can run: the probe of an open circuit (CIRC-2).
func (q *Queue) Retrying(ctx context.Context, site string, now time.Time) (job.Job, bool, error) {
	return q.ready(ctx, site, now, q.store.RetryingJob)
}

func (q *Queue) ready(ctx context.Context, site string, now time.Time, pick func(context.Context, string, time.Time) (job.Job, bool, error)) (job.Job, bool, error) {
	for {
		j, ok, err := pick(ctx, site, now)
		if err != nil || !ok {
			return j, false, err
		}
		to := job.Queued
		switch j.State {
		case job.RetryWait:
			// Looked at anew: what it lacks may have changed while it waited,
			// and a Site that is still away costs one read, not a chapter's.
			to = job.Requested
		case job.Ready:
		case job.Queued:
			// A more urgent Job goes first between two chapters: the one under way
			// keeps its checkpoint and only one Job of a Site is ever downloading.
			return j, true, q.store.Yield(ctx, j)
		default:
			return j, true, nil
		}
		moved, err := q.store.Move(ctx, j, job.Change{To: to, Class: j.Class, Reason: j.Reason, Retries: j.Retries})
		if fault.Is(err, fault.Stale) {
			continue
		}
		return moved, err == nil, err
	}
}

// NextRetry is when a waiting Job wants to be tried again; zero if none does.
func (q *Queue) NextRetry(ctx context.Context, site string) (time.Time, error) {
	return q.store.NextRetry(ctx, site)
}

// Request orders the chapters of a Series that the library lacks, without
// waiting for an operator's word. It is no error when a Job is outstanding, or
// when the last one was set aside: that one waits for a person (JOB-9). skipped
// then says why in one line.
func (q *Queue) Request(ctx context.Context, key source.Key) (skipped string, err error) {
	last, ok, err := q.store.LatestJob(ctx, key)
	if err != nil {
		return "", err
	}
	if why, stands := InTheWay(last); ok && stands {
		return words(why, last), nil
	}
	asked, err := q.store.RequestJob(ctx, key, true)
	if err == nil && !asked {
		skipped = "another Job was requested meanwhile"
	}
	return skipped, err
}
