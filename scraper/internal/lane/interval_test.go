package lane

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"mangrove/scraper/internal/source"
)

func every(n int, gap time.Duration, last time.Time) (out []time.Time) {
	for i := range n {
		out = append(out, last.Add(-time.Duration(i)*gap))
	}
	return out
}

func TestInterval(t *testing.T) {
	now := time.Date(2026, 9, 1, 9, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	tests := []struct {
		name     string
		releases []time.Time
		want     time.Duration
		reason   NextReason
	}{
		{"nothing known", nil, 12 * time.Hour, ByInterval},
		{"three releases are no rhythm", every(3, 14*day, now), 12 * time.Hour, ByInterval},
		{"weekly, just released", every(10, 7*day, now.Add(-day)), 42 * time.Hour, ByReleases},
		{"weekly, about due", every(10, 7*day, now.Add(-6*day)), 12 * time.Hour, ByInterval},
		{"weekly, a little late", every(10, 7*day, now.Add(-10*day)), 12 * time.Hour, ByInterval},
		{"weekly, quiet for long", every(10, 7*day, now.Add(-100*day)), 42 * time.Hour, ByReleases},
		{"monthly", every(10, 30*day, now.Add(-day)), 7 * day, ByReleases},
		{"yearly is still looked at weekly", every(5, 365*day, now.Add(-day)), 7 * day, ByReleases},
		{"daily", every(10, day, now.Add(-2*time.Hour)), 12 * time.Hour, ByInterval},
		{"ten chapters in one day are one release", every(10, time.Minute, now.Add(-day)), 12 * time.Hour, ByInterval},
		{"a date in the future", every(10, 7*day, now.Add(day)), 12 * time.Hour, ByInterval},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, why := Interval(interval, tt.releases, now)
			if got != tt.want || why != tt.reason {
				t.Errorf("got %v by %s, want %v by %s", got, why, tt.want, tt.reason)
			}
		})
	}
}

func TestTheOrdinaryInterval(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for _, tt := range []struct{ own, chosen, want time.Duration }{
		{0, 0, 12 * time.Hour}, {3 * day, 0, 3 * day}, {3 * day, time.Hour, time.Hour}, {0, 168 * time.Hour, 7 * day},
		// What stands in the settings by another way is kept within bounds.
		{0, time.Minute, time.Hour}, {0, 60 * day, 7 * day},
	} {
		if got := Ordinary(source.Site{Interval: tt.own}, tt.chosen); got != tt.want {
			t.Errorf("the Site's %v, chosen %v: got %v, want %v", tt.own, tt.chosen, got, tt.want)
		}
	}
}

func TestIntervalKeepsItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 9, 1, 9, 0, 0, 0, time.UTC)
		var releases []time.Time
		for _, h := range rapid.SliceOf(rapid.IntRange(-100_000, 1000)).Draw(t, "hours") {
			releases = append(releases, now.Add(time.Duration(h)*time.Hour))
		}
		ordinary := time.Duration(rapid.IntRange(1, 400).Draw(t, "ordinary")) * time.Hour
		got, why := Interval(ordinary, releases, now)
		if got < ordinary || got > max(longestInterval, ordinary) || (got == ordinary) != (why == ByInterval) {
			t.Fatalf("%v by %s", got, why)
		}
		if s := spread(got); s < got*9/10-time.Second || s > got*11/10+time.Second {
			t.Fatalf("spread of %v is %v", got, s)
		}
	})
}
