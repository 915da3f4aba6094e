package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mangrove/internal/config"
)

// TestNothingOutlivesAKilledSupervisor, not even programs that are deaf to every
// signal but the last: their life pipe ends them within five seconds (SUP-8, F39).
func TestNothingOutlivesAKilledSupervisor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.script("scraper.deaf", "")
	w.script("reader.deaf", "")
	s := w.up().serving()
	if err := syscall.Kill(s.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	<-s.Done()
	w.eventually("nothing is left running", func() bool { return len(w.running()) == 0 })
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s, want at most five seconds", took)
	}
	for _, name := range []string{"scraper", "reader"} {
		if !strings.Contains(w.read("script/lost"), name+"\n") {
			t.Errorf("the life pipe of %s did not close", name)
		}
	}
}

// TestStaleLocksAreNoObstacle: the number in a lock file says nothing; only a live
// lock does (SUP-7, S-093, F44).
func TestStaleLocksAreNoObstacle(t *testing.T) {
	t.Parallel()
	foreign := os.Getppid()
	for name, text := range map[string]string{
		"our own": "self", "process 1": "1\n", "a dead one": "4194303\n", "a live stranger": strconv.Itoa(foreign) + "\n", "empty": "", "no number": "abc",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if text == "self" {
				text = strconv.Itoa(os.Getpid()) + "\n"
			}
			if err := os.WriteFile(filepath.Join(w.data, "supervisor.lock"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			w.up().serving()
			w.env[config.HTTP], w.env[config.Health] = freePort(t), freePort(t)
			code, out := w.run("up")
			if code != config.ExitLock || !strings.Contains(out, "process "+strings.TrimSpace(w.read("supervisor.lock"))) {
				t.Errorf("a second one: %d %s", code, out)
			}
		})
	}
}
