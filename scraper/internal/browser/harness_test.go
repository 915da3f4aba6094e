package browser

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"mangrove/internal/fakesite"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// needChromium skips the test where there is none, but not in CI.
func needChromium(t *testing.T) {
	t.Helper()
	if _, err := find(""); err != nil {
		if os.Getenv("CI") == "" {
			t.Skip(err)
		}
		t.Fatal(err)
	}
}

// options are those of a browser whose profiles lie in a folder of the test's
// own, which Chromium's user can reach.
func options(t *testing.T) Options {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "mgb-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return Options{
		Owner: t.Name(), Dir: dir, Identity: "Mangrove/test", Allow: allowed(),
		Timeout: 60 * time.Second, Log: zaptest.NewLogger(t, zaptest.Level(zap.WarnLevel)),
	}
}

// open makes a browser that is gone, with all of it, when the test ends.
func open(t *testing.T, change ...func(*Options)) *Browser {
	t.Helper()
	needChromium(t)
	o := options(t)
	for _, c := range change {
		c(&o)
	}
	b := New(o)
	t.Cleanup(func() {
		b.Close()
		if left := family(t, o.Dir); len(left) > 0 {
			t.Errorf("left after Close: %v", left)
		}
		if left, err := filepath.Glob(filepath.Join(o.Dir, "*")); err != nil || len(left) > 0 {
			t.Errorf("left of the profile after Close: %v, %v", left, err)
		}
	})
	return b
}

// common is the browser of all tests that do nothing to it.
var common struct {
	once sync.Once
	b    *Browser
	dir  string
	err  error
}

// share returns it; TestMain ends it.
func share(t *testing.T) *Browser {
	t.Helper()
	needChromium(t)
	common.once.Do(func() {
		if common.dir, common.err = os.MkdirTemp("/tmp", "mgb-"); common.err == nil {
			common.err = os.Chmod(common.dir, 0o755)
		}
		common.b = New(Options{Owner: "common", Dir: common.dir, Identity: "Mangrove/test", Allow: allowed(), PagesEach: 1000, SoftMemory: maxMemory, Idle: time.Hour})
	})
	if common.err != nil {
		t.Fatal(common.err)
	}
	return common.b
}

// TestMain is also the helper's start, and ends the common browser.
func TestMain(m *testing.M) {
	if dir := os.Getenv(helperDir); dir != "" {
		help(dir, os.Getenv("MGB_HELPER_URL"))
		return
	}
	code := m.Run()
	if common.b != nil {
		common.b.Close()
		if left, err := filepath.Glob(filepath.Join(common.dir, "*")); err != nil || len(left) > 0 {
			fmt.Println("left of the common browser:", left, err)
			code = 1
		}
		_ = os.RemoveAll(common.dir)
	}
	os.Exit(code)
}

// family lists the living processes that name dir in their arguments or
// environment.
func family(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		s, ok := statOf(e.Name())
		if !ok || s.ended {
			continue
		}
		args, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		env, _ := os.ReadFile("/proc/" + e.Name() + "/environ")
		if strings.Contains(string(args)+string(env), dir+"/mangrove-b-") {
			out = append(out, e.Name()+" "+strings.ReplaceAll(string(args[:min(len(args), 120)]), "\x00", " "))
		}
	}
	return out
}

// siteOf describes a fake Site as a Site that needs the browser.
func siteOf(t *testing.T, s *fakesite.Server) source.Site {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return source.Site{Key: "t", Hosts: []string{u.Host}, Browser: true}
}

// turns lets every request of a page go, and counts those its scripts send.
type turns struct{ again atomic.Int32 }

func (*turns) Sent() {}

func (t *turns) Again(context.Context) error {
	t.again.Add(1)
	return nil
}

func ask(address string) source.Request {
	return source.Request{URL: address, Want: source.WantHTML}
}

// verdict is what a read ended in, in short.
type verdict struct {
	Class    fault.Class
	Evidence fault.Evidence
}

func verdictOf(t *testing.T, err error) verdict {
	t.Helper()
	if err == nil {
		return verdict{}
	}
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatalf("%v is not classified", err)
	}
	return verdict{f.Class, f.Evidence}
}

// eventually waits for cond, for at most five seconds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// inBackground renders a page and gives the error when it has ended.
func inBackground(ctx context.Context, b *Browser, site source.Site, address string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := b.Render(ctx, site, ask(address), &turns{})
		if err == nil {
			err = fmt.Errorf("%s was read", address)
		}
		done <- err
	}()
	return done
}

// warm starts the browser, so that a bound of a test is not spent on that.
func warm(t *testing.T, b *Browser) *chromium {
	t.Helper()
	c, err := b.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.giveBack(c)
	return c
}

// targets counts the pages that are open, the blank one of the start included.
func targets(t *testing.T, b *Browser) int {
	t.Helper()
	s, stop := b.current.session(t.Context(), "")
	defer stop()
	all, err := proto.TargetGetTargets{}.Call(s)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, info := range all.TargetInfos {
		if info.Type == proto.TargetTargetInfoTypePage {
			n++
		}
	}
	return n
}

// allowed lets a browser reach the fake Sites.
func allowed() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} }
