package inventory

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
)

// The pace of looks at the library.
const (
	// asking is how often the asking of others alone makes for a look (INV-1).
	asking = time.Minute
	// settling is the least time between two looks that nobody waits for.
	settling = 2 * time.Second
	// unwatched is how often it is looked at whole where the file system does not
	// tell of changes, watched where it does.
	unwatched = 30 * time.Minute
	watched   = 6 * time.Hour
	// The rest after a failed look doubles from the first to the longest.
	firstRest   = time.Minute
	longestRest = 30 * time.Minute
)

// Scanner looks at the library once and brings the store up to date.
type Scanner interface {
	// Scan reads what changed, or with deep looks at every file; changed counts
	// the changes it has stored. An error has changed nothing that is not so.
	Scan(ctx context.Context, deep bool) (c Counts, changed int, err error)
}

// Options are what an Inventory works with. A nil func is not called.
type Options struct {
	Scanner Scanner
	// There returns nil when the library is the one that was there before: a failure
	// that NotThere knows rests no longer then.
	There func(ctx context.Context) error
	// Failed is told of each look that failed.
	Failed func(ctx context.Context, err error)
	// Changed is called after a look that found changes.
	Changed func()
	Log     *zap.Logger
}

// Inventory shares one look at the library among all who ask (INV-1). Its methods
// are safe for use by several goroutines.
type Inventory struct {
	o    Options
	wake chan struct{}

	mu sync.Mutex
	// invalid counts invalidations; covered is how many of them the last look that
	// ended well had seen when it began.
	invalid, covered uint64
	// begun counts looks; good is the number of the last that ended well with
	// nothing invalidated meanwhile, wanted one that somebody waits for.
	begun, good, wanted uint64
	running, asked      bool
	deepWanted, watched bool
	found               bool // the last look found changes
	counts              Counts
	failures            int
	err                 error
	// endedAt is when the last look ended, goodAt when the last good one did,
	// deepAt when the last deep one did; rest is how long a failure rests.
	endedAt, goodAt, deepAt time.Time
	restUntil               time.Time
	// ended is closed at the end of each look, and replaced.
	ended chan struct{}
}

// New makes an Inventory; Run works it.
func New(o Options) *Inventory {
	return &Inventory{o: o, wake: make(chan struct{}, 1), ended: make(chan struct{})}
}

// Run looks at the library until ctx ends: at once, when it is invalidated or
// waited for, at most once a minute for those who only ask, and now and then.
func (i *Inventory) Run(ctx context.Context) {
	for ctx.Err() == nil {
		wait, deep := i.next(time.Now())
		if wait <= 0 {
			i.refresh(ctx, deep)
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-i.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// next is how long until the next look, and whether it will be a deep one.
func (i *Inventory) next(now time.Time) (wait time.Duration, deep bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	every := unwatched
	if i.watched {
		every = watched
	}
	deepAt := i.deepAt.Add(every)
	deep = i.deepWanted || i.deepAt.IsZero() || !now.Before(deepAt)
	switch {
	case i.begun == 0:
		return 0, true
	case i.err != nil:
		// Whoever asks meanwhile is told of the failure; nothing is tried (INV-2).
		return i.restUntil.Sub(now), deep
	case i.wanted > i.begun:
		return 0, deep
	}
	at := deepAt
	if i.asked || i.counts.Unsettled > 0 {
		at = sooner(at, i.endedAt.Add(asking))
	}
	if i.invalid != i.covered {
		at = sooner(at, i.endedAt.Add(settling))
	}
	return at.Sub(now), deep
}

func sooner(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func (i *Inventory) refresh(ctx context.Context, deep bool) {
	i.mu.Lock()
	i.begun++
	number, seen := i.begun, i.invalid
	i.running, i.asked, i.deepWanted = true, false, false
	i.mu.Unlock()
	counts, changed, err := i.o.Scanner.Scan(ctx, deep)
	if ctx.Err() != nil {
		return
	}
	i.settle(number, seen, deep, counts, changed, err)
	switch {
	case err != nil:
		i.o.Log.Warn("the library could not be looked at", zap.Error(err))
		if i.o.Failed != nil {
			i.o.Failed(ctx, err)
		}
	case changed > 0 && i.o.Changed != nil:
		i.o.Changed()
	}
}

// settle takes in how a look ended.
func (i *Inventory) settle(number, seen uint64, deep bool, counts Counts, changed int, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := time.Now()
	i.running, i.endedAt, i.err = false, now, err
	if err != nil {
		i.restUntil = now.Add(min(firstRest<<min(i.failures, 10), longestRest))
		i.failures++
		i.deepWanted = i.deepWanted || deep
	} else {
		i.failures, i.restUntil = 0, time.Time{}
		i.counts, i.found, i.goodAt, i.covered = counts, changed > 0, now, seen
		if deep {
			i.deepAt = now
		}
		if i.invalid == seen {
			i.good = number
		}
	}
	close(i.ended)
	i.ended = make(chan struct{})
}

func (i *Inventory) poke() {
	select {
	case i.wake <- struct{}{}:
	default:
	}
}

// Invalidate says that what the library holds, or what is known of it, has
// changed. A look under way is then not enough for a decision (INV-3).
func (i *Inventory) Invalidate() {
	i.mu.Lock()
	i.invalid++
	i.mu.Unlock()
	i.poke()
}

// InvalidateAll is Invalidate by one who cannot say what changed: every file is
// looked at.
func (i *Inventory) InvalidateAll() {
	i.mu.Lock()
	i.invalid++
	i.deepWanted = true
	i.mu.Unlock()
	i.poke()
}

// TryAgain ends the rest after a failure: somebody has mended its cause.
func (i *Inventory) TryAgain() {
	i.mu.Lock()
	i.restUntil = time.Time{}
	i.mu.Unlock()
	i.poke()
}

// mended ends the rest after a look that found the library not there, once it is:
// a look at the marker costs nothing.
func (i *Inventory) mended(ctx context.Context) {
	i.mu.Lock()
	away := i.err != nil && NotThere(i.err)
	i.mu.Unlock()
	if away && i.o.There != nil && i.o.There(ctx) == nil {
		i.TryAgain()
	}
}

// SetWatched says whether the file system tells of changes by itself.
func (i *Inventory) SetWatched(on bool) {
	i.mu.Lock()
	i.watched = on
	i.mu.Unlock()
	i.poke()
}

// looked is closed at the end of the next look.
func (i *Inventory) looked() <-chan struct{} {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.ended
}

// Summary answers at once what the last look found (INV-1). It never waits; it
// only lets it be known that somebody asked.
func (i *Inventory) Summary() Summary {
	i.mu.Lock()
	out := Summary{Status: Ready, Counts: i.counts, At: i.goodAt, Watched: i.watched}
	if i.err != nil {
		out.Why = fault.Line(i.err)
	}
	switch {
	case i.running || i.begun == 0:
		out.Status = Refreshing
	case i.err != nil:
		out.Status, out.Again = Failed, i.restUntil
	case i.invalid != i.covered:
		out.Status = Stale
	case i.found:
		out.Status = Updated
	}
	first := !i.asked
	i.asked = true
	i.mu.Unlock()
	if first {
		i.poke()
	}
	return out
}

// Current waits for a look at the library that begins after this call and that
// nothing invalidates while it runs. While a failed look rests, its error is
// answered at once: nobody's asking makes for more looks, unless the library was
// not there and is back.
func (i *Inventory) Current(ctx context.Context) (Snapshot, error) {
	i.mended(ctx)
	i.mu.Lock()
	defer i.mu.Unlock()
	need := i.begun + 1
	for {
		switch {
		case i.good >= need:
			return Snapshot{scan: i.good, at: i.goodAt}, nil
		case !i.running && i.err != nil && time.Now().Before(i.restUntil):
			return Snapshot{}, i.err
		}
		next := i.begun + 1
		if i.running {
			next = i.begun
		}
		i.wanted = max(i.wanted, need, next)
		ended := i.ended
		i.mu.Unlock()
		i.poke()
		select {
		case <-ended:
		case <-ctx.Done():
		}
		i.mu.Lock()
		if ctx.Err() != nil {
			return Snapshot{}, fault.New(fault.Away, "wait for", "the inventory", ctx.Err())
		}
	}
}
