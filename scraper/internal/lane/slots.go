package lane

import (
	"context"
	"sync"
	"time"

	"mangrove/internal/failpoint"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// Priority orders those who wait for a request slot (design.md, Flow).
type Priority int

// The priorities, most urgent first. They are never stored or sent.
const (
	Person Priority = iota
	Forced
	DuePoll
	Download
	Canary
)

type priorityKey struct{}

// WithPriority returns a context whose requests wait with priority p.
func WithPriority(ctx context.Context, p Priority) context.Context {
	return context.WithValue(ctx, priorityKey{}, p)
}

func priorityOf(ctx context.Context) Priority {
	if p, ok := ctx.Value(priorityKey{}).(Priority); ok {
		return p
	}
	return Download
}

// Slots hands out the right to send one request to a Site: one at a time, the
// images of a chapter a few at a time, each start at least the pacing after the
// one before, the most urgent waiter first. It satisfies fetch.Slots.
type Slots struct {
	pacing time.Duration
	images int
	gate   func() error

	mu       sync.Mutex
	waiting  []*waiter
	inFlight int
	busyOne  bool // a request that is not an image is in flight
	next     time.Time
	timer    *time.Timer
	rate     rate
	// again holds a token while somebody waits in Again.
	again chan struct{}
}

type waiter struct {
	priority Priority
	image    bool
	granted  chan struct{}
	gone     bool
}

// NewSlots makes the slots of one Site; gate says whether it may be asked now
// (Gate.Allow). The first request waits out a whole
// pacing, and rest before that: what an earlier process sent just before it
// died is not forgotten, nor what another scraper may still have under way.
func NewSlots(site source.Site, gate func() error, rest time.Duration) *Slots {
	images := site.ImagesInFlight
	if images == 0 {
		images = 2
	}
	return &Slots{pacing: site.Pacing, images: images, gate: gate, next: time.Now().Add(rest + site.Pacing), again: make(chan struct{}, 1)}
}

// Acquire waits for a slot. The gate is asked when the slot is granted, so that
// no request follows a refusal that came while this one waited.
func (s *Slots) Acquire(ctx context.Context, want source.Want) (func(), error) {
	w := &waiter{priority: priorityOf(ctx), image: want == source.WantImage, granted: make(chan struct{})}
	s.mu.Lock()
	s.waiting = append(s.waiting, w)
	s.dispatch()
	s.mu.Unlock()

	select {
	case <-w.granted:
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		select {
		case <-w.granted:
			s.finish(w)
		default:
			w.gone = true
		}
		return nil, fault.New(fault.Network, "wait for", "a request slot", ctx.Err()).WithEvidence(fault.NoRead)
	}
	var once sync.Once
	release := func() {
		once.Do(func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.finish(w)
		})
	}
	if err := s.gate(); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// Sent says that what the holder of a slot asks for leaves only now: a browser may
// have had to be started, or be slow. The pacing counts from here.
func (s *Slots) Sent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = time.Now().Add(s.pacing)
}

// Again waits until whoever holds the slot of a page may send one more request that
// the page asks for itself: a pacing after the one before, each in its turn. What
// waits for a slot of its own starts a pacing after the last of them. The gate is
// asked as by Acquire. Whoever gives up has not sent and is not counted.
func (s *Slots) Again(ctx context.Context) error {
	gone := func() error {
		return fault.New(fault.Network, "wait for", "a request slot", ctx.Err()).WithEvidence(fault.NoRead)
	}
	select {
	case s.again <- struct{}{}:
		defer func() { <-s.again }()
	case <-ctx.Done():
		return gone()
	}
	for {
		s.mu.Lock()
		wait := time.Until(s.next)
		if wait <= 0 {
			s.next = time.Now().Add(s.pacing)
			s.mu.Unlock()
			return s.gate()
		}
		s.mu.Unlock()
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return gone()
		}
	}
}

// finish gives w's place back. The caller holds mu.
func (s *Slots) finish(w *waiter) {
	s.inFlight--
	if !w.image {
		s.busyOne = false
	}
	s.dispatch()
}

// dispatch grants what may start now and arranges to be called again when the
// pacing allows the next. The caller holds mu.
func (s *Slots) dispatch() {
	for {
		best := -1
		kept := s.waiting[:0]
		for _, w := range s.waiting {
			if !w.gone {
				kept = append(kept, w)
			}
		}
		s.waiting = kept
		for i, w := range s.waiting {
			if best < 0 || w.priority < s.waiting[best].priority {
				best = i
			}
		}
		if best < 0 {
			return
		}
		w := s.waiting[best]
		if s.busyOne || (w.image && s.inFlight >= s.images) || (!w.image && s.inFlight > 0) {
			return
		}
		if now := time.Now(); now.Before(s.next) {
			failpoint.Reach(failpoint.PacingSleep)
			if s.timer == nil {
				s.timer = time.AfterFunc(s.next.Sub(now), func() {
					s.mu.Lock()
					defer s.mu.Unlock()
					s.timer = nil
					s.dispatch()
				})
			}
			return
		}
		s.waiting = append(s.waiting[:best], s.waiting[best+1:]...)
		s.inFlight++
		s.busyOne = !w.image
		s.next = time.Now().Add(s.pacing)
		s.rate.grant(time.Now())
		close(w.granted)
	}
}
