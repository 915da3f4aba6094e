package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mangrove/internal/kerneltest"
	"mangrove/supervisor/internal/child"
)

// forkless is set for the supervisor that lives in this test's own program: the first
// SIGUSR1 takes its power to start processes, and the console says so.
const forkless = "FORKLESS"

// runForkless is that supervisor.
func runForkless() int {
	now := make(chan os.Signal, 1)
	signal.Notify(now, syscall.SIGUSR1)
	go func() {
		<-now
		fmt.Fprintln(os.Stderr, "forks are refused:", kerneltest.NoForks())
	}()
	code, err := run(os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, line(err))
	}
	return code
}

// TestARefusedForkIsAFailedStart: the kernel is at its limit when the scraper has to be
// started again. That counts, backs off and parks it, says why, and takes neither the
// supervisor nor the reader with it (F38).
func TestARefusedForkIsAFailedStart(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	must(t, err)
	under := filepath.Join(programsDir, "forkless")
	copyProgram(t, self, under)
	w := newWorld(t)
	w.env[forkless] = "1"
	log := &buffer{}
	spec := w.spec(log, "up")
	spec.Path = under
	p, err := child.Start(spec)
	must(t, err)
	s := &supervisor{p, w, log}
	t.Cleanup(func() {
		s.interrupt()
		<-p.Done()
	})
	s.serving()
	reader, postgres := w.status("reader"), w.status("postgres")
	must(t, syscall.Kill(p.PID(), syscall.SIGUSR1))
	w.eventually("forks are refused", func() bool { return strings.Contains(log.String(), "forks are refused:") })
	if !strings.Contains(log.String(), "forks are refused: <nil>\n") {
		t.Skipf("forks cannot be refused here: %s", log.String())
	}
	must(t, syscall.Kill(int(w.status("scraper").GetPid()), syscall.SIGKILL))
	w.eventually("the scraper is parked", func() bool { return w.status("scraper").GetState() == "repair-required" })
	now := w.status("scraper")
	want := "start " + programsDir + "/mangrove-scraper: fork/exec " + programsDir + "/mangrove-scraper: resource temporarily unavailable"
	if len(now.GetExits()) != 3 || now.GetExits()[0].GetWhat() != "signal: killed" || now.GetExits()[1].GetWhat() != want || now.GetLastExit() != want {
		t.Errorf("scraper: %v, want two starts that failed with %q", now, want)
	}
	for _, e := range now.GetExits()[1:] {
		if at := e.GetAt().AsTime(); at.Before(now.GetExits()[0].GetAt().AsTime()) {
			t.Errorf("the failures are out of order: %v", now.GetExits())
		}
	}
	// It backed off: the second start came a second after the first had failed.
	if first, second := now.GetExits()[1].GetAt().AsTime(), now.GetExits()[2].GetAt().AsTime(); second.Sub(first).Milliseconds() < 900 {
		t.Errorf("it was tried again after %s", second.Sub(first))
	}
	if _, out := w.run("status"); !strings.Contains(out, "resource temporarily unavailable") {
		t.Errorf("status:\n%s", out)
	}
	if got := w.status("reader"); got.GetPid() != reader.GetPid() || got.GetState() != "serving" || health(t, w, "reader") != "SERVING" || health(t, w, "scraper") != "NOT_SERVING" {
		t.Errorf("reader: %v", got)
	}
	if got := w.status("postgres"); got.GetPid() != postgres.GetPid() || got.GetState() != "serving" {
		t.Errorf("postgres: %v", got)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("the stop ended with %d", code)
	}
}

// copyProgram brings a program beside the others.
func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	must(t, err)
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	must(t, err)
	_, err = io.Copy(out, in)
	must(t, err)
	must(t, out.Close())
}
