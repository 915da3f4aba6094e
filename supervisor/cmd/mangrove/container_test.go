package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"mangrove/internal/config"
	"mangrove/supervisor/internal/child"
)

// starts is how often the scraper has been started.
func (w *world) starts() int { return strings.Count(w.read("script/scraper.env"), config.Data+"=") }

// TestARestartPolicyForgetsNothing: whatever ends the container and starts it again, at
// whatever moment, there is no fourth start (SUP-4, D26).
func TestARestartPolicyForgetsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.script("scraper.exit", "1 it fails")
	s := w.up()
	w.eventually("it has failed twice", func() bool { return w.starts() == 2 && strings.Count(w.read("runtime-scraper.json"), `"what"`) == 2 })
	for range 3 {
		if err := s.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-s.Done()
		w.eventually("nothing is left running", func() bool { return len(w.running()) == 0 })
		s = w.up().serving()
		w.eventually("it is parked", func() bool { return w.status("scraper").GetState() == "repair-required" })
	}
	if n := w.starts(); n != 3 {
		t.Errorf("%d starts, want three", n)
	}
	// A parked service does not end what the policy would start again.
	select {
	case <-s.Done():
		t.Errorf("the supervisor ended: %s", s.Exit())
	default:
	}
}

// container is what deploy/compose.yaml asks of a container, without an engine: process
// 1 of its own, a root that cannot be written but for the data folder, an ordinary user,
// no capabilities, and no way to gain any. 99 says that it cannot be made here.
const container = `mount --bind "$MANGROVE_DATA" "$MANGROVE_DATA" && mount -o remount,bind,ro / && ! touch /written 2>/dev/null || exit 99
exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all "$0" up`

// TestAsProcessOneOfAContainer: everything serves there (C38). What loses its parent is
// ours and is reaped (SUP-8, F49); SIGTERM, which the kernel keeps from a process 1 that
// does not ask for it, stops everything in order.
func TestAsProcessOneOfAContainer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// A hundred that end at once with nobody to wait for them, and one that stays.
	w.script("scraper.orphans", "for i in $(seq 100); do (setsid sh -c : &); done; setsid sleep 1000 &")
	w.asNobody()
	log := &buffer{}
	spec := w.spec(log)
	spec.Path, spec.Args = "/usr/bin/unshare", []string{"--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "/bin/sh", "-c", container, spec.Path}
	spec.User = nil
	p, err := child.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	s := &supervisor{p, w, log}
	t.Cleanup(func() { _ = p.Signal(syscall.SIGKILL); <-p.Done() })
	w.eventually("it is made or not", func() bool {
		select {
		case <-p.Done():
			return true
		default:
			return strings.Contains(log.String(), "Mangrove is at ")
		}
	})
	select {
	case <-p.Done():
		if p.Exit().Code == 99 || strings.Contains(log.String(), "unshare failed") {
			t.Skip("no such container can be made here: ", log.String())
		}
	default:
	}
	s.serving()
	first := processOne(t, p.PID())
	for _, want := range []string{"\nUid:\t65534\t65534\t", "\nCapBnd:\t0000000000000000\n", "\nNoNewPrivs:\t1\n"} {
		if status := statuses(t)[first]; !bytes.Contains(status, []byte(want)) {
			t.Errorf("process 1 is not confined as the container's: no %q in\n%s", want, status)
		}
	}
	w.eventually("the orphans have been left", func() bool { return strings.Contains(w.read("script/orphans"), "<nil>") })
	w.eventually("all that ended are reaped", func() bool { return len(zombies(t, first)) == 0 })
	if err := syscall.Kill(first, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := s.wait(); code != 0 {
		t.Errorf("the stop ended with %d: %s", code, log.String())
	}
	if order := w.read("script/order"); order != "reader\nscraper\n" {
		t.Errorf("stopped in the order %q", order)
	}
}

// processOne is the child of the process outside that is process 1 inside.
func processOne(t *testing.T, outside int) int {
	t.Helper()
	for pid, status := range statuses(t) {
		if bytes.Contains(status, []byte("\nPPid:\t"+strconv.Itoa(outside)+"\n")) && bytes.Contains(status, []byte("\nNSpid:\t"+strconv.Itoa(pid)+"\t1\n")) {
			return pid
		}
	}
	t.Fatal("there is no process 1")
	return 0
}

// zombies are the children of parent that have ended and were not reaped.
func zombies(t *testing.T, parent int) (out []int) {
	t.Helper()
	for pid, status := range statuses(t) {
		if bytes.Contains(status, []byte("\nPPid:\t"+strconv.Itoa(parent)+"\n")) && bytes.Contains(status, []byte("\nState:\tZ")) {
			out = append(out, pid)
		}
	}
	return out
}

// statuses are what the kernel says of each process.
func statuses(t *testing.T) map[int][]byte {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	out := map[int][]byte{}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			out[pid], _ = os.ReadFile(filepath.Join("/proc", e.Name(), "status"))
		}
	}
	return out
}
