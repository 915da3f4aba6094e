package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mangrove/internal/config"
	"mangrove/internal/standing"
)

// parked lets the scraper crash until it is parked.
func parked(t *testing.T) (*world, *supervisor) {
	t.Helper()
	w := newWorld(t)
	w.script("scraper.exit", "1 the last words of the scraper")
	s := w.up().serving()
	w.eventually("it is parked", func() bool { return w.status("scraper").GetState() == "repair-required" })
	return w, s
}

// TestTheThirdCrashParks: no fourth start, the other service undisturbed, the monitor
// and the operator told (SUP-2, S-091).
func TestTheThirdCrashParks(t *testing.T) {
	t.Parallel()
	w, s := parked(t)
	reader := w.status("reader")
	if n := strings.Count(w.read("script/scraper.env"), config.Data+"="); n != 3 {
		t.Errorf("%d starts, want three", n)
	}
	for name, want := range map[string]string{"scraper": "NOT_SERVING", "": "NOT_SERVING", "reader": "SERVING", "postgres": "SERVING"} {
		if got := health(t, w, name); got != want {
			t.Errorf("health of %q: %s, want %s", name, got, want)
		}
	}
	// The reader, which may not ask, is told in a file (ADR 0016).
	w.eventually("the file tells of it", func() bool {
		r, err := standing.Read(filepath.Join(w.data, "run", "status.json"))
		i := slices.IndexFunc(r.Services, func(s standing.Service) bool { return s.Name == "scraper" })
		return err == nil && r.Limit == 3 && i >= 0 && r.Services[i].State == "repair-required" && len(r.Services[i].Exits) == 3 && r.Services[i].FreesAt != nil &&
			slices.Contains(r.Services[i].Exits[2].LastLines, "the last words of the scraper") && strings.Contains(r.Services[i].Next, "mangrove reset-budget scraper")
	})
	// Whoever wants to know is told, once.
	told := "tell-parked scraper exit code 1\n"
	w.eventually("it is told", func() bool { return w.read("script/tell-parked.args") == told })
	code, out := w.run("status")
	for _, want := range []string{"spent until ", "scraper: exit at ", ": exit code 1\n    the last words of the scraper\n", "scraper: reason: 3 failures within an hour\n", "mangrove reset-budget scraper and mangrove start scraper\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("status (%d) does not say %q:\n%s", code, want, out)
		}
	}
	if n := strings.Count(out, "scraper: exit at "); n != 3 {
		t.Errorf("%d exits are shown, want three:\n%s", n, out)
	}
	if code, out := w.run("restart", "scraper"); code != config.ExitFailure || !strings.Contains(out, "it may be restarted from ") {
		t.Errorf("a restart inside the hour: %d %s", code, out)
	}
	if got := w.status("reader"); got.GetPid() != reader.GetPid() || got.GetFailures() != 0 {
		t.Errorf("the reader is %v, was %v", got, reader)
	}
	// A restart policy round the supervisor forgets nothing (D26).
	if code := s.stop(); code != 0 {
		t.Errorf("the stop ended with %d", code)
	}
	before := len(w.read("script/scraper.env"))
	w.up().serving()
	if got := w.status("scraper"); got.GetState() != "repair-required" || len(w.read("script/scraper.env")) != before {
		t.Errorf("after a restart of the supervisor it is %s", got.GetState())
	}
	if got := w.read("script/tell-parked.args"); got != told {
		t.Errorf("told as %q", got)
	}
}

// TestAResetForgivesOneService: stopped or parked only, the file kept first, nothing
// else touched (SUP-5).
// It shows F58, features D29 and D30.
func TestAResetForgivesOneService(t *testing.T) {
	t.Parallel()
	w, _ := parked(t)
	if code, out := w.run("reset-budget", "reader"); code != config.ExitFailure || !strings.Contains(out, "mangrove stop reader") {
		t.Errorf("a reset of what runs: %d %s", code, out)
	}
	spent := w.read("runtime-scraper.json")
	code, out := w.run("reset-budget", "scraper")
	if code != 0 || !strings.Contains(out, "full again") {
		t.Fatalf("the reset: %d %s", code, out)
	}
	copies, err := filepath.Glob(filepath.Join(w.data, "runtime-scraper.json.before-reset-*"))
	if err != nil || len(copies) != 1 {
		t.Fatalf("copies %v, %v", copies, err)
	}
	if kept, err := os.ReadFile(copies[0]); err != nil || string(kept) != spent {
		t.Errorf("the copy is not the file as it was (%v)", err)
	}
	if got := w.status("scraper"); got.GetState() != "repair-required" || got.GetBudgetLeft() != 3 {
		t.Errorf("after the reset it is %s with %d left: it starts nothing by itself", got.GetState(), got.GetBudgetLeft())
	}
	if !strings.Contains(w.read("logs/supervisor.log"), `"act":"reset-budget"`) {
		t.Error("the log does not tell of the reset")
	}
	if err := os.Remove(filepath.Join(w.data, "script", "scraper.exit")); err != nil {
		t.Fatal(err)
	}
	if code, out := w.run("start", "scraper"); code != 0 || !strings.Contains(out, "scraper is started") {
		t.Fatalf("the start: %d %s", code, out)
	}
	w.eventually("it serves", func() bool { return w.status("scraper").GetState() == "serving" })
	w.eventually("the monitor is told", func() bool { return health(t, w, "") == "SERVING" })
}

func TestStopStartAndRestartOfOneService(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.up().serving()
	scraper, reader := w.status("scraper"), w.status("reader")
	if code, out := w.run("restart", "scraper"); code != 0 || out != "scraper is restarting\n" {
		t.Errorf("restart: %d %s", code, out)
	}
	w.eventually("another process serves", func() bool {
		now := w.status("scraper")
		return now.GetState() == "serving" && now.GetPid() != scraper.GetPid()
	})
	if code, out := w.run("stop", "scraper"); code != 0 {
		t.Errorf("stop: %d %s", code, out)
	}
	w.eventually("it is stopped", func() bool { return w.status("scraper").GetState() == "stopped" })
	if code, out := w.run("start", "scraper"); code != 0 {
		t.Errorf("start: %d %s", code, out)
	}
	w.eventually("it serves", func() bool { return w.status("scraper").GetState() == "serving" })
	if now := w.status("scraper"); now.GetFailures() != 0 || now.GetBudgetLeft() != 3 {
		t.Errorf("an operator's acts were counted: %v", now)
	}
	if now := w.status("reader"); now.GetPid() != reader.GetPid() {
		t.Errorf("the reader is %v, was %v", now, reader)
	}
	if code, out := w.run("start", "scraper"); code != config.ExitFailure || !strings.Contains(out, "runs already") {
		t.Errorf("a start of what runs: %d %s", code, out)
	}
	if code, out := w.run("restart", "nobody"); code != config.ExitSettings {
		t.Errorf("a service that is none: %d %s", code, out)
	}
}

// TestADatabaseThatIsParkedLeavesTheReader: its one page says what to type (OWN-2).
func TestADatabaseThatIsParkedLeavesTheReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.up().serving()
	for n := range 3 {
		w.eventually("the database serves", func() bool { return w.status("postgres").GetState() == "serving" })
		if err := syscall.Kill(int(w.status("postgres").GetPid()), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		w.eventually("the failure is counted", func() bool { return w.status("postgres").GetFailures() == int32(n+1) })
	}
	w.eventually("the database is parked", func() bool { return w.status("postgres").GetState() == "repair-required" })
	reader := w.status("reader")
	if reader.GetState() != "serving" || reader.GetFailures() != 0 {
		t.Errorf("the reader is %v", reader)
	}
	if code, out := w.run("restart", "reader"); code != 0 {
		t.Errorf("a restart of the reader without the database: %d %s", code, out)
	}
	w.eventually("the reader serves again", func() bool {
		now := w.status("reader")
		return now.GetState() == "serving" && now.GetPid() != reader.GetPid()
	})
}

// TestNobodyAnswers: every command that asks the supervisor says so, with 3.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, args := range [][]string{{"status"}, {"start", "scraper"}, {"stop", "scraper"}, {"restart", "scraper"}, {"reset-budget", "scraper"}} {
		if code, out := w.run(args...); code != exitNotRunning || !strings.Contains(out, "no Mangrove answers for the data folder "+w.data) {
			t.Errorf("%v: %d %s", args, code, out)
		}
	}
}
