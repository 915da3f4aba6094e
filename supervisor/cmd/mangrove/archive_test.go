package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mangrove/internal/config"
)

// TestTheLogIsArchivedInStoppedMaintenance: the procedure of docs/operating.md, line by
// line; while Mangrove runs it is refused (features H6).
func TestTheLogIsArchivedInStoppedMaintenance(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/operating.md")
	must(t, err)
	procedure := regexp.MustCompile("(?s)### Archiving.*?```\n(.*?)```").FindSubmatch(text)
	if procedure == nil {
		t.Fatal("docs/operating.md has no procedure")
	}
	w := newWorld(t).external()
	aside := filepath.Join(filepath.Dir(w.data), "aside.log")
	s := w.up().serving()
	if code, out := w.run("archive", aside); code != config.ExitLock || !strings.Contains(out, "already runs with") {
		t.Errorf("while it runs: %d %s", code, out)
	}
	ran := 0
	for line := range strings.Lines(string(procedure[1])) {
		words := strings.Fields(line)
		switch {
		case len(words) == 3 && words[0] == "systemctl" && words[1] == "stop":
			if code := s.stop(); code != 0 {
				t.Errorf("the stop ended with %d", code)
			}
		case len(words) == 3 && words[0] == "systemctl" && words[1] == "start":
			s = w.up().serving()
		case len(words) == 3 && words[0] == "mangrove" && words[1] == "archive":
			before := w.read("supervisor-events.log")
			if code, out := w.run("archive", aside); code != 0 {
				t.Fatalf("archive: %d %s", code, out)
			}
			if got, err := os.ReadFile(aside); err != nil || string(got) != before || !strings.Contains(before, `"to":"serving"`) {
				t.Errorf("put aside (%v):\n%s\nwant:\n%s", err, got, before)
			}
			if code, out := w.run("archive", aside); code != config.ExitFailure || !strings.Contains(out, "nothing to put aside") {
				t.Errorf("twice: %d %s", code, out)
			}
		default:
			t.Fatalf("what is %q?", line)
		}
		ran++
	}
	if ran != 3 {
		t.Errorf("%d steps were run, want three", ran)
	}
	if got := w.read("supervisor-events.log"); strings.Count(got, `"to":"started"`) != 1 {
		t.Errorf("the new log:\n%s", got)
	}
}
