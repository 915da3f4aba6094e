package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-rod/rod"
)

// nobody is the user as whom Chromium runs when we are root: its sandbox does
// not start for root.
const nobody = 65534

// chromium is the one browser of the package; each visitor has a context of
// its own in it, as on a device of their own.
type chromium struct {
	browser *rod.Browser
	cmd     *exec.Cmd
	ended   chan struct{}
	top     string
}

var browser struct {
	once     sync.Once
	chromium *chromium
	err      error
}

var errNoChromium = errors.New("there is no Chromium on the path")

// theBrowser starts Chromium once. Without it the test is skipped, but not in CI.
func theBrowser(t *testing.T) *rod.Browser {
	t.Helper()
	browser.once.Do(func() {
		// The sandbox cannot start everywhere (containers without user
		// namespaces); a browser without one still shows our own pages.
		for _, sandbox := range []bool{true, false} {
			browser.chromium, browser.err = startChromium(sandbox)
			if browser.err == nil || errors.Is(browser.err, errNoChromium) {
				return
			}
		}
	})
	switch {
	case errors.Is(browser.err, errNoChromium) && os.Getenv("CI") == "":
		t.Skip(browser.err)
	case browser.err != nil:
		t.Fatal(browser.err)
	}
	return browser.chromium.browser
}

func startChromium(sandbox bool) (*chromium, error) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, errNoChromium
	}
	top, err := os.MkdirTemp("/tmp", "mangrove-c-")
	if err != nil {
		return nil, err
	}
	c := &chromium{top: top, ended: make(chan struct{})}
	flags := []string{
		"--headless", "--remote-debugging-port=0", "--user-data-dir=" + filepath.Join(top, "profile"), "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic", "--disable-gpu",
		"--disable-dev-shm-usage", "--disable-breakpad", "--mute-audio",
		// Windows of one browser stand behind each other; all are looked at.
		"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
	}
	if !sandbox {
		flags = append(flags, "--no-sandbox")
	}
	c.cmd = exec.Command(path, append(flags, "about:blank")...)
	c.cmd.Dir = top
	c.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + top, "TMPDIR=" + top, "LANG=C.UTF-8"}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		c.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(top, nobody, nobody); err != nil {
			return nil, err
		}
	}
	said := &console{}
	c.cmd.Stderr = said
	started := make(chan error)
	go func() {
		// The death signal is that of the thread, which therefore stays.
		runtime.LockOSThread()
		err := c.cmd.Start()
		started <- err
		if err == nil {
			_ = c.cmd.Wait()
			close(c.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start Chromium: %w", err)
	}
	control, err := c.devTools()
	if err == nil {
		c.browser = rod.New().ControlURL(control).NoDefaultDevice()
		err = c.browser.Connect()
	}
	if err != nil {
		c.close()
		return nil, fmt.Errorf("start Chromium (sandbox %t): %w\n%s", sandbox, err, lastLines(said.String(), 10))
	}
	return c, nil
}

// devTools waits for the file in which Chromium says where it is driven from.
func (c *chromium) devTools() (string, error) {
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		data, _ := os.ReadFile(filepath.Join(c.top, "profile", "DevToolsActivePort"))
		if port, path, ok := strings.Cut(strings.TrimSpace(string(data)), "\n"); ok {
			return "ws://127.0.0.1:" + port + path, nil
		}
		select {
		case <-c.ended:
			return "", fmt.Errorf("it ended with %s", c.cmd.ProcessState)
		case <-time.After(25 * time.Millisecond):
		}
	}
	return "", errors.New("it does not open its port")
}

// close kills the whole group: nothing in the profile is worth a farewell.
func (c *chromium) close() {
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	<-c.ended
	for range 50 { // its last children may still be writing
		if os.RemoveAll(c.top) == nil {
			return
		}
		<-time.After(20 * time.Millisecond)
	}
}
