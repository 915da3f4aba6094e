package queue_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mangrove/internal/fault"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

// known is what the model says of one Job.
type known struct {
	state, resumeTo job.State
	series          string
}

// TestModelOfActs lets an operator and a Lane act on the same Jobs in any order:
// every step is an allowed transition, an act done twice is done once, a Series
// has one outstanding Job at most, and a paused Job goes on where it was.
func TestModelOfActs(t *testing.T) {
	db := store.New(pgtest.Pool(t, pgtest.New(t).Scraper, store.Schema, nil))
	ctx, round := t.Context(), 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		site := fmt.Sprintf("s%d", round)
		jobs, outstanding := map[int64]known{}, map[string]int64{}
		var ids []int64
		note := func(j queue.Acted) {
			if _, ok := jobs[j.ID]; !ok {
				ids = append(ids, j.ID)
			}
			jobs[j.ID] = known{j.State, j.ResumeTo, j.Key.SeriesID}
			if j.State.Outstanding() {
				outstanding[j.Key.SeriesID] = j.ID
			} else if outstanding[j.Key.SeriesID] == j.ID {
				delete(outstanding, j.Key.SeriesID)
			}
		}
		one := func(t *rapid.T) (int64, known) {
			if len(ids) == 0 {
				t.Skip("no Job yet")
			}
			id := rapid.SampledFrom(ids).Draw(t, "job")
			return id, jobs[id]
		}
		read := func(t *rapid.T, id int64) queue.Acted {
			j, err := db.JobByID(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			return j
		}
		t.Repeat(map[string]func(*rapid.T){
			"request": func(t *rapid.T) {
				series := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "series")
				asked, err := db.RequestJob(ctx, source.Key{Site: site, SeriesID: series}, rapid.Bool().Draw(t, "unattended"))
				if _, has := outstanding[series]; err != nil || asked == has {
					t.Fatalf("a request beside an outstanding Job (%v) was taken: %v, %v", has, asked, err)
				}
				j, _, err := db.LatestJob(ctx, source.Key{Site: site, SeriesID: series})
				if err != nil {
					t.Fatal(err)
				}
				note(read(t, j.ID))
			},
			"the Lane works": func(t *rapid.T) {
				id, was := one(t)
				to := job.Transitions()[was.state]
				if len(to) == 0 {
					return
				}
				c := job.Change{To: rapid.SampledFrom(to).Draw(t, "to")}
				if c.To == job.RetryWait {
					c.RetryAt = time.Now()
				}
				if other, has := outstanding[was.series]; has && other != id && c.To.Outstanding() {
					return
				}
				if _, err := db.Move(ctx, read(t, id).Job, c); err != nil {
					t.Fatal(err)
				}
				note(read(t, id))
			},
			"an act": func(t *rapid.T) {
				id, was := one(t)
				act := rapid.SampledFrom(queue.Acts()).Draw(t, "act")
				done, err := queue.Do(ctx, db, act, id)
				other, has := outstanding[was.series]
				if act == queue.Retry && has && other != id && (was.state == job.Unavailable || was.state == job.Quarantined || was.state == job.Done) {
					if !fault.Is(err, fault.Conflict) {
						t.Fatalf("retry of Job %d beside Job %d: %+v, %v", id, other, done, err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				now := done.Job
				if now.ID == id {
					if now.State != was.state && !job.Allowed(was.state, now.State) || done.Changed != (now.State != was.state) {
						t.Fatalf("%s: %s to %s, changed %v", act, was.state, now.State, done.Changed)
					}
				} else if act != queue.Retry || was.state.Outstanding() || done.Changed == has {
					t.Fatalf("%s of Job %d, which is %s, answers Job %d (changed %v)", act, id, was.state, now.ID, done.Changed)
				}
				if act == queue.Pause && done.Changed {
					want := job.Requested
					if was.state == job.Queued || was.state == job.Downloading {
						want = job.Queued
					}
					if now.ResumeTo != want {
						t.Fatalf("paused while %s it goes on as %s", was.state, now.ResumeTo)
					}
				}
				if act == queue.Resume && done.Changed && was.resumeTo != "" && now.State != was.resumeTo {
					t.Fatalf("resumed to %s, want %s", now.State, was.resumeTo)
				}
				note(now)
				if act == queue.Retry && now.ID != id {
					return
				}
				again, err := queue.Do(ctx, db, act, id)
				if err != nil || again.Changed || again.Job.State != now.State {
					t.Fatalf("%s twice: %+v, %v", act, again, err)
				}
			},
			"all that is ready or quarantined": func(t *rapid.T) {
				act := rapid.SampledFrom([]queue.Act{queue.Start, queue.Retry}).Draw(t, "act")
				if _, err := queue.DoAll(ctx, db, act, time.Now().Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
				for _, id := range ids {
					now := read(t, id)
					if was := jobs[id].state; now.State != was && !job.Allowed(was, now.State) {
						t.Fatalf("%s for all: %s to %s", act, was, now.State)
					}
					note(now)
				}
			},
			"": func(t *rapid.T) {
				for _, id := range ids {
					if now := read(t, id); now.State != jobs[id].state {
						t.Fatalf("Job %d is %s, want %s", id, now.State, jobs[id].state)
					}
				}
			},
		})
	})
}

func TestAbout(t *testing.T) {
	t.Parallel()
	own, site := queue.Files{Chapters: 2, Pages: 30, Bytes: 30_000}, queue.Files{Chapters: 10, Pages: 400, Bytes: 800_000}
	for _, tt := range []struct {
		name                         string
		chapters, counted, uncounted int
		own, site                    queue.Files
		want                         queue.Estimate
	}{
		{"by its own chapters", 4, 12, 3, own, site, queue.Estimate{Chapters: 4, Pages: 57, Bytes: 57_000}},
		{"by its Site's", 2, 0, 2, queue.Files{}, site, queue.Estimate{Chapters: 2, Pages: 80, Bytes: 160_000}},
		{"by nothing", 3, 5, 2, queue.Files{}, queue.Files{}, queue.Estimate{Chapters: 3, Pages: 45}},
		{"nothing to come", 0, 0, 0, own, site, queue.Estimate{}},
	} {
		if got := queue.About(tt.chapters, tt.counted, tt.uncounted, tt.own, tt.site); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
