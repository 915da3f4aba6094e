package job_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/checkpoint"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
)

// TestPoison: the second crash within an hour at the same place quarantines the
// Job, and nothing else does (JOB-12).
func TestPoison(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 12, 1, 3, 0, 0, 0, time.UTC)
	type crash struct {
		after    time.Duration
		pages    int  // what the checkpoint says then; -1 is no checkpoint
		idle     bool // the Lane was doing something else
		retried  bool // an operator's Retry came before it
		poisoned bool
	}
	tests := []struct {
		name    string
		crashes []crash
	}{
		{"twice at the same place", []crash{{pages: 4}, {after: time.Minute, pages: 4, poisoned: true}}},
		{"twice before there was a checkpoint", []crash{{pages: -1}, {after: time.Minute, pages: -1, poisoned: true}}},
		{"a page came between", []crash{{pages: 4}, {after: time.Minute, pages: 5}}},
		{"a page came between, then nothing", []crash{{pages: 4}, {after: time.Minute, pages: 5}, {after: 2 * time.Minute, pages: 5, poisoned: true}}},
		{"59:59 apart", []crash{{pages: 4}, {after: time.Hour - time.Second, pages: 4, poisoned: true}}},
		{"an hour apart", []crash{{pages: 4}, {after: time.Hour, pages: 4}}},
		{"the Lane was polling", []crash{{pages: 4, idle: true}, {after: time.Minute, pages: 4, idle: true}}},
		{"a person asked for another try", []crash{{pages: 4}, {after: time.Minute, pages: 4, retried: true}, {after: 2 * time.Minute, pages: 4, poisoned: true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			if err := w.db.EnsureLane(t.Context(), "t"); err != nil {
				t.Fatal(err)
			}
			w.inspected(t)
			site := w.adapter.Site()
			for i, c := range tt.crashes {
				if c.retried {
					if err := w.db.RetryChapters(t.Context(), w.job(t).ID); err != nil {
						t.Fatal(err)
					}
				}
				activity := lane.Downloading
				if c.idle {
					activity = lane.Polling
				}
				if err := w.db.SetActivity(t.Context(), "t", activity, key.SeriesID); err != nil {
					t.Fatal(err)
				}
				j, err := w.db.Move(t.Context(), w.job(t), job.Change{To: job.Downloading})
				if err != nil {
					t.Fatal(err)
				}
				if c.pages >= 0 {
					err := checkpoint.Save(checkpoint.Path(w.library, site, key), checkpoint.Checkpoint{JobID: j.ID, Site: "t", SeriesID: "s", Chapter: "1", PagesDone: c.pages})
					if err != nil {
						t.Fatal(err)
					}
				}
				poison, err := job.AfterCrash(t.Context(), w.db, w.library, site, start.Add(c.after))
				if err != nil {
					t.Fatal(err)
				}
				got := w.job(t)
				if (len(poison) == 1) != c.poisoned || (got.State == job.Quarantined) != c.poisoned {
					t.Fatalf("crash %d: poison %v, the Job is %s; want poisoned %v", i+1, poison, got.State, c.poisoned)
				}
				if d := cmp.Diff([]int{0, 0}, []int{got.Retries, got.Stalls}); d != "" {
					t.Errorf("a crash was counted as a retry or a stall:\n%s", d)
				}
				if c.poisoned {
					if got.Class != fault.Unknown || got.Reason == "" {
						t.Errorf("class %q, reason %q", got.Class, got.Reason)
					}
					return
				}
				if n, err := w.db.RecoverJobs(t.Context(), []string{"t"}); n != 1 || err != nil {
					t.Fatal(n, err)
				}
			}
		})
	}
}

// TestAKilledStartIsNoSecondCrash: the crash is recorded once, whatever happens to
// the start that recorded it (JOB-12, F16).
func TestAKilledStartIsNoSecondCrash(t *testing.T) {
	t.Parallel()
	w := setup(t)
	if err := w.db.EnsureLane(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	w.inspected(t)
	if err := w.db.SetActivity(t.Context(), "t", lane.Downloading, key.SeriesID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.db.Move(t.Context(), w.job(t), job.Change{To: job.Downloading}); err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 12, 1, 3, 0, 0, 0, time.UTC)
	for i := range 5 {
		// Killed before what was under way is put back.
		poison, err := job.AfterCrash(t.Context(), w.db, w.library, w.adapter.Site(), start.Add(time.Duration(i)*time.Second))
		if err != nil || len(poison) != 0 {
			t.Fatalf("start %d: poison %v, %v", i+1, poison, err)
		}
	}
	if n, err := w.db.RecoverJobs(t.Context(), []string{"t"}); n != 1 || err != nil || w.job(t).State != job.Queued {
		t.Errorf("recovered %d, %v; the Job is %s", n, err, w.job(t).State)
	}
}
