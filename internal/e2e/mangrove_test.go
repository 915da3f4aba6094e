package e2e

import (
	"bytes"
	"cmp"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mangrove/internal/config"
)

// patience bounds every wait for something that must happen, on a machine that has
// much else to do as well.
const patience = 2 * time.Minute

// mangrove is one installation: a data folder, its settings and the supervisor
// that runs on it.
type mangrove struct {
	t         *testing.T
	top, data string
	// programs is the folder of the programs that run.
	programs string
	address  string
	env      map[string]string
	console  *console
	up       *exec.Cmd
	ended    chan struct{}
	// all remembers every process that was ever part of it.
	all map[int]string
}

// newMangrove makes an empty installation, with settings as name, value, ….
func newMangrove(t *testing.T, settings ...string) *mangrove {
	t.Helper()
	top, err := os.MkdirTemp("/tmp", "mangrove-e-")
	if err != nil {
		t.Fatal(err)
	}
	// The database runs as another user when we are root and must get in.
	if err := os.Chmod(top, 0o711); err != nil {
		t.Fatal(err)
	}
	m := &mangrove{t: t, top: top, data: filepath.Join(top, "d"), programs: programs, address: freePort(t), all: map[int]string{}}
	m.env = map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": "/nonexistent",
		config.Data: m.data, config.HTTP: m.address, config.Health: freePort(t), config.Metrics: freePort(t),
	}
	if bin := os.Getenv(config.PostgresBin); bin != "" {
		m.env[config.PostgresBin] = bin
	}
	for i := 0; i < len(settings); i += 2 {
		m.env[settings[i]] = settings[i+1]
	}
	t.Cleanup(m.cleanup)
	return m
}

func (m *mangrove) cleanup() {
	if m.t.Failed() {
		m.tell()
	}
	if m.up != nil {
		_ = m.up.Process.Signal(syscall.SIGINT)
		select {
		case <-m.ended:
		case <-time.After(40 * time.Second):
			m.t.Error("mangrove up does not end after SIGINT; it is killed")
			m.killAll()
		}
	}
	if left := m.processes(); len(left) > 0 {
		m.t.Errorf("left running: %v", left)
		m.killAll()
	}
	if err := os.RemoveAll(m.top); err != nil {
		m.t.Error(err)
	}
}

// tell prints what helps to understand a failure.
func (m *mangrove) tell() {
	m.t.Logf("console:\n%s", lastLines(m.console.String(), 30))
	if out, err := m.run("status"); err == nil {
		m.t.Logf("status:\n%s", out)
	}
	for _, name := range []string{"supervisor", "scraper", "reader", "postgres"} {
		m.t.Logf("%s.log:\n%s", name, lastLines(m.log(name), 25))
	}
	_ = filepath.WalkDir(m.library(), func(p string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			m.t.Logf("library: %s", strings.TrimPrefix(p, m.library()))
		}
		return nil
	})
}

// log is the log of one program so far.
func (m *mangrove) log(name string) string {
	data, _ := os.ReadFile(filepath.Join(m.data, "logs", name+".log")) // none yet is an empty one
	return string(data)
}

// start runs `mangrove up` and returns when it says where it is.
func (m *mangrove) start() {
	m.t.Helper()
	m.console = &console{}
	cmd := m.command("up")
	cmd.Stdout, cmd.Stderr = m.console, m.console
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started, ended := make(chan error), make(chan struct{})
	go func() {
		// The death signal is that of the thread, which therefore stays.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(ended)
		}
	}()
	if err := <-started; err != nil {
		m.t.Fatalf("start mangrove: %v", err)
	}
	m.up, m.ended = cmd, ended
	m.eventually("mangrove up prints its address", func() (bool, string) {
		select {
		case <-ended:
			m.t.Fatalf("mangrove up ended with %s:\n%s", cmd.ProcessState, m.console)
		default:
		}
		return strings.Contains(m.console.String(), "Mangrove is at http://"+m.address+"/\n"), m.console.String()
	})
	m.processes()
}

// code is the one-time code, as it stands on the console.
func (m *mangrove) code() string {
	m.t.Helper()
	line := regexp.MustCompile(`(?m)^One-time code to claim the administrator: (\S+)$`)
	var code string
	m.eventually("the one-time code is printed", func() (bool, string) {
		if found := line.FindStringSubmatch(m.console.String()); found != nil {
			code = found[1]
		}
		return code != "", m.console.String()
	})
	return code
}

// stop sends an interrupt, as Ctrl-C does, and returns the exit code.
func (m *mangrove) stop() int {
	m.t.Helper()
	m.processes()
	if err := m.up.Process.Signal(syscall.SIGINT); err != nil {
		m.t.Fatalf("interrupt: %v", err)
	}
	select {
	case <-m.ended:
	case <-time.After(patience):
		m.t.Fatal("mangrove up does not end after SIGINT")
	}
	code := m.up.ProcessState.ExitCode()
	m.up = nil
	return code
}

// url is an address of the reader.
func (m *mangrove) url(path string) string { return "http://" + m.address + path }

func (m *mangrove) library() string {
	return cmp.Or(m.env[config.Library], filepath.Join(m.data, "library"))
}

func (m *mangrove) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(m.programs, "mangrove"), args...)
	cmd.Env = []string{}
	for k, v := range m.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	return cmd
}

// run runs a command of the operator and returns what it printed.
func (m *mangrove) run(args ...string) (string, error) {
	out, err := m.command(args...).CombinedOutput()
	return string(out), err
}

// service is one line of `mangrove status`.
type service struct {
	state    string
	pid      int
	failures int
}

// status asks `mangrove status`; no answer is no services.
func (m *mangrove) status() (map[string]service, string) {
	out, _ := m.run("status")
	all := map[string]service{}
	for _, found := range regexp.MustCompile(`(?m)^(postgres|scraper|reader) +(\S+) +\S+ \S+ +(\d+|-) +(\d+) .*$`).FindAllStringSubmatch(out, -1) {
		pid, _ := strconv.Atoi(found[3]) // "-" is 0
		failures, _ := strconv.Atoi(found[4])
		all[found[1]] = service{found[2], pid, failures}
	}
	return all, out
}

// serving waits until all three services serve and returns them.
func (m *mangrove) serving() map[string]service {
	m.t.Helper()
	var all map[string]service
	m.eventually("all three services serve", func() (bool, string) {
		var out string
		all, out = m.status()
		n := 0
		for _, s := range all {
			if s.state == "serving" && s.pid > 0 {
				n++
			}
		}
		return n == 3, out
	})
	return all
}

// eventually waits for a condition, which also says what it sees.
func (m *mangrove) eventually(what string, cond func() (ok bool, seen string)) {
	m.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		ok, seen := cond()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			m.t.Fatalf("never: %s; last seen:\n%s", what, seen)
		}
		<-time.After(25 * time.Millisecond)
	}
}

// freePort returns a loopback address that nothing listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// console gathers what a program prints.
type console struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.Write(p)
}

func (c *console) String() string {
	if c == nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.String()
}

var _ fmt.Stringer = (*console)(nil)
