package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"mangrove/supervisor/internal/service"
)

// group runs one keeper per service and stops them in the opposite order.
type group struct {
	changed func(service.Status)
	wake    chan struct{} // a change happened; holds at most one token

	mu      sync.Mutex
	members []*member
}

type member struct {
	keeper *service.Keeper
	cancel context.CancelFunc
	done   chan struct{}
}

func newGroup(changed func(service.Status)) *group {
	return &group{changed: changed, wake: make(chan struct{}, 1)}
}

// start gives p a keeper of its own (SUP-1), with the budget that is kept of it.
func (g *group) start(p service.Program, b service.Budget, hurry <-chan struct{}) *service.Keeper {
	k := service.NewKeeper(p, b, func(s service.Status) {
		g.changed(s)
		select {
		case g.wake <- struct{}{}:
		default:
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	m := &member{keeper: k, cancel: cancel, done: make(chan struct{})}
	go func() { defer close(m.done); k.Run(ctx, hurry) }()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = append(g.members, m)
	return k
}

// statuses lists the services in start order.
func (g *group) statuses() []service.Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []service.Status
	for _, m := range g.members {
		out = append(out, m.keeper.Status())
	}
	return out
}

// act does an operator's act on one service.
func (g *group) act(ctx context.Context, name string, act service.Act) (string, error) {
	g.mu.Lock()
	members := g.members
	g.mu.Unlock()
	for _, m := range members {
		if m.keeper.Status().Name == name {
			return m.keeper.Do(ctx, act)
		}
	}
	return "", fmt.Errorf("%w: no service is called %q, or it is not there yet", service.ErrRefused, name)
}

// await returns when k is in state want, or with an error when ctx ends or k
// is blocked, which no waiting mends. A parked one is waited for: an operator may
// have it started again; parked is called meanwhile, perhaps more than once.
func (g *group) await(ctx context.Context, k *service.Keeper, want service.State, parked func()) error {
	for {
		s := k.Status()
		switch {
		case s.State == want:
			return nil
		case s.State == service.RepairRequired:
			parked()
		case s.State == service.Blocked && s.NextStart.IsZero():
			return fmt.Errorf("%s is blocked: %s", s.Name, s.Reason)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-g.wake:
		case <-time.After(time.Second):
		}
	}
}

// stop ends the services one after another, the last started first, so that
// none loses what it leans on.
func (g *group) stop(say func(name string)) {
	g.mu.Lock()
	members := g.members
	g.mu.Unlock()
	for i := len(members) - 1; i >= 0; i-- {
		if say != nil {
			say(members[i].keeper.Status().Name)
		}
		members[i].cancel()
		<-members[i].done
	}
}
