package lane_test

import (
	"testing"
	"testing/synctest"
	"time"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/source"
)

// The operator's interval takes the place of the Site's own (A7), for a Series
// that fails as for one that is well.
func TestDaysAChosenIntervalIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := func(id string, _ time.Time) error {
			if id == "broken" {
				return source.Unparsed("u", "scripted")
			}
			return nil
		}
		c, _ := liveFor(t, 2*24*time.Hour, []string{"well", "broken"}, answer, func(m *memory, _ *lane.Lane) {
			m.mu.Lock()
			m.chosen = 3 * time.Hour
			m.mu.Unlock()
		})
		for id, at := range c.asked {
			if len(at) < 15 || len(at) > 18 {
				t.Errorf("%s was polled %d times in two days, want about sixteen", id, len(at))
			}
		}
	})
}

// One Retry-After moves the whole Lane (A14); a page that asks for it each time,
// while the Site shows others, fails like any other page that cannot be read.
func TestDaysOneRetryAfterMovesTheWholeLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wishes []time.Time
		b := "" // the Series that is asked first
		answer := func(id string, at time.Time) error {
			time.Sleep(time.Second)
			if b == "" {
				b = id
			}
			if id != b {
				return nil
			}
			wishes = append(wishes, at)
			f := fault.Newf(fault.Network, "get", "u", "the Site answered with status 503").WithEvidence(fault.Answered)
			f.RetryAfter = at.Add(40 * time.Minute)
			return f
		}
		c, m := liveFor(t, 30*time.Hour, []string{"a", "b", "c", "d"}, answer, nil)
		if len(wishes) != 3 {
			t.Fatalf("it was read %d times in thirty hours, want three", len(wishes))
		}
		if len(c.all) < 9 {
			t.Errorf("%d requests in all", len(c.all))
		}
		for _, at := range c.all {
			if after := at.Sub(wishes[0]); after > 0 && after < 40*time.Minute {
				t.Errorf("a request %v after the Site asked for forty minutes of quiet", after)
			}
		}
		if !m.series[b].failing {
			t.Error("it asked for quiet at each of its Polls, while the others read well, and is not said to fail")
		}
		for _, id := range []string{"a", "b", "c", "d"} {
			if id == b {
				continue
			}
			if m.series[id].failing || len(c.asked[id]) < 2 {
				t.Errorf("%s failing %v after %d Polls", id, m.series[id].failing, len(c.asked[id]))
			}
		}
		if m.circuit.State != circuit.Closed {
			t.Errorf("the circuit is %s", m.circuit.State)
		}
	})
}
