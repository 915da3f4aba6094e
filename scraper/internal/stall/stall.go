// Package stall is the watchdog of downloads: it notices a Job whose checkpoint
// has not moved for too long, stops it at its next checkpoint and requeues it,
// once; the next stall quarantines it (STALL). Time counts only while the Job's
// unit is under way and nothing holds it back. The package starts no process, asks
// no Site, deletes nothing and raises no pacing (STALL-5, JOB-7).
package stall

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/checkpoint"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/source"
)

// Every is how often the work loop looks.
const Every = 30 * time.Second

// Least is the least time without progress that is a stall, and margin what a
// chapter is granted beyond its Site's own delay (STALL-1).
const (
	Least  = 15 * time.Minute
	margin = 3 * time.Minute
)

// longestLook bounds what one look may count: a machine that slept, or a loop that
// could not run, saw nothing of the time between.
const longestLook = 2 * Every

// maxStalls is how often a Job is requeued by itself before it is quarantined.
const maxStalls = 1

// Limit is how long a Job of a Site may go without progress.
func Limit(site source.Site) time.Duration {
	return max(Least, max(site.Pacing, site.ListPacing)+margin)
}

// Store keeps the Jobs.
type Store interface {
	// UnderWay lists the Jobs of a Site whose unit of work has begun and not ended.
	UnderWay(ctx context.Context, site string) ([]job.Job, error)
	// DownloadsHeld reports whether a Hold stops all downloads, or the Site's circuit its.
	DownloadsHeld(ctx context.Context, site string) (bool, error)
	// RecordStall moves a Job and counts its stall, if it is still in the state j
	// holds; class stale otherwise.
	RecordStall(ctx context.Context, j job.Job, to job.State, reason string) (job.Job, error)
}

// Watch is the watchdog. It is for the one goroutine of the work loop.
type Watch struct {
	// Library is the library root, under which the checkpoints lie.
	Library string
	Store   Store
	// Sites are those whose Lanes are worked here now.
	Sites func() []source.Site
	// Stop tells the unit of a Job to end at its next checkpoint.
	Stop func(site string, jobID int64)
	// Stalled hears of each stall, after the Job was moved; nil hears of none.
	Stalled func(ctx context.Context, s Stall)
	Log     *zap.Logger

	seen map[int64]sight
}

// Stall is one stall, as it is recorded (STALL-4).
type Stall struct {
	Job job.Job
	// Fingerprint is of the checkpoint that did not move.
	Fingerprint string
	// Idle is how long it had not.
	Idle time.Duration
}

// sight is what was seen of a Job.
type sight struct {
	fingerprint string
	// idle counts the time without progress; looked is when it was counted up to.
	idle   time.Duration
	looked time.Time
	// held is true when the time after looked does not count.
	held bool
}

// Look looks at every Job that is under way and recovers those that stalled.
func (w *Watch) Look(ctx context.Context, now time.Time) {
	seen := map[int64]sight{}
	for _, site := range w.Sites() {
		jobs, err := w.Store.UnderWay(ctx, site.Key)
		held := false
		if err == nil {
			held, err = w.Store.DownloadsHeld(ctx, site.Key)
		}
		if err != nil {
			w.Log.Warn("the watchdog could not look", zap.String("site", site.Key), zap.Error(err))
			w.keep(seen)
			continue
		}
		for _, j := range jobs {
			if j.State != job.Downloading {
				continue
			}
			if s, ok := w.look(ctx, site, j, held, now); ok {
				seen[j.ID] = s
			}
		}
	}
	w.seen = seen
}

// keep keeps what was seen before, with the time up to the next look not counted.
func (w *Watch) keep(seen map[int64]sight) {
	for id, s := range w.seen {
		if _, ok := seen[id]; !ok {
			s.held = true
			seen[id] = s
		}
	}
}

// look judges one Job. ok is false when there is nothing to remember of it: only a
// checkpoint that can be read is evidence (STALL-3).
func (w *Watch) look(ctx context.Context, site source.Site, j job.Job, held bool, now time.Time) (sight, bool) {
	c, readable := checkpoint.Load(checkpoint.Path(w.Library, site, j.Key))
	if !readable || c.JobID != j.ID {
		return sight{}, false
	}
	s := sight{fingerprint: c.Fingerprint(), looked: now, held: held}
	before, known := w.seen[j.ID]
	if !known || before.fingerprint != s.fingerprint {
		return s, true
	}
	s.idle = before.idle
	if !before.held && !held {
		s.idle += min(max(now.Sub(before.looked), 0), longestLook)
	}
	if s.idle < Limit(site) {
		return s, true
	}
	return s, !w.recover(ctx, Stall{j, s.fingerprint, s.idle})
}

// recover moves the Job first and then tells its unit, which says nothing of it.
// It reports whether the stall is dealt with; if not, the next look tries again.
func (w *Watch) recover(ctx context.Context, s Stall) bool {
	to := job.Queued
	if s.Job.Stalls >= maxStalls {
		to = job.Quarantined
	}
	reason := fmt.Sprintf("nothing was completed for %s", s.Idle.Round(time.Second))
	moved, err := w.Store.RecordStall(ctx, s.Job, to, reason)
	if fault.Is(err, fault.Stale) {
		return true
	}
	if err != nil {
		w.Log.Warn("a stall could not be recorded", zap.Int64("job", s.Job.ID), zap.Error(err))
		return false
	}
	w.Stop(moved.Key.Site, moved.ID)
	s.Job = moved
	w.Log.Warn("stall", zap.Int64("job", moved.ID), zap.Stringer("series", moved.Key), zap.String("to", string(moved.State)), zap.Duration("idle", s.Idle))
	if w.Stalled != nil {
		w.Stalled(ctx, s)
	}
	return true
}
