package lane_test

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/zap"

	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/cover"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/peppercarrot"
	"mangrove/scraper/internal/store"
)

// untouched fails the test when its Site is asked anything.
type untouched struct{ t *testing.T }

func (u untouched) Get(_ context.Context, r source.Request) (*source.Response, error) {
	u.t.Errorf("%s was asked", r.URL)
	return nil, errors.New("asked")
}

// A Site that comes with Mangrove is left alone until somebody follows a Series on
// it: its Lane sends no request by itself.
func TestALaneNobodyFollowsAsksNothing(t *testing.T) {
	db := store.New(pgtest.Pool(t, pgtest.New(t).Scraper, store.Schema, nil))
	a, f, hub := peppercarrot.New(), untouched{t}, live.NewHub()
	if err := db.EnsureLane(t.Context(), a.Site().Key); err != nil {
		t.Fatal(err)
	}
	l := lane.New(lane.Options{
		Adapter: a, Fetcher: f, Store: db, Queue: queue.New(db), Covers: cover.New(t.TempDir()), Hub: hub, Gate: &lane.Gate{}, Log: zap.NewNop(),
		Runner: &job.Runner{Library: t.TempDir(), Store: db, Hub: hub, Adapter: a, Fetcher: f},
	})
	for range 5 {
		wait, err := l.Turn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if wait <= 0 {
			t.Error("the Lane had something to do")
		}
	}
}
