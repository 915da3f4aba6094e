package queue

import (
	"context"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/job"
)

// AcceptStore carries out what an operator says of a chapter without some pages.
type AcceptStore interface {
	JobByID(ctx context.Context, id int64) (Acted, error)
	ActOnJob(ctx context.Context, s Step) error
	// AcceptMissing lets a chapter of a Job that was set aside for its pages be
	// published without them; class stale when it was not set aside for that.
	AcceptMissing(ctx context.Context, jobID int64, chapterID string) error
}

// Accept takes a chapter that was set aside without the pages that its Site does
// not give (C19), and has its Job take it up. Other chapters that the Job set aside
// stay so.
func Accept(ctx context.Context, store AcceptStore, jobID int64, chapterID string) (Acted, error) {
	if err := store.AcceptMissing(ctx, jobID, chapterID); err != nil {
		return Acted{}, err
	}
	found, err := store.JobByID(ctx, jobID)
	if err != nil {
		return found, err
	}
	switch found.State {
	case job.Done, job.Quarantined, job.Unavailable:
		// Its chapters are planned already; it is looked at anew (ADR 0004).
		err := store.ActOnJob(ctx, Step{ID: jobID, From: found.State, To: job.Requested, Told: true})
		if err != nil && !fault.Is(err, fault.Stale) {
			return found, err
		}
	}
	return store.JobByID(ctx, jobID)
}
