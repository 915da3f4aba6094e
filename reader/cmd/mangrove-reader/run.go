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
	"mangrove/internal/grpcserver"
	"mangrove/internal/logging"
	"mangrove/internal/pg"
	"mangrove/internal/picture"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/follow"
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

	// Health first: liveness says that this loop turns, whatever the rest does.
	if err := os.MkdirAll(cfg.RunDir(), 0o700); err != nil {
		return fmt.Errorf("create the folder of the sockets: %w", err)
	}
	health := grpcserver.New(log, grpc.Creds(grpcserver.PeerCredentials(os.Geteuid())))
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
	health.Set(grpcserver.Liveness, true)

	scraper, err := scraperclient.New(cfg.ScraperSocket(), log)
	if err != nil {
		return err
	}
	defer func() { _ = scraper.Close() }()
	files := pages.NewLibrary(cfg.LibraryDir)
	covers := pages.NewCovers(filepath.Join(cfg.DataDir, "reader", "covers"), picture.NewDecoder(2))
	follower := catalog.NewFollower(st, scraper, files, log)
	follows := follow.New(st, scraper, log)
	accounts, err := account.New(ctx, st, account.NewArgon(), cfg.BasePath)
	if err != nil {
		return err
	}

	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	stopping := make(chan struct{})
	site, err := web.New(web.Options{
		Accounts: accounts, Shelves: st, Scraper: scraper, Follows: follows,
		Catalog: follower, Database: db, Files: files, Covers: covers, Hosts: cfg.Hosts, Log: log, Stopping: stopping,
		BasePath: cfg.BasePath, TrustedProxies: cfg.TrustedProxies, PlainHTTP: cfg.PlainHTTP, ClaimFrom: cfg.ClaimFrom,
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
		jobs.Go(func() { prune(work, st, log) })
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

	var fatal error
	select {
	case <-ctx.Done():
		log.Info("stopping")
	case fatal = <-failed:
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

// prune removes sign-ins and codes that have ended, now and then.
func prune(ctx context.Context, st *store.Store, log *zap.Logger) {
	for {
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
