package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
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
