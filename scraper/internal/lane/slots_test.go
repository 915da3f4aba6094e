package lane

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

func open() error { return nil }

func TestSlotsPaceStartsAndGoOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := NewSlots(source.Site{Pacing: time.Second}, open, 0)
		var starts []time.Duration
		for range 3 {
			release, err := s.Acquire(t.Context(), source.WantHTML)
			if err != nil {
				t.Fatal(err)
			}
			starts = append(starts, time.Since(start))
			time.Sleep(1500 * time.Millisecond) // the answer takes longer than the pacing
			release()
		}
		// The first waits a whole pacing: a dead process may just have asked.
		want := []time.Duration{time.Second, 2500 * time.Millisecond, 4 * time.Second}
		if d := cmp.Diff(want, starts); d != "" {
			t.Error(d)
		}
	})
}

func TestSlotsRestAfterTakingOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		release, err := NewSlots(source.Site{Pacing: time.Second}, open, time.Minute).Acquire(t.Context(), source.WantHTML)
		if err != nil {
			t.Fatal(err)
		}
		release()
		if got := time.Since(start); got != 61*time.Second {
			t.Errorf("first request after %v, want a request time-out plus the pacing", got)
		}
	})
}

func TestSlotsPreferTheMoreUrgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(source.Site{Pacing: time.Second}, open, 0)
		first, err := s.Acquire(t.Context(), source.WantHTML)
		if err != nil {
			t.Fatal(err)
		}
		order := make(chan Priority, 4)
		for _, p := range []Priority{Download, DuePoll, Person, Forced} {
			go func() {
				release, err := s.Acquire(WithPriority(t.Context(), p), source.WantHTML)
				if err != nil {
					t.Error(err)
					return
				}
				order <- p
				release()
			}()
			synctest.Wait()
		}
		first()
		var got []Priority
		for range 4 {
			got = append(got, <-order)
		}
		if d := cmp.Diff([]Priority{Person, Forced, DuePoll, Download}, got); d != "" {
			t.Error(d)
		}
	})
}

func TestSlotsLetTheDeclaredNumberOfImagesFly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(source.Site{Pacing: time.Millisecond, ImagesInFlight: 3}, open, 0)
		var flying, most atomic.Int32
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				release, err := s.Acquire(t.Context(), source.WantImage)
				if err != nil {
					t.Error(err)
					return
				}
				most.Store(max(most.Load(), flying.Add(1)))
				time.Sleep(time.Second)
				flying.Add(-1)
				release()
			})
		}
		all.Wait()
		if got := most.Load(); got != 3 {
			t.Errorf("%d images in flight at most, want 3", got)
		}
	})
}

func TestSlotsAskTheGateWhenGrantedNotWhenQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := false
		s := NewSlots(source.Site{Pacing: time.Second}, func() error {
			if refused {
				return fault.Newf(fault.Access, "ask", "the Site", "paused")
			}
			return nil
		}, 0)
		release, err := s.Acquire(t.Context(), source.WantHTML)
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error, 1)
		go func() {
			_, err := s.Acquire(t.Context(), source.WantHTML)
			got <- err
		}()
		synctest.Wait()
		refused = true
		release()
		if err := <-got; !fault.Is(err, fault.Access) {
			t.Errorf("a request queued before the refusal was let through: %v", err)
		}
	})
}

func TestSlotsForgetAWaiterThatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(source.Site{Pacing: time.Second}, open, 0)
		release, err := s.Acquire(t.Context(), source.WantHTML)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := s.Acquire(WithPriority(ctx, Person), source.WantHTML)
			left <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the cancellation", err)
		}
		release()
		next, err := s.Acquire(t.Context(), source.WantHTML)
		if err != nil {
			t.Fatalf("the slot went to a waiter that had left: %v", err)
		}
		next()
	})
}

// ADR 0010: what a page asks for itself is paced like what a Lane asks for, each in
// its turn, and what waits for a slot follows a pacing after the last of it.
func TestAPageAsksForMoreInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := NewSlots(source.Site{Pacing: time.Second}, open, 0)
		release, err := s.Acquire(t.Context(), source.WantHTML)
		if err != nil {
			t.Fatal(err)
		}
		// A browser takes its time to start.
		time.Sleep(300 * time.Millisecond)
		s.Sent()
		var mu sync.Mutex
		var starts []time.Duration
		note := func() {
			mu.Lock()
			defer mu.Unlock()
			starts = append(starts, time.Since(start))
		}
		note()
		go func() {
			next, err := s.Acquire(t.Context(), source.WantHTML)
			if err != nil {
				t.Error(err)
				return
			}
			note()
			next()
		}()
		var more sync.WaitGroup
		for range 3 {
			more.Go(func() {
				if err := s.Again(t.Context()); err != nil {
					t.Error(err)
				}
				note()
			})
		}
		more.Wait()
		// Who gives up costs nothing.
		gone, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := s.Again(gone); fault.Of(err) != fault.Network {
			t.Errorf("given up: %v", err)
		}
		release()
		time.Sleep(10 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		if d := cmp.Diff([]time.Duration{1300 * time.Millisecond, 2300 * time.Millisecond, 3300 * time.Millisecond, 4300 * time.Millisecond, 5300 * time.Millisecond}, starts); d != "" {
			t.Error(d)
		}
	})
}

// No request follows a refusal, not even one of the page that was under way.
func TestAPageAsksForNothingOnceTheCircuitIsNotClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shut := errors.New("paused")
		var closed atomic.Bool
		s := NewSlots(source.Site{Pacing: time.Second}, func() error {
			if closed.Load() {
				return shut
			}
			return nil
		}, 0)
		release, err := s.Acquire(t.Context(), source.WantHTML)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		closed.Store(true)
		if err := s.Again(t.Context()); !errors.Is(err, shut) {
			t.Errorf("it may go on: %v", err)
		}
	})
}
