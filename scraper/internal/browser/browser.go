package browser

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/source"
)

// The bounds of one page and of one Chromium.
const (
	pageTimeout = 60 * time.Second
	// settleFor is how long nothing may happen for a page to count as settled,
	// settleWithin how long that is waited for. What is there then is read.
	settleFor    = 500 * time.Millisecond
	settleWithin = 15 * time.Second
	// maxPages are open at once, over all Sites.
	maxPages = 4
	// A Chromium is renewed after so many pages, so long, or so much memory; at
	// maxMemory it is ended on the spot.
	pagesEach  = 50
	lifetime   = 30 * time.Minute
	softMemory = 700 << 20
	maxMemory  = 1500 << 20
	// idleFor is how long it is kept without a page.
	idleFor = 2 * time.Minute
)

// Options make a Browser.
type Options struct {
	// Program is the path of Chromium; "" looks for it on the PATH.
	Program string
	// Unsandboxed runs it without its sandbox: the operator's choice, never ours.
	Unsandboxed bool
	// Owner names whoever keeps this browser: profiles an earlier process of the
	// same owner left behind are removed.
	Owner string
	// Dir is where profiles are made; "" is the folder for temporary files. The
	// browser's user must be able to reach it.
	Dir string
	// Allow are the private ranges the operator listed.
	Allow []netip.Prefix
	// Identity is added to the User-Agent: who is asking, stated plainly.
	Identity string
	Log      *zap.Logger

	// Timeout, Settle, PagesEach, Lifetime, SoftMemory, MaxMemory and Idle replace
	// the bounds of the package when not zero.
	Timeout, Settle, Lifetime, Idle time.Duration
	PagesEach                       int
	SoftMemory, MaxMemory           int64
}

// Browser is the one supervised browser. Its methods may be called from several
// goroutines.
type Browser struct {
	o Options
	// pages holds a token for each page that may be open.
	pages chan struct{}
	// gate is held while current, closed and users are looked at or changed. It
	// is a channel because a start takes a while and a stop must not wait for it.
	gate    chan struct{}
	current *chromium
	closed  bool
	idle    *time.Timer
	// failed is why the last start did not succeed; nil once one did.
	failed atomic.Pointer[error]
}

var _ fetch.Renderer = (*Browser)(nil)

// ErrClosed is why a page was not read after Close.
var ErrClosed = errors.New("the browser is closed")

// New makes a Browser and removes the profiles an earlier process of the same
// owner left. It starts nothing.
func New(o Options) *Browser {
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	o.Timeout = orElse(o.Timeout, pageTimeout)
	o.Settle = orElse(o.Settle, settleWithin)
	o.Lifetime = orElse(o.Lifetime, lifetime)
	o.Idle = orElse(o.Idle, idleFor)
	o.PagesEach = orElse(o.PagesEach, pagesEach)
	o.SoftMemory = orElse(o.SoftMemory, softMemory)
	o.MaxMemory = orElse(o.MaxMemory, maxMemory)
	if o.Dir == "" {
		if o.Dir = os.TempDir(); len(o.Dir) > maxDir {
			o.Dir = "/tmp"
		}
	}
	removeProfiles(o.Dir, o.Owner)
	b := &Browser{o: o, pages: make(chan struct{}, maxPages), gate: make(chan struct{}, 1)}
	b.idle = time.AfterFunc(o.Idle, b.rest)
	b.idle.Stop()
	return b
}

func orElse[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}

// Available says whether a browser can be started, as far as is known: nil, or
// why not.
func (b *Browser) Available() error {
	if _, err := find(b.o.Program); err != nil {
		return err
	}
	if failed := b.failed.Load(); failed != nil {
		return *failed
	}
	return nil
}

// Render reads a page: it goes to r.URL, waits until the page's scripts have put
// it together, and returns the HTML it has become. The answer of the Site is
// judged before a script of it runs, so that a refusal or a challenge ends the
// read there. What its scripts ask for waits for its turn (ADR 0010). A browser that is missing, does not start or is lost on the way is
// a read that never happened.
func (b *Browser) Render(ctx context.Context, site source.Site, r source.Request, turns fetch.Turns) (resp *source.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			b.o.Log.Error("the browser's driver panicked", zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
			resp, err = nil, fetch.NoBrowser(r.URL, fmt.Errorf("its driver panicked: %v", p))
		}
	}()
	if err := fetch.Askable(site, r.URL); err != nil {
		return nil, fetch.Unanswered(r.URL, err, true)
	}
	select {
	case b.pages <- struct{}{}:
		defer func() { <-b.pages }()
	case <-ctx.Done():
		return nil, fetch.NoBrowser(r.URL, ctx.Err())
	}
	ctx, cancel := context.WithTimeout(ctx, b.o.Timeout)
	defer cancel()
	c, err := b.take(ctx)
	if err != nil {
		return nil, fetch.NoBrowser(r.URL, err)
	}
	defer b.giveBack(c)
	guard := fetch.Guard{Allow: b.o.Allow, Loopback: site.Loopback}
	return c.read(ctx, site, guard, r, turns)
}

// take returns the Chromium that reads the next page, started if there is none.
// One that is due for renewal finishes its pages first.
func (b *Browser) take(ctx context.Context) (*chromium, error) {
	for {
		select {
		case b.gate <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		c, busy, err := b.ready(ctx)
		<-b.gate
		if busy == nil {
			return c, err
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// ready is called with the gate held. A channel that is not nil says when to
// call again.
func (b *Browser) ready(ctx context.Context) (c *chromium, busy <-chan struct{}, err error) {
	if b.closed {
		return nil, nil, ErrClosed
	}
	b.idle.Stop()
	if c := b.current; c != nil && (c.gone() || b.due(c)) {
		if c.users > 0 && !c.gone() {
			return nil, c.unused, nil
		}
		c.stop()
		b.current = nil
	}
	if b.current == nil {
		c, err := launch(ctx, b.o)
		if errors.Is(err, errEnded) && ctx.Err() == nil {
			// Chromium now and then crashes while it starts, on a busy machine above
			// all. A second try tells that from one that cannot start.
			b.o.Log.Warn("the browser ended while it started and is started again", zap.Error(err))
			c, err = launch(ctx, b.o)
		}
		if err != nil {
			if ctx.Err() == nil {
				b.failed.Store(&err)
			}
			return nil, nil, err
		}
		b.failed.Store(nil)
		b.current = c
	}
	c = b.current
	if c.users == 0 {
		c.unused = make(chan struct{})
	}
	c.users++
	c.pages++
	return c, nil, nil
}

func (b *Browser) due(c *chromium) bool {
	return c.pages >= b.o.PagesEach || time.Since(c.started) >= b.o.Lifetime || c.memory.Load() >= b.o.SoftMemory
}

// giveBack ends the use of c for one page.
func (b *Browser) giveBack(c *chromium) {
	b.gate <- struct{}{}
	defer func() { <-b.gate }()
	c.users--
	if c.users > 0 {
		return
	}
	close(c.unused)
	switch {
	case c != b.current:
	case c.gone() || b.due(c):
		c.stop()
		b.current = nil
	case !b.closed:
		b.idle.Reset(b.o.Idle)
	}
}

// rest ends a Chromium that nobody has used for a while.
func (b *Browser) rest() {
	b.gate <- struct{}{}
	defer func() { <-b.gate }()
	if c := b.current; c != nil && c.users == 0 {
		c.stop()
		b.current = nil
	}
}

// Close ends the browser with everything it started and removes its profile.
// Pages being read are lost.
func (b *Browser) Close() {
	b.gate <- struct{}{}
	defer func() { <-b.gate }()
	b.closed = true
	b.idle.Stop()
	if b.current != nil {
		b.current.stop()
		b.current = nil
	}
}
