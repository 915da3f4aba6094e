package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"mangrove/internal/config"
	"mangrove/supervisor/internal/child"
)

// TestAnAttemptLikeTwoBeforeNeedsANote: two attempts end because the scraper is parked,
// the third is refused with what would be different, and the note stays (features H15).
func TestAnAttemptLikeTwoBeforeNeedsANote(t *testing.T) {
	t.Parallel()
	w := newWorld(t).external()
	w.script("scraper.exit", "1 no use")
	w.up()
	w.eventually("the scraper is parked", func() bool { return w.status("scraper").GetState() == "repair-required" })
	begin := []string{"upgrade", "begin", "--installed", programsDir}
	for n := range 2 {
		if code, out := w.run(begin...); code != 0 || !strings.Contains(out, "nothing is being downloaded") {
			t.Fatalf("attempt %d: %d %s", n+1, code, out)
		}
		code, out := w.run("upgrade", "verify")
		for _, want := range []string{"FAILED (services): scraper is repair-required: 3 failures within an hour", "mv -f " + programsDir + "/mangrove.before", "mangrove reset-budget NAME"} {
			if code != config.ExitFailure || !strings.Contains(out, want) {
				t.Errorf("attempt %d: %d, lacks %q:\n%s", n+1, code, want, out)
			}
		}
	}
	code, out := w.run(begin...)
	if code != config.ExitFailure || !strings.Contains(out, "attempts 1 and 2") || !strings.Contains(out, "--note") {
		t.Errorf("the third: %d %s", code, out)
	}
	if _, err := os.Stat(filepath.Join(w.data, "upgrades", "0003.json")); err == nil {
		t.Error("what was refused left a record")
	}
	if code, out := w.run(append(begin, "--note", "the disk has\x1b[2J room again")...); code != 0 {
		t.Errorf("with a note: %d %s", code, out)
	}
	if code, out := w.run("upgrade", "show", "3"); code != 0 || !strings.Contains(out, `"note": "the disk has [2J room again"`) {
		t.Errorf("show: %d %s", code, out)
	}
}

// TestTheStepsOfAnUpgrade, each with what it refuses.
func TestTheStepsOfAnUpgrade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, args := range [][]string{{"upgrade", "verify"}, {"upgrade", "fail", "no-backup"}, {"upgrade", "backup", "/dev/null"}, {"upgrade", "show", "1"}} {
		if code, out := w.run(args...); code != config.ExitFailure || !strings.Contains(out, "attempt") {
			t.Errorf("%v before any has begun: %d %s", args, code, out)
		}
	}
	if code, out := w.run("upgrade", "list"); code != 0 || !strings.Contains(out, "no upgrade was recorded") {
		t.Errorf("list: %d %s", code, out)
	}
	// Nothing runs: that is said, and no hindrance.
	w.script("progress.exit", "3 the database does not answer: connection refused")
	if code, out := w.run("upgrade", "begin", "--installed", programsDir); code != 0 || !strings.Contains(out, "is not known: the database does not answer") {
		t.Errorf("begin: %d %s", code, out)
	}
	empty, whole := filepath.Join(w.data, "empty"), filepath.Join(w.data, "whole")
	must(t, os.WriteFile(empty, nil, 0o600))
	must(t, os.WriteFile(whole, []byte("all of it"), 0o600))
	for file, want := range map[string]string{empty: "is empty", filepath.Join(w.data, "none"): "does not exist"} {
		if code, out := w.run("upgrade", "backup", file); code != config.ExitFailure || !strings.Contains(out, want) {
			t.Errorf("backup %s: %d %s", file, code, out)
		}
	}
	if code, out := w.run("upgrade", "backup", whole); code != 0 || !strings.Contains(out, whole) {
		t.Errorf("backup: %d %s", code, out)
	}
	code, out := w.run("upgrade", "verify", "--within", "0s")
	if code != config.ExitFailure || !strings.Contains(out, "FAILED (no-answer)") || !strings.Contains(out, whole) {
		t.Errorf("verify, and nobody answers: %d\n%s", code, out)
	}
	if code, out := w.run("upgrade", "begin", "--installed", programsDir); code != 0 {
		t.Errorf("begin: %d %s", code, out)
	}
	if code, out := w.run("upgrade", "fail", "not-stopped", "it hangs"); code != 0 || !strings.Contains(out, "no program was changed") || strings.Contains(out, "mv -f") {
		t.Errorf("fail: %d %s", code, out)
	}
	if code, out := w.run("upgrade", "list"); code != 0 || !regexp.MustCompile(`(?s)2 .*not-stopped: it hangs.*1 .*no-answer`).MatchString(out) {
		t.Errorf("list: %d %s", code, out)
	}
	must(t, os.WriteFile(filepath.Join(w.data, "upgrades", "0002.json"), []byte("{"), 0o600))
	if code, out := w.run("upgrade", "begin", "--installed", programsDir); code != config.ExitFailure || !strings.Contains(out, "0002.json is no record") {
		t.Errorf("begin with a torn record: %d %s", code, out)
	}
}

// TestWhatWasNotSeenToWorkIsNotKept: after two attempts that failed the programs kept
// beside are still those that worked, the backup is whole, and the third attempt is
// refused before anything is stopped.
func TestWhatWasNotSeenToWorkIsNotKept(t *testing.T) {
	t.Parallel()
	t.Run("as whoever runs it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		failsThrice(t, w)
	})
	t.Run("as root, over another user's data folder", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.asNobody()
		failsThrice(t, w)
		info, err := os.Stat(filepath.Join(w.data, "upgrades", "0001.json"))
		must(t, err)
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != nobody {
			t.Errorf("the record belongs to %v", info.Sys())
		}
	})
}

// failsThrice runs deploy/release.sh three times with a start that starts nothing.
func failsThrice(t *testing.T, w *world) {
	t.Helper()
	script, err := filepath.Abs("../../../deploy/release.sh")
	must(t, err)
	top := filepath.Dir(w.data)
	installed, stopped := filepath.Join(top, "installed"), filepath.Join(top, "stopped")
	must(t, os.Mkdir(installed, 0o755))
	var worked, tried []byte
	brought := func(to, mark string) []byte {
		must(t, os.MkdirAll(to, 0o755))
		for _, name := range []string{"mangrove", "mangrove-scraper", "mangrove-reader"} {
			copyProgram(t, filepath.Join(programsDir, name), filepath.Join(to, name))
		}
		// What follows the end of a program does not change it.
		f, err := os.OpenFile(filepath.Join(to, "mangrove"), os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		_, err = f.WriteString(mark)
		must(t, err)
		must(t, f.Close())
		return []byte(mark)
	}
	holds := func(name string, mark []byte) bool {
		text, err := os.ReadFile(filepath.Join(installed, name))
		return err == nil && bytes.HasSuffix(text, mark)
	}
	worked = brought(installed, "the one that worked")
	for n := range 3 {
		next := filepath.Join(top, fmt.Sprintf("next%d", n))
		mark := brought(next, fmt.Sprintf("attempt %d", n+1))
		var log buffer
		spec := w.spec(&log, "--new", next, "--installed", installed, "--backups", filepath.Join(top, "backups"), "--stop", "echo stop >> "+stopped, "--start", "true", "--within", "0s")
		spec.Path, spec.User = script, nil
		exit, _, err := child.Run(t.Context(), spec)
		must(t, err)
		if n < 2 {
			tried = mark
			if exit.Code != 1 || !strings.Contains(log.String(), "FAILED (no-answer)") {
				t.Errorf("attempt %d: %s\n%s", n+1, exit, log.String())
			}
		} else if exit.Code != 1 || !strings.Contains(log.String(), "--note") || strings.Contains(log.String(), "stopping") {
			t.Errorf("the third: %s\n%s", exit, log.String())
		}
		if !holds("mangrove", tried) || !holds("mangrove.before", worked) {
			t.Errorf("after attempt %d what is installed or kept is another", n+1)
		}
	}
	if text, err := os.ReadFile(stopped); err != nil || string(text) != "stop\nstop\n" {
		t.Errorf("stopped: %q (%v)", text, err)
	}
	backups, err := filepath.Glob(filepath.Join(top, "backups", "*"))
	if err != nil || len(backups) != 2 {
		t.Fatal(backups, err)
	}
	for _, backup := range backups {
		if info, err := os.Stat(backup); err != nil || info.Mode().Perm()&0o007 != 0 || !strings.HasSuffix(backup, ".tar.gz") {
			t.Errorf("%s: %v %v", backup, info, err)
		}
	}
}

// TestTheScriptRefusesInOneLine what it cannot do, before anything is touched.
func TestTheScriptRefusesInOneLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	script, err := filepath.Abs("../../../deploy/release.sh")
	must(t, err)
	release := func(args ...string) (int, string) {
		t.Helper()
		var log buffer
		spec := w.spec(&log, args...)
		spec.Path = script
		exit, _, err := child.Run(t.Context(), spec)
		must(t, err)
		return exit.Code, log.String()
	}
	for want, args := range map[string][]string{
		"--nw is unknown":                  {"--nw", "x"},
		"--note needs a value":             {"--note"},
		"/nonexistent/mangrove is missing": {"--new", "/nonexistent"},
		w.data + "/mangrove is missing":    {"--new", programsDir, "--installed", w.data},
	} {
		if code, out := release(args...); code != 2 || !strings.Contains(out, want) || strings.Count(out, "\n") != 1 {
			t.Errorf("%v: %d %s", args, code, out)
		}
	}
	w.env[config.DatabaseURL] = "postgres://mo@127.0.0.1:1/m"
	if code, out := release("--new", programsDir, "--installed", programsDir); code != 2 || !strings.Contains(out, "--backup") {
		t.Errorf("a database of one's own without a dump: %d %s", code, out)
	}
	if _, err := os.Stat(filepath.Join(programsDir, ".mangrove-new")); err == nil {
		t.Error("something was staged all the same")
	}
}
