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
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
	"mangrove/scraper/internal/tally"
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
	inv    *inventory.Inventory
	holder string
	// afterCrash is true when the run before this one failed; the first look at
	// each Site's Jobs then asks which of them it was (JOB-12).
	afterCrash bool
	// incidents is what each Lane's Recorder is made of; without a Store they
	// record nothing.
	incidents incident.Recorder
	tally     *tally.Tally

	mu      sync.Mutex
	working map[string]*lane.Lane
	slots   map[string]*lane.Slots
	keepers map[string]*keeper
	looked  map[string]bool
}

func newLanes(cfg config.Config, log *zap.Logger, db *store.Store, claims *pgxpool.Pool, hub *live.Hub, covers *cover.Shelf, pages fetch.Renderer, inv *inventory.Inventory, counts *tally.Tally) *lanes {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &lanes{
		cfg: cfg, log: log, db: db, claims: claims, hub: hub, covers: covers, pages: pages, inv: inv, tally: counts, working: map[string]*lane.Lane{}, slots: map[string]*lane.Slots{},
		keepers: map[string]*keeper{}, looked: map[string]bool{},
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

// hear takes what the command line told until ctx ends.
func (l *lanes) hear(ctx context.Context) {
	for ctx.Err() == nil {
		err := store.HearTold(ctx, l.claims, l.told)
		if ctx.Err() == nil {
			l.log.Debug("what the command line tells is not heard", zap.Error(err))
		}
		pause(ctx, claimAgain)
	}
}

// told makes the Lanes it is about look again.
func (l *lanes) told(t store.Told) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for site, w := range l.working {
		if t.Site != "" && t.Site != site {
			continue
		}
		w.Wake()
		if t.Paused {
			w.Halt()
		}
		if t.StopJob != 0 {
			w.StopJob(t.StopJob)
		}
	}
}

// Halt lets the Lane of a Site look at its circuit again soon, if it is worked here.
func (l *lanes) Halt(site string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w, ok := l.working[site]; ok {
		w.Halt()
	}
}

// StopJob ends the unit of a Job on a Site at its next checkpoint, if it is ours
// and under way.
func (l *lanes) StopJob(site string, jobID int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w, ok := l.working[site]; ok {
		w.StopJob(jobID)
	}
}

// sites are those whose Lanes are worked here now.
func (l *lanes) sites() []source.Site {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []source.Site
	for key := range l.working {
		if k, ok := l.keepers[key]; ok && k.adapter != nil {
			out = append(out, k.adapter.Site())
		}
	}
	return out
}

// Probe sends one read to a paused Site, on an operator's word (CIRC-3).
func (l *lanes) Probe(ctx context.Context, site string) (resumed bool, reason string, err error) {
	w, err := l.lane(site)
	if err != nil {
		return false, "", err
	}
	got, err := w.Probe(ctx)
	return got.Resumed, got.Reason, err
}

// lane is the Lane of a Site, if it is worked here.
func (l *lanes) lane(site string) (*lane.Lane, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w, ok := l.working[site]; ok {
		return w, nil
	}
	return nil, fault.Newf(fault.Away, "reach", site, "its Lane is not worked here now")
}

// Search asks a Site through its Lane, if it is ours.
func (l *lanes) Search(ctx context.Context, site, query string) ([]source.Series, error) {
	w, err := l.lane(site)
	if err != nil {
		return nil, err
	}
	return w.Search(ctx, query)
}

// keeper keeps one Site's Lane worked. Its adapter may be replaced while it does;
// without one it ends.
type keeper struct {
	adapter source.Adapter
	// changed interrupts a rest; done is closed when the keeper has ended.
	changed, done chan struct{}
}

// start keeps the Lane of a's Site worked until ctx ends or end is called. A Site
// whose Lane is kept already goes on with a, after the unit of work under way.
func (l *lanes) start(ctx context.Context, a source.Adapter) {
	site := a.Site().Key
	l.mu.Lock()
	defer l.mu.Unlock()
	if k, ok := l.keepers[site]; ok {
		k.adapter = a
		l.interrupt(site, k)
		return
	}
	k := &keeper{adapter: a, changed: make(chan struct{}, 1), done: make(chan struct{})}
	l.keepers[site] = k
	go func() {
		defer close(k.done)
		l.keep(ctx, site, k)
	}()
}

// end lets the Lane of a Site go after the unit of work under way.
func (l *lanes) end(site string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k, ok := l.keepers[site]; ok {
		k.adapter = nil
		l.interrupt(site, k)
	}
}

// interrupt tells a keeper to look at its adapter again; l.mu is held.
func (l *lanes) interrupt(site string, k *keeper) {
	if w, ok := l.working[site]; ok {
		w.Retire()
	}
	select {
	case k.changed <- struct{}{}:
	default:
	}
}

// wait returns when all keepers have ended, as they do when their context does.
func (l *lanes) wait() {
	for {
		l.mu.Lock()
		var one *keeper
		for _, k := range l.keepers {
			one = k
		}
		l.mu.Unlock()
		if one == nil {
			return
		}
		<-one.done
	}
}

// current is the adapter k works with now. With none, k is given up: whoever
// starts the Site again starts a new keeper.
func (l *lanes) current(ctx context.Context, site string, k *keeper) (source.Adapter, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.adapter == nil || ctx.Err() != nil {
		delete(l.keepers, site)
		return nil, false
	}
	select {
	case <-k.changed:
	default:
	}
	return k.adapter, true
}

// keep claims a Site's Lane and works it, again whenever the claim is lost or the
// adapter replaced, until ctx ends or there is no adapter.
func (l *lanes) keep(ctx context.Context, site string, k *keeper) {
	said := false
	for {
		a, ok := l.current(ctx, site, k)
		if !ok {
			return
		}
		claim, ok, err := l.db.ClaimLane(ctx, l.claims, site, l.holder)
		if err == nil && ok {
			said = false
			err = l.work(ctx, a, k, claim)
		}
		if ctx.Err() != nil {
			continue
		}
		if err != nil {
			l.log.Warn("the Lane rests after an error", zap.String("site", site), zap.Error(err))
		} else if !ok && !said {
			said = true
			l.log.Info("another scraper works this Lane", zap.String("site", site))
		}
		timer := time.NewTimer(claimAgain)
		select {
		case <-ctx.Done():
		case <-k.changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (l *lanes) work(ctx context.Context, a source.Adapter, k *keeper, claim *store.Claim) error {
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
	if err := l.recover(ctx, site, claim); err != nil {
		return err
	}
	if err := ensureListed(ctx, claim.Store, a); err != nil {
		return err
	}
	rest := time.Duration(0)
	if claim.Taken {
		rest = takeOver
	}
	gate := &lane.Gate{}
	written := counted{claim, l.tally}
	l.tally.Open(site.Key)
	slots := lane.NewSlots(site, gate.Allow, rest)
	if err := l.pace(ctx, site, slots); err != nil {
		return err
	}
	client := fetch.New(fetch.Options{
		Site: site, Slots: slots, Identity: identity(),
		Guard: fetch.Guard{Allow: l.cfg.AllowAddresses, Loopback: site.Loopback}, Renderer: l.pages,
	})
	defer client.Close()
	heard := gate.Listen(client)
	recorder := l.incidents
	recorder.Checkpoint = incident.Checkpoints(l.cfg.LibraryDir, site)
	w := lane.New(lane.Options{
		Adapter: a, Fetcher: heard, Store: written, Queue: queue.New(claim), Covers: l.covers, Hub: l.hub, Gate: gate, Held: claim.Held, Log: l.log, Incidents: &recorder,
		Runner: &job.Runner{
			Library: l.cfg.LibraryDir, Store: written, Marker: inventory.NewMarker(l.cfg.LibraryDir, l.db), Inventory: l.inv, Hub: l.hub, Adapter: a, Fetcher: heard,
			Incidents: &recorder, Log: l.log, Generator: "Mangrove " + version, Floor: claim.FreeSpaceFloor,
			PageStaged: func() { l.tally.Page(site.Key) },
		},
	})
	l.mu.Lock()
	l.working[site.Key], l.slots[site.Key] = w, slots
	if k.adapter != a {
		// Replaced between the claim and now.
		w.Retire()
	}
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.working, site.Key)
		delete(l.slots, site.Key)
		l.mu.Unlock()
	}()
	w.Run(ctx)
	return nil
}
