package browser

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"
	"go.uber.org/zap"

	"mangrove/internal/fakesite"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

func wordsAt(t *testing.T) (*fakesite.Server, source.Site) {
	t.Helper()
	s := fakesite.Start(t)
	s.On("/p", fakesite.HTML("<p>words</p>"))
	return s, siteOf(t, s)
}

// hangs reads a page in the background that waits for the Site; it is under way
// when hangs returns.
func hangs(t *testing.T, b *Browser) (*fakesite.Server, source.Site, <-chan error) {
	t.Helper()
	s, site := wordsAt(t)
	s.On("/hangs", fakesite.HTML(`<p>x</p><script>fetch('/never')</script>`))
	s.On("/never", fakesite.Answer{Hold: make(chan struct{})})
	done := inBackground(t.Context(), b, site, s.URL+"/hangs")
	if err := s.WaitCount(t.Context(), "/never", 1); err != nil {
		t.Fatal(err)
	}
	return s, site, done
}

// Whatever takes the browser away while a page is read, the read never happened
// (POLL-1), and the next one has a browser again (F119, F120).
func TestTheBrowserIsLost(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		lose func(t *testing.T, c *chromium)
	}{
		{"killed", func(t *testing.T, c *chromium) { kill(t, c.process.pid, syscall.SIGKILL) }},
		{"its page crashes", func(_ *testing.T, c *chromium) {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, p := range c.open {
				go func() { _ = proto.PageCrash{}.Call(p.tab) }()
			}
		}},
		{"its pipe closes", func(_ *testing.T, c *chromium) { c.pipe.close() }},
		{"it freezes", func(t *testing.T, c *chromium) { kill(t, c.process.pid, syscall.SIGSTOP) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := open(t, func(o *Options) { o.Timeout = 10 * time.Second })
			c := warm(t, b)
			s, site, done := hangs(t, b)
			tt.lose(t, c)
			err := <-done
			if got := verdictOf(t, err); got != (verdict{fault.Network, fault.NoRead}) || !strings.Contains(err.Error(), "browser") {
				t.Errorf("%v, want no read", err)
			}
			if _, err := b.Render(t.Context(), site, ask(s.URL+"/p"), &turns{}); err != nil {
				t.Errorf("the next page: %v", err)
			}
		})
	}
}

func kill(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}

func TestItIsConfined(t *testing.T) {
	t.Setenv("MANGROVE_DATABASE_URL_FILE", "/secret")
	b := open(t)
	c := warm(t, b)
	main := "/proc/" + strconv.Itoa(c.process.pid)
	environ, err := os.ReadFile(main + "/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range strings.Split(strings.Trim(string(environ), "\x00"), "\x00") {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains([]string{"PATH", "HOME", "LANG", "TMPDIR"}, name) {
			t.Errorf("its environment holds %s", name)
		}
	}
	args, err := os.ReadFile(main + "/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range strings.Split(string(args), "\x00") {
		if flag == "--no-sandbox" || strings.HasPrefix(flag, "--remote-debugging-port") {
			t.Errorf("it was started with %s", flag)
		}
	}
	if os.Geteuid() == 0 {
		info, err := os.Stat(main)
		if err != nil {
			t.Fatal(err)
		}
		if uid := info.Sys().(*syscall.Stat_t).Uid; uid == 0 {
			t.Error("it runs as root")
		}
	}
	if !sandboxed(t, c) {
		t.Error("no process of it has a user namespace of its own and a filter of system calls")
	}
	if ports := listening(t, c); len(ports) > 0 {
		t.Errorf("it listens on %v", ports)
	}
}

// sandboxed reports whether pages are shown behind Chromium's two walls.
func sandboxed(t *testing.T, c *chromium) bool {
	t.Helper()
	ours, err := os.Readlink("/proc/self/ns/user")
	if err != nil {
		t.Fatal(err)
	}
	c.process.look()
	c.process.mu.Lock()
	defer c.process.mu.Unlock()
	for pid := range c.process.kin {
		args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/user", pid))
		if err == nil && theirs != ours && strings.Contains(string(args), "--type=renderer") && strings.Contains(string(status), "Seccomp:\t2") {
			return true
		}
	}
	return false
}

// listening lists the TCP sockets that Chromium's main process listens on.
func listening(t *testing.T, c *chromium) []string {
	t.Helper()
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", c.process.pid))
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]bool{}
	for _, fd := range fds {
		to, _ := os.Readlink(fd)
		if inode, ok := strings.CutPrefix(to, "socket:["); ok {
			own[strings.TrimSuffix(inode, "]")] = true
		}
	}
	var out []string
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, _ := os.ReadFile(table)
		for line := range strings.Lines(string(data)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" && own[f[9]] {
				out = append(out, f[1])
			}
		}
	}
	return out
}

// After its pages, its time or its memory it is renewed, between two pages.
func TestItIsRenewed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*Options)
	}{
		{"after its pages", func(o *Options) { o.PagesEach = 2 }},
		{"after its memory", func(o *Options) { o.SoftMemory = 1 }},
		{"after its time", func(o *Options) { o.Lifetime = time.Nanosecond }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := open(t, tt.change)
			first := warm(t, b)
			s, site := wordsAt(t)
			if _, err := b.Render(t.Context(), site, ask(s.URL+"/p"), &turns{}); err != nil {
				t.Fatal(err)
			}
			select {
			case <-first.process.done:
			default:
				t.Error("the first one is still there")
			}
		})
	}
}

func TestItEndsWhenNobodyUsesIt(t *testing.T) {
	t.Parallel()
	b := open(t, func(o *Options) { o.Idle = time.Millisecond })
	c := warm(t, b)
	eventually(t, "it has ended", func() bool {
		select {
		case <-c.process.done:
			return true
		default:
			return false
		}
	})
}

func TestTooMuchMemoryEndsIt(t *testing.T) {
	t.Parallel()
	b := open(t, func(o *Options) { o.MaxMemory = 1 })
	s, site := wordsAt(t)
	_, err := b.Render(t.Context(), site, ask(s.URL+"/p"), &turns{})
	if got := verdictOf(t, err); got != (verdict{fault.Network, fault.NoRead}) {
		t.Errorf("%v, want no read", err)
	}
}

// Many pages leave nothing behind: no page, no goroutine, no dead process (S-081).
func TestNothingPilesUp(t *testing.T) {
	b := open(t)
	c := warm(t, b)
	s, site := wordsAt(t)
	before := runtime.NumGoroutine()
	for range 8 {
		if _, err := b.Render(t.Context(), site, ask(s.URL+"/p"), &turns{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := targets(t, b); n > 1 {
		t.Errorf("%d pages are open", n)
	}
	if len(c.open)+len(c.contexts) > 0 {
		t.Errorf("%d pages and %d contexts are kept", len(c.open), len(c.contexts))
	}
	eventually(t, "the goroutines have ended", func() bool { return runtime.NumGoroutine() <= before+5 })
	b.Close()
	if _, err := b.Render(t.Context(), site, ask(s.URL+"/p"), &turns{}); !strings.Contains(fmt.Sprint(err), ErrClosed.Error()) {
		t.Errorf("after Close: %v", err)
	}
	if zombies := ended(os.Getpid()); len(zombies) > 0 {
		t.Errorf("processes %v were not reaped", zombies)
	}
}

// ended lists the children of parent that have ended and are still there.
func ended(parent int) []string {
	entries, _ := os.ReadDir("/proc")
	var out []string
	for _, e := range entries {
		if s, ok := statOf(e.Name()); ok && s.parent == parent && s.ended {
			out = append(out, e.Name())
		}
	}
	return out
}

func TestAMissingBrowserSaysHowToGetIt(t *testing.T) {
	o := options(t)
	o.Program = "/nowhere/chromium"
	s, site := wordsAt(t)
	b := New(o)
	defer b.Close()
	if err := b.Available(); err == nil || !strings.Contains(err.Error(), "MANGROVE_CHROMIUM") {
		t.Errorf("available: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	o.Program = ""
	b = New(o)
	defer b.Close()
	_, err := b.Render(t.Context(), site, ask(s.URL+"/p"), &turns{})
	if got := verdictOf(t, err); got != (verdict{fault.Network, fault.NoRead}) || !strings.Contains(err.Error(), "apt-get install chromium") {
		t.Errorf("%v, want no read and how to get it", err)
	}
}

// TestACrashWhileStarting is tried once more, and no oftener.
func TestACrashWhileStarting(t *testing.T) {
	t.Parallel()
	needChromium(t)
	chromium, err := find("")
	if err != nil {
		t.Fatal(err)
	}
	for crashes, reads := range map[int]bool{1: true, 2: false} {
		dir := t.TempDir()
		// The browser runs as another user than root.
		for _, d := range []string{dir, filepath.Dir(dir)} {
			if err := os.Chmod(d, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		script := fmt.Sprintf("#!/bin/sh\nn=$(ls %[1]s/started-* 2>/dev/null | wc -l)\n: >%[1]s/started-$n\n[ $n -ge %[2]d ] && exec %[3]s \"$@\"\nexit 133\n", dir, crashes, chromium)
		program := filepath.Join(dir, "chromium")
		if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		b := open(t, func(o *Options) { o.Program = program })
		s, site := wordsAt(t)
		if _, err := b.Render(t.Context(), site, ask(s.URL+"/p"), &turns{}); (err == nil) != reads {
			t.Errorf("%d crashes while starting: %v, want it read %v", crashes, err, reads)
		}
		if started, err := filepath.Glob(filepath.Join(dir, "started-*")); err != nil || len(started) != 2 {
			t.Errorf("%d crashes: started %d times (%v), want twice", crashes, len(started), err)
		}
	}
}

func TestAProgramThatIsNoBrowser(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Program, o.Timeout = "/bin/true", 5*time.Second
	s, site := wordsAt(t)
	b := New(o)
	defer b.Close()
	if err := b.Available(); err != nil {
		t.Errorf("before the first start nothing is known against it: %v", err)
	}
	_, err := b.Render(t.Context(), site, ask(s.URL+"/p"), &turns{})
	if got := verdictOf(t, err); got != (verdict{fault.Network, fault.NoRead}) {
		t.Errorf("%v, want no read", err)
	}
	if b.Available() == nil {
		t.Error("after a start that failed it counts as available")
	}
	if left, _ := filepath.Glob(filepath.Join(o.Dir, "*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// helperDir makes the test binary an owner of a browser, which says when it has
// read a page and then waits to be killed.
const helperDir = "MGB_HELPER_DIR"

func help(dir, address string) {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	o := Options{Owner: "helper", Dir: dir, Allow: allowed(), Log: zap.Must(zap.NewDevelopment())}
	b := New(o)
	r, err := b.Render(context.Background(), source.Site{Hosts: []string{u.Host}}, ask(address), &turns{})
	if err != nil {
		fmt.Println("failed:", err)
	} else {
		fmt.Println("read", len(r.Body))
	}
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until the parent goes
	b.Close()
}

// helper starts the test binary as an owner of a browser, after arguments that
// start it, and waits until it has read a page. What it logs goes to a file.
func helper(t *testing.T, dir, address string, before ...string) (cmd *exec.Cmd, log string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append(before, self)
	cmd = exec.Command(args[0], args[1:]...)
	log = filepath.Join(t.TempDir(), "log")
	to, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = to.Close() }()
	cmd.Stderr = to
	cmd.Env = append(os.Environ(), helperDir+"="+dir, "MGB_HELPER_URL="+address)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	said, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(said, "read ") {
		t.Fatalf("the helper said %q, %v", said, err)
	}
	return cmd, log
}

// When its owner is killed without a word, Chromium goes too, with all of it,
// within five seconds (F40); the profile goes with the next start.
func TestItDiesWithItsOwner(t *testing.T) {
	t.Parallel()
	needChromium(t)
	o := options(t)
	s, _ := wordsAt(t)
	for range 3 {
		cmd, _ := helper(t, o.Dir, s.URL+"/p")
		if len(family(t, o.Dir)) < 3 {
			t.Fatal("there is no browser to lose")
		}
		kill(t, cmd.Process.Pid, syscall.SIGKILL)
		eventually(t, "nothing of it is left", func() bool { return len(family(t, o.Dir)) == 0 })
	}
	o.Owner = "helper"
	New(o).Close()
	if left, _ := filepath.Glob(filepath.Join(o.Dir, "*")); len(left) > 0 {
		t.Errorf("left of the profiles: %v", left)
	}
}

// A container's small /dev/shm does not take pages down, and is told of (S-082).
func TestASmallSharedMemoryIsEnough(t *testing.T) {
	t.Parallel()
	needChromium(t)
	mount := []string{"unshare", "--mount", "sh", "-c", `mount -t tmpfs -o size=1m tmpfs /dev/shm && exec "$0"`}
	if os.Geteuid() != 0 || exec.Command(mount[0], append(mount[1:4:4], "mount -t tmpfs -o size=1m tmpfs /dev/shm")...).Run() != nil {
		t.Skip("it takes root to have another /dev/shm")
	}
	o := options(t)
	s := fakesite.Start(t)
	s.On("/p", fakesite.HTML(`<body><script>for (let i = 0; i < 20; i++) {
		const c = document.createElement('canvas'); c.width = c.height = 1500; document.body.append(c);
		const g = c.getContext('2d'); g.fillRect(i, i, 1000, 1000); c.toDataURL('image/jpeg');
	}</script>`))
	_, log := helper(t, o.Dir, s.URL+"/p", mount...)
	said, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(said), "/dev/shm, in which a browser shares memory, holds only 1 MiB") || !strings.Contains(string(said), "--shm-size") {
		t.Errorf("%v; it said\n%s", err, said)
	}
}

// What is too small is said with what to do, and again when Chromium was lost.
func TestShortage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		shared, free  uint64
		missing       bool
		want, another string
	}{
		{"enough", 65 << 20, 256 << 20, false, "", ""},
		{"what containers are given", 64 << 20, 1 << 40, false, "holds only 64 MiB", "--shm-size=256m"},
		{"none", 0, 1 << 40, true, "there is no /shm", "shm_size"},
		{"no room for the profile", 1 << 40, 255 << 20, false, "/dir, where the browser's profile lies, has only 255 MiB left", "free some"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := shortage("/shm", "/dir", func(path string) (uint64, uint64, error) {
				if path == "/shm" && tt.missing {
					return 0, 0, os.ErrNotExist
				}
				if path == "/shm" {
					return tt.shared, 0, nil
				}
				return 1 << 40, tt.free, nil
			})
			if !strings.Contains(got, tt.want) || !strings.Contains(got, tt.another) || (got == "") != (tt.want == "") {
				t.Errorf("it says %q", got)
			}
		})
	}
}

// A Chromium that is lost where shared memory is small says so, to the Lane and to
// `site check` alike: it is the read's own error.
func TestALossSaysWhatMayBeToBlame(t *testing.T) {
	t.Parallel()
	b := open(t)
	c := warm(t, b)
	c.short = "it is small; give more"
	_, _, done := hangs(t, b)
	kill(t, c.process.pid, syscall.SIGKILL)
	err := <-done
	if got := verdictOf(t, err); got != (verdict{fault.Network, fault.NoRead}) || !strings.Contains(err.Error(), "perhaps because it is small; give more") {
		t.Errorf("%v", err)
	}
}
