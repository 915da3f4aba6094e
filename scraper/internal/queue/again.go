package queue

import (
	"context"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/source"
)

// AgainStore carries out that a chapter is fetched once more.
type AgainStore interface {
	LatestJob(ctx context.Context, key source.Key) (job.Job, bool, error)
	// WantAgain makes a chapter of which the library has a file, or had one, lack
	// again; class not-found when there is none or the Site does not list it.
	WantAgain(ctx context.Context, key source.Key, chapterID string) error
	RequestJob(ctx context.Context, key source.Key, unattended bool) (asked bool, err error)
}

// FetchAgain has a chapter whose file is rotten or missing fetched once more, on a
// person's word (F81, F89). The file that is there is shown until the new one is
// published. Class conflict while a Job of the Series is outstanding: what that one
// is for has been decided.
func FetchAgain(ctx context.Context, store AgainStore, key source.Key, chapterID string) error {
	j, ok, err := store.LatestJob(ctx, key)
	if err != nil {
		return err
	}
	if ok && j.State.Outstanding() {
		return fault.Newf(fault.Conflict, "fetch again", key.String(), "a download of this Series is under way or waits (Job %d); try again when it has ended", j.ID)
	}
	if err := store.WantAgain(ctx, key, chapterID); err != nil {
		return err
	}
	asked, err := store.RequestJob(ctx, key, true)
	if err == nil && !asked {
		// The next Job takes it: it lacks now.
		err = fault.Newf(fault.Conflict, "fetch again", key.String(), "another download was requested meanwhile; try again when it has ended")
	}
	return err
}
