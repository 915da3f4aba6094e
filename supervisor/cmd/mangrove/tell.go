package main

import (
	"cmp"
	"context"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"

	"mangrove/supervisor/internal/child"
	"mangrove/supervisor/internal/heartbeat"
	"mangrove/supervisor/internal/service"
)

// beatEvery is how often the heartbeat is sent (SUP-10).
const beatEvery = time.Minute

// tellTime bounds how long the reader's program may take to tell of a parked service.
const tellTime = 3 * time.Minute

// tellParked has the reader's program tell whoever wants to know that a service is
// parked, once each time it parks: the supervisor knows no destination, and the
// program needs neither the database nor the reader that serves. One that was found
// parked at the start was told when it parked.
func (s *system) tellParked(ctx context.Context) func(service.Status) {
	var mu sync.Mutex
	told := map[string]bool{}
	return func(now service.Status) {
		mu.Lock()
		defer mu.Unlock()
		parked := now.State == service.RepairRequired
		before := told[now.Name]
		told[now.Name] = parked
		if !parked || before || now.Failures == 0 {
			return
		}
		go s.tell(ctx, now.Name, cmp.Or(now.LastExit, now.Reason))
	}
}

func (s *system) tell(ctx context.Context, name, why string) {
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	exit, lines, err := child.Run(ctx, child.Spec{
		Path: s.readerPath, Args: []string{"tell-parked", name, why}, Env: readerEnvironment(os.Environ(), s.inForce()), Life: true,
	})
	if err != nil || exit != (child.Exit{}) {
		s.log.Warn("it could not be told that a service is parked", zap.String("name", name), zap.Stringer("exit", exit), zap.Strings("said", lines), zap.Error(err))
	}
}

// heartbeat beats while every service serves, if an address was given.
func (s *system) heartbeat(ctx context.Context) {
	if s.config.HeartbeatURL == "" {
		return
	}
	heartbeat.Heartbeat{
		Address: s.config.HeartbeatURL.Reveal(), Every: beatEvery, Version: version, Log: s.log,
		Well: func() bool { return allServe(s.group.statuses(), s.postgres != nil) },
	}.Run(ctx)
}

// allServe reports whether everything that should serve does.
func allServe(all []service.Status, embedded bool) bool {
	want := 2
	if embedded {
		want++
	}
	if len(all) < want {
		return false
	}
	for _, now := range all {
		if now.State != service.Serving {
			return false
		}
	}
	return true
}
