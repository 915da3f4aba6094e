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
