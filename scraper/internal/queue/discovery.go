package queue

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/source"
)

// Why says why the discovery passed a Series over (JOB-9).
type Why string

// The reasons. Failed is our own database or a Series that could not be looked at.
const (
	WhyOutstanding Why = "outstanding"
	WhyUnavailable Why = "unavailable"
	WhyQuarantined Why = "quarantined"
	WhyFailed      Why = "failed"
)

// Whys lists every reason once.
func Whys() []Why { return []Why{WhyOutstanding, WhyUnavailable, WhyQuarantined, WhyFailed} }

// DiscoveryEnd says why a discovery ended.
type DiscoveryEnd string

// The ends. Without a current Inventory nothing is looked at: what the library
// lacks is not known then, and a chapter would be fetched twice.
const (
	DiscoveryComplete    DiscoveryEnd = "complete"
	DiscoveryNoInventory DiscoveryEnd = "no_inventory"
	DiscoveryStopped     DiscoveryEnd = "stopped"
)

// DiscoveryEnds lists every end once.
func DiscoveryEnds() []DiscoveryEnd {
	return []DiscoveryEnd{DiscoveryComplete, DiscoveryNoInventory, DiscoveryStopped}
}

// Candidate is a Series marked "download new chapters" of which the library lacks
// a chapter.
type Candidate struct {
	Key       source.Key
	Languages []string
	// Latest is its outstanding Job or else its latest; ID 0 is none.
	Latest job.Job
}

// Skip is a Series that a discovery passed over.
type Skip struct {
	Key source.Key
	Why Why
	// JobID is the Job that stands in the way; 0 is none.
	JobID int64
}

// Discovered is what one discovery did.
type Discovered struct {
	Started, Ended time.Time
	End            DiscoveryEnd
	// LookedAt counts the Series marked for download that lack a chapter, Requested
	// the Jobs that were requested for them.
	LookedAt, Requested int
	Skipped             []Skip
}

// DiscoveryStore is what a discovery reads and writes.
type DiscoveryStore interface {
	Store
	// Candidates lists Series marked for download that lack a chapter.
	Candidates(ctx context.Context) ([]Candidate, error)
	// Languages lists those of the chapters the Site lists now.
	Languages(ctx context.Context, key source.Key) ([]string, error)
	// DefaultLanguages are those a Follow wants when it names none; may be none.
	DefaultLanguages(ctx context.Context) ([]string, error)
	// Lacking lists the chapters a Series has and the library, as it was looked at
	// for this, lacks.
	Lacking(ctx context.Context, at inventory.Snapshot, key source.Key) ([]source.Chapter, error)
	// SaveDiscovery keeps the row of one, and the newest thirty.
	SaveDiscovery(ctx context.Context, d Discovered) error
	// LastDiscovery is when the newest one began; zero before the first.
	LastDiscovery(ctx context.Context) (time.Time, error)
	// DiscoveryAt is the time of day it begins, "HH:MM", or "" for never.
	DiscoveryAt(ctx context.Context) (string, error)
}

// Discovery looks once a night for chapters that are to be downloaded and that no
// Poll has asked for: those of a follow that was marked later, of a Job that was
// cancelled, of a chapter that is listed otherwise now (JOB-9). It asks no Site.
type Discovery struct {
	Store DiscoveryStore
	// Current waits for a look at the library that begins after it was asked for.
	Current func(ctx context.Context) (inventory.Snapshot, error)
	// Languages are those a Site's Series want when their follow names none.
	Languages func(site string) []string
	// Wake makes a Site's Lane look for work.
	Wake func(site string)
	Log  *zap.Logger
}

// RunIfDue runs the discovery when its time of day has come since the last one
// began; one that was missed while nothing ran is made up for.
func (d *Discovery) RunIfDue(ctx context.Context, now time.Time) error {
	at, err := d.Store.DiscoveryAt(ctx)
	if err != nil {
		return err
	}
	due, ok := LastTime(at, now)
	if !ok {
		return nil
	}
	last, err := d.Store.LastDiscovery(ctx)
	if err != nil || !last.Before(due) {
		return err
	}
	_, err = d.Run(ctx)
	return err
}

// LastTime is when the time of day at, "HH:MM", came last before or at now; ok is
// false when at is no time of day.
func LastTime(at string, now time.Time) (t time.Time, ok bool) {
	clock, err := time.Parse("15:04", at)
	if err != nil {
		return time.Time{}, false
	}
	t = time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, now.Location())
	if t.After(now) {
		t = time.Date(now.Year(), now.Month(), now.Day()-1, clock.Hour(), clock.Minute(), 0, 0, now.Location())
	}
	return t, true
}

// inventoryPatience bounds the wait for a look at the library: hours of one would
// keep everything else of the work loop waiting.
const inventoryPatience = 2 * time.Minute

// Run looks now, whatever the time.
func (d *Discovery) Run(ctx context.Context) (Discovered, error) {
	out := Discovered{Started: time.Now(), End: DiscoveryComplete}
	err := d.run(ctx, &out)
	out.Ended = time.Now()
	if ctx.Err() != nil {
		out.End = DiscoveryStopped
	}
	if err != nil && ctx.Err() == nil {
		return out, err
	}
	d.Log.Info("discovery", zap.String("end", string(out.End)), zap.Int("looked_at", out.LookedAt), zap.Int("requested", out.Requested), zap.Int("skipped", len(out.Skipped)))
	return out, d.Store.SaveDiscovery(context.WithoutCancel(ctx), out)
}

// wanted are the languages in which a Series is to be downloaded.
func (d *Discovery) wanted(ctx context.Context, c Candidate) ([]string, error) {
	if len(c.Languages) > 0 {
		return c.Languages, nil
	}
	chosen, err := d.Store.DefaultLanguages(ctx)
	if err != nil {
		return nil, err
	}
	listed, err := d.Store.Languages(ctx, c.Key)
	return job.ByDefault(chosen, listed, d.Languages(c.Key.Site)), err
}

func (d *Discovery) run(ctx context.Context, out *Discovered) error {
	wait, cancel := context.WithTimeout(ctx, inventoryPatience)
	at, err := d.Current(wait)
	cancel()
	if err != nil {
		if ctx.Err() == nil {
			out.End = DiscoveryNoInventory
			d.Log.Warn("the discovery does not know what the library holds", zap.Error(err))
		}
		return nil
	}
	candidates, err := d.Store.Candidates(ctx)
	if err != nil {
		return err
	}
	woken := map[string]bool{}
	for _, c := range candidates {
		if ctx.Err() != nil {
			return nil
		}
		languages, err := d.wanted(ctx, c)
		var lacking []source.Chapter
		if err == nil {
			lacking, err = d.Store.Lacking(ctx, at, c.Key)
		}
		if err == nil && len(job.Wanted(lacking, languages)) == 0 {
			continue
		}
		out.LookedAt++
		if err == nil {
			if why, ok := InTheWay(c.Latest); ok {
				out.Skipped = append(out.Skipped, Skip{c.Key, why, c.Latest.ID})
				continue
			}
			var asked bool
			if asked, err = d.Store.RequestJob(ctx, c.Key, true); err == nil && asked {
				out.Requested++
				woken[c.Key.Site] = true
				continue
			}
		}
		if err != nil {
			// One Series' trouble is its own.
			d.Log.Warn("a Series could not be looked at", zap.Stringer("series", c.Key), zap.Error(err))
			out.Skipped = append(out.Skipped, Skip{c.Key, WhyFailed, 0})
			continue
		}
		out.Skipped = append(out.Skipped, Skip{c.Key, WhyOutstanding, 0})
	}
	for site := range woken {
		d.Wake(site)
	}
	return nil
}

// InTheWay says why the latest Job of a Series keeps a new one from being requested
// by itself: an outstanding one is enough, and one that was set aside waits for a
// person (JOB-9).
func InTheWay(latest job.Job) (Why, bool) {
	switch {
	case latest.ID == 0:
		return "", false
	case latest.State.Outstanding():
		return WhyOutstanding, true
	case latest.State == job.Unavailable:
		return WhyUnavailable, true
	case latest.State == job.Quarantined:
		return WhyQuarantined, true
	}
	return "", false
}

// words says in one line what is in the way.
func words(why Why, j job.Job) string {
	if why == WhyOutstanding {
		return fmt.Sprintf("Job %d is under way (%s)", j.ID, j.State)
	}
	return fmt.Sprintf("Job %d is %s: %s", j.ID, j.State, j.Reason)
}

// CheckTime returns nil when at is a time of day, "HH:MM", or "": class invalid
// otherwise.
func CheckTime(at string) error {
	if at == "" {
		return nil
	}
	if _, err := time.Parse("15:04", at); err != nil || len(at) != len("15:04") {
		return fault.Newf(fault.Invalid, "set", "the discovery", "%q is no time of day such as 03:00", at)
	}
	return nil
}
