package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
	"github.com/go-rod/rod/lib/utils"
	"go.uber.org/zap"

	"mangrove/internal/config"
	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/source"
)

const (
	// launchWithin is how long a start may take, answerWithin a sign of life, and
	// closeWithin the end of a page.
	launchWithin = 25 * time.Second
	answerWithin = 5 * time.Second
	closeWithin  = 10 * time.Second
	watchEvery   = time.Second
)

// chromium is one started Chromium.
type chromium struct {
	o       Options
	process *process
	pipe    *pipe
	client  *cdp.Client
	profile string
	agent   string
	// short is what of shared memory is too small; "" when nothing is.
	short   string
	started time.Time
	refuse  *proxy
	end     context.CancelFunc

	// users, pages and unused are kept by Browser, with its gate held.
	users, pages int
	unused       chan struct{}

	memory atomic.Int64
	// lost is closed when Chromium cannot be used any more.
	lost     chan struct{}
	loseOnce sync.Once

	mu sync.Mutex
	// open are the pages being read, by session and by context.
	open     map[proto.TargetSessionID]*page
	contexts map[proto.BrowserBrowserContextID]*page
}

// launch starts Chromium and waits until it answers.
func launch(ctx context.Context, o Options) (*chromium, error) {
	program, err := find(o.Program)
	if err != nil {
		return nil, err
	}
	as, err := credential()
	if err != nil {
		return nil, err
	}
	profile, err := makeProfile(o.Dir, o.Owner, as)
	if err != nil {
		return nil, err
	}
	c := &chromium{
		o: o, short: shortage(sharedMemory, o.Dir, room), profile: profile, started: time.Now(), lost: make(chan struct{}),
		open: map[proto.TargetSessionID]*page{}, contexts: map[proto.BrowserBrowserContextID]*page{},
	}
	life, end := context.WithCancel(context.Background())
	c.end = end
	if c.refuse, err = newProxy(life, source.Site{}, fetch.Guard{}, func() {}); err == nil {
		err = c.run(program, as)
	}
	if err != nil {
		end()
		_ = os.RemoveAll(profile)
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	if c.short != "" {
		o.Log.Warn("the browser has little shared memory, and pages with much to draw may crash it", zap.String("why", c.short))
	}
	if o.Unsandboxed {
		o.Log.Warn("the browser runs WITHOUT its sandbox", zap.String("setting", config.ChromiumUnsandboxed+"=yes"))
	}
	ctx, cancel := context.WithTimeout(ctx, launchWithin)
	defer cancel()
	s, stop := c.session(ctx, "")
	defer stop()
	v, err := proto.BrowserGetVersion{}.Call(s)
	if err == nil {
		err = proto.TargetSetDiscoverTargets{Discover: true}.Call(s)
	}
	if err != nil {
		err = c.lostBecause(c.neverAnswered(ctx, program, err))
		if c.process.ended() && !errors.Is(err, errNoSandbox) {
			err = fmt.Errorf("%w (%w)", err, errEnded)
		}
		c.stop()
		return nil, err
	}
	c.agent = strings.TrimSpace(v.UserAgent + " " + o.Identity)
	o.Log.Info("browser started", zap.String("version", v.Product), zap.Int("pid", c.process.pid))
	go c.watch()
	return c, nil
}

// run starts the process and connects to it.
func (c *chromium) run(program string, as *syscall.Credential) error {
	theirs, to, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = theirs.Close() }()
	out, from, err := os.Pipe()
	if err != nil {
		_ = to.Close()
		return err
	}
	defer func() { _ = from.Close() }()
	cmd := exec.Command(program, arguments(c.profile, c.refuse.address(), c.o.Unsandboxed)...)
	cmd.Env, cmd.Dir = environment(c.profile), c.profile
	cmd.ExtraFiles = []*os.File{theirs, from} // 3 and 4, as --remote-debugging-pipe has them
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	c.pipe = &pipe{to: to, out: out, in: bufio.NewReaderSize(out, 64<<10)}
	if c.process, err = start(cmd); err != nil {
		c.pipe.close()
		return err
	}
	c.client = cdp.New().Logger(utils.LoggerQuiet).Start(c.pipe)
	go c.route()
	go func() {
		<-c.process.done
		c.lose()
	}()
	return nil
}

// Why a start fails: errEnded when Chromium ended by itself before it answered.
var (
	errNoSandbox = errors.New("its sandbox cannot start on this machine (user namespaces are off)")
	errEnded     = errors.New("it ended at once")
)

// neverAnswered words a start that failed, for the operator.
func (c *chromium) neverAnswered(ctx context.Context, program string, err error) error {
	if ctx.Err() == nil {
		select {
		case <-c.process.done:
		case <-time.After(time.Second):
		}
	}
	said := strings.TrimSpace(c.process.said.String())
	if strings.Contains(said, "sandbox") {
		return fmt.Errorf("start %s: %w; allow them, or set %s=yes to do without", program, errNoSandbox, config.ChromiumUnsandboxed)
	}
	lines := strings.Split(said, "\n")
	said = lines[len(lines)-1]
	for _, line := range lines {
		if strings.Contains(line, ":FATAL:") {
			said = line
		}
	}
	return fmt.Errorf("start %s: it does not answer: %w (%s)", program, err, said)
}

func (c *chromium) lose() { c.loseOnce.Do(func() { close(c.lost) }) }

// gone reports whether it can read no more pages.
func (c *chromium) gone() bool {
	select {
	case <-c.lost:
		return true
	default:
		return false
	}
}

// stop ends it with all it started and removes its profile.
func (c *chromium) stop() {
	c.lose()
	c.process.kill()
	c.pipe.close()
	c.end()
	endStrays(c.profile)
	for deadline := time.Now().Add(2 * time.Second); os.RemoveAll(c.profile) != nil && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
}

// watch looks at its memory while it lives, and ends it when it is too much.
func (c *chromium) watch() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		memory := c.process.look()
		c.memory.Store(memory)
		if memory >= c.o.MaxMemory {
			c.o.Log.Warn("the browser used too much memory and was ended", zap.Int64("bytes", memory))
			c.lose()
			c.process.kill()
			return
		}
		select {
		case <-c.lost:
			return
		case <-tick.C:
		}
	}
}

// route hands events to the pages they are about, until Chromium is gone. It
// never waits for a page: one that does not keep up is ended.
func (c *chromium) route() {
	defer func() {
		if p := recover(); p != nil {
			c.o.Log.Error("the browser's driver panicked", zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
		}
		c.lose()
	}()
	for e := range c.client.Event() {
		c.mu.Lock()
		p := c.open[proto.TargetSessionID(e.SessionID)]
		c.mu.Unlock()
		switch e.Method {
		case "Target.targetCreated", "Target.targetCrashed":
			if e.SessionID == "" {
				p = c.about(e)
			}
		case "Fetch.requestPaused", "Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFinished", "Network.loadingFailed",
			"Page.javascriptDialogOpening", "Inspector.targetCrashed":
		default:
			continue
		}
		if p == nil {
			continue
		}
		select {
		case p.events <- e:
		default:
			p.fail(fetch.TooLarge(p.request.URL))
		}
	}
}

// errLost is why a read ends when Chromium does.
var errLost = errors.New("it ended while the page was read")

// session makes calls within ctx and for as long as Chromium lives.
func (c *chromium) session(ctx context.Context, id proto.TargetSessionID) (session, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-c.lost:
			cancel(errLost)
		case <-ctx.Done():
		}
	}()
	return session{ctx, c.client, id}, func() { cancel(nil) }
}

// session is one conversation with Chromium or with a page of it.
type session struct {
	ctx    context.Context
	client *cdp.Client
	id     proto.TargetSessionID
}

// Call sends a request of the protocol.
func (s session) Call(ctx context.Context, id, method string, params any) ([]byte, error) {
	return s.client.Call(ctx, id, method, params)
}

// GetContext bounds the calls.
func (s session) GetContext() context.Context { return s.ctx }

// GetSessionID says with whom it is held.
func (s session) GetSessionID() proto.TargetSessionID { return s.id }
