package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/config"
	"mangrove/internal/grpcserver"
	"mangrove/internal/metrics"
	"mangrove/supervisor/internal/budget"
	"mangrove/supervisor/internal/chronicle"
	"mangrove/supervisor/internal/control"
	"mangrove/supervisor/internal/postgres"
	"mangrove/supervisor/internal/program"
	"mangrove/supervisor/internal/service"
)

// migrateTries bounds how often the embedded database is asked again when it
// went away between its start and the migration.
const migrateTries = 10

type upCommand struct{}

// Help is shown by `mangrove up --help`.
func (upCommand) Help() string {
	return "Starts the database (unless MANGROVE_DATABASE_URL names one), the scraper and the reader, prints the address to open, and keeps each of them running. Ctrl-C stops them in order.\n\n" +
		"Exit codes: 0 stopped as asked, 1 failed, 2 a wrong setting, 75 another Mangrove runs on the data folder.\n\n" +
		"Example: MANGROVE_DATA=/srv/mangrove MANGROVE_HTTP=0.0.0.0:8484 mangrove up"
}

// Run is `mangrove up`.
func (upCommand) Run(con console) error {
	// It makes little garbage and stays for months: what is resident counts for more than
	// the few more collections.
	debug.SetGCPercent(25)
	// A closed terminal or pipe does not stop a supervisor. The signals are
	// received and dropped, not ignored: children would inherit that.
	dropped := make(chan os.Signal, 1)
	signal.Notify(dropped, syscall.SIGHUP, syscall.SIGPIPE)
	defer signal.Stop(dropped)
	asked := make(chan os.Signal, 2)
	signal.Notify(asked, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(asked)

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	hurry := make(chan struct{})
	go func() {
		<-asked
		cancel()
		<-asked // services need not end in peace any more; the database still does
		close(hurry)
	}()

	c, kept, err := keptSettings()
	if err != nil {
		return err
	}
	s, err := prepare(ctx, c, con, true)
	if err != nil {
		return stopped(ctx, keptHint(err, kept))
	}
	defer s.close()
	if err := s.recoverTrial(); err != nil {
		return settings(err)
	}
	return stopped(ctx, s.up(ctx, hurry))
}

// stopped turns an error that is only the end of ctx into a stop as asked.
func stopped(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// up starts everything and returns when it is stopped again.
func (s *system) up(ctx context.Context, hurry <-chan struct{}) error {
	c := s.config
	names := []string{"scraper", "reader"}
	if s.postgres != nil {
		names = append([]string{postgres.Name}, names...)
	}
	health := control.NewHealth(s.log, names...)
	s.observers = append(s.observers, health.Update)
	socket, err := grpcserver.ListenUnix(c.ControlSocket())
	if err != nil {
		return fmt.Errorf("open the control socket: %w", err)
	}
	facts := control.Facts{Version: version, Started: time.Now(), Address: s.address, Data: c.DataDir}
	if s.bound.Metrics != nil {
		facts.Metrics = "http://" + s.bound.Metrics.Addr().String() + metrics.Path
	}
	trials := s.trials()
	operator := control.NewOperator(s.log, facts, s.group.statuses, s.act, trials, 0, os.Geteuid())
	figures, err := s.metrics()
	if err != nil {
		return err
	}
	for _, serve := range []func() error{
		func() error { return operator.Serve(socket) },
		func() error { return health.Serve(grpcserver.Spare(s.bound.Health)) },
		func() error { return figures.Serve(s.bound.Metrics) },
	} {
		go func() {
			if err := serve(); err != nil {
				s.log.Error("a server ended", zap.Error(err))
			}
		}()
	}
	// The order of a stop: say that we are going, end the services and what
	// they left behind, then stop answering the operator, who may want to watch.
	defer operator.Stop(time.Second)
	defer figures.Stop(time.Second)
	reaping, enough := context.WithCancel(context.Background())
	defer enough()
	go s.family.Reap(reaping)
	defer func() {
		if n := s.family.End(); n > 0 {
			s.log.Warn("ended orphans", zap.Int("count", n))
		}
	}()
	told := make(chan struct{}, 1)
	s.observers = append(s.observers, func(service.Status) {
		select {
		case told <- struct{}{}:
		default:
		}
	})
	go s.tellStanding(reaping, facts.Started, told)
	s.observers = append(s.observers, s.tellParked(reaping), s.chronicled())
	s.events.Tell(chronicle.Event{Event: "supervisor", To: "started", Reason: version})
	defer func() { s.events.Tell(chronicle.Event{Event: "supervisor", To: "stopped"}) }()
	go s.heartbeat(reaping)
	defer s.group.stop(func(name string) { s.log.Info("stopping", zap.String("name", name)) })
	defer health.Stop(time.Second)

	// A trial ends before the services do, and is taken back at the next start.
	trying, tried := context.WithCancel(ctx)
	var ending sync.WaitGroup
	ending.Go(func() { trials.Run(trying) })
	defer func() { tried(); ending.Wait() }()

	held := func() string { return "" }
	admin := ""
	reader := sync.OnceFunc(func() {
		// Held by nothing: without the database it has one page, which says so (OWN-2).
		s.group.start(&program.Service{
			Word: "reader", Path: s.readerPath, Env: func() []string { return readerEnvironment(os.Environ(), s.inForce()) }, Socket: c.ReaderSocket(), Log: s.rotated("reader"), Family: s.family,
		}, s.budget("reader"), hurry)
	})
	if s.postgres != nil {
		keeper := s.group.start(s.postgres, s.budget(postgres.Name), hurry)
		parked := sync.OnceFunc(func() {
			reader()
			s.say("The database is parked. Look at: mangrove status")
		})
		if err := s.group.await(ctx, keeper, service.Serving, parked); err != nil {
			return err
		}
		held = func() string {
			if now := keeper.Status(); now.State != service.Serving && s.inForce().Embedded() {
				return "the database is " + string(now.State)
			}
			return ""
		}
		admin = s.postgres.Layout.AdminURL("mangrove")
	}
	if err := s.migrate(ctx, admin); err != nil {
		return err
	}
	s.group.start(&program.Service{
		Word: "scraper", Path: s.scraperPath, AfterFailure: []string{"after-crash"}, Env: func() []string { return scraperEnvironment(os.Environ(), s.inForce()) },
		Socket: c.ScraperSocket(), Log: s.rotated("scraper"), Held: held, Family: s.family,
	}, s.budget("scraper"), hurry)
	reader()
	if err := s.awaitAll(ctx); err != nil {
		return err
	}
	fmt.Fprintf(s.console.out, "\nMangrove is at %s\n", s.address())
	watchClaimCode(ctx, c.ClaimCodeFile(), s.console.out)
	s.say("Stopping ...")
	return nil
}

// budget is the crash budget that is kept of a service, in the data folder. One
// that cannot be believed is said, and counts as spent (SUP-4).
func (s *system) budget(name string) service.Budget {
	b, strict := budget.Open(s.config.DataDir, name, budget.Now)
	if strict != "" {
		s.log.Error("the crash budget could not be believed and counts as spent", zap.String("name", name), zap.String("because", strict))
		s.say(fmt.Sprintf("The crash budget of %s could not be believed (%s): it starts parked. See: mangrove status", name, strict))
	}
	return spared{b, func(what string) bool { return s.onTrial.spare(name, what) }}
}

// migrate brings the database up to date, again when the embedded one went away
// meanwhile: its keeper brings it back. What a person has to mend ends in 2.
func (s *system) migrate(ctx context.Context, admin string) error {
	for try := 1; ; try++ {
		err := migrate(ctx, s.inForce(), s.family, s.scraperPath, admin)
		if err == nil || ctx.Err() != nil {
			return err
		}
		switch exitCode(err) {
		case config.ExitConfig:
			return settings(errors.New(err.Error()))
		case config.ExitDatabase:
			if try >= migrateTries {
				return err
			}
		default:
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// awaitAll returns when every service serves, or waits for an operator: what can be
// read is read although something else is parked.
func (s *system) awaitAll(ctx context.Context) error {
	for {
		all := true
		for _, now := range s.group.statuses() {
			switch now.State {
			case service.Serving, service.RepairRequired, service.Blocked:
			default:
				all = false
			}
		}
		if all {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.group.wake:
		}
	}
}

// address is where a browser on this machine finds the reader.
func address(listen, basePath string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "http://" + listen + basePath + "/"
	}
	switch host {
	case "", "0.0.0.0":
		host = "127.0.0.1"
	case "::":
		host = "::1"
	}
	return "http://" + net.JoinHostPort(host, port) + basePath + "/"
}
