package pgcluster

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// PidFile is where the server writes its own number and how far it is.
func (l Layout) PidFile() string { return filepath.Join(l.Data(), "postmaster.pid") }

// Ready reports whether the server with the process id pid takes connections.
// That some server answers on the socket would not be enough: one left over
// from before answers too.
func (l Layout) Ready(pid int) bool {
	data, err := os.ReadFile(l.PidFile())
	if err != nil {
		return false
	}
	lines := strings.Split(string(data), "\n")
	return len(lines) >= 8 && strings.TrimSpace(lines[0]) == strconv.Itoa(pid) && strings.TrimSpace(lines[7]) == "ready"
}

// Occupants returns the process ids of every PostgreSQL process, server or
// session, that works in this cluster's data folder. As long as there is one,
// no other server may start: that is how data is lost.
func (l Layout) Occupants() ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	want, err := filepath.EvalSymlinks(l.Data())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at the cluster: %w", err)
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err == nil && isServer(pid, want) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// isServer reports whether pid is a PostgreSQL program at work in data. A
// process that may not be looked at belongs to another user, who could not
// have opened the data.
func isServer(pid int, data string) bool {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil || filepath.Base(strings.TrimSuffix(exe, " (deleted)")) != "postgres" {
		return false
	}
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	return err == nil && cwd == data
}

// Sweep removes lock files that a dead server left and that would stop the
// next one: those that are empty, and those whose number now belongs to some
// other program. The rest the server judges itself. It removes nothing, and
// says so with an error, while any PostgreSQL process uses the folder.
func (l Layout) Sweep() error {
	pids, err := l.Occupants()
	if err != nil {
		return err
	}
	if len(pids) > 0 {
		return fmt.Errorf("%s is in use by a PostgreSQL that already runs (process %d)", l.Data(), pids[0])
	}
	for _, file := range []string{l.PidFile(), l.Socket() + ".lock"} {
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read a lock file: %w", err)
		}
		first, _, _ := bytes.Cut(data, []byte("\n"))
		pid, err := strconv.Atoi(strings.TrimSpace(string(first)))
		if err == nil {
			if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); errors.Is(err, fs.ErrNotExist) {
				// The number is free: the server sees that, and checks for
				// shared memory in use besides.
				continue
			}
		}
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("remove a stale lock file: %w", err)
		}
	}
	return nil
}
