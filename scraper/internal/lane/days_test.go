package lane_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/canary"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// memory keeps a Lane's state where virtual time can pass: a socket to a database
// would hold it still. What the real store does is shown in package store.
type memory struct {
	mu      sync.Mutex
	series  map[string]*remembered
	circuit circuit.Circuit
	writes  int
	broken  bool
	passes  []lane.Pass
	// chosen is the operator's interval, trouble the Lane's.
	chosen  time.Duration
	trouble lane.Trouble
	// plan is the Lane's canary, known the Series it looks at.
	plan  lane.CanaryPlan
	known canary.Known
}

type remembered struct {
	next, forced, good time.Time
	failing            bool
}

func (m *memory) DueSeries(_ context.Context, site string, now time.Time, limit int) (out []lane.Due, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, r := range m.series {
		if !r.next.After(now) || !r.forced.IsZero() {
			out = append(out, lane.Due{Key: source.Key{Site: site, SeriesID: id}, URL: "http://t/" + id, Forced: !r.forced.IsZero(), Known: !r.good.IsZero()})
		}
	}
	slices.SortFunc(out, func(a, b lane.Due) int { return m.series[a.Key.SeriesID].next.Compare(m.series[b.Key.SeriesID].next) })
	return out[:min(len(out), limit)], nil
}

func (m *memory) NextDue(context.Context, string) (at time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.series {
		if at.IsZero() || r.next.Before(at) {
			at = r.next
		}
	}
	return at, nil
}

func (m *memory) Witness(_ context.Context, site string, except []string) (lane.Due, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, r := range m.series {
		if !r.good.IsZero() && !r.failing && !slices.Contains(except, id) {
			return lane.Due{Key: source.Key{Site: site, SeriesID: id}, URL: "http://t/" + id}, true, nil
		}
	}
	return lane.Due{}, false, nil
}

func (m *memory) set(id string, change func(*remembered)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return fault.Newf(fault.Unknown, "write", id, "scripted")
	}
	m.writes++
	change(m.series[id])
	return nil
}

func (m *memory) RecordGood(_ context.Context, d lane.Due, _ source.Reading, now, next time.Time, _ lane.NextReason) (lane.Good, error) {
	return lane.Good{}, m.set(d.Key.SeriesID, func(r *remembered) { *r = remembered{next: next, good: now} })
}

func (m *memory) RecordUnchanged(_ context.Context, reads []lane.Unchanged) error {
	for _, u := range reads {
		if err := m.set(u.Key.SeriesID, func(r *remembered) { *r = remembered{next: u.Next, good: u.At} }); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) RecordFailure(_ context.Context, key source.Key, _ poll.Outcome, _ time.Time) (bool, error) {
	return true, m.set(key.SeriesID, func(r *remembered) { r.failing = true })
}

func (m *memory) Advance(_ context.Context, key source.Key, next time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.series[key.SeriesID].next, m.series[key.SeriesID].forced = next, time.Time{}
	return nil
}

func (m *memory) Circuit(context.Context, string) (circuit.Circuit, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.circuit, nil
}

func (m *memory) MoveCircuit(_ context.Context, _, to circuit.Circuit) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.circuit = to
	return true, nil
}

func (m *memory) RecordPass(_ context.Context, p lane.Pass) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.passes = append(m.passes, p)
	return nil
}

func (*memory) Releases(context.Context, source.Key) ([]time.Time, error) { return nil, nil }
func (*memory) AdaptiveInterval(context.Context) (bool, error)            { return false, nil }
func (m *memory) PollInterval(context.Context, string) (time.Duration, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.chosen, nil
}
func (m *memory) SetTrouble(_ context.Context, _ string, t lane.Trouble, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trouble = t
	return nil
}
func (*memory) SetActivity(context.Context, string, lane.Activity, string) error {
	return nil
}
func (*memory) Propose(context.Context, source.Key, lane.Proposal, time.Time) error { return nil }
func (*memory) QuarantinedSince(context.Context, string, time.Time) ([]job.Job, error) {
	return nil, nil
}
func (*memory) SetHold(context.Context, string, string, time.Time) error    { return nil }
func (*memory) SaveCover(context.Context, source.Key, string, string) error { return nil }

func (m *memory) Canary(context.Context, string) (lane.CanaryPlan, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.plan, nil
}
func (m *memory) KnownSeries(context.Context, string, string) (canary.Known, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known, m.known.URL != "", nil
}
func (m *memory) MoveCanary(_ context.Context, from, to canary.Canary) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return false, fault.Newf(fault.Away, "reach", "the database", "scripted")
	}
	if m.plan.State != from.State || !m.plan.Next.Equal(from.Next) {
		return false, nil
	}
	m.plan.Canary = to
	return true, nil
}

// Next and the rest make it an empty queue.
func (*memory) Retrying(context.Context, string, time.Time) (job.Job, bool, error) {
	return job.Job{}, false, nil
}
func (*memory) Next(context.Context, string, time.Time) (job.Job, bool, error) {
	return job.Job{}, false, nil
}
func (*memory) NextRetry(context.Context, string) (time.Time, error) { return time.Time{}, nil }
func (*memory) Request(context.Context, source.Key) (string, error)  { return "", nil }

// calendar is a Site that notes when it was asked for what, and answers by rule.
type calendar struct {
	mu     sync.Mutex
	asked  map[string][]time.Time
	all    []time.Time
	answer func(id string, at time.Time) error
}

func (*calendar) Site() source.Site                       { return source.Site{Key: "t", Name: "Test", Pacing: time.Second} }
func (*calendar) Listed() []source.Series                 { return nil }
func (*calendar) Recognise(string) (string, string, bool) { return "", "", false }
func (*calendar) Address(string) string                   { return "" }
func (*calendar) Pages(context.Context, source.Fetcher, source.Key, source.Chapter) ([]source.Page, error) {
	return nil, nil
}

func (c *calendar) Series(_ context.Context, _ source.Fetcher, ask source.Ask) (source.Reading, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.asked[ask.SeriesID] = append(c.asked[ask.SeriesID], now)
	c.all = append(c.all, now)
	if err := c.answer(ask.SeriesID, now); err != nil {
		return source.Reading{}, err
	}
	return source.Reading{Series: source.Series{ID: ask.SeriesID, Title: "t"}, Chapters: []source.Chapter{{ID: "1", URL: "u"}}}, nil
}

// liveFor lets a Lane with these Series live for a while in virtual time.
func liveFor(t *testing.T, d time.Duration, ids []string, answer func(string, time.Time) error, during func(*memory, *lane.Lane)) (*calendar, *memory) {
	t.Helper()
	return liveLogged(t, zap.NewNop(), d, ids, answer, during)
}

// liveLogged is liveFor with a log.
func liveLogged(t *testing.T, log *zap.Logger, d time.Duration, ids []string, answer func(string, time.Time) error, during func(*memory, *lane.Lane)) (*calendar, *memory) {
	t.Helper()
	m := &memory{series: map[string]*remembered{}, circuit: circuit.Circuit{Site: "t", State: circuit.Closed, Since: time.Now()}}
	for _, id := range ids {
		m.series[id] = &remembered{next: time.Now()}
	}
	c := &calendar{asked: map[string][]time.Time{}, answer: answer}
	l := lane.New(lane.Options{Adapter: c, Store: m, Queue: m, Hub: live.NewHub(), Gate: &lane.Gate{}, Log: log})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { l.Run(ctx); close(done) }()
	if during != nil {
		during(m, l)
	}
	time.Sleep(d)
	stop()
	<-done
	return c, m
}

func TestDaysAFailingSeriesIsPolledLikeAnyOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failing := func(id string, _ time.Time) error {
			if id == "broken" {
				return source.Unparsed("u", "scripted")
			}
			return nil
		}
		c, _ := liveFor(t, 5*24*time.Hour, []string{"well", "broken"}, failing, nil)
		for id, at := range c.asked {
			if len(at) < 9 || len(at) > 12 {
				t.Errorf("%s was polled %d times in five days, want about ten", id, len(at))
			}
			for i := 1; i < len(at); i++ {
				if gap := at[i].Sub(at[i-1]); gap < 10*time.Hour+48*time.Minute || gap > 13*time.Hour+14*time.Minute {
					t.Errorf("%s: %v between two Polls, want twelve hours and a little jitter", id, gap)
				}
			}
		}
	})
}

func TestDaysOfRefusalAreDaysOfSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuse := func(string, time.Time) error {
			return fault.Newf(fault.Access, "get", "u", "status 403").WithEvidence(fault.Answered)
		}
		c, m := liveFor(t, 3*24*time.Hour, []string{"a", "b", "c"}, refuse, nil)
		if len(c.all) != 1 || m.writes != 0 {
			t.Errorf("%d requests and %d writes in three days of a refused Site, want one and none", len(c.all), m.writes)
		}
		if m.circuit.State != circuit.Paused {
			t.Errorf("the circuit is %s", m.circuit.State)
		}
	})
}

func TestDaysAnOutageIsProbedEveryFiveMinutesAndEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		down := func(_ string, at time.Time) error {
			if at.Sub(start) < 20*time.Minute {
				return fault.Newf(fault.Network, "get", "u", "connection refused").WithEvidence(fault.NoRead)
			}
			return nil
		}
		ids := []string{"a", "b", "c", "d", "e"}
		c, m := liveFor(t, 2*time.Hour, ids, down, nil)
		var during []time.Time
		for _, at := range c.all {
			if at.Sub(start) < 20*time.Minute {
				during = append(during, at)
			}
		}
		for i := 1; i < len(during); i++ {
			if gap := during[i].Sub(during[i-1]); gap < 5*time.Minute {
				t.Errorf("%v between two requests of an outage, want at least five minutes", gap)
			}
		}
		if len(during) < 2 || m.circuit.State != circuit.Closed {
			t.Errorf("%d requests during the outage, the circuit is %s after it", len(during), m.circuit.State)
		}
		for id, r := range m.series {
			if r.failing {
				t.Errorf("%s is said to fail", id)
			}
		}
	})
}

func TestDaysAForcedPollIsReadInTheNextPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := liveFor(t, time.Hour, []string{"a"}, func(string, time.Time) error { return nil }, func(m *memory, l *lane.Lane) {
			time.Sleep(time.Hour)
			m.mu.Lock()
			m.series["a"].forced = time.Now()
			m.mu.Unlock()
			l.Wake()
		})
		if n := len(c.asked["a"]); n != 2 {
			t.Errorf("polled %d times, want once when due and once when asked", n)
		}
	})
}

// The Pass goes on, and says once that it could not write, not once a Series (B27).
func TestDaysABrokenStoreStallsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logged := observer.New(zapcore.WarnLevel)
		c, m := liveLogged(t, zap.New(core), 24*time.Hour, []string{"a", "b", "c"}, func(string, time.Time) error { return source.Unparsed("u", "scripted") }, func(m *memory, _ *lane.Lane) {
			m.mu.Lock()
			m.broken = true
			m.mu.Unlock()
		})
		for _, id := range []string{"a", "b", "c"} {
			if n := len(c.asked[id]); n < 2 || n > 4 {
				t.Errorf("%s was polled %d times in a day, want about three", id, n)
			}
		}
		if len(m.passes) == 0 || logged.Len() != len(m.passes) {
			t.Errorf("%d warnings in %d Passes, want one each", logged.Len(), len(m.passes))
		}
		for _, p := range m.passes {
			if p.EndReason != lane.EndComplete {
				t.Errorf("a Pass ended as %s", p.EndReason)
			}
		}
	})
}

// A Lane over Series that are well has nothing to say (B11).
func TestDaysOfGoodReadsAreQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logged := observer.New(zapcore.WarnLevel)
		liveLogged(t, zap.New(core), 3*24*time.Hour, []string{"a", "b"}, func(string, time.Time) error { return nil }, nil)
		if logged.Len() != 0 {
			t.Errorf("%d warnings: %v", logged.Len(), logged.All())
		}
	})
}
