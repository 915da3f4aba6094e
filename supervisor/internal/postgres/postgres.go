// Package postgres runs the embedded default: a private cluster in the data
// folder, as a third supervised service. It starts and stops the server and
// says when it takes connections; it never connects, and knows no table.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"mangrove/internal/pgcluster"
	"mangrove/supervisor/internal/child"
	"mangrove/supervisor/internal/program"
	"mangrove/supervisor/internal/service"
)

// Name is the service's name.
const Name = "postgres"

// Server is the private cluster's server.
type Server struct {
	Layout   pgcluster.Layout
	Programs pgcluster.Programs
	// Owner is whom it runs as, other than us only if we are root.
	Owner pgcluster.Owner
	// Log receives the server's output, Say a line for a person when
	// something takes long.
	Log io.Writer
	Say func(string)
	// Family is told of the server's process.
	Family *child.Family
	// Settings are further "name=value" settings of the server.
	Settings []string
}

// Name is "postgres".
func (s *Server) Name() string { return Name }

// Hold says which process of an earlier server still uses the data folder: a
// session that was busy when its server was killed lives on for a while, and
// no server may start beside it. That is nobody's failure (SUP-3).
func (s *Server) Hold() string {
	pids, err := s.Layout.Occupants()
	if err != nil || len(pids) == 0 {
		return ""
	}
	return fmt.Sprintf("process %d of an earlier server still uses %s", pids[0], s.Layout.Data())
}

// StartLimit is none: recovery after a crash takes as long as it takes, and
// ending it would only begin it again.
func (s *Server) StartLimit() time.Duration { return 0 }

// Start makes the cluster if there is none, sweeps what a dead server left and
// starts the server.
func (s *Server) Start(ctx context.Context, _ bool) (service.Process, error) {
	if err := s.Layout.MakeFolders(s.Owner); err != nil {
		return nil, err
	}
	if !s.Layout.Exists() && s.Say != nil {
		s.Say("Making the database in " + s.Layout.Root + " ...")
	}
	if err := s.Layout.Create(s.Owner, pgcluster.Guarded, false, func(args []string) error { return s.initdb(ctx, args) }); err != nil {
		return nil, err
	}
	if err := s.Layout.Sweep(); err != nil {
		return nil, err
	}
	spec := s.spec(s.Programs.Postgres(), s.Layout.ServerArgs(s.Settings...))
	// When we die without a word the server ends at once and recovers at its
	// next start: an orphan would stand in the next server's way.
	spec.ParentDeath = syscall.SIGQUIT
	p, err := child.Start(spec)
	if err != nil {
		return nil, err
	}
	// SIGINT is the fast stop, which ends sessions; SIGTERM would wait for them.
	return program.Running{Process: p, Steps: []program.Step{
		{Signal: syscall.SIGINT, Grace: time.Minute}, {Signal: syscall.SIGQUIT, Grace: 10 * time.Second}, {Signal: syscall.SIGKILL},
	}}, nil
}

// Probe returns nil when the server p itself takes connections.
func (s *Server) Probe(_ context.Context, p service.Process) error {
	if !s.Layout.Ready(p.PID()) {
		return errors.New("the server does not take connections yet")
	}
	return nil
}

func (s *Server) initdb(ctx context.Context, args []string) error {
	spec := s.spec(s.Programs.Initdb(), args)
	spec.ParentDeath = syscall.SIGKILL
	exit, lines, err := child.Run(ctx, spec)
	if err != nil {
		return err
	}
	if exit.Code != 0 {
		return fmt.Errorf("initdb: %s: %s", exit, strings.Join(lines, "; "))
	}
	return nil
}

func (s *Server) spec(path string, args []string) child.Spec {
	spec := child.Spec{Path: path, Args: args, Log: s.Log, Family: s.Family, Env: []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TZ=UTC"}}
	if os.Geteuid() == 0 {
		spec.User = &child.User{UID: s.Owner.UID, GID: s.Owner.GID}
	}
	return spec
}

// Version runs `postgres --version`, as a member of f if that is not nil, and returns the major version.
func Version(ctx context.Context, f *child.Family, p pgcluster.Programs) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	exit, lines, err := child.Run(ctx, child.Spec{Path: p.Postgres(), Args: []string{"--version"}, Family: f})
	if err != nil {
		return 0, err
	}
	out := strings.Join(lines, " ")
	if exit.Code != 0 {
		return 0, fmt.Errorf("postgres --version: %s: %s", exit, out)
	}
	return pgcluster.ParseVersion(out)
}
