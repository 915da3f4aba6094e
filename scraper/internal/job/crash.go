package job

import (
	"context"
	"time"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/checkpoint"
	"mangrove/scraper/internal/source"
)

// poisonCrashes within poisonWithin, with nothing completed between them, make a
// Job poison: a third would park the scraper for the sake of one title (JOB-12).
const (
	poisonCrashes = 2
	poisonWithin  = time.Hour
)

// poisonReason is what an operator reads.
const poisonReason = "the scraper crashed twice within an hour while this Job was under way, at the same place; Retry it once the cause is mended"

// Crashes keeps the crashes of the scraper during Jobs.
type Crashes interface {
	// UnderWay lists the Jobs of a Site whose unit of work had begun and not ended.
	UnderWay(ctx context.Context, site string) ([]Job, error)
	// RecordCrash records one at now with the checkpoint's fingerprint then. When it
	// is the limit-th of the Job after since with that fingerprint, the Job is moved
	// as c says, and returned with poison true. Either all of it happens, and the
	// Job's unit no longer counts as under way, or nothing: a start that is killed
	// is no second crash of the Job.
	RecordCrash(ctx context.Context, j Job, fingerprint string, now, since time.Time, limit int, c Change) (moved Job, poison bool, err error)
}

// AfterCrash records the crash that ended the run before this one with each Job
// of a Site whose unit was under way, and quarantines the Jobs that it makes
// poison; those are returned. A crash is neither a retry nor a stall, and says
// nothing about the Site.
func AfterCrash(ctx context.Context, db Crashes, library string, site source.Site, now time.Time) (poison []Job, err error) {
	jobs, err := db.UnderWay(ctx, site.Key)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		fingerprint := ""
		if c, ok := checkpoint.Load(checkpoint.Path(library, site, j.Key)); ok {
			fingerprint = c.Fingerprint()
		}
		moved, last, err := db.RecordCrash(ctx, j, fingerprint, now, now.Add(-poisonWithin), poisonCrashes,
			Change{To: Quarantined, Class: fault.Unknown, Reason: poisonReason, Retries: j.Retries})
		if fault.Is(err, fault.Stale) {
			continue
		}
		if err != nil {
			return poison, err
		}
		if last {
			poison = append(poison, moved)
		}
	}
	return poison, nil
}
