package main

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"mangrove/internal/config"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
	"mangrove/scraper/internal/tally"
)

// A pace that was chosen holds over a restart, one that cannot be read is no
// choice, and what was sent is counted for Sites that are worked here alone.
func TestTheChosenPaceHolds(t *testing.T) {
	urls := pgtest.New(t)
	db := store.New(pgtest.Pool(t, urls.Scraper, store.Schema, nil))
	l := newLanes(config.Config{}, zap.NewNop(), db, nil, nil, nil, nil, nil, tally.New(prometheus.NewRegistry()))
	site := source.Site{Key: "sample", Pacing: time.Millisecond}
	// gap is how long the second of two requests waits for the first.
	gap := func() time.Duration {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		slots := lane.NewSlots(site, func() error { return nil }, 0)
		if err := l.pace(ctx, site, slots); err != nil {
			t.Fatal(err)
		}
		l.slots[site.Key] = slots
		var began time.Time
		for range 2 {
			release, err := slots.Acquire(ctx, source.WantHTML)
			if err != nil {
				t.Fatal(err)
			}
			release()
			if began.IsZero() {
				began = time.Now()
			}
		}
		return time.Since(began)
	}
	if err := db.SetPacing(t.Context(), site.Key, 300*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if got := gap(); got < 290*time.Millisecond {
		t.Errorf("with 300ms chosen, requests are %s apart", got)
	}
	if rate, ok := l.Rate(site.Key); !ok || rate != 2 {
		t.Errorf("the rate is %v (%v), want 2 a minute", rate, ok)
	}
	if _, ok := l.Rate("elsewhere"); ok {
		t.Error("a Site that is not worked here has a rate")
	}
	l.SetPacing("elsewhere", time.Hour)
	if _, err := pgtest.Pool(t, urls.Scraper, store.Schema, nil).Exec(t.Context(), "UPDATE settings SET value = 'soon'"); err != nil {
		t.Fatal(err)
	}
	if got := gap(); got > 290*time.Millisecond {
		t.Errorf("with nothing readable chosen, requests are %s apart", got)
	}
}
