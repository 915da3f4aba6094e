package service

import (
	"context"
	"fmt"
	"sync"
	"time"

	"mangrove/supervisor/internal/budget"
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
	// probeLate is how much later than its limit an answer may come to us before we
	// take ourselves for the one that stood still.
	probeLate = 2 * time.Second
	// misses in a row end a program that served (SUP-2).
	misses = 3
	// holdEvery is how often a hold is looked at again.
	holdEvery = 250 * time.Millisecond
	// lockEvery is how often a program is tried that found its lock taken:
	// the holder is another program that will end one day.
	lockEvery = 5 * time.Second
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
	// Left is how many failures the budget still allows, FreesAt when a spent one
	// allows a start again; zero when it is not spent.
	Left    int
	FreesAt time.Time
	// Exits are the failures that are remembered, oldest first.
	Exits []budget.Failure
}

// Keeper keeps one program running.
type Keeper struct {
	program Program
	budget  Budget
	changed func(Status)
	// requests are an operator's; ended is closed when Run returns.
	requests chan request
	ended    chan struct{}

	mu     sync.Mutex
	status Status
}

// Budget is what a keeper knows of its service's crash budget (SUP-2, SUP-4).
type Budget interface {
	// Fail keeps a failure before it returns, and says whether it parks the service.
	Fail(what string, lines []string) (parked bool, reason string)
	// Parked says whether the service must not be started, and why.
	Parked() (parked bool, reason string)
	// Rewrite tries again to write a budget that could not be written.
	Rewrite()
	// Left is how many failures it may still have, FreesAt when a spent budget allows
	// a start again.
	Left() int
	FreesAt() time.Time
	// Failures are those that are remembered, oldest first.
	Failures() []budget.Failure
	// Reset is an operator's forgiveness; backup is the file as it was.
	Reset() (backup string, err error)
}

// NewKeeper makes a keeper that calls changed, which must not block for long,
// after each change of state or reason.
func NewKeeper(p Program, b Budget, changed func(Status)) *Keeper {
	k := &Keeper{
		program: p, budget: b, changed: changed, requests: make(chan request), ended: make(chan struct{}),
		status: Status{Name: p.Name(), State: Stopped, Since: time.Now()},
	}
	k.note(k.counted)
	return k
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
	defer close(k.ended)
	defer k.end()
	failures := 0 // in a row
	failed := false
	for ctx.Err() == nil {
		if parked, reason := k.budget.Parked(); parked {
			if k.Status().State != RepairRequired {
				k.step(Park, func(s *Status) { s.Reason = reason })
			}
			k.resting(ctx)
			failures = 0
			continue
		}
		switch k.held(ctx) {
		case nothing:
			return
		case ActStop:
			k.resting(ctx)
			continue
		}
		k.step(Start, func(s *Status) { s.Reason = "" })
		p, err := k.program.Start(ctx, failed)
		if err != nil && ctx.Err() != nil {
			return // given up because it was asked to, which is no failure
		}
		if err != nil {
			failures++
			k.afterFailure(ctx, failures, err.Error(), nil)
			continue
		}
		failed = false
		k.note(func(s *Status) { s.PID = p.PID() })
		end := k.watch(ctx, p)
		if ctx.Err() != nil || end.asked != nothing {
			k.step(Stop, nil)
			p.Stop(hurry)
			k.step(Gone, func(s *Status) { s.PID = 0 })
			failures = 0
			if end.asked == ActStop {
				k.resting(ctx)
			}
			continue
		}
		if end.served >= steadyAfter {
			failures = 0
		}
		exit := p.Exit()
		switch {
		case end.hung != "":
			failed = true
			failures++
			k.afterFailure(ctx, failures, end.hung, p.LastLines())
		case exit.Code == exitConfig:
			k.refused(exit, p.LastLines(), time.Time{})
			k.asleep(ctx, 0)
		case exit.Code == exitLock:
			k.refused(exit, p.LastLines(), time.Now().Add(lockEvery))
			k.asleep(ctx, lockEvery)
		default:
			failed = true
			failures++
			k.afterFailure(ctx, failures, exit.What, p.LastLines())
		}
	}
}

// end takes whatever state the keeper is in to stopped.
func (k *Keeper) end() {
	if k.Status().State != Stopped {
		k.step(Stop, func(s *Status) { s.NextStart, s.Reason = time.Time{}, "" })
	}
	if k.Status().State == Stopping {
		k.step(Gone, nil)
	}
}

// afterFailure keeps the failure before anything is started again (SUP-4), and
// either parks the service or waits before its next start.
func (k *Keeper) afterFailure(ctx context.Context, inARow int, what string, lines []string) {
	parked, reason := k.budget.Fail(what, lines)
	if parked {
		k.step(Park, func(s *Status) {
			s.PID, s.LastExit, s.LastLines, s.Reason = 0, what, lines, reason
			k.counted(s)
		})
		return
	}
	k.step(Fail, func(s *Status) {
		s.PID, s.LastExit, s.LastLines = 0, what, lines
		s.NextStart = time.Now().Add(pause(inARow))
		k.counted(s)
	})
	if d := pause(inARow); d > 0 {
		k.asleep(ctx, d)
	}
}

// nothing is no act: ctx ended, or the time was up.
const nothing Act = ""

// held waits until nothing speaks against a start and returns ActStart; ActStop
// when the operator wants none, and nothing when ctx ended.
func (k *Keeper) held(ctx context.Context) Act {
	for {
		reason := k.program.Hold()
		if reason == "" {
			if ctx.Err() != nil {
				return nothing
			}
			return ActStart
		}
		if now := k.Status(); now.State != Waiting || now.Reason != reason {
			k.step(Hold, func(s *Status) { s.Reason, s.NextStart = reason, time.Time{} })
		}
		timer := time.NewTimer(holdEvery)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case r := <-k.requests:
			if r.act == ActStop {
				timer.Stop()
				k.step(Stop, func(s *Status) { s.Reason = "" })
				r.accept("%s is stopped; it was waiting", k.program.Name())
				return ActStop
			}
			r.refuse("%s waits: %s", k.program.Name(), reason)
		}
		timer.Stop()
	}
}

// asleep waits for d, for ever when d is 0, until ctx ends, or for an operator's
// word: a start comes at once then, and a stop rests until there is another word.
func (k *Keeper) asleep(ctx context.Context, d time.Duration) {
	name := k.program.Name()
	var up <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		up = timer.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-up:
			return
		case r := <-k.requests:
			switch r.act {
			case ActStart, ActRestart:
				r.accept("%s is started", name)
				return
			case ActStop:
				was := k.Status().State
				k.step(Stop, func(s *Status) { s.NextStart, s.Reason = time.Time{}, "" })
				r.accept("%s is stopped; it was %s", name, was)
				k.resting(ctx)
				return
			default:
				r.refuse("stop it first: mangrove stop %s", name)
			}
		}
	}
}

// ending is how a run came to its end.
type ending struct {
	// served is how long it answered.
	served time.Duration
	// hung says why we ended it, or is "".
	hung string
	// asked is the operator's act that ends it, or nothing.
	asked Act
}

// watch probes p until it ends, hangs, is to be stopped or ctx ends. Unless ctx
// ended or an operator asked, p is gone when it returns.
func (k *Keeper) watch(ctx context.Context, p Process) ending {
	name := k.program.Name()
	var since time.Time
	// waited is the time its start has taken as far as we were there to see it:
	// after a standstill of our own, a suspended machine or a stopped process,
	// the clock says more than the program had.
	waited, limit, last := time.Duration(0), k.program.StartLimit(), time.Now()
	missed := 0
	every := probeStarting
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ending{}
		case <-p.Done():
			var served time.Duration
			if !since.IsZero() {
				served = time.Since(since)
			}
			return ending{served: served}
		case r := <-k.requests:
			switch r.act {
			case ActStop:
				r.accept("%s is stopping", name)
				return ending{asked: ActStop}
			case ActRestart:
				r.accept("%s is restarting", name)
				return ending{asked: ActRestart}
			case ActStart:
				r.refuse("%s runs already", name)
			default:
				r.refuse("stop it first: mangrove stop %s", name)
			}
			continue
		case <-timer.C:
		}
		asked := time.Now()
		err := k.probe(ctx, p)
		now := time.Now()
		took := now.Sub(asked)
		waited, last = waited+min(now.Sub(last), every+probeLimit), now
		switch {
		case err != nil && took > probeLimit+probeLate:
			// We stood still, not the program: that answer proves nothing.
		case err == nil && since.IsZero():
			since, every = time.Now(), probeServing
			k.step(Ready, k.counted)
		case err == nil:
			missed = 0
			// Time frees a budget without an event.
			if k.Status().Left < budget.Limit {
				k.note(k.counted)
			}
		case !since.IsZero():
			if missed++; missed >= misses && ctx.Err() == nil && !ended(p) {
				p.Kill()
				return ending{served: time.Since(since), hung: fmt.Sprintf("%d liveness checks missed in a row; it was ended", misses)}
			}
		case limit > 0 && waited >= limit && ctx.Err() == nil && !ended(p):
			p.Kill()
			return ending{hung: fmt.Sprintf("it did not answer within %s of its start and was ended", limit)}
		}
		timer.Reset(max(every-took, probeStarting))
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
