package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mangrove/supervisor/internal/budget"
)

// Act is what an operator may ask of one service.
type Act string

// The acts. Restart and Start are refused while the budget is spent, and Reset
// while the service runs (SUP-5).
const (
	ActStart   Act = "start"
	ActStop    Act = "stop"
	ActRestart Act = "restart"
	ActReset   Act = "reset-budget"
)

// Acts lists every act once.
func Acts() []Act { return []Act{ActStart, ActStop, ActRestart, ActReset} }

// ErrRefused is the cause of an act that is not allowed now; its text says what is.
var ErrRefused = errors.New("refused")

// request is an act and where its answer goes.
type request struct {
	act    Act
	answer chan<- answer
}

type answer struct {
	said string
	err  error
}

func (r request) accept(format string, args ...any) {
	r.answer <- answer{said: fmt.Sprintf(format, args...)}
}
func (r request) refuse(format string, args ...any) {
	r.answer <- answer{err: fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))}
}

// Do asks the keeper for an act and returns, in one line, what came of it. A
// restart is answered when it begins.
func (k *Keeper) Do(ctx context.Context, act Act) (said string, err error) {
	got := make(chan answer, 1)
	select {
	case k.requests <- request{act, got}:
	case <-k.ended:
		return "", fmt.Errorf("%w: the supervisor is stopping", ErrRefused)
	case <-ctx.Done():
		return "", fmt.Errorf("%s is busy: %w", k.program.Name(), ctx.Err())
	}
	select {
	case a := <-got:
		return a.said, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// resting answers requests while the program is not to run, and returns when it is
// to be started; false means that it is to stay stopped, or that ctx ended.
func (k *Keeper) resting(ctx context.Context) (start bool) {
	name := k.program.Name()
	for {
		var r request
		select {
		case <-ctx.Done():
			return false
		case r = <-k.requests:
		}
		parked := k.Status().State == RepairRequired
		switch r.act {
		case ActStart, ActRestart:
			k.budget.Rewrite()
			if spent, why := k.budget.Parked(); spent {
				r.refuse("%s is parked (%s); %s", name, why, k.wayOut())
				continue
			}
			r.accept("%s is started", name)
			return true
		case ActStop:
			if !parked {
				r.refuse("%s is stopped already", name)
				continue
			}
			k.step(Stop, func(s *Status) { s.Reason = "" })
			r.accept("%s is stopped; it was parked", name)
		case ActReset:
			backup, err := k.budget.Reset()
			k.note(k.counted)
			switch {
			case err != nil:
				r.refuse("the budget of %s could not be cleared: %v", name, err)
			case backup == "":
				r.accept("the budget of %s was full already; start it with: mangrove start %s", name, name)
			default:
				r.accept("the budget of %s is full again, and the file before is kept as %s; start it with: mangrove start %s", name, backup, name)
			}
		}
	}
}

// wayOut says what an operator may do with a parked service.
func (k *Keeper) wayOut() string {
	name := k.program.Name()
	reset := "mangrove reset-budget " + name
	if at := k.budget.FreesAt(); !at.IsZero() {
		return fmt.Sprintf("look at what happened first; it may be restarted from %s on, or now after: %s", at.Local().Format("15:04:05"), reset)
	}
	return "once the data folder can be written again: mangrove start " + name
}

// counted brings what the status says of the budget up to date.
func (k *Keeper) counted(s *Status) {
	s.Left, s.FreesAt = k.budget.Left(), k.budget.FreesAt()
	s.Exits = append([]budget.Failure(nil), k.budget.Failures()...)
}

// NextAct says what an operator may do next about a service that does not run, in
// one line; "" when there is nothing to do.
func NextAct(s Status) string {
	switch s.State {
	case RepairRequired:
		if s.FreesAt.After(time.Now()) {
			return fmt.Sprintf("look at the exits; then mangrove restart %s from %s on, or mangrove reset-budget %s and mangrove start %s", s.Name, s.FreesAt.Local().Format("15:04:05"), s.Name, s.Name)
		}
		return "mangrove restart " + s.Name
	case Blocked:
		return "mend what it says; then mangrove restart " + s.Name
	case Stopped:
		return "mangrove start " + s.Name
	}
	return ""
}
