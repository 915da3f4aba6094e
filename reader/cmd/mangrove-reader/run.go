package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"

	"mangrove/internal/config"
	"mangrove/internal/durable"
	"mangrove/internal/grpcserver"
	"mangrove/internal/logging"
	"mangrove/internal/metrics"
	"mangrove/internal/pg"
	"mangrove/internal/picture"
	"mangrove/internal/pulse"
	"mangrove/internal/standing"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/follow"
	"mangrove/reader/internal/moving"
	"mangrove/reader/internal/notify"
	"mangrove/reader/internal/pages"
	"mangrove/reader/internal/scraperclient"
	"mangrove/reader/internal/store"
	"mangrove/reader/internal/web"
)

// grace is how long a stop waits for answers under way.
const grace = 5 * time.Second

// run wires everything, top to bottom, and blocks until ctx ends or something
// cannot go on.
func run(ctx context.Context, stderr io.Writer) error {
	cfg, err := config.FromEnvironment()
	if err != nil {
		return err
	}
	address, err := cfg.RoleURL("reader")
	if err != nil {
		return err
	}
	log := logging.New(stderr, "reader", cfg.LogLevel)
	defer func() { _ = log.Sync() }()

	// The pool does not wait for the server; the watch below does.
	pool, err := pg.Open(ctx, address.Reveal(), pg.Options{Schema: "reader", MaxConns: 12})
	if err != nil {
		return err
	}
	defer pool.Close()
	db := newDatabase(pool, log)
	st := store.New(pool)

	for _, dir := range []string{cfg.RunDir(), filepath.Join(cfg.DataDir, "reader")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("create %s: %w", dir, err)
		}
	}
	// One reader a data folder: one that outlives its supervisor for a moment is
	// waited for and is nobody's failure (SUP-3).
	lockFile := filepath.Join(cfg.DataDir, "reader", "reader.lock")
	lock, err := durable.TakeLock(lockFile)
	if errors.Is(err, durable.ErrLocked) {
		return fmt.Errorf("another reader serves %s: process %d: %w", cfg.DataDir, durable.Holder(lockFile), err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()

	// Health first: liveness says that this loop turns, whatever the rest does.
	figures, requests, calls := newFigures(db)
	health := grpcserver.New(log, grpc.Creds(grpcserver.PeerCredentials(os.Geteuid())), calls)
	socket, err := grpcserver.ListenUnix(cfg.ReaderSocket())
	if err != nil {
		return err
	}
	failed := make(chan error, 4)
	go func() {
		if err := health.Serve(socket); err != nil {
			failed <- fmt.Errorf("health: %w", err)
		}
	}()
	beats := &pulse.Pulse{}
	watching, watched := context.WithCancel(context.WithoutCancel(ctx))
	defer watched()
	go beats.Watch(watching, func(alive bool) { health.Set(grpcserver.Liveness, alive) }, log)

	measured, err := metrics.Listen(cfg.ReaderMetricsSocket(), figures, log)
	if err != nil {
		return err
	}
	defer measured.Stop(time.Second)

	scraper, err := scraperclient.New(cfg.ScraperSocket(), log)
	if err != nil {
		return err
	}
	defer func() { _ = scraper.Close() }()
	files := pages.NewLibrary(cfg.LibraryDir)
	unpacked := pages.NewUnpacked(filepath.Join(cfg.DataDir, "reader", "unpacked"), pages.UnpackedLimit)
	defer unpacked.Close()
	files.UnpackInto(unpacked)
	covers := pages.NewCovers(filepath.Join(cfg.DataDir, "reader", "covers"), cfg.Thumbnails<<20, picture.NewDecoder(2))
	uploads := pages.NewUploads(filepath.Join(cfg.DataDir, "reader", "collection-covers"), picture.NewDecoder(1))
	follower := catalog.NewFollower(st, scraper, files, log)
	follows := follow.New(st, scraper, log)
	told := notify.New(st, scraper, parkedFile(cfg), log)
	accounts, err := account.New(ctx, st, account.NewArgon(), cfg.BasePath)
	if err != nil {
		return err
	}
	vouches, err := openIssuer(cfg, log)
	if err != nil {
		return err
	}

	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	stopping := make(chan struct{})
	site, err := web.New(web.Options{
		Accounts: accounts, Shelves: st, Scraper: scraper, Follows: follows, Notify: told, Moving: moving.New(st, scraper, follows),
		Catalog: follower, Database: db, Files: files, Covers: covers, Uploads: uploads, Hosts: cfg.Hosts,
		Standing: func() (standing.Report, error) { return standing.Read(cfg.StatusFile()) }, Log: log, Stopping: stopping,
		BasePath: cfg.BasePath, TrustedProxies: cfg.TrustedProxies, PlainHTTP: cfg.PlainHTTP, ClaimFrom: cfg.ClaimFrom, Issuer: vouches, AdmitMembers: cfg.Issuer.Admit == config.AdmitMembers, Measure: requests.Measure,
	})
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: site.Handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 120 * time.Second,
		MaxHeaderBytes: 64 << 10, ErrorLog: zap.NewStdLog(log.With(zap.String("part", "http"))),
	}
	listener, err := net.Listen("tcp", cfg.HTTP)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", cfg.HTTP, err)
	}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("http: %w", err)
		}
	}()
	log.Info("serving", zap.String("address", listener.Addr().String()))

	// What needs the database starts with it and sleeps through its absences:
	// each loop tries again by itself.
	var jobs sync.WaitGroup
	once := sync.OnceFunc(func() {
		jobs.Go(func() { account.KeepCode(work, st, cfg.ClaimCodeFile(), log) })
		jobs.Go(func() { follower.Run(work) })
		jobs.Go(func() { follows.Run(work) })
		jobs.Go(func() { told.Run(work) })
		jobs.Go(func() { prune(work, st, uploads, log) })
		jobs.Go(func() {
			scraper.Run(work, scraperclient.Heard{
				Library: func(string, int64) { follower.Wake() },
				Back:    follows.Wake,
			})
		})
	})
	jobs.Go(func() {
		if err := db.watch(work, func(ready bool) {
			health.Set(grpcserver.Readiness, ready)
			if ready {
				once()
			}
		}); err != nil {
			failed <- err
		}
	})

	fatal := turn(ctx, beats, server.Handler, failed)
	if fatal == nil {
		log.Info("stopping")
	}
	// Health first, so that nobody sends more; then the listeners; then the
	// work; the pool last, because everything before may still write to it.
	health.Health.Shutdown()
	close(stopping)
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := server.Shutdown(limited); err != nil {
		_ = server.Close()
	}
	stopWork()
	jobs.Wait()
	health.Stop(time.Second)
	return fatal
}

// parkedFile is where the addresses lie that are told of a parked service.
func parkedFile(cfg config.Config) string {
	return filepath.Join(cfg.DataDir, "reader", "parked-addresses.json")
}

// tellParked is the supervisor's word that a service is parked, to everybody who
// wants to know. It needs nothing but the file.
func tellParked(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return &config.SettingError{Name: "tell-parked", Problem: "it takes the service and why it is parked"}
	}
	cfg, err := config.FromEnvironment()
	if err != nil {
		return err
	}
	return notify.TellParked(ctx, parkedFile(cfg), args[0], args[1])
}

// prune removes sign-ins and codes that have ended and covers that nothing uses, now and then.
func prune(ctx context.Context, st *store.Store, uploads *pages.Uploads, log *zap.Logger) {
	for {
		if used, err := st.CollectionCovers(ctx); err == nil {
			if err := uploads.Sweep(used, time.Now()); err != nil {
				log.Debug("covers that nothing uses could not be removed", zap.Error(err))
			}
		}
		if err := st.PruneAccounts(ctx); err != nil && ctx.Err() == nil {
			log.Debug("sign-ins that have ended could not be removed", zap.Error(err))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Hour):
		}
	}
}
