package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mangrove/internal/config"
	supervisorv1 "mangrove/proto/gen/supervisor/v1"
	"mangrove/supervisor/internal/child"
)

// nobody is the ordinary user as whom programs run when the tests run as root.
const nobody = 65534

// programsDir holds the programs under test, set by TestMain before any test.
var programsDir string

func TestMain(m *testing.M) {
	if os.Getenv(forkless) != "" {
		os.Exit(runForkless())
	}
	code := func() int {
		dir, err := os.MkdirTemp("/tmp", "mangrove-b-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		for name, pkg := range map[string]string{"mangrove": ".", "mangrove-scraper": "./testdata/service"} {
			here, _ := os.Getwd()
			exit, lines, err := child.Run(context.Background(), child.Spec{
				Path: goProgram(), Args: []string{"build", "-o", filepath.Join(dir, name), pkg}, Dir: here, Env: os.Environ(),
			})
			if err != nil || exit.Code != 0 {
				fmt.Fprintln(os.Stderr, "build", name, exit, err, strings.Join(lines, "\n"))
				return 1
			}
		}
		if err := os.Link(filepath.Join(dir, "mangrove-scraper"), filepath.Join(dir, "mangrove-reader")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		programsDir = dir
		return m.Run()
	}()
	os.Exit(code)
}

// goProgram is the go command on the path.
func goProgram() string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if info, err := os.Stat(filepath.Join(dir, "go")); err == nil && info.Mode().Perm()&0o111 != 0 {
			return filepath.Join(dir, "go")
		}
	}
	return "go"
}

// buffer is a log that several goroutines may use.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// world is a data folder with the settings to run programs on it.
type world struct {
	t    *testing.T
	data string
	env  map[string]string
	// uid is whom programs run as, our own user if 0.
	uid int
}

// newWorld makes an empty data folder below one that everybody may pass, and
// free ports.
func newWorld(t *testing.T) *world {
	t.Helper()
	top, err := os.MkdirTemp("/tmp", "mangrove-t-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(top, 0o711); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, data: filepath.Join(top, "data")}
	w.env = map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": "/nonexistent", "SECRET_OF_THE_SHELL": "leak",
		config.Data: w.data, config.HTTP: freePort(t), config.Health: freePort(t), config.Metrics: freePort(t),
	}
	if bin := os.Getenv(config.PostgresBin); bin != "" {
		w.env[config.PostgresBin] = bin
	}
	if err := os.MkdirAll(filepath.Join(w.data, "script"), 0o711); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(w.data, 0o711); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left := w.running(); len(left) > 0 {
			t.Errorf("left running: %v", left)
			for _, pid := range left {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if err := os.RemoveAll(top); err != nil {
			t.Error(err)
		}
	})
	return w
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

// asNobody makes the world an ordinary user's; it skips where we are not root.
func (w *world) asNobody() {
	w.t.Helper()
	if os.Geteuid() != 0 {
		w.t.Skip("needs root to become another user")
	}
	w.uid = nobody
	w.own(w.data)
}

// own hands path and everything below to the ordinary user.
func (w *world) own(path string) {
	w.t.Helper()
	err := filepath.WalkDir(path, func(p string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, nobody, nobody)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// script tells a stand-in what to do.
func (w *world) script(file, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.data, "script", file), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(file string) string {
	data, _ := os.ReadFile(filepath.Join(w.data, file))
	return string(data)
}

func (w *world) spec(log *buffer, args ...string) child.Spec {
	var env []string
	for k, v := range w.env {
		env = append(env, k+"="+v)
	}
	spec := child.Spec{Path: filepath.Join(programsDir, "mangrove"), Args: args, Env: env, ParentDeath: syscall.SIGKILL}
	if log != nil {
		spec.Log = log
	}
	if w.uid != 0 {
		spec.User = &child.User{UID: uint32(w.uid), GID: uint32(w.uid)}
	}
	return spec
}

// run runs a command to its end and returns its exit code and what it printed.
func (w *world) run(args ...string) (int, string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var log buffer
	exit, _, err := child.Run(ctx, w.spec(&log, args...))
	if err != nil {
		w.t.Fatalf("mangrove %v: %v: %s", args, err, log.String())
	}
	return exit.Code, log.String()
}

// supervisor is a running `mangrove up`.
type supervisor struct {
	*child.Process
	w   *world
	log *buffer
}

// up starts `mangrove up`, which is stopped at the end of the test at the latest.
func (w *world) up() *supervisor {
	w.t.Helper()
	log := &buffer{}
	p, err := child.Start(w.spec(log, "up"))
	if err != nil {
		w.t.Fatal(err)
	}
	s := &supervisor{p, w, log}
	w.t.Cleanup(func() {
		s.interrupt()
		select {
		case <-p.Done():
		case <-time.After(40 * time.Second):
			w.t.Error("mangrove up does not end")
			_ = p.Signal(syscall.SIGKILL)
			<-p.Done()
		}
		if w.t.Failed() {
			w.t.Logf("console:\n%s", log.String())
			w.t.Logf("postgres:\n%s", w.read("logs/postgres.log"))
		}
	})
	return s
}

// serving waits until the address is printed.
func (s *supervisor) serving() *supervisor {
	s.w.t.Helper()
	s.w.eventually("the address is printed", func() bool {
		select {
		case <-s.Done():
			s.w.t.Fatalf("mangrove up ended with %s: %s", s.Exit(), s.log.String())
		default:
		}
		return strings.Contains(s.log.String(), "Mangrove is at ")
	})
	return s
}

func (s *supervisor) interrupt() { _ = syscall.Kill(s.PID(), syscall.SIGINT) }

// stop sends a Ctrl-C and returns the exit code.
func (s *supervisor) stop() int {
	s.w.t.Helper()
	s.interrupt()
	return s.wait()
}

func (s *supervisor) wait() int {
	s.w.t.Helper()
	select {
	case <-s.Done():
	case <-time.After(40 * time.Second):
		s.w.t.Fatal("mangrove up does not end")
	}
	return s.Exit().Code
}

// status asks the supervisor for one service.
func (w *world) status(name string) *supervisorv1.Service {
	w.t.Helper()
	answer, err := askStatus(context.Background(), config.Config{DataDir: w.data})
	if err != nil {
		return &supervisorv1.Service{}
	}
	for _, s := range answer.GetServices() {
		if s.GetName() == name {
			return s
		}
	}
	return &supervisorv1.Service{}
}

func (w *world) eventually(what string, cond func() bool) {
	w.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !cond() {
		if time.Now().After(deadline) {
			w.t.Fatalf("never: %s", what)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// running lists the processes that have to do with the world's data folder:
// those that name it in their arguments, environment or working folder.
func (w *world) running() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		w.t.Fatal(err)
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		args, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		cwd, _ := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
		vars := strings.Split(string(environ), "\x00")
		if slices.Contains(vars, config.Data+"="+w.data) || strings.Contains(string(args), w.data+"/") || strings.HasPrefix(cwd, w.data+"/") {
			pids = append(pids, pid)
		}
	}
	return pids
}
