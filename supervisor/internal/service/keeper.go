package service

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Exit codes with a meaning of their own (SUP-3); config has the whole list.
const (
	exitLock   = 75
	exitConfig = 78
)

const (
	// probeStarting and probeServing are how often a program is asked.
	probeStarting = 200 * time.Millisecond
	probeServing  = 10 * time.Second
	// probeLimit is how long it may take to answer; later is a miss.
	probeLimit = 5 * time.Second
	// misses in a row end a program that served (SUP-2).
	misses = 3
	// holdEvery is how often a hold is looked at again.
	holdEvery = 250 * time.Millisecond
	// lockEvery is how often a program is tried that found its lock taken:
	// the holder is another program that will end one day.
	lockEvery = 15 * time.Second
)

// Exit says how a program ended.
type Exit struct {
	// Code is the exit code, -1 when a signal ended the program.
	Code int
	// What describes the end for a person: "exit code 1", "signal: killed".
	What string
}

// Process is one run of a program.
type Process interface {
	PID() int
	// Done is closed when the program is gone.
	Done() <-chan struct{}
	// Exit is valid once Done is closed.
	Exit() Exit
	LastLines() []string
	// Stop asks the program to end, insists after its grace or when hurry is
	// closed, and returns when it is gone.
	Stop(hurry <-chan struct{})
	// Kill ends the program at once and returns when it is gone.
	Kill()
}

// Program is what a keeper keeps running.
type Program interface {
	// Name is "postgres", "scraper" or "reader".
	Name() string
	// Hold returns why the program must not be started now, or "".
	Hold() string
	// Start runs it. The process outlives ctx. again is true when the one before
	// failed: a crash, or missed liveness checks (SUP-2), and not a stop.
	Start(ctx context.Context, again bool) (Process, error)
	// StartLimit is how long a start may take before it counts as failed; 0
	// is for ever.
	StartLimit() time.Duration
	// Probe returns nil when p serves.
	Probe(ctx context.Context, p Process) error
}

// Status is how a service stands.
type Status struct {
	Name  string
	State State
	// Since is when that state began.
	Since time.Time
	// PID is 0 when nothing runs.
	PID int
	// Failures counts since the supervisor began.
	Failures int
	// LastExit describes the last failure and LastLines what was printed before it.
	LastExit  string
	LastLines []string
	// Reason says why it waits or is blocked, or "".
	Reason string
	// NextStart is when it is started again, zero unless that is decided.
	NextStart time.Time
}

// Keeper keeps one program running.
type Keeper struct {
	program Program
	changed func(Status)

	mu     sync.Mutex
	status Status
}

// NewKeeper makes a keeper that calls changed, which must not block for long,
// after each change of state or reason.
func NewKeeper(p Program, changed func(Status)) *Keeper {
	return &Keeper{program: p, changed: changed, status: Status{Name: p.Name(), State: Stopped, Since: time.Now()}}
}

// Status returns how the service stands now.
func (k *Keeper) Status() Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.status
}

// Run keeps the program running until ctx ends, then stops it and returns when
// it is gone. hurry, when closed, ends the grace of that stop.
func (k *Keeper) Run(ctx context.Context, hurry <-chan struct{}) {
	failures := 0 // in a row
	failed := false
	for ctx.Err() == nil {
		if !k.held(ctx) {
			break
		}
		k.step(Start, func(s *Status) { s.Reason = "" })
		p, err := k.program.Start(ctx, failed)
		if err != nil && ctx.Err() != nil {
			break // given up because it was asked to, which is no failure
		}
		if err != nil {
			failures++
			k.failed(failures, err.Error(), nil)
			k.sleep(ctx, pause(failures))
			continue
		}
		failed = false
		k.note(func(s *Status) { s.PID = p.PID() })
		served, hung := k.watch(ctx, p) // hung says why we ended it, or is ""
		if ctx.Err() != nil {
			k.step(Stop, nil)
			p.Stop(hurry)
			k.step(Gone, func(s *Status) { s.PID = 0 })
			return
		}
		if served >= steadyAfter {
			failures = 0
		}
		exit := p.Exit()
		switch {
		case hung != "":
			failed = true
			failures++
			k.failed(failures, hung, p.LastLines())
			k.sleep(ctx, pause(failures))
		case exit.Code == exitConfig:
			k.refused(exit, p.LastLines(), time.Time{})
			<-ctx.Done()
		case exit.Code == exitLock:
			k.refused(exit, p.LastLines(), time.Now().Add(lockEvery))
			k.sleep(ctx, lockEvery)
		default:
			failed = true
			failures++
			k.failed(failures, exit.What, p.LastLines())
			k.sleep(ctx, pause(failures))
		}
	}
	if k.Status().State != Stopped {
		k.step(Stop, func(s *Status) { s.NextStart, s.Reason = time.Time{}, "" })
	}
	if k.Status().State == Stopping {
		k.step(Gone, nil)
	}
}

// held waits until nothing speaks against a start; false means that ctx ended.
func (k *Keeper) held(ctx context.Context) bool {
	for {
		reason := k.program.Hold()
		if reason == "" {
			return ctx.Err() == nil
		}
		if now := k.Status(); now.State != Waiting || now.Reason != reason {
			k.step(Hold, func(s *Status) { s.Reason, s.NextStart = reason, time.Time{} })
		}
		if !k.sleep(ctx, holdEvery) {
			return false
		}
	}
}

// watch probes p until it ends, hangs or ctx ends. It returns how long p served
// and why it was ended, if it was; unless ctx ended, p is gone.
func (k *Keeper) watch(ctx context.Context, p Process) (served time.Duration, hung string) {
	var since time.Time
	began, limit := time.Now(), k.program.StartLimit()
	missed := 0
	every := probeStarting
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return 0, ""
		case <-p.Done():
			if !since.IsZero() {
				served = time.Since(since)
			}
			return served, ""
		case <-timer.C:
		}
		err := k.probe(ctx, p)
		switch {
		case err == nil && since.IsZero():
			since, every = time.Now(), probeServing
			k.step(Ready, nil)
		case err == nil:
			missed = 0
		case !since.IsZero():
			if missed++; missed >= misses && ctx.Err() == nil && !ended(p) {
				p.Kill()
				return time.Since(since), fmt.Sprintf("%d liveness checks missed in a row; it was ended", misses)
			}
		case limit > 0 && time.Since(began) >= limit && ctx.Err() == nil && !ended(p):
			p.Kill()
			return 0, fmt.Sprintf("it did not answer within %s of its start and was ended", limit)
		}
		timer.Reset(every)
	}
}

func (k *Keeper) probe(ctx context.Context, p Process) error {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	return k.program.Probe(ctx, p)
}

func ended(p Process) bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

func (k *Keeper) failed(inARow int, what string, lines []string) {
	k.step(Fail, func(s *Status) {
		s.PID, s.LastExit, s.LastLines = 0, what, lines
		s.NextStart = time.Now().Add(pause(inARow))
	})
}

// refused blocks the service with the last thing the program said as reason.
func (k *Keeper) refused(exit Exit, lines []string, again time.Time) {
	reason := exit.What
	if len(lines) > 0 {
		reason = lines[len(lines)-1]
	}
	k.step(Refuse, func(s *Status) {
		s.PID, s.LastExit, s.LastLines, s.Reason, s.NextStart = 0, exit.What, lines, reason, again
	})
}

// step takes the table's step for event and panics on one that the table lacks:
// that is a slip in this package.
func (k *Keeper) step(event Event, set func(*Status)) {
	k.mu.Lock()
	row, ok := Next(k.status.State, event)
	if !ok {
		k.mu.Unlock()
		panic(fmt.Sprintf("service: %s cannot %s when %s", k.program.Name(), event, k.status.State))
	}
	if k.status.State != row.To {
		k.status.Since = time.Now()
	}
	k.status.State = row.To
	if row.Failure {
		k.status.Failures++
	}
	if row.To == Starting {
		k.status.NextStart = time.Time{}
	}
	if set != nil {
		set(&k.status)
	}
	now := k.status
	k.mu.Unlock()
	if k.changed != nil {
		k.changed(now)
	}
}

func (k *Keeper) note(set func(*Status)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	set(&k.status)
}

// sleep waits for d; false means that ctx ended first.
func (k *Keeper) sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
