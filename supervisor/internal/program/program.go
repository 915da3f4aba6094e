// Package program makes the supervised programs out of processes and probes:
// what a keeper starts, asks and stops. It keeps no state between two runs of
// a program and decides nothing about them.
package program

import (
	"context"
	"io"
	"sync"
	"syscall"
	"time"

	"mangrove/internal/grpcserver"
	"mangrove/supervisor/internal/child"
	"mangrove/supervisor/internal/probe"
	"mangrove/supervisor/internal/service"
)

// Grace is how long a service may take to end after SIGTERM (SUP-8).
const Grace = 20 * time.Second

// Step is one way of asking a process to end.
type Step struct {
	Signal syscall.Signal
	// Grace is how long to wait before the next step; 0 is for ever.
	Grace time.Duration
	// Hurry allows a person's second Ctrl-C to cut the grace short.
	Hurry bool
}

// Running is a process with the steps that end it.
type Running struct {
	*child.Process
	Steps []Step
}

// Exit says how the process ended.
func (r Running) Exit() service.Exit {
	e := r.Process.Exit()
	return service.Exit{Code: e.Code, What: e.String()}
}

// Stop takes the steps in order until the process is gone.
func (r Running) Stop(hurry <-chan struct{}) {
	for _, step := range r.Steps {
		_ = r.Signal(step.Signal)
		var limit <-chan time.Time
		if step.Grace > 0 {
			timer := time.NewTimer(step.Grace)
			defer timer.Stop()
			limit = timer.C
		}
		cut := hurry
		if !step.Hurry {
			cut = nil
		}
		select {
		case <-r.Done():
			return
		case <-limit:
		case <-cut:
		}
	}
	<-r.Done()
}

// Kill ends the process group at once.
func (r Running) Kill() {
	_ = r.Signal(syscall.SIGKILL)
	<-r.Done()
}

// Service is the scraper or the reader.
type Service struct {
	// Word is "scraper" or "reader".
	Word string
	// Path is its program, Env tells its whole environment at each start.
	Path string
	Env  func() []string
	// AfterFailure are its arguments when the run before failed: the scraper
	// looks then for the Job that brought it down (JOB-12).
	AfterFailure []string
	// Socket is where its health answers.
	Socket string
	// Log receives its output.
	Log io.Writer
	// Family is told of the process.
	Family *child.Family
	// Held says why it must not start now, or ""; nil never holds.
	Held func() string

	mu sync.Mutex
	// line leads to the run that was last asked, whose process is asked.
	asked int
	line  *probe.Line
}

// Name is the service's word.
func (s *Service) Name() string { return s.Word }

// Hold says why the service must not start now, or "".
func (s *Service) Hold() string {
	if s.Held == nil {
		return ""
	}
	return s.Held()
}

// StartLimit is how long a service may take until its loop turns: it waits for
// nothing but itself.
func (s *Service) StartLimit() time.Duration { return 2 * time.Minute }

// Start runs the service.
func (s *Service) Start(_ context.Context, again bool) (service.Process, error) {
	var args []string
	if again {
		args = s.AfterFailure
	}
	p, err := child.Start(child.Spec{Path: s.Path, Args: args, Env: s.Env(), Log: s.Log, Family: s.Family, Life: true})
	if err != nil {
		return nil, err
	}
	return Running{p, []Step{{syscall.SIGTERM, Grace, true}, {syscall.SIGKILL, 0, false}}}, nil
}

// Probe asks for the service's liveness, which no database can take away (SUP-6).
// Another run of it is asked over another connection.
func (s *Service) Probe(ctx context.Context, p service.Process) error {
	s.mu.Lock()
	if s.asked != p.PID() {
		if s.line != nil {
			s.line.Close()
		}
		s.asked, s.line = p.PID(), &probe.Line{Socket: s.Socket}
	}
	line := s.line
	s.mu.Unlock()
	return line.Check(ctx, grpcserver.Liveness)
}
