package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestALongOutageOfTheDatabaseTakesNoLiveness stops the server and its sessions in
// their tracks, which answer nothing and refuse nothing, for longer than a loop may go
// without a beat: no service is restarted for it (SUP-3, SUP-6, S-092).
// It shows P5, features D35.
func TestALongOutageOfTheDatabaseTakesNoLiveness(t *testing.T) {
	turn(t)
	m := newMangrove(t)
	m.start()
	before := m.serving()
	stopped := m.family(before["postgres"].pid)
	for _, pid := range stopped {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	resume := func() {
		for _, pid := range stopped {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
	defer resume()
	for end := time.Now().Add(75 * time.Second); time.Now().Before(end); <-time.After(time.Second) {
		now, out := m.status()
		for _, name := range []string{"scraper", "reader"} {
			if now[name] != before[name] {
				resume()
				t.Fatalf("%s is %+v, was %+v:\n%s", name, now[name], before[name], out)
			}
		}
	}
	resume()
	m.eventually("the scraper has its database again", func() (bool, string) {
		log := m.log("scraper")
		return strings.LastIndex(log, `"answers":true`) > strings.LastIndex(log, `"answers":false`), lastLines(log, 5)
	})
	if strings.Contains(m.log("scraper")+m.log("reader"), "a loop does not turn") {
		t.Error("a loop stood still")
	}
	m.serving()
}

// TestAStoppedServiceIsRestarted: a process that is there and does nothing is noticed
// and replaced, counted once (SUP-2, S-092, F50). A terminal that closes ends nobody
// (F61). A trace that is asked for is one failure, and lies in the log (F62).
func TestAStoppedServiceIsRestarted(t *testing.T) {
	turn(t)
	m := newMangrove(t)
	m.start()
	before := m.serving()
	began := time.Now()
	for pid, signal := range map[int]syscall.Signal{before["reader"].pid: syscall.SIGHUP, before["scraper"].pid: syscall.SIGSTOP} {
		if err := syscall.Kill(pid, signal); err != nil {
			t.Fatal(err)
		}
	}
	m.eventually("another scraper serves", func() (bool, string) {
		now, out := m.status()
		return now["scraper"].state == "serving" && now["scraper"].pid != before["scraper"].pid, out
	})
	if took := time.Since(began); took > 40*time.Second {
		t.Errorf("it took %s, want at most 35 seconds and the start", took)
	}
	now := m.serving()
	if now["scraper"].failures != 1 || now["reader"] != before["reader"] {
		t.Errorf("the services are %+v, were %+v", now, before)
	}
	second := now["scraper"].pid
	for _, signal := range []syscall.Signal{syscall.SIGHUP, syscall.SIGQUIT} {
		if err := syscall.Kill(second, signal); err != nil {
			t.Fatal(err)
		}
	}
	m.eventually("a third scraper serves", func() (bool, string) {
		now, out := m.status()
		return now["scraper"].state == "serving" && now["scraper"].pid != second, out
	})
	if now := m.serving(); now["scraper"].failures != 2 || now["reader"] != before["reader"] {
		t.Errorf("the services are %+v, were %+v", now, before)
	}
	if log := m.log("scraper"); !strings.Contains(log, "SIGQUIT") || !strings.Contains(log, "goroutine ") {
		t.Errorf("the log has no trace:\n%s", lastLines(log, 20))
	}
}

// family is a process and its children.
func (m *mangrove) family(parent int) []int {
	m.t.Helper()
	out := []int{parent}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		m.t.Fatal(err)
	}
	for _, file := range stats {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(file, "/proc/"), "/stat"))
			out = append(out, pid)
		}
	}
	return out
}
