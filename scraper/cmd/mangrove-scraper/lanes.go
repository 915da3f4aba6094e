package main

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/zap"

	"mangrove/internal/config"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/cover"
	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

// claimAgain is how long a Lane that another scraper works is left alone.
const claimAgain = 5 * time.Second

// takeOver is how long a taker waits before its first request: a request time-out,
// so that whatever the one before had under way is over.
const takeOver = time.Minute

// lanes works the Lanes this scraper holds the claims of.
type lanes struct {
	cfg    config.Config
	log    *zap.Logger
	db     *store.Store
	claims *pgxpool.Pool
	hub    *live.Hub
	covers *cover.Shelf
	pages  fetch.Renderer
	holder string

	mu      sync.Mutex
	working map[string]*lane.Lane
}

func newLanes(cfg config.Config, log *zap.Logger, db *store.Store, claims *pgxpool.Pool, hub *live.Hub, covers *cover.Shelf, pages fetch.Renderer) *lanes {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &lanes{
		cfg: cfg, log: log, db: db, claims: claims, hub: hub, covers: covers, pages: pages, working: map[string]*lane.Lane{},
		// One scraper a data folder (SUP-7), so host and folder name it.
		holder: host + ":" + cfg.DataDir,
	}
}

// wake makes a Site's Lane look for work, if it is ours.
func (l *lanes) wake(site string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w, ok := l.working[site]; ok {
		w.Wake()
	}
}

// Search asks a Site through its Lane, if it is ours.
func (l *lanes) Search(ctx context.Context, site, query string) ([]source.Series, error) {
	l.mu.Lock()
	w, ok := l.working[site]
	l.mu.Unlock()
	if !ok {
		return nil, fault.Newf(fault.Away, "search", site, "its Lane is not worked here now")
	}
	return w.Search(ctx, query)
}

// keep claims a Site's Lane and works it, again whenever the claim is lost, until
// ctx ends.
func (l *lanes) keep(ctx context.Context, a source.Adapter) {
	site := a.Site().Key
	said := false
	for ctx.Err() == nil {
		claim, ok, err := l.db.ClaimLane(ctx, l.claims, site, l.holder)
		if err == nil && ok {
			said = false
			err = l.work(ctx, a, claim)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			l.log.Warn("the Lane rests after an error", zap.String("site", site), zap.Error(err))
		} else if !ok && !said {
			said = true
			l.log.Info("another scraper works this Lane", zap.String("site", site))
		}
		pause(ctx, claimAgain)
	}
}

func (l *lanes) work(ctx context.Context, a source.Adapter, claim *store.Claim) error {
	defer claim.Release()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-claim.Lost():
			cancel()
		case <-ctx.Done():
		}
	}()
	site := a.Site()
	n, err := claim.RecoverJobs(ctx, []string{site.Key})
	if err != nil {
		return err
	}
	if n > 0 {
		l.log.Info("Jobs that were under way go on from their checkpoints", zap.String("site", site.Key), zap.Int64("jobs", n))
	}
	rest := time.Duration(0)
	if claim.Taken {
		rest = takeOver
	}
	gate := &lane.Gate{}
	client := fetch.New(fetch.Options{
		Site: site, Slots: lane.NewSlots(site, gate.Allow, rest), Identity: identity(),
		Guard: fetch.Guard{Allow: l.cfg.AllowAddresses, Loopback: site.Loopback}, Renderer: l.pages,
	})
	defer client.Close()
	w := lane.New(lane.Options{
		Adapter: a, Fetcher: client, Store: claim, Queue: queue.New(claim), Covers: l.covers, Hub: l.hub, Gate: gate, Held: claim.Held, Log: l.log,
		Runner: &job.Runner{
			Library: l.cfg.LibraryDir, Store: claim, Marker: inventory.NewMarker(l.cfg.LibraryDir, l.db), Hub: l.hub, Adapter: a, Fetcher: client,
			Generator: "Mangrove " + version,
		},
	})
	l.mu.Lock()
	l.working[site.Key] = w
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.working, site.Key)
		l.mu.Unlock()
	}()
	w.Run(ctx)
	return nil
}
