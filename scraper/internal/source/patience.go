package source

import (
	"context"
	"runtime/debug"
	"sync"
	"time"
)

// Patience is how long an adapter may think about what it got before it is taken not
// to come back. What it waits for, pacing and answers among it, does not count.
const Patience = 2 * time.Minute

// looks is how often it is looked at within that time.
const looks = 8

// Attend has an adapter do its work and waits for it, but not for ever: no single
// Series may stall a Lane (POLL-4). One that panics, or does not come back, has not
// read the page; a goroutine that is left behind asks the Site no more.
func Attend[T any](ctx context.Context, f Fetcher, subject string, do func(context.Context, Fetcher) (T, error)) (T, error) {
	type answer struct {
		got T
		err error
	}
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	m := &minded{f: f}
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a.err = Unparsed(subject, "the adapter panicked: %v\n%s", p, debug.Stack())
			}
			done <- a
		}()
		a.got, a.err = do(ctx, m)
	}()
	// Looks are counted and not time: a machine that stood still is nobody's fault.
	tick := time.NewTicker(Patience / looks)
	defer tick.Stop()
	for quiet := 0; quiet <= looks; quiet++ {
		select {
		case a := <-done:
			return a.got, a.err
		case <-tick.C:
			if m.busy() {
				quiet = 0
			}
		}
	}
	var none T
	return none, Unparsed(subject, "the adapter did not come back within %s of the last answer it got", Patience)
}

// minded is a Fetcher that knows whether it is being used.
type minded struct {
	f Fetcher

	mu sync.Mutex
	// under counts requests under way; used is true when there was one since the
	// last look.
	under int
	used  bool
}

// Get implements Fetcher.
func (m *minded) Get(ctx context.Context, r Request) (*Response, error) {
	m.count(1)
	defer m.count(-1)
	return m.f.Get(ctx, r)
}

func (m *minded) count(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.under, m.used = m.under+n, true
}

// busy reports whether there is, or was since the last look, a request.
func (m *minded) busy() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.used || m.under > 0
	m.used = false
	return was
}
