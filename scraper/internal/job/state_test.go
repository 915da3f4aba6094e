package job

import (
	"testing"
	"time"

	"mangrove/internal/fault"
)

func TestOutstandingStatesAreThoseThatMayMoveOn(t *testing.T) {
	for _, s := range States() {
		if s.Outstanding() && len(Transitions()[s]) == 0 {
			t.Errorf("%s is outstanding and leads nowhere", s)
		}
		for _, to := range Transitions()[s] {
			if to == s {
				t.Errorf("%s to itself is no transition", s)
			}
		}
	}
	if got := Transitions()[Cancelled]; len(got) != 0 {
		t.Errorf("cancelled leads to %v", got)
	}
	// By an operator's Retry alone: the row is reused (JOB-2).
	if got := Transitions()[Done]; len(got) != 1 || got[0] != Requested {
		t.Errorf("done leads to %v", got)
	}
}

func TestAfterFailure(t *testing.T) {
	now := time.Date(2026, 9, 1, 9, 0, 0, 0, time.UTC)
	tests := []struct {
		name    string
		state   State
		retries int
		class   fault.Class
		to      State
		stored  fault.Class
	}{
		{"network has one retry", Downloading, 0, fault.Network, RetryWait, fault.Network},
		{"network a second time", Downloading, 1, fault.Network, Quarantined, fault.Network},
		{"network while inspecting", Inspecting, 0, fault.Network, RetryWait, fault.Network},
		{"title gone", Inspecting, 0, fault.NotFound, Unavailable, fault.Unavailable},
		{"no wanted chapter", Inspecting, 0, fault.Unavailable, Unavailable, fault.Unavailable},
		{"access keeps its place", Downloading, 0, fault.Access, Queued, fault.Access},
		{"access while inspecting", Inspecting, 0, fault.Access, Requested, fault.Access},
		{"storage keeps its place", Downloading, 0, fault.Storage, Queued, fault.Storage},
		{"parser", Downloading, 0, fault.Parser, Quarantined, fault.Parser},
		{"unknown", Downloading, 0, fault.Unknown, Quarantined, fault.Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Job{State: tt.state, Retries: tt.retries}.AfterFailure(tt.class, "why", now)
			if c.To != tt.to || c.Class != tt.stored || !Allowed(tt.state, c.To) {
				t.Errorf("got %+v, want %s with class %s, by an allowed transition", c, tt.to, tt.stored)
			}
			if (c.To == RetryWait) != (c.RetryAt.Equal(now.Add(5*time.Minute)) && c.Retries == 1) {
				t.Errorf("retry at %v, retries %d", c.RetryAt, c.Retries)
			}
		})
	}
}

func TestSpeaks(t *testing.T) {
	for _, tt := range []struct {
		wanted   []string
		language string
		want     bool
	}{
		{nil, "fr", true}, {[]string{"en"}, "en", true}, {[]string{"en"}, "en-GB", true}, {[]string{"EN"}, "en-gb", true},
		{[]string{"en"}, "enm", false}, {[]string{"en"}, "fr", false}, {[]string{"en"}, "", true},
	} {
		if got := speaks(tt.wanted, tt.language); got != tt.want {
			t.Errorf("speaks(%v, %q) = %v", tt.wanted, tt.language, got)
		}
	}
}
