package circuit

import (
	"testing"
	"time"

	"mangrove/internal/fault"
)

func TestEveryCell(t *testing.T) {
	now := time.Date(2026, 9, 1, 9, 0, 0, 0, time.UTC)
	// Rows are events, columns closed, open, probing, paused; "-" does not move.
	want := map[Event][4]State{
		Trouble: {Open, "-", Open, "-"},
		Refusal: {Paused, Paused, Paused, "-"},
		Pattern: {Paused, Paused, Paused, "-"},
		Probe:   {"-", Probing, Probing, "-"},
		Answer:  {"-", "-", Closed, "-"},
		Pause:   {Paused, Paused, Paused, "-"},
		Resume:  {"-", Closed, Closed, Closed},
	}
	for _, e := range Events() {
		for i, from := range States() {
			c := Circuit{Site: "t", State: from, Since: now.Add(-time.Hour)}
			if from == Open || from == Probing {
				c.Until = now
			}
			next, moved := c.Next(e, now, "why", time.Time{})
			wanted := want[e][i]
			if wanted == "-" {
				if moved || next != c {
					t.Errorf("%s on %s moved to %s", e, from, next.State)
				}
				continue
			}
			if !moved || next.State != wanted {
				t.Errorf("%s on %s: %s (moved %v), want %s", e, from, next.State, moved, wanted)
			}
			if (next.State == Closed) != (next.Reason == None) {
				t.Errorf("%s on %s: state %s with reason %q", e, from, next.State, next.Reason)
			}
			if timed := next.State == Open || next.State == Probing; timed == next.Until.IsZero() {
				t.Errorf("%s on %s: state %s until %v", e, from, next.State, next.Until)
			}
		}
	}
}

func TestOneProbeAtItsTime(t *testing.T) {
	now := time.Date(2026, 9, 1, 9, 0, 0, 0, time.UTC)
	open, _ := Circuit{State: Closed}.Next(Trouble, now, "no answer", time.Time{})
	if got := open.Until.Sub(now); got != 5*time.Minute {
		t.Errorf("rests %v, want five minutes (JOB-4)", got)
	}
	if _, moved := open.Next(Probe, now.Add(Rest-time.Second), "", time.Time{}); moved {
		t.Error("probed before its time")
	}
	probing, moved := open.Next(Probe, now.Add(Rest), "", time.Time{})
	if !moved {
		t.Fatal("not probed at its time")
	}
	if _, moved := probing.Next(Probe, now.Add(Rest+time.Minute), "", time.Time{}); moved {
		t.Error("a second probe while the first is under way")
	}
	if !probing.Since.Equal(open.Since) || probing.Detail != "no answer" {
		t.Errorf("probing forgot since when and why: %+v", probing)
	}
	again, _ := probing.Next(Trouble, now.Add(Rest+time.Minute), "still none", time.Time{})
	if !again.Since.Equal(open.Since) {
		t.Errorf("a failed probe moved the beginning of the outage to %v", again.Since)
	}
}

func TestWhatIsAboutTheSite(t *testing.T) {
	for class, want := range map[fault.Class]Event{fault.Network: Trouble, fault.Access: Refusal, fault.Parser: "", fault.Page: "", fault.Conflict: "", fault.Storage: "", fault.Stall: "", fault.Unavailable: ""} {
		if got, _ := EventOf(class); got != want {
			t.Errorf("EventOf(%s) = %q, want %q", class, got, want)
		}
	}
}

func TestARestIsAsLongAsTheSiteWishes(t *testing.T) {
	now := time.Date(2026, 9, 1, 9, 0, 0, 0, time.UTC)
	for wish, want := range map[time.Duration]time.Duration{0: 5 * time.Minute, time.Minute: 5 * time.Minute, time.Hour: time.Hour, 300 * time.Hour: 24 * time.Hour} {
		after := time.Time{}
		if wish > 0 {
			after = now.Add(wish)
		}
		c, _ := Circuit{State: Closed}.Next(Trouble, now, "status 503", after)
		if got := c.Until.Sub(now); got != want || !c.RetryAfter.Equal(after) {
			t.Errorf("asked for %v: rests %v and shows %v, want %v", wish, got, c.RetryAfter, want)
		}
	}
}
