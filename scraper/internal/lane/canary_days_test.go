package lane_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/canary"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/source"
)

// observed is a Site with one known Series, and the runner of its page lists.
type observed struct {
	calendar
	mu    sync.Mutex
	lists []time.Time
	// chapters is how many there are, pages what a page list yields.
	chapters int
	pages    func(at time.Time) ([]source.Page, error)
}

func (*observed) Site() source.Site {
	return source.Site{Key: "t", Name: "Test", Hosts: []string{"t"}, Pacing: time.Second, Canary: "known"}
}

func (o *observed) Series(ctx context.Context, f source.Fetcher, ask source.Ask) (source.Reading, error) {
	r, err := o.calendar.Series(ctx, f, ask)
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(r.Chapters) < o.chapters && err == nil {
		id := string(rune('1' + len(r.Chapters)))
		r.Chapters = append(r.Chapters, source.Chapter{ID: id, URL: "http://t/c/" + id})
	}
	return r, err
}

func (*observed) Stop(int64)                             {}
func (*observed) Inspect(context.Context, job.Job) error { return nil }
func (*observed) Step(context.Context, job.Job) error    { return nil }
func (o *observed) PageList(context.Context, source.Key, source.Chapter) ([]source.Page, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lists = append(o.lists, time.Now())
	return o.pages(time.Now())
}

// twoPages is a page list as it should be.
func twoPages(time.Time) ([]source.Page, error) {
	return []source.Page{{URL: "http://t/1.png", Identity: "1"}, {URL: "http://t/2.png", Identity: "2"}}, nil
}

// world is a Lane with a canary, in virtual time.
type world struct {
	*memory
	site *observed
	stop func()
}

// watch starts a Lane whose one followed Series is polled every two weeks, so that
// what is asked in between is the canary's.
func watch(t *testing.T, answer func(string, time.Time) error, pages func(time.Time) ([]source.Page, error)) *world {
	t.Helper()
	w := &world{
		memory: &memory{
			series: map[string]*remembered{"followed": {next: time.Now().Add(14 * 24 * time.Hour), good: time.Now()}}, chosen: lane.MostChosen,
			circuit: circuit.Circuit{Site: "t", State: circuit.Closed, Since: time.Now()},
			plan:    lane.CanaryPlan{Canary: canary.Canary{Site: "t", State: canary.Untried}, Every: canary.Every, Followed: true},
			known:   canary.Known{Key: source.Key{Site: "t", SeriesID: "known"}, URL: "http://t/known", Declared: true},
		},
		site: &observed{calendar: calendar{asked: map[string][]time.Time{}, answer: answer}, pages: pages, chapters: 4},
	}
	w.start(t)
	return w
}

// start begins a Lane anew over what is remembered, as a restart does.
func (w *world) start(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	l := lane.New(lane.Options{Adapter: w.site, Store: w.memory, Queue: w.memory, Runner: w.site, Hub: live.NewHub(), Gate: &lane.Gate{}, Log: zap.NewNop()})
	go func() { l.Run(ctx); close(done) }()
	w.stop = func() { cancel(); <-done }
}

// trials are when the known Series was asked for.
func (w *world) trials() []time.Time {
	w.site.calendar.mu.Lock()
	defer w.site.calendar.mu.Unlock()
	return w.site.calendar.asked["known"]
}

func (w *world) state() canary.Canary {
	w.memory.mu.Lock()
	defer w.memory.mu.Unlock()
	return w.plan.Canary
}

func fine(string, time.Time) error { return nil }

func TestCanaryTriesOnceADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w := watch(t, fine, twoPages)
		time.Sleep(10 * 24 * time.Hour)
		w.stop()
		at := w.trials()
		if len(at) < 9 || len(at) > 11 || len(at) != len(w.site.lists) {
			t.Fatalf("%d trials and %d page lists in ten days, want about ten of each", len(at), len(w.site.lists))
		}
		if first := at[0].Sub(start); first < 54*time.Minute || first > 70*time.Minute {
			t.Errorf("the first trial comes after %v, want about an hour", first)
		}
		for i := 1; i < len(at); i++ {
			if gap := at[i].Sub(at[i-1]); gap < 21*time.Hour+30*time.Minute || gap > 26*time.Hour+30*time.Minute {
				t.Errorf("%v between two trials, want a day and a little jitter", gap)
			}
		}
		if c := w.state(); c.State != canary.Well || c.Chapters != 4 || c.ChapterID != "1" || w.writes != 0 {
			t.Errorf("%+v after good trials, with %d writes about Series", c, w.writes)
		}
	})
}

// One bad trial is doubt, the second in a row, an hour later, is a belief; a good one
// ends both. Nothing of it touches a Series or the circuit.
func TestCanaryBelievesASecondBadTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		broken := func(_ string, at time.Time) error {
			if d := at.Sub(start); d > 48*time.Hour && d < 96*time.Hour {
				return source.Unparsed("u", "scripted")
			}
			return nil
		}
		w := watch(t, broken, twoPages)
		time.Sleep(48 * time.Hour)
		var was []canary.Canary
		for range 7 * 24 * 60 {
			time.Sleep(time.Minute)
			if c := w.state(); len(was) == 0 || was[len(was)-1].State != c.State {
				was = append(was, c)
			}
		}
		w.stop()
		var states []canary.State
		for _, c := range was {
			states = append(states, c.State)
		}
		if len(was) != 4 || was[1].State != canary.Doubtful || was[2].State != canary.Failing || was[3].State != canary.Well {
			t.Fatalf("the states were %v, want well, doubtful, failing, well", states)
		}
		if gap := was[2].Ran.Sub(was[1].Ran); gap < 54*time.Minute || gap > 67*time.Minute {
			t.Errorf("the second trial came after %v, want an hour", gap)
		}
		if !was[2].FailingSince.Equal(was[1].Ran) || was[2].Evidence == "" || was[2].Outcome != canary.Errors || was[3].Evidence != "" || !was[3].FailingSince.IsZero() {
			t.Errorf("failing %+v, then %+v", was[2], was[3])
		}
		if w.writes != 0 || w.circuit.State != circuit.Closed || w.trouble != lane.NoTrouble {
			t.Errorf("%d writes about Series, circuit %s, trouble %q", w.writes, w.circuit.State, w.trouble)
		}
	})
}

// A Site that is away says nothing of its adapter, and a refusal pauses the Lane as
// any refusal does: nothing is asked after it.
func TestCanaryTakesAnAwaySiteForNoBreak(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   error
		state circuit.State
		most  int
	}{
		{"no answer", fault.Newf(fault.Network, "get", "u", "connection refused").WithEvidence(fault.NoRead), circuit.Closed, 8},
		{"status 502", fault.Newf(fault.Network, "get", "u", "status 502").WithEvidence(fault.Answered), circuit.Closed, 8},
		{"status 403", fault.Newf(fault.Access, "get", "u", "status 403").WithEvidence(fault.Answered), circuit.Paused, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				away := func(_ string, at time.Time) error {
					if at.Sub(start) > 20*time.Hour {
						return tt.err
					}
					return nil
				}
				w := watch(t, away, twoPages)
				time.Sleep(6 * 24 * time.Hour)
				w.stop()
				c := w.state()
				if c.State != canary.Well || c.Outcome != canary.OK || c.Good.Sub(start) > 20*time.Hour {
					t.Errorf("%+v", c)
				}
				if n := len(w.trials()); n > tt.most || n < 2 {
					t.Errorf("asked %d times in six days", n)
				}
				if w.circuit.State != tt.state || w.writes != 0 {
					t.Errorf("the circuit is %s, %d writes", w.circuit.State, w.writes)
				}
			})
		})
	}
}

// A page without its landmark may be maintenance: a day has to pass before it is a break.
func TestCanaryWaitsOutMaintenance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w := watch(t, func(_ string, at time.Time) error {
			if d := at.Sub(start); d > 30*time.Minute && d < 20*time.Hour {
				return source.NoLandmark("u", "list")
			}
			return nil
		}, twoPages)
		time.Sleep(12 * time.Hour)
		if c := w.state(); c.State != canary.Doubtful || c.Outcome != canary.NoLandmark || len(w.trials()) != 1 {
			t.Errorf("in maintenance: %+v, %d trials", c, len(w.trials()))
		}
		time.Sleep(24 * time.Hour)
		w.stop()
		if c := w.state(); c.State != canary.Well {
			t.Errorf("after it: %+v", c)
		}
	})
}

func TestCanaryOfNobodyAsksNothing(t *testing.T) {
	for name, plan := range map[string]func(*lane.CanaryPlan){
		"nobody follows": func(p *lane.CanaryPlan) { p.Followed = false },
		"never chosen":   func(p *lane.CanaryPlan) { p.Every = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watch(t, fine, twoPages)
				w.memory.mu.Lock()
				plan(&w.plan)
				w.memory.mu.Unlock()
				time.Sleep(5 * 24 * time.Hour)
				w.stop()
				if n := len(w.site.calendar.all) + len(w.site.lists); n != 0 {
					t.Errorf("asked %d times", n)
				}
			})
		})
	}
}

// The schedule is kept over restarts: a scraper that starts anew every hour tries as
// rarely as any.
func TestCanaryKeepsItsScheduleOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, fine, twoPages)
		for range 5 * 24 {
			time.Sleep(time.Hour)
			w.stop()
			w.start(t)
		}
		w.stop()
		if n := len(w.trials()); n < 4 || n > 6 {
			t.Errorf("%d trials in five days of restarts, want about five", n)
		}
	})
}

// A trial whose end could not be written is made again, an hour later and not over and
// over, and the one after it counts once: whatever is cut off, nothing is half recorded.
func TestCanaryRepeatsATrialThatWasNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, func(string, time.Time) error { return source.Unparsed("u", "scripted") }, twoPages)
		time.Sleep(10 * time.Minute)
		w.memory.mu.Lock()
		w.broken = true
		w.memory.mu.Unlock()
		time.Sleep(6 * time.Hour)
		if c, n := w.state(), len(w.trials()); n < 4 || n > 6 || c.State != canary.Untried {
			t.Fatalf("%d trials in six hours in which nothing can be written: %+v", n, c)
		}
		w.memory.mu.Lock()
		w.broken = false
		w.memory.mu.Unlock()
		time.Sleep(61 * time.Minute)
		w.stop()
		if c := w.state(); c.State != canary.Doubtful {
			t.Errorf("after one trial that was written: %+v", c)
		}
	})
}

// A refusal pauses the Lane though nothing else of the trial can be written.
func TestCanaryHeedsARefusalBeforeAllElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, func(string, time.Time) error {
			return fault.Newf(fault.Access, "get", "u", "status 403").WithEvidence(fault.Answered)
		}, twoPages)
		time.Sleep(10 * time.Minute)
		w.memory.mu.Lock()
		w.broken = true
		w.memory.mu.Unlock()
		time.Sleep(48 * time.Hour)
		w.stop()
		if n := len(w.trials()); n != 1 || w.circuit.State != circuit.Paused {
			t.Errorf("%d requests, the circuit is %s", n, w.circuit.State)
		}
	})
}

// What a broken page list is like, and that a list which stays short is believed.
func TestCanaryKnowsWhatABreakIsLike(t *testing.T) {
	none := func(time.Time) ([]source.Page, error) { return nil, nil }
	for _, tt := range []struct {
		name     string
		pages    func(time.Time) ([]source.Page, error)
		chapters int
		want     canary.Outcome
		state    canary.State
	}{
		{"no pages", none, 4, canary.NoPages, canary.Failing},
		{"an address that is none", func(time.Time) ([]source.Page, error) { return []source.Page{{URL: "/1.png", Identity: "1"}}, nil }, 4, canary.BadPages, canary.Failing},
		{"a host that is not the Site's", func(time.Time) ([]source.Page, error) {
			return []source.Page{{URL: "http://elsewhere/1.png", Identity: "1"}}, nil
		}, 4, canary.BadPages, canary.Failing},
		{"a page that is not understood", func(time.Time) ([]source.Page, error) { return nil, source.Unparsed("u", "scripted") }, 4, canary.Errors, canary.Failing},
		{"a chapter that is gone", func(time.Time) ([]source.Page, error) { return nil, fault.Newf(fault.Page, "read", "u", "gone") }, 4, canary.NoPages, canary.Failing},
		{"fewer chapters", twoPages, 1, canary.Fewer, canary.Failing},
		{"a chapter less", twoPages, 3, canary.OK, canary.Well},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				w := watch(t, fine, func(at time.Time) ([]source.Page, error) {
					if at.Sub(start) > 20*time.Hour {
						return tt.pages(at)
					}
					return twoPages(at)
				})
				time.Sleep(20 * time.Hour)
				w.site.mu.Lock()
				w.site.chapters = tt.chapters
				w.site.mu.Unlock()
				time.Sleep(30 * time.Hour)
				if c := w.state(); c.Outcome != tt.want || c.State != tt.state {
					t.Errorf("%+v, want %s, %s", c, tt.want, tt.state)
				}
				time.Sleep(9 * 24 * time.Hour)
				w.stop()
				if c := w.state(); tt.want == canary.Fewer && (c.State != canary.Well || c.Chapters != 1) {
					t.Errorf("a list that stayed short for more than a week: %+v", c)
				}
			})
		})
	}
}
