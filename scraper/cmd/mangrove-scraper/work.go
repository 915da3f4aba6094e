package main

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/zap"

	"mangrove/internal/config"
	"mangrove/internal/grpcserver"
	"mangrove/internal/pulse"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/stall"
	"mangrove/scraper/internal/store"
	"mangrove/scraper/internal/verify"
)

const (
	// fetchesKept is how long it is known that a chapter was fetched, passesKept how
	// long Pass rows are kept (POLL-7).
	fetchesKept = 2 * 24 * time.Hour
	passesKept  = 14 * 24 * time.Hour
)

const (
	// workLoop is the loop by whose turns the scraper is alive (SUP-6).
	workLoop = "work"
	// turnEvery is its rest between two turns.
	turnEvery = 5 * time.Second
	// pingLimit and stepLimit bound what it waits for a database that does not answer,
	// so that this takes no liveness away: together with the rest they are less than
	// pulse.Limit.
	pingLimit = 3 * time.Second
	stepLimit = 20 * time.Second
)

// work runs the Lanes until ctx ends, and says all the while whether the
// database answers. The Lanes and the housekeeping turn by themselves: none of
// them can hold up the loop, which is the one that notices.
func work(ctx context.Context, cfg config.Config, pool *pgxpool.Pool, db *store.Store, server *grpcserver.Server, lanes *lanes, adapters []source.Adapter, described *described, discovery *queue.Discovery, verifier *verify.Verifier, files *verify.Ear, beats *pulse.Pulse, log *zap.Logger) {
	var running sync.WaitGroup
	for _, a := range adapters {
		lanes.start(ctx, a)
	}
	running.Go(func() { described.watch(ctx, db, lanes) })
	running.Go(func() { lanes.hear(ctx) })
	running.Go(func() { keepHouse(ctx, db, discovery, log) })
	running.Go(func() { keepFiles(ctx, cfg, db, verifier, log) })
	running.Go(func() { files.Hear(ctx) })
	server.Set(grpcserver.Readiness, true)
	watchdog := &stall.Watch{Library: cfg.LibraryDir, Store: db, Sites: lanes.sites, Stop: lanes.StopJob, Stalled: lanes.stalled, Log: log}
	ready, looked := true, time.Now()
	turn(ctx, beats,
		step{pingLimit, func(ctx context.Context) {
			err := pool.Ping(ctx)
			if stopping := ctx.Err() == context.Canceled; stopping || (err == nil) == ready {
				return
			}
			ready = err == nil
			server.Set(grpcserver.Readiness, ready)
			log.Info("database", zap.Bool("answers", ready))
		}},
		step{stepLimit, func(ctx context.Context) {
			if ready && time.Since(looked) >= stall.Every {
				watchdog.Look(ctx, time.Now())
				looked = time.Now()
			}
		}},
	)
	server.Set(grpcserver.Readiness, false)
	running.Wait()
	lanes.wait()
}

// step is a part of a turn, and how long it may wait for others.
type step struct {
	limit time.Duration
	do    func(context.Context)
}

// turn takes the steps in order, again and again, until ctx ends, and beats before
// each: a step that does not come back is seen (S-092).
func turn(ctx context.Context, beats *pulse.Pulse, steps ...step) {
	defer beats.Rest(workLoop)
	for ctx.Err() == nil {
		for _, s := range steps {
			beats.Beat(workLoop)
			limited, cancel := context.WithTimeout(ctx, s.limit)
			s.do(limited)
			cancel()
		}
		beats.Beat(workLoop)
		pause(ctx, turnEvery)
	}
}

// nightlyAt is when the files are looked after: the discovery is over by then, and
// few people read.
const nightlyAt = "04:00"

// keepFiles writes the sidecars and reads files whole, once a night, until ctx ends.
// A start makes up for the sidecars of a night that was missed, not for the reading.
func keepFiles(ctx context.Context, cfg config.Config, db *store.Store, v *verify.Verifier, log *zap.Logger) {
	done, _ := queue.LastTime(nightlyAt, time.Now())
	kept := false
	for ctx.Err() == nil {
		due, _ := queue.LastTime(nightlyAt, time.Now())
		night := due.After(done)
		if night || !kept {
			kept = keepSidecars(ctx, cfg, db, log) == nil
		}
		if night {
			done = due
			if err := v.Night(ctx, time.Now()); err != nil && ctx.Err() == nil {
				log.Warn("the files could not be verified", zap.String("reason", job.Reason(err)))
			}
		}
		pause(ctx, time.Minute)
	}
}

// keepHouse runs the nightly discovery when it is due and prunes what is old, until
// ctx ends. A database that is away makes it wait.
func keepHouse(ctx context.Context, db *store.Store, discovery *queue.Discovery, log *zap.Logger) {
	pruned := time.Time{}
	for ctx.Err() == nil {
		if err := discovery.RunIfDue(ctx, time.Now()); err != nil && ctx.Err() == nil {
			log.Warn("the discovery could not run", zap.Error(err))
		}
		if ctx.Err() == nil && time.Since(pruned) > time.Hour {
			if err := db.PruneFetches(ctx, time.Now().Add(-fetchesKept)); err != nil {
				log.Warn("old fetches could not be pruned", zap.Error(err))
			}
			if err := db.PrunePasses(ctx, time.Now().Add(-passesKept)); err != nil {
				log.Warn("old Passes could not be pruned", zap.Error(err))
			}
			pruned = time.Now()
		}
		pause(ctx, time.Minute)
	}
}
