package main

import (
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWithoutFileHandles: a supervisor that can open nothing more starts nothing and
// does not end; the others go on, and it is as before once it can (F64).
func TestWithoutFileHandles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.up().serving()
	reader, scraper := w.status("reader"), int(w.status("scraper").GetPid())
	var before unix.Rlimit
	if err := unix.Prlimit(s.PID(), unix.RLIMIT_NOFILE, nil, &before); err != nil {
		t.Fatal(err)
	}
	// What is open stays open; nothing more is.
	if err := unix.Prlimit(s.PID(), unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1, Max: before.Max}, nil); err != nil {
		t.Fatal(err)
	}
	first := w.starts()
	if err := syscall.Kill(scraper, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code, _ := w.run("status"); code == 0 {
		t.Error("the supervisor can open more than it may: this test shows nothing")
	}
	if err := unix.Prlimit(s.PID(), unix.RLIMIT_NOFILE, &before, nil); err != nil {
		t.Fatal(err)
	}
	w.eventually("it says what became of it", func() bool {
		now := w.status("scraper")
		return now.GetState() == "repair-required" || now.GetState() == "serving" && now.GetFailures() > 0
	})
	if now := w.status("scraper"); now.GetState() == "repair-required" {
		if n := w.starts(); n != first {
			t.Errorf("%d starts, want %d", n, first)
		}
		if code, out := w.run("reset-budget", "scraper"); code != 0 {
			t.Errorf("the reset: %d %s", code, out)
		}
		if code, out := w.run("start", "scraper"); code != 0 {
			t.Errorf("the start: %d %s", code, out)
		}
		w.eventually("it serves again", func() bool { return w.status("scraper").GetState() == "serving" })
	}
	if now := w.status("reader"); now.GetPid() != reader.GetPid() || now.GetFailures() != 0 {
		t.Errorf("the reader is %v, was %v", now, reader)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("the stop ended with %d", code)
	}
}
