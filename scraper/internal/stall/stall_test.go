package stall

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/checkpoint"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/source"
)

// memory is the queue of one Site, as far as the watchdog sees it.
type memory struct {
	jobs   []job.Job
	held   bool
	broken bool
	moved  []job.Job
}

func (m *memory) UnderWay(context.Context, string) ([]job.Job, error) {
	if m.broken {
		return nil, errors.New("the database is away")
	}
	return m.jobs, nil
}
func (m *memory) DownloadsHeld(context.Context, string) (bool, error) { return m.held, nil }
func (m *memory) RecordStall(_ context.Context, j job.Job, to job.State, reason string) (job.Job, error) {
	for i := range m.jobs {
		if m.jobs[i].ID == j.ID && m.jobs[i].State == j.State {
			j.State, j.Stalls, j.Class, j.Reason = to, j.Stalls+1, fault.Stall, reason
			m.moved = append(m.moved, j)
			m.jobs = append(m.jobs[:i:i], m.jobs[i+1:]...)
			return j, nil
		}
	}
	return j, fault.Newf(fault.Stale, "move", "a Job", "moved")
}

// room is a watchdog over one Site, on virtual time.
type room struct {
	t     *testing.T
	store *memory
	watch *Watch
	site  source.Site
	stops int
	page  int
}

func (r *room) path() string {
	return checkpoint.Path(r.watch.Library, r.site, source.Key{Site: "s", SeriesID: "x"})
}

// completes writes the checkpoint as after another page.
func (r *room) completes() {
	r.t.Helper()
	r.page++
	if err := checkpoint.Save(r.path(), checkpoint.Checkpoint{JobID: 1, Site: "s", SeriesID: "x", Chapter: "c", PagesDone: r.page}); err != nil {
		r.t.Fatal(err)
	}
}

// pass lets d go by with the watchdog looking as the work loop does.
func (r *room) pass(d time.Duration) {
	end := time.Now().Add(d)
	for {
		r.watch.Look(r.t.Context(), time.Now())
		step := min(Every, time.Until(end))
		if step <= 0 {
			return
		}
		time.Sleep(step)
	}
}

func (r *room) states() (out []job.State) {
	for _, j := range r.store.moved {
		out = append(out, j.State)
	}
	return out
}

// again lets the Job go on after its recovery, as the queue does.
func (r *room) again() {
	j := r.store.moved[len(r.store.moved)-1]
	j.State = job.Downloading
	r.store.jobs = []job.Job{j}
}

func TestWatch(t *testing.T) {
	minute := time.Minute
	tests := []struct {
		name string
		site source.Site
		run  func(r *room)
		want []job.State
	}{
		{"14:59 without progress", source.Site{}, func(r *room) { r.completes(); r.pass(15*minute - time.Second) }, nil},
		{"fifteen minutes", source.Site{}, func(r *room) { r.completes(); r.pass(15 * minute) }, []job.State{job.Queued}},
		{"a page at 14:30", source.Site{}, func(r *room) {
			r.completes()
			r.pass(14*minute + 30*time.Second)
			r.completes()
			r.pass(14*minute + 30*time.Second)
		}, nil},
		{"the second stall quarantines", source.Site{}, func(r *room) {
			r.completes()
			r.pass(15 * minute)
			r.again()
			r.pass(15 * minute)
		}, []job.State{job.Queued, job.Quarantined}},
		{"a stall after an operator's Retry is the first again", source.Site{}, func(r *room) {
			r.completes()
			r.pass(15 * minute)
			r.again()
			r.store.jobs[0].Stalls = 0
			r.pass(15 * minute)
		}, []job.State{job.Queued, job.Queued}},
		{"a chapter delay of 12 minutes, at 14:59", source.Site{ListPacing: 12 * minute}, func(r *room) { r.completes(); r.pass(15*minute - time.Second) }, nil},
		{"a chapter delay of 12 minutes, at 15:00", source.Site{ListPacing: 12 * minute}, func(r *room) { r.completes(); r.pass(15 * minute) }, []job.State{job.Queued}},
		{"a chapter delay of 13 minutes, at 15:59", source.Site{ListPacing: 13 * minute}, func(r *room) { r.completes(); r.pass(16*minute - time.Second) }, nil},
		{"a chapter delay of 13 minutes, at 16:00", source.Site{ListPacing: 13 * minute}, func(r *room) { r.completes(); r.pass(16 * minute) }, []job.State{job.Queued}},
		{"pacing counts as the chapter delay", source.Site{Pacing: 20 * minute}, func(r *room) { r.completes(); r.pass(23*minute - time.Second) }, nil},
		{"held for two hours, then 14:59", source.Site{}, func(r *room) {
			r.completes()
			r.store.held = true
			r.pass(2 * time.Hour)
			r.store.held = false
			r.pass(15*minute - time.Second)
		}, nil},
		{"ten minutes, held for two hours, four minutes", source.Site{}, func(r *room) {
			r.completes()
			r.pass(10 * minute)
			r.store.held = true
			r.pass(2 * time.Hour)
			r.store.held = false
			r.pass(4 * minute)
		}, nil},
		{"ten minutes, held for two hours, six minutes", source.Site{}, func(r *room) {
			r.completes()
			r.pass(10 * minute)
			r.store.held = true
			r.pass(2 * time.Hour)
			r.store.held = false
			r.pass(6 * minute)
		}, []job.State{job.Queued}},
		{"no checkpoint is no evidence", source.Site{}, func(r *room) { r.pass(5 * time.Hour) }, nil},
		{"the checkpoint goes missing", source.Site{}, func(r *room) {
			r.completes()
			r.pass(14 * minute)
			if err := os.Remove(r.path()); err != nil {
				r.t.Fatal(err)
			}
			r.pass(time.Hour)
		}, nil},
		{"a torn checkpoint is no evidence", source.Site{}, func(r *room) {
			r.completes()
			if err := os.WriteFile(r.path(), []byte(`{"version":1,"job_id":1,`), 0o644); err != nil {
				r.t.Fatal(err)
			}
			r.pass(5 * time.Hour)
		}, nil},
		{"the checkpoint is another Job's", source.Site{}, func(r *room) {
			r.completes()
			r.store.jobs[0].ID = 2
			r.pass(5 * time.Hour)
		}, nil},
		{"it lies under the Site's own prefix", source.Site{WorkPrefix: "mangapill-"}, func(r *room) { r.completes(); r.pass(15 * minute) }, []job.State{job.Queued}},
		{"ready, paused and inspecting are no stall", source.Site{}, func(r *room) {
			r.completes()
			for _, s := range []job.State{job.Ready, job.Paused, job.Queued, job.RetryWait, job.Inspecting} {
				r.store.jobs[0].State = s
				r.pass(time.Hour)
			}
		}, nil},
		{"the machine slept for five hours", source.Site{}, func(r *room) {
			r.completes()
			r.pass(5 * minute)
			time.Sleep(5 * time.Hour)
			r.pass(8 * minute)
		}, nil},
		{"the database was away for an hour", source.Site{}, func(r *room) {
			r.completes()
			r.pass(10 * minute)
			r.store.broken = true
			r.pass(time.Hour)
			r.store.broken = false
			r.pass(4 * minute)
		}, nil},
		{"and five minutes more after it", source.Site{}, func(r *room) {
			r.completes()
			r.pass(10 * minute)
			r.store.broken = true
			r.pass(time.Hour)
			r.store.broken = false
			r.pass(6 * minute)
		}, []job.State{job.Queued}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				tt.site.Key = "s"
				r := &room{t: t, site: tt.site, store: &memory{jobs: []job.Job{{ID: 1, Key: source.Key{Site: "s", SeriesID: "x"}, State: job.Downloading}}}}
				recorded := 0
				r.watch = &Watch{
					Library: dir, Store: r.store, Sites: func() []source.Site { return []source.Site{tt.site} },
					Stop: func(string, int64) { r.stops++ }, Log: zap.NewNop(),
					Stalled: func(_ context.Context, s Stall) {
						recorded++
						if s.Fingerprint == "" || s.Idle < Limit(tt.site) || s.Job.Reason == "" || s.Job.Class != fault.Stall {
							t.Errorf("recorded %+v", s)
						}
					},
				}
				tt.run(r)
				if d := cmp.Diff(tt.want, r.states()); d != "" {
					t.Errorf("recoveries (-want +got):\n%s", d)
				}
				if r.stops != len(tt.want) || recorded != len(tt.want) {
					t.Errorf("%d stops and %d records of %d stalls", r.stops, recorded, len(tt.want))
				}
			})
		})
	}
}
