package inventory_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"pgregory.net/rapid"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/inventory"
)

// folder is a Scanner in memory: looks that take their time.
type folder struct {
	mu    sync.Mutex
	looks int
	deep  int
	takes time.Duration
	fails error
	// version is what the library is; each look answers the one it saw at its start.
	version, changed int
}

func (f *folder) Scan(ctx context.Context, deep bool) (inventory.Counts, int, error) {
	f.mu.Lock()
	f.looks++
	if deep {
		f.deep++
	}
	takes, version, err, changed := f.takes, f.version, f.fails, f.changed
	f.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return inventory.Counts{}, 0, ctx.Err()
	}
	return inventory.Counts{Files: version}, changed, err
}

func (f *folder) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.looks
}

func (f *folder) deepLooks() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.deep
}

func (f *folder) set(change func(*folder)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// bubble works an Inventory over f inside a bubble of time, after its first look.
func bubble(t *testing.T, f *folder, test func(t *testing.T, inv *inventory.Inventory, failed *atomic.Int64)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var failed atomic.Int64
		inv := inventory.New(inventory.Options{Scanner: f, Log: zap.NewNop(), Failed: func(context.Context, error) { failed.Add(1) }})
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() { inv.Run(ctx) })
		synctest.Wait()
		test(t, inv, &failed)
		cancel()
		done.Wait()
	})
}

// TestManyCallersShareOneLook shows INV-1, features F2.
func TestManyCallersShareOneLook(t *testing.T) {
	t.Parallel()
	f := &folder{takes: 10 * time.Second, version: 7}
	bubble(t, f, func(t *testing.T, inv *inventory.Inventory, _ *atomic.Int64) {
		if s := inv.Summary(); s.Status != inventory.Refreshing || s.Counts.Files != 0 || !s.At.IsZero() {
			t.Errorf("at a cold start: %+v", s)
		}
		time.Sleep(11 * time.Second)
		if s := inv.Summary(); s.Status != inventory.Ready || s.Counts.Files != 7 {
			t.Errorf("after the first look: %+v", s)
		}
		// They are answered at once, with the previous look and its age.
		time.Sleep(2 * time.Minute)
		before := f.count()
		var all sync.WaitGroup
		start := time.Now()
		for range 100 {
			all.Go(func() {
				if s := inv.Summary(); s.Counts.Files != 7 || s.At.IsZero() {
					t.Errorf("%+v", s)
				}
			})
		}
		all.Wait()
		if took := time.Since(start); took != 0 {
			t.Errorf("they waited %s", took)
		}
		time.Sleep(15 * time.Second)
		if n := f.count() - before; n != 1 {
			t.Errorf("100 callers made for %d looks", n)
		}
		// So do decisions that wait, and each waits for one that begins after it.
		before = f.count()
		for range 100 {
			all.Go(func() {
				at, err := inv.Current(t.Context())
				if err != nil || !at.Made() || at.At().Sub(start) < 25*time.Second {
					t.Errorf("%+v, %v", at, err)
				}
			})
		}
		all.Wait()
		if n := f.count() - before; n != 1 {
			t.Errorf("100 decisions made for %d looks", n)
		}
	})
}

// TestAtMostOneLookAMinute shows INV-1, features F3.
func TestAtMostOneLookAMinute(t *testing.T) {
	t.Parallel()
	f := &folder{}
	bubble(t, f, func(t *testing.T, inv *inventory.Inventory, _ *atomic.Int64) {
		for range 59 {
			inv.Summary()
			time.Sleep(time.Second)
		}
		if n := f.count(); n != 1 {
			t.Errorf("%d looks within 59 seconds, want the first", n)
		}
		time.Sleep(2 * time.Second)
		if n := f.count(); n != 2 {
			t.Errorf("%d looks after 61 seconds, want 2", n)
		}
		inv.Invalidate()
		if s := inv.Summary(); s.Status != inventory.Stale {
			t.Errorf("once it was invalidated: %s", s.Status)
		}
		f.set(func(f *folder) { f.changed = 1 })
		time.Sleep(5 * time.Second)
		if n := f.count(); n != 3 {
			t.Errorf("%d looks after an invalidation, want 3", n)
		}
		if s := inv.Summary(); s.Status != inventory.Updated {
			t.Errorf("after a look that found changes: %s", s.Status)
		}
		// Nobody asks: nothing is looked at until everything is, after half an hour.
		f.set(func(f *folder) { f.changed, f.deep = 0, 0 })
		time.Sleep(2 * time.Minute) // the Summary above
		before := f.count()
		time.Sleep(26 * time.Minute)
		if n := f.count(); n != before || f.deepLooks() != 0 {
			t.Errorf("%d looks that nobody asked for", n-before)
		}
		time.Sleep(2 * time.Minute)
		if n := f.count(); n != before+1 || f.deepLooks() != 1 {
			t.Errorf("%d looks, %d deep, after half an hour", n-before, f.deepLooks())
		}
	})
}

// TestADecisionNeedsALookThatNothingInvalidated shows INV-3, features F4, F7 and F8.
func TestADecisionNeedsALookThatNothingInvalidated(t *testing.T) {
	t.Parallel()
	f := &folder{takes: 10 * time.Second}
	bubble(t, f, func(t *testing.T, inv *inventory.Inventory, _ *atomic.Int64) {
		time.Sleep(time.Minute)
		start := time.Now()
		go func() {
			time.Sleep(5 * time.Second)
			inv.Invalidate()
		}()
		at, err := inv.Current(t.Context())
		if took := time.Since(start); err != nil || took != 20*time.Second {
			t.Errorf("answered after %s (%v, %v), want the end of a second look", took, at, err)
		}
		// One that asks in the midst of a look waits for the next.
		inv.Invalidate()
		time.Sleep(5 * time.Second)
		start = time.Now()
		if _, err := inv.Current(t.Context()); err != nil || time.Since(start) <= 10*time.Second {
			t.Errorf("after %s, %v", time.Since(start), err)
		}
		// It waits no longer than it was told to.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if at, err := inv.Current(ctx); !fault.Is(err, fault.Away) || at.Made() {
			t.Errorf("%v, %v", at, err)
		}
	})
}

// TestAFailureRests shows INV-2, features F6.
func TestAFailureRests(t *testing.T) {
	t.Parallel()
	broken := errors.New("read folder: input/output error")
	f := &folder{version: 3}
	bubble(t, f, func(t *testing.T, inv *inventory.Inventory, failed *atomic.Int64) {
		f.set(func(f *folder) { f.fails = broken })
		if at, err := inv.Current(t.Context()); !errors.Is(err, broken) || at.Made() {
			t.Fatalf("%v, %v", at, err)
		}
		began := time.Now()
		looks := f.count()
		for range 1000 {
			if s := inv.Summary(); s.Status != inventory.Failed || s.Counts.Files != 3 || s.Why != broken.Error() || !s.Again.Equal(began.Add(time.Minute)) {
				t.Fatalf("%+v", s)
			}
			if _, err := inv.Current(t.Context()); !errors.Is(err, broken) {
				t.Fatal(err)
			}
			inv.Invalidate()
			time.Sleep(50 * time.Millisecond)
		}
		if n := f.count() - looks; n != 0 {
			t.Errorf("1,000 polls after a failure made for %d looks", n)
		}
		// 1, 2, 4, 8, 16, 30, 30 minutes.
		for _, rest := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
			began = began.Add(rest * time.Minute)
			looks = f.count()
			time.Sleep(time.Until(began) - time.Second)
			if f.count() != looks {
				t.Errorf("it was tried again within %d minutes", rest)
			}
			time.Sleep(2 * time.Second)
			if f.count() != looks+1 {
				t.Errorf("%d looks after %d minutes", f.count()-looks, rest)
			}
		}
		if failed.Load() != 8 {
			t.Errorf("%d failures told, want 8", failed.Load())
		}
		f.set(func(f *folder) { f.fails = nil })
		inv.TryAgain()
		synctest.Wait()
		if s := inv.Summary(); s.Status != inventory.Ready || s.Why != "" {
			t.Errorf("once it was mended: %+v", s)
		}
	})
}

// Whatever comes in between: a decision rests on a look that began after it was
// asked for and saw all that was invalidated before the look ended; and nobody
// waits for a Summary.
// It shows INV-1 to INV-3, features F8.
func TestInterleavingsModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var mu sync.Mutex
		wrong := ""
		synctest.Test(t, func(t *testing.T) {
			say := func(format string, args ...any) {
				mu.Lock()
				defer mu.Unlock()
				wrong = fmt.Sprintf(format, args...)
			}
			f := &folder{}
			inv := inventory.New(inventory.Options{Scanner: f, Log: zap.NewNop()})
			ctx, cancel := context.WithCancel(t.Context())
			var done sync.WaitGroup
			done.Go(func() { inv.Run(ctx) })
			change := func() {
				f.set(func(f *folder) { f.version++ })
				inv.Invalidate()
			}
			for range rapid.IntRange(1, 25).Draw(rt, "steps") {
				switch rapid.SampledFrom([]string{"change", "decide", "ask", "wait", "slow", "fail", "mend"}).Draw(rt, "what") {
				case "change":
					change()
				case "decide":
					f.mu.Lock()
					asked, begun := f.version, f.looks
					f.mu.Unlock()
					failing := f.fails != nil
					done.Go(func() {
						at, err := inv.Current(ctx)
						if err != nil || ctx.Err() != nil {
							return
						}
						if got := inv.Summary().Counts.Files; got < asked || f.count() <= begun || !at.Made() {
							say("decided by version %d of %d, by look %d of %d; failing before: %v", got, asked, f.count(), begun, failing)
						}
					})
				case "ask":
					start := time.Now()
					if s := inv.Summary(); time.Since(start) != 0 || s.Status == "" {
						say("%+v after %s", s, time.Since(start))
					}
				case "wait":
					time.Sleep(time.Duration(rapid.IntRange(0, 200).Draw(rt, "seconds")) * time.Second)
				case "slow":
					f.set(func(f *folder) { f.takes = time.Duration(rapid.IntRange(0, 90).Draw(rt, "takes")) * time.Second })
				case "fail":
					f.set(func(f *folder) { f.fails = errors.New("no") })
				case "mend":
					f.set(func(f *folder) { f.fails = nil })
				}
				synctest.Wait()
			}
			// In the end all is known.
			f.set(func(f *folder) { f.fails, f.takes = nil, time.Second })
			time.Sleep(2 * time.Hour)
			if inv.Summary().Status == inventory.Refreshing {
				// The half hour's look is under way just now.
				time.Sleep(2 * time.Second)
			}
			if s := inv.Summary(); s.Counts.Files != f.version || (s.Status != inventory.Ready && s.Status != inventory.Updated) {
				say("at rest: %+v, want version %d", s, f.version)
			}
			cancel()
			done.Wait()
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}
