// Package trial tries a setting and goes back by itself: the trial is kept on disk
// before anything changes, and unless an operator keeps the value in time, or when what
// it concerns does not serve, the value before is put back. A trial never outlives its
// supervisor. The package holds no process and no socket, and knows no service: what a
// value does comes in through an interface, so that minutes of waiting are tested in no
// time.
package trial

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Bounds of how long a trial may last without being kept.
const (
	Default = 2 * time.Minute
	Least   = 10 * time.Second
	Most    = time.Hour
)

// rewriteEvery is how often a file is tried that could not be written.
const rewriteEvery = 5 * time.Second

// ErrRefused is the cause of what is not allowed now; its text says why.
var ErrRefused = errors.New("refused")

// Store keeps the settings. A write that returns nil survives a lost machine.
type Store interface {
	Read() (Settings, error)
	Write(Settings) error
}

// System is what settings are in force on.
type System interface {
	// Given says where a setting comes from that nobody can change here, such as "the
	// environment", or "".
	Given(name string) string
	// Check says what speaks against trying a value, before anything is changed.
	Check(ctx context.Context, name, value string) error
	// Apply puts the values in force and restarts what name concerns. It returns nil when
	// all of that serves. trying says that a failure meanwhile is the value's, and no
	// failure of the service.
	Apply(ctx context.Context, values map[string]string, name string, trying bool) error
	// Failures says why something that was put on trial does not serve any more.
	Failures() <-chan string
	// Tell tells everybody who wants to know of one step.
	Tell(Step)
}

// Step is one step of a trial.
type Step struct {
	Name string
	From State
	To   State
	// Event is what led to it, Why says more.
	Event Event
	Why   string
}

// Keeper tries settings, one at a time.
type Keeper struct {
	store    Store
	system   System
	requests chan request

	mu   sync.Mutex
	now  *Trial // what is on trial
	last string // what became of the last one
}

// request is a wish to try a setting, or to keep the one on trial where name is "".
type request struct {
	name, value string
	within      time.Duration
	answer      chan<- answer
}

type answer struct {
	said string
	err  error
}

func (r request) refuse(format string, args ...any) {
	r.answer <- answer{err: fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))}
}

// Recover takes back a trial that an earlier supervisor left, before anything is
// started. It returns the settings that hold, and what was taken back.
func Recover(store Store, tell func(Step)) (Settings, error) {
	s, err := store.Read()
	if err != nil || s.Trial == nil {
		return s, err
	}
	t := *s.Trial
	returning, ok := Next(t.State, Found)
	if !ok {
		return s, fmt.Errorf("a trial of %s is %q", t.Name, t.State)
	}
	s.Trial = nil
	if err := store.Write(s); err != nil {
		return s, err
	}
	to, _ := Next(returning, Back)
	tell(Step{Name: t.Name, From: t.State, To: to, Event: Found, Why: "it was on trial when Mangrove ended"})
	return s, nil
}

// NewKeeper makes a keeper; it does nothing before Run.
func NewKeeper(store Store, system System) *Keeper {
	return &Keeper{store: store, system: system, requests: make(chan request)}
}

// Try asks for a trial. It returns when everything it concerns serves with the value, or
// when it went back, which is an error.
func (k *Keeper) Try(ctx context.Context, name, value string, within time.Duration) (said string, err error) {
	return k.ask(ctx, request{name: name, value: value, within: within})
}

// Keep keeps what is on trial.
func (k *Keeper) Keep(ctx context.Context) (said string, err error) {
	return k.ask(ctx, request{})
}

func (k *Keeper) ask(ctx context.Context, r request) (string, error) {
	got := make(chan answer, 1)
	r.answer = got
	select {
	case k.requests <- r:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	select {
	case a := <-got:
		return a.said, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Said is in one line what is on trial, or what became of the last one.
func (k *Keeper) Said() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch t := k.now; {
	case t == nil:
		return k.last
	case t.State == Trying:
		return fmt.Sprintf("%s is on trial until %s, and then goes back by itself; to keep it: mangrove settings keep", t.Name, clock(t.Until))
	case t.State == Applying:
		return fmt.Sprintf("%s is being put on trial, until %s at the latest", t.Name, clock(t.Until))
	default:
		return fmt.Sprintf("%s is going back to the value before", t.Name)
	}
}

func clock(t time.Time) string { return t.Local().Format("15:04:05") }

// Run tries what it is asked to until ctx ends. A trial that is under way then stays on
// disk, and is taken back at the next start.
func (k *Keeper) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.system.Failures(): // nothing is on trial any more
		case r := <-k.requests:
			if r.name == "" {
				r.refuse("nothing is on trial; mangrove settings try puts a setting on trial")
				continue
			}
			k.try(ctx, r)
		}
	}
}

// try runs one trial to its end.
func (k *Keeper) try(ctx context.Context, r request) {
	before, err := k.store.Read()
	if err != nil {
		r.refuse("%s", err)
		return
	}
	given := k.system.Given(r.name)
	switch {
	case !slices.Contains(Names(), r.name):
		r.refuse("%s cannot be tried; those that can are %v", r.name, Names())
		return
	case given != "":
		r.refuse("%s is set by %s, which goes before what is tried here; change it there", r.name, given)
		return
	case r.within < Least || r.within > Most:
		r.refuse("a trial lasts from %s to %s", Least, Most)
		return
	}
	if err := k.system.Check(ctx, r.name, r.value); err != nil {
		r.refuse("%s", err)
		return
	}
	before.Trial = nil
	during := before
	now := time.Now()
	during.Trial = &Trial{Name: r.name, Value: r.value, State: Applying, Begun: now, Until: now.Add(r.within)}
	if err := k.store.Write(during); err != nil {
		r.refuse("the trial cannot be kept on disk, so nothing was changed: %s", err)
		return
	}
	drain(k.system.Failures())
	k.step(during.Trial, None, Begin, "")
	k.follow(ctx, r, before, during)
}

// follow is a trial from when it is on disk.
func (k *Keeper) follow(ctx context.Context, r request, before, during Settings) {
	t := during.Trial
	applying, give := context.WithCancel(ctx)
	defer give()
	applied, restarted := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(restarted)
		applied <- k.system.Apply(applying, during.InForce(), t.Name, true)
	}()
	up := time.NewTimer(time.Until(t.Until))
	defer up.Stop()
	back := func(event Event, why string) {
		give()
		<-restarted // two must not restart one service
		k.back(ctx, before, t, event, why)
		if r.answer != nil {
			r.refuse("%s went back to the value before: %s", t.Name, why)
		}
	}
	for {
		select {
		case <-ctx.Done():
			<-restarted
			if r.answer != nil {
				r.refuse("Mangrove is stopping; %s goes back to the value before at the next start", t.Name)
			}
			return
		case err := <-applied:
			if err != nil {
				back(Fail, err.Error())
				return
			}
			k.step(t, t.State, Serves, "")
			during.Trial = t
			_ = k.store.Write(during) // either word is taken back
			r.answer <- answer{said: k.Said()}
			r.answer = nil
		case why := <-k.system.Failures():
			back(Fail, why)
			return
		case <-up.C:
			back(Expire, "it was not kept within "+t.Until.Sub(t.Begun).String())
			return
		case next := <-k.requests:
			if next.name != "" {
				next.refuse("%s is on trial until %s; keep it or wait", t.Name, clock(t.Until))
				continue
			}
			if _, ok := Next(t.State, Keep); !ok {
				next.refuse("%s does not serve with the new value yet", t.Name)
				continue
			}
			kept := Settings{Kept: maps.Clone(before.Kept)}
			kept.Kept[t.Name] = t.Value
			if t.Value == "" {
				delete(kept.Kept, t.Name)
			}
			if err := k.store.Write(kept); err != nil {
				next.refuse("%s cannot be kept: %s; it goes back at %s", t.Name, err, clock(t.Until))
				continue
			}
			k.step(t, t.State, Keep, "")
			next.answer <- answer{said: t.Name + " is kept"}
			return
		}
	}
}

// back puts the value before in force again, and then takes the trial off the disk: a
// supervisor that is killed between the two finds it and does the same.
func (k *Keeper) back(ctx context.Context, before Settings, t *Trial, event Event, why string) {
	k.step(t, t.State, event, why)
	err := k.apart(ctx, func() error { return k.system.Apply(ctx, before.InForce(), t.Name, false) })
	if err != nil {
		why += "; with the value before: " + err.Error()
	}
	for {
		err := k.store.Write(before)
		if err == nil {
			break
		}
		if k.apart(ctx, func() error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(rewriteEvery):
				return nil
			}
		}) != nil {
			return
		}
	}
	k.step(t, t.State, Back, why)
}

// apart does something while whoever asks meanwhile is told to wait.
func (k *Keeper) apart(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	for {
		select {
		case err := <-done:
			return err
		case r := <-k.requests:
			r.refuse("%s", k.Said())
		}
	}
}

// step takes the table's step for event and panics on one that the table lacks: that is
// a slip in this package.
func (k *Keeper) step(t *Trial, from State, event Event, why string) {
	to, ok := Next(from, event)
	if !ok {
		panic(fmt.Sprintf("trial: %s cannot %s when %q", t.Name, event, from))
	}
	k.mu.Lock()
	t.State = to
	k.now = t
	if to == None {
		k.now = nil
		k.last = t.Name + " is kept since " + clock(time.Now())
		if event == Back {
			k.last = fmt.Sprintf("%s went back at %s to the value before: %s", t.Name, clock(time.Now()), why)
		}
	}
	k.mu.Unlock()
	k.system.Tell(Step{Name: t.Name, From: from, To: to, Event: event, Why: why})
}

func drain(c <-chan string) {
	for {
		select {
		case <-c:
		default:
			return
		}
	}
}
