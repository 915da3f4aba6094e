package store

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// TestFiguresCountHowThingsStand: by word and age, muted ones apart, ended Jobs left
// out, and each age is one that is told.
func TestFiguresCountHowThingsStand(t *testing.T) {
	t.Parallel()
	e := setup(t)
	ctx := t.Context()
	now := time.Date(2026, 8, 12, 6, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	for id, failed := range map[string]time.Duration{"pepper": 40 * day, "a": 0, "b": time.Hour, "c": day, "d": 7 * day, "e": 30 * day, "muted": 2 * time.Hour} {
		k := source.Key{Site: key.Site, SeriesID: id}
		if err := e.EnsureListed(ctx, k.Site, source.Series{ID: id, Title: id, URL: "http://x/" + id}); err != nil {
			t.Fatal(err)
		}
		if _, err := e.RecordFailure(ctx, k, poll.Errors, now.Add(-failed)); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := e.SetMuted(ctx, []source.Key{{Site: key.Site, SeriesID: "muted"}}, true, now); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	e.put(t, "a", job.Queued)
	e.put(t, "b", job.Quarantined)
	e.put(t, "c", job.Done)
	e.put(t, "d", job.Cancelled)
	if err := e.SetHold(ctx, "storage", "no space left", now); err != nil {
		t.Fatal(err)
	}
	if err := e.SetTrouble(ctx, key.Site, lane.TroubleRefused, now); err != nil {
		t.Fatal(err)
	}
	if err := e.SetFreeSpaceFloor(ctx, 5); err != nil {
		t.Fatal(err)
	}
	f, err := e.Figures(ctx, now)
	if err != nil {
		t.Fatal(err)
	}
	ages := map[string]int{}
	for _, n := range f.Failing {
		if n.Muted {
			n.Age = "muted " + n.Age
		}
		ages[n.Age] += n.N
		if n.Site != key.Site || n.Outcome != poll.Errors {
			t.Errorf("counted as %v", n)
		}
	}
	want := map[string]int{"under_1h": 1, "1h_to_1d": 1, "muted 1h_to_1d": 1, "1d_to_7d": 1, "7d_to_30d": 1, "over_30d": 2}
	if d := cmp.Diff(want, ages); d != "" {
		t.Errorf("failing, by age:\n%s", d)
	}
	for age := range ages {
		if len(age) < 10 && !slices.Contains(FailingAges(), age) {
			t.Errorf("%q is none of the ages", age)
		}
	}
	slices.SortFunc(f.Jobs, func(a, b JobFigure) int { return len(a.State) - len(b.State) })
	if d := cmp.Diff([]JobFigure{{key.Site, job.Queued, 1}, {key.Site, job.Quarantined, 1}}, f.Jobs); d != "" {
		t.Errorf("Jobs:\n%s", d)
	}
	if len(f.Circuits) != 1 || f.Circuits[0].State != circuit.Closed || f.Circuits[0].Trouble != lane.TroubleRefused || f.Circuits[0].TroubleSince == nil || !f.Circuits[0].TroubleSince.Equal(now) {
		t.Errorf("circuits: %v", f.Circuits)
	}
	if len(f.Holds) != 1 || f.Holds[0].Kind != "storage" || f.Floor != 5 {
		t.Errorf("Holds %v, floor %d", f.Holds, f.Floor)
	}
}
