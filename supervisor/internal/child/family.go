package child

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sweepEvery is how often orphans are looked at when no signal says so: the kernel
// sends one for each that ends, and for each that had ended when it became ours.
const sweepEvery = time.Minute

// Family is every process below this one, those included that left their
// parent's group and session: the kernel hands them to us when their parent
// ends. As process 1 of a container that is so anyway (SUP-8).
type Family struct {
	mu sync.Mutex
	// started are the programs that somebody waits for already.
	started map[int]bool
}

// NewFamily makes this process the parent of all orphans below it.
func NewFamily() (*Family, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("adopt orphans: %w", err)
	}
	return &Family{started: map[int]bool{}}, nil
}

// start starts cmd as a member somebody waits for. The lock is held over the
// start, so that a program that ends at once is not taken for an orphan. A nil
// family has no members.
func (f *Family) start(cmd *exec.Cmd) error {
	if f == nil {
		return cmd.Start()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	err := cmd.Start()
	if err == nil {
		f.started[cmd.Process.Pid] = true
	}
	return err
}

// wait waits for cmd and forgets it.
func (f *Family) wait(cmd *exec.Cmd) error {
	if f == nil {
		return cmd.Wait()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	// Only called once the program has ended: this does not block.
	err := cmd.Wait()
	delete(f.started, cmd.Process.Pid)
	return err
}

// Reap takes away orphans that have ended, until ctx ends.
func (f *Family) Reap(ctx context.Context) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		f.orphans(0)
		select {
		case <-ctx.Done():
			return
		case <-ended:
		case <-tick.C:
		}
	}
}

// End kills what is left of the family but the programs somebody waits for, and
// returns how many that were. It gives up after five seconds: a process that
// the kernel cannot end must not keep us.
func (f *Family) End() int {
	killed := map[int]bool{}
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
		left := f.orphans(syscall.SIGKILL)
		if len(left) == 0 {
			break
		}
		for _, pid := range left {
			killed[pid] = true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return len(killed)
}

// orphans reaps the orphans that have ended, sends sig, if not 0, to the others
// and returns those.
func (f *Family) orphans(sig syscall.Signal) []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	var alive []int
	for pid, zombie := range children(os.Getpid()) {
		switch {
		case f.started[pid]:
		case zombie:
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		default:
			alive = append(alive, pid)
			if sig != 0 {
				_ = syscall.Kill(pid, sig)
			}
		}
	}
	return alive
}

// children lists the children of parent and whether each has ended.
func children(parent int) map[int]bool {
	out := map[int]bool{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return out
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		// The name in brackets may hold anything; state and parent follow it.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) > 1 && string(fields[1]) == strconv.Itoa(parent) {
			out[pid] = string(fields[0]) == "Z"
		}
	}
	return out
}
