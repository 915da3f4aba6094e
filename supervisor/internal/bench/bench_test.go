//go:build bench

package bench

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mangrove/internal/benchtest"
	"mangrove/internal/durable"
	"mangrove/supervisor/internal/budget"
	"mangrove/supervisor/internal/child"
	"mangrove/supervisor/internal/program"
	"mangrove/supervisor/internal/service"
)

// rounds is how often each contender is killed; the rounds are interleaved, so that
// what else the machine does falls on all alike.
const rounds = 21

func TestMain(m *testing.M) { benchtest.Main(m, "../../..") }

// source is a child that says its pid to a socket and then sleeps: nearly all of what
// is measured is its keeper's.
const source = `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int main(int argc, char **argv) {
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	char said[16];
	strncpy(to.sun_path, argv[1], sizeof to.sun_path - 1);
	int s = socket(AF_UNIX, SOCK_DGRAM, 0), n = snprintf(said, sizeof said, "%d", getpid());
	sendto(s, said, n, 0, (struct sockaddr *)&to, sizeof to);
	for (;;) pause();
}
`

// ear is where children say that they are up.
type ear struct {
	conn *net.UnixConn
	path string
}

func listen(t *testing.T, dir, name string) ear {
	t.Helper()
	path := filepath.Join(dir, name+".sock")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return ear{conn, path}
}

// word waits for the next child and returns its pid and when it spoke.
func (e ear) word(t *testing.T) (int, time.Time) {
	t.Helper()
	_ = e.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	buf := make([]byte, 16)
	n, err := e.conn.Read(buf)
	at := time.Now()
	if err != nil {
		t.Fatal("no child speaks: ", err)
	}
	pid, err := strconv.Atoi(string(buf[:n]))
	if err != nil {
		t.Fatal(err)
	}
	return pid, at
}

// kept is our keeper's program over the child.
type kept struct{ path, ear string }

func (kept) Name() string                                 { return "scraper" }
func (kept) Hold() string                                 { return "" }
func (kept) StartLimit() time.Duration                    { return time.Minute }
func (kept) Probe(context.Context, service.Process) error { return nil }
func (k kept) Start(context.Context, bool) (service.Process, error) {
	p, err := child.Start(child.Spec{Path: k.path, Args: []string{k.ear}, Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		return nil, err
	}
	return program.Running{Process: p, Steps: []program.Step{{Signal: syscall.SIGKILL}}}, nil
}

// endless writes each failure as durably as the real budget and never parks, so
// that one child can be killed often.
type endless struct{ path string }

func (e endless) Fail(what string, _ []string) (bool, string) {
	_ = durable.WriteFile(e.path, []byte(what), 0o600)
	return false, ""
}
func (endless) Parked() (bool, string)     { return false, "" }
func (endless) Rewrite()                   {}
func (endless) Left() int                  { return 2 }
func (endless) FreesAt() time.Time         { return time.Time{} }
func (endless) Failures() []budget.Failure { return nil }
func (endless) Reset() (string, error)     { return "", nil }

// keep runs a keeper over a program until the returned function is called.
func keep(t *testing.T, p service.Program, b service.Budget) (stop func()) {
	t.Helper()
	k := service.NewKeeper(p, b, func(service.Status) {})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); k.Run(ctx, nil) }()
	return func() { cancel(); <-done }
}

// contender keeps the child running.
type contender struct {
	name string
	ear  ear
	pid  int
	took []float64
}

func TestAKilledChildIsBack(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "mgk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler for the child that costs nothing")
	}
	path := filepath.Join(dir, "child")
	if err := os.WriteFile(path+".c", []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-O2", "-static", "-o", path, path+".c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ours := &contender{name: "mangrove", ear: listen(t, dir, "mangrove")}
	all := []*contender{ours}
	for name, start := range map[string]func(*testing.T, string, string, string) int{"runsv": runsv, "supervisord": supervisord} {
		if _, err := exec.LookPath(name); err != nil {
			benchtest.Skipped("kill -9 beside "+name, "not installed")
			continue
		}
		c := &contender{name: name, ear: listen(t, dir, name)}
		start(t, dir, path, c.ear.path)
		all = append(all, c)
	}
	for _, c := range all[1:] {
		c.pid, _ = c.ear.word(t)
	}
	for round := range rounds {
		for _, c := range all {
			stop := func() {}
			if c == ours {
				// A keeper of its own each time: measured is the failure out of the blue,
				// which is answered without a pause.
				stop = keep(t, kept{path, c.ear.path}, endless{filepath.Join(dir, fmt.Sprint("budget-", round))})
				c.pid, _ = c.ear.word(t)
			}
			// Long enough up for nobody to call it a failed start.
			time.Sleep(1200 * time.Millisecond)
			began := time.Now()
			if err := syscall.Kill(c.pid, syscall.SIGKILL); err != nil {
				t.Fatal(c.name, ": ", err)
			}
			var at time.Time
			c.pid, at = c.ear.word(t)
			c.took = append(c.took, at.Sub(began).Seconds()*1000)
			stop()
		}
	}
	const name = "from kill -9 of a child to the next one's first word"
	mine := median(ours.took)
	benchtest.Report(name, mine, "ms", 50)
	for _, c := range all[1:] {
		benchtest.Beside(name, mine, median(c.took), "ms", c.name)
	}
}

func median(list []float64) float64 {
	list = slices.Clone(list)
	slices.Sort(list)
	return list[len(list)/2]
}

func background(t *testing.T, dir, name string, args ...string) int {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	})
	return cmd.Process.Pid
}

func runsv(t *testing.T, dir, path, ear string) int {
	t.Helper()
	at := filepath.Join(dir, "runsv")
	if err := os.Mkdir(at, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "run"), []byte("#!/bin/sh\nexec "+path+" "+ear+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return background(t, dir, "runsv", at)
}

func supervisord(t *testing.T, dir, path, ear string) int {
	t.Helper()
	conf := strings.Join([]string{
		"[supervisord]", "nodaemon=true", "logfile=/dev/null", "logfile_maxbytes=0", "pidfile=" + filepath.Join(dir, "supervisord.pid"),
		"[program:child]", "command=" + path + " " + ear, "autorestart=true", "startsecs=1",
	}, "\n")
	file := filepath.Join(dir, "supervisord.conf")
	if err := os.WriteFile(file, []byte(conf+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return background(t, dir, "supervisord", "-n", "-c", file)
}

// TestIdle measures what a supervisor costs while nothing happens: memory, and how
// often it wakes up. Ours keeps a database, a scraper and a reader and asks each of
// them how it is; the others keep one child and ask nothing.
func TestIdle(t *testing.T) {
	up, err := filepath.Abs("../../../bin/mangrove")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(up); err != nil {
		t.Skip("bin/mangrove is not built")
	}
	dir, err := os.MkdirTemp("/tmp", "mgi-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{"mangrove": idleMangrove(t, up, dir)}
	sleeper := filepath.Join(dir, "sleeper")
	if err := os.WriteFile(sleeper, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, start := range map[string]func(*testing.T, string, string, string) int{"runsv": runsv, "supervisord": supervisord} {
		if _, err := exec.LookPath(name); err == nil {
			pids[name] = start(t, dir, sleeper, "")
		}
	}
	time.Sleep(10 * time.Second)
	const over = 30 * time.Second
	before := map[string]int{}
	for name, pid := range pids {
		before[name] = wakeUps(t, pid)
	}
	time.Sleep(over)
	memory, woken := map[string]float64{}, map[string]float64{}
	for name, pid := range pids {
		woken[name] = float64(wakeUps(t, pid)-before[name]) / over.Seconds()
		memory[name] = resident(t, pid)
	}
	benchtest.Report("idle supervisor: resident memory", memory["mangrove"], "MiB", 20)
	benchtest.Report("idle supervisor: wake-ups", woken["mangrove"], "a second", 0)
	for _, name := range []string{"runsv", "supervisord"} {
		if _, ok := pids[name]; !ok {
			benchtest.Skipped("idle beside "+name, "not installed")
			continue
		}
		benchtest.Beside("idle supervisor: resident memory", memory["mangrove"], memory[name], "MiB", name)
		benchtest.Beside("idle supervisor: wake-ups", woken["mangrove"], woken[name], "a second", name)
	}
}

// idleMangrove starts everything on an empty data folder and returns the supervisor's pid.
func idleMangrove(t *testing.T, up, dir string) int {
	t.Helper()
	address := freePort(t)
	cmd := exec.Command(up, "up")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "MANGROVE_DATA=" + filepath.Join(dir, "data"), "MANGROVE_HTTP=" + address, "MANGROVE_HEALTH=" + freePort(t), "MANGROVE_METRICS=" + freePort(t)}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
	})
	for until := time.Now().Add(time.Minute); ; {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			return cmd.Process.Pid
		}
		if time.Now().After(until) {
			t.Fatal("mangrove up does not serve")
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// wakeUps counts how often the threads of a process gave the processor away of
// their own accord, which each does once a wake-up.
func wakeUps(t *testing.T, pid int) (n int) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(threads) == 0 {
		t.Fatal("no such process: ", pid, err)
	}
	for _, file := range threads {
		n += status(file, "voluntary_ctxt_switches:")
	}
	return n
}

func resident(t *testing.T, pid int) float64 {
	t.Helper()
	return float64(status(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:")) / 1024
}

func status(file, field string) int {
	data, _ := os.ReadFile(file)
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n
		}
	}
	return 0
}
