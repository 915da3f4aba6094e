package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"mangrove/internal/config"
	"mangrove/internal/durable"
	"mangrove/internal/failpoint"
	"mangrove/internal/fault"
	"mangrove/internal/grpcserver"
	"mangrove/internal/metrics"
	"mangrove/internal/pg"
	"mangrove/internal/pulse"
	"mangrove/migrations"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/browser"
	"mangrove/scraper/internal/cover"
	"mangrove/scraper/internal/follow"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/publish"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/rpc"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/all"
	"mangrove/scraper/internal/source/declared"
	"mangrove/scraper/internal/staging"
	"mangrove/scraper/internal/store"
	"mangrove/scraper/internal/verify"
)

// stopGrace is how long calls under way may take when the scraper stops.
const stopGrace = 5 * time.Second

// run wires the scraper, top to bottom, and works until ctx ends. afterCrash is the
// supervisor's word that the run before this one failed.
func run(ctx context.Context, cfg config.Config, afterCrash bool, log *zap.Logger) error {
	// One scraper a data folder (SUP-7).
	for _, dir := range []string{cfg.RunDir(), filepath.Join(cfg.DataDir, "scraper")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return &exit{config.ExitConfig, fmt.Errorf("%s: %s cannot be made: %s", config.Data, dir, durable.Reason(err))}
		}
	}
	lockFile := filepath.Join(cfg.DataDir, "scraper", "scraper.lock")
	lock, err := durable.TakeLock(lockFile)
	if errors.Is(err, durable.ErrLocked) {
		return &exit{config.ExitLock, fmt.Errorf("%s: another scraper works on %s: process %d", config.Data, cfg.DataDir, durable.Holder(lockFile))}
	}
	if err != nil {
		return &exit{config.ExitConfig, fmt.Errorf("%s: %s", config.Data, durable.Reason(err))}
	}
	defer func() { _ = lock.Unlock() }()

	address, err := cfg.RoleURL("scraper")
	if err != nil {
		return &exit{config.ExitConfig, err}
	}
	pool, err := pg.Open(ctx, address.Reveal(), pg.Options{Schema: store.Schema})
	if err != nil {
		return &exit{config.ExitConfig, fmt.Errorf("%s: %w", config.DatabaseURLScraper, err)}
	}
	defer pool.Close()
	events := incident.NewEventLog(incident.EventLogPath(cfg.DataDir), log)
	db := store.New(pool).Tell(events)
	recorder := &incident.Recorder{Store: db, Events: events, Log: log}
	hub := live.NewHub()
	covers := cover.New(filepath.Join(cfg.DataDir, "scraper", "covers"))

	adapters, closeAdapters, err := all.Adapters(all.Options{SampleURL: cfg.SampleURL})
	if err != nil {
		return err
	}
	defer closeAdapters()
	registry := source.NewRegistry(adapters...)
	described := newDescribed(cfg, adapters, registry, log)
	adapters = append(adapters, described.first()...)
	// A Lane's connection is its own for as long as it works; those of Sites that
	// are described later are opened when they are. One hears the command line.
	claims, err := pg.Open(ctx, address.Reveal(), pg.Options{Schema: store.Schema, MaxConns: int32(len(adapters)) + declared.MaxSites + 2})
	if err != nil {
		return &exit{config.ExitConfig, fmt.Errorf("%s: %w", config.DatabaseURLScraper, err)}
	}
	defer claims.Close()
	// It starts nothing until a Site asks for a page, and ends after the Lanes.
	pages := browser.New(browser.Options{
		Program: cfg.Chromium, Unsandboxed: cfg.ChromiumUnsandboxed, Owner: cfg.DataDir, Allow: cfg.AllowAddresses, Identity: identity(), Log: log,
	})
	defer pages.Close()
	for _, a := range adapters {
		if err := pages.Available(); err != nil && a.Site().Browser {
			log.Warn("this Site cannot be read", zap.String("site", a.Site().Key), zap.Error(err))
		}
	}
	marker := inventory.NewMarker(cfg.LibraryDir, db)
	held := holding(db, recorder, log)
	library := inventory.NewLibrary(cfg.LibraryDir, marker, db)
	inv := newInventory(library, marker, held, hub.LibraryChanged, log)
	figures, counts, calls := newFigures(cfg, db, log)
	lanes := newLanes(cfg, log, db, claims, hub, covers, pages, inv, counts)
	lanes.afterCrash, lanes.incidents = afterCrash, *recorder
	wake := lanes.wake

	server := grpcserver.New(log, grpc.Creds(grpcserver.PeerCredentials(os.Geteuid())), calls)
	verifier := &verify.Verifier{Library: cfg.LibraryDir, There: marker.Check, Store: db, Record: recorder, Log: log}
	files := verify.NewEar(verifier)
	edge := &rpc.Server{
		Version: version, Started: time.Now(), Store: db, Covers: covers, Hub: hub, Adapters: registry, Wake: wake, Searches: lanes, Browser: pages.Available, Unread: described.unread,
		Follows: &follow.Reconciler{Store: db, Queue: queue.New(db), Adapters: registry, Wake: wake}, Paces: lanes, StopJob: lanes.StopJob, Halt: lanes.Halt, Probes: lanes, Recorder: recorder, Library: inv, UnreadFile: files.Tell,
	}
	scraperv1.RegisterScraperServiceServer(server.Server, edge)
	scraperv1.RegisterQueueServiceServer(server.Server, edge)
	scraperv1.RegisterMovingServiceServer(server.Server, edge)
	discovery := &queue.Discovery{
		Store: db, Current: inv.Current, Wake: wake, Log: log,
		Languages: func(site string) []string {
			if a, ok := registry.Get(site); ok {
				return a.Site().Languages
			}
			return nil
		},
	}
	listener, err := grpcserver.ListenUnix(cfg.ScraperSocket())
	if err != nil {
		return &exit{config.ExitConfig, fmt.Errorf("%s: %w", config.Data, err)}
	}
	told, err := metrics.Listen(cfg.ScraperMetricsSocket(), figures, log)
	if err != nil {
		return &exit{config.ExitConfig, fmt.Errorf("%s: %w", config.Data, err)}
	}
	defer told.Stop(time.Second)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	beats := &pulse.Pulse{}
	watching, watched := context.WithCancel(context.WithoutCancel(ctx))
	defer watched()
	go beats.Watch(watching, func(alive bool) { server.Set(grpcserver.Liveness, alive) }, log)
	log.Info("scraper started", zap.String("version", version), zap.Int("sites", len(adapters)))

	err = waitForDatabase(ctx, pool, beats, log)
	if err == nil && ctx.Err() == nil {
		err = prepare(ctx, cfg, db, held, marker, adapters, log)
	}
	if err == nil && ctx.Err() == nil {
		defer lookAtLibrary(ctx, library, inv, log).Wait()
		work(ctx, cfg, pool, db, server, lanes, adapters, described, discovery, verifier, files, beats, log)
	}

	// Health first, so that nobody asks for more; then calls; the pool last,
	// since a call may still be using it.
	server.Stop(stopGrace)
	if serr := <-served; err == nil && ctx.Err() == nil {
		err = serr
	}
	log.Info("scraper stopped", zap.Error(err))
	return err
}

// identity is what every Site is told: who asks, and that nobody pretends to be
// a browser.
func identity() string { return "Mangrove/" + version + " (self-hosted manga library)" }

// waitForDatabase returns nil once the database answers and is migrated to this
// program's version. One that is down or not yet migrated is waited for (SUP-3);
// one that is newer is not touched.
func waitForDatabase(ctx context.Context, pool *pgxpool.Pool, beats *pulse.Pulse, log *zap.Logger) error {
	said := ""
	defer beats.Rest(workLoop)
	for ctx.Err() == nil {
		beats.Beat(workLoop)
		asked, cancel := context.WithTimeout(ctx, stepLimit)
		err := migrations.Check(asked, pool)
		cancel()
		switch {
		case err == nil:
			return nil
		case errors.Is(err, migrations.ErrNewer):
			return &exit{config.ExitConfig, err}
		case err.Error() != said && ctx.Err() == nil:
			said = err.Error()
			log.Warn("waiting for the database", zap.NamedError("cause", errors.New(connectReason(err))))
		}
		pause(ctx, time.Second)
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// prepare looks at what an earlier process left: the library's identity, and
// stages whose chapters are committed.
func prepare(ctx context.Context, cfg config.Config, db *store.Store, held func(context.Context, error) error, marker *inventory.Marker, adapters []source.Adapter, log *zap.Logger) error {
	err := marker.Establish(ctx)
	if err == nil {
		err = publish.Probe(cfg.LibraryDir)
	}
	switch {
	case fault.Is(err, fault.Storage):
		// The rest works without the library: polling, reading, the pages.
		if herr := held(ctx, err); herr != nil {
			return herr
		}
	case err != nil:
		return err
	}
	for _, a := range adapters {
		if err := ensureListed(ctx, db, a); err != nil {
			return err
		}
	}
	if err := takeAges(ctx, cfg, db, log); err != nil {
		return err
	}
	if err := marker.Check(ctx); err == nil {
		if err := job.RetireLeftovers(ctx, cfg.LibraryDir, db); err != nil {
			log.Warn("a replaced file could not be removed", zap.Error(err))
		}
	}
	stages, err := staging.List(cfg.LibraryDir)
	if err != nil {
		log.Warn("staging could not be read", zap.Error(err))
		return nil
	}
	committed, err := db.Committed(ctx, stages)
	if err != nil {
		return err
	}
	failpoint.Reach(failpoint.StartStages)
	for _, fingerprint := range committed {
		if err := staging.Remove(cfg.LibraryDir, fingerprint); err != nil {
			log.Warn("a committed stage could not be removed", zap.Error(err))
		}
	}
	if left := len(stages) - len(committed); left > 0 {
		log.Info("stages kept for later", zap.Int("stages", left))
	}
	return nil
}
