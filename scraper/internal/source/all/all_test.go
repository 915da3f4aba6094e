package all_test

import (
	"context"
	"testing"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/cover"
	"mangrove/scraper/internal/inventory/inventorytest"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/all"
	"mangrove/scraper/internal/source/sample"
	"mangrove/scraper/internal/store"
)

// silent fails the test on any request.
type silent struct{ t *testing.T }

func (s silent) Get(_ context.Context, r source.Request) (*source.Response, error) {
	s.t.Errorf("%s was asked for", r.URL)
	return nil, fault.Newf(fault.Access, "get", r.URL, "nobody wished it")
}

// Nobody's Site is asked anything before somebody follows something there.
func TestNoSiteIsAskedByItself(t *testing.T) {
	adapters, stop, err := all.Adapters(all.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	db := store.New(pgtest.Pool(t, pgtest.New(t).Scraper, store.Schema, nil))
	library := t.TempDir()
	inv := inventorytest.Start(t, library, db)
	keys, folders := map[string]bool{}, map[string]bool{}
	for _, a := range adapters {
		site := a.Site().Key
		// STALL-3: each has folders of its own for unfinished work.
		if p := a.Site().WorkPrefix; p == "" || folders[p] {
			t.Errorf("%s has the work prefix %q", site, p)
		}
		folders[a.Site().WorkPrefix] = true
		if keys[site] {
			t.Errorf("two adapters are called %s", site)
		}
		keys[site] = true
		if site == sample.Key {
			// Our own, served to ourselves.
			continue
		}
		t.Run(site, func(t *testing.T) {
			if listed := a.Listed(); len(listed) != 0 {
				t.Errorf("%v are read without anybody's wish", listed)
			}
			if err := db.EnsureLane(t.Context(), site); err != nil {
				t.Fatal(err)
			}
			hub := live.NewHub()
			l := lane.New(lane.Options{
				Adapter: a, Fetcher: silent{t}, Store: db, Queue: queue.New(db), Covers: cover.New(t.TempDir()), Hub: hub, Gate: &lane.Gate{}, Log: zap.NewNop(),
				Runner: &job.Runner{Library: library, Inventory: inv, Store: db, Hub: hub, Adapter: a, Fetcher: silent{t}},
			})
			for range 3 {
				if wait, err := l.Turn(t.Context()); err != nil || wait <= 0 {
					t.Errorf("an idle Lane waits %s, %v", wait, err)
				}
			}
		})
	}
}
