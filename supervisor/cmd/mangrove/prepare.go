package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"go.uber.org/zap"

	"mangrove/internal/config"
	"mangrove/internal/durable"
	"mangrove/internal/logging"
	"mangrove/internal/pgcluster"
	"mangrove/supervisor/internal/child"
	"mangrove/supervisor/internal/chronicle"
	"mangrove/supervisor/internal/postgres"
	"mangrove/supervisor/internal/preflight"
	"mangrove/supervisor/internal/service"
)

// system is everything that was checked and is held before the first program
// is spawned.
type system struct {
	// config is what was given at the start; inForce is with what was tried since.
	config  config.Config
	mu      sync.Mutex
	tried   *config.Config
	onTrial concerned
	events  *chronicle.Log
	console console
	log     *zap.Logger
	lock    *durable.Lock
	family  *child.Family
	bound   preflight.Bound // nothing unless ports were asked for
	// postgres is nil unless the embedded default is used.
	postgres                *postgres.Server
	scraperPath, readerPath string
	group                   *group
	logs                    []io.Closer
	observers               []func(service.Status)
}

// prepare runs every check in an order in which the first failure is the one
// to mend first. An error leaves nothing held.
func prepare(ctx context.Context, c config.Config, con console, ports bool) (_ *system, err error) {
	s := &system{config: c, console: con}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.family, err = child.NewFamily(); err != nil {
		return nil, err
	}
	euid := os.Geteuid()
	if err := preflight.Settings(c); err != nil {
		return nil, err
	}
	if err := preflight.Sockets(c); err != nil {
		return nil, err
	}
	var cluster preflight.Cluster
	if c.Embedded() {
		if cluster, err = preflight.ClusterPaths(c, euid); err != nil {
			return nil, settings(err)
		}
	}
	if err := preflight.Folders(c, euid); err != nil {
		return nil, err
	}
	if s.lock, err = preflight.Lock(c); err != nil {
		return nil, err
	}
	if ports {
		if s.bound, err = preflight.Ports(c); err != nil {
			return nil, err
		}
	}
	if s.scraperPath, s.readerPath, err = siblings(); err != nil {
		return nil, err
	}
	if c.Embedded() {
		if cluster, err = cluster.Complete(ctx, c, os.Getenv("PATH"), func(ctx context.Context, p pgcluster.Programs) (int, error) {
			return postgres.Version(ctx, s.family, p)
		}); err != nil {
			return nil, settings(err)
		}
	}
	s.log = logging.New(s.rotated("supervisor"), "supervisor", c.LogLevel)
	s.events = chronicle.New(chronicle.Path(c.DataDir), func(err error) {
		s.say(fmt.Sprintf("%s cannot be written: %s. Everything goes on without it.", chronicle.Path(c.DataDir), durable.Reason(err)))
	})
	s.group = newGroup(s.changed)
	if c.Embedded() {
		s.postgres = &postgres.Server{
			Layout: cluster.Layout, Programs: cluster.Programs, Owner: cluster.Owner,
			Log: s.rotated(postgres.Name), Say: s.say, Family: s.family,
		}
	}
	return s, nil
}

// rotated opens the log of one service.
func (s *system) rotated(name string) io.Writer {
	w := logging.Rotated(filepath.Join(s.config.LogDir(), name+".log"))
	s.logs = append(s.logs, w)
	return &spoken{log: w, name: name, say: s.say}
}

// close lets go of what is held. Files and folders stay.
func (s *system) close() {
	s.bound.Close()
	for _, l := range s.logs {
		_ = l.Close()
	}
	if s.lock != nil {
		_ = s.lock.Unlock()
	}
}

// say tells the person at the console something, in one line.
func (s *system) say(text string) { fmt.Fprintln(s.console.err, printable(text)) }

// changed passes a service's new state on: to the log, to the console when
// there is something to mend, and to whoever else wants to know.
func (s *system) changed(now service.Status) {
	s.log.Info("service changed", zap.String("name", now.Name), zap.String("state", string(now.State)), zap.Int("pid", now.PID),
		zap.Int("failures", now.Failures), zap.String("last_exit", now.LastExit), zap.String("reason", now.Reason))
	switch now.State {
	case service.BackingOff:
		last := ""
		if len(now.LastLines) > 0 {
			last = "; last line: " + now.LastLines[len(now.LastLines)-1]
		}
		s.say(fmt.Sprintf("%s ended (%s) and is started again at %s%s", now.Name, now.LastExit, now.NextStart.Format("15:04:05"), last))
	case service.Blocked:
		s.say(fmt.Sprintf("%s is blocked: %s", now.Name, now.Reason))
	case service.Waiting:
		s.say(fmt.Sprintf("%s waits: %s", now.Name, now.Reason))
	}
	for _, tell := range s.observers {
		tell(now)
	}
}

// settings gives an error of the surroundings the exit code of a wrong setting.
func settings(err error) error {
	var s *config.SettingError
	if errors.As(err, &s) {
		return err
	}
	return &codeError{config.ExitSettings, err}
}

// siblings finds the other two programs.
func siblings() (scraper, reader string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", "", fmt.Errorf("find our own program: %w", err)
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	scraper, reader, err = preflight.Programs(self)
	if err != nil {
		return "", "", settings(err)
	}
	return scraper, reader, nil
}

func clusterLayout(c config.Config) pgcluster.Layout {
	return pgcluster.Layout{Root: filepath.Join(c.DataDir, "postgres")}
}
