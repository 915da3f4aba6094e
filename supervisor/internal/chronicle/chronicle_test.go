package chronicle

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mangrove/internal/durable"
)

func lines(t *testing.T, path string) (out []Event) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var e Event
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Time.IsZero() {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, e)
	}
	return out
}

// TestLinesAreAppended whole, by several at once, without secrets and in bounds.
func TestLinesAreAppended(t *testing.T) {
	t.Parallel()
	path := Path(t.TempDir())
	log := New(path, func(err error) { t.Error(err) })
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for range 50 {
				log.Tell(Event{Event: "service", Name: fmt.Sprint(n), Reason: "refused postgres://mo:hunter2@db/m\n" + strings.Repeat("x", 5000)})
			}
		})
	}
	all.Wait()
	got := lines(t, path)
	if len(got) != 400 {
		t.Errorf("%d lines, want 400", len(got))
	}
	for _, e := range got {
		if strings.Contains(e.Reason, "hunter2") || len(e.Reason) > maxReason+3 {
			t.Fatalf("%d bytes: %s", len(e.Reason), e.Reason)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// TestALineThatCannotBeWritten is said once, and again after one could.
func TestALineThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "away")
	said := 0
	log := New(Path(dir), func(error) { said++ })
	log.Tell(Event{Event: "service"})
	log.Tell(Event{Event: "service"})
	if said != 1 {
		t.Errorf("said %d times, want once", said)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	log.Tell(Event{Event: "service", Name: "x"})
	if got := lines(t, Path(dir)); len(got) != 1 || got[0].Name != "x" || said != 1 {
		t.Errorf("%+v, said %d times", got, said)
	}
}

// TestTheChronicleIsPutAside whole, or stays where it is; what is there already is
// never replaced (features H6).
func TestTheChronicleIsPutAside(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	path, to := Path(data), filepath.Join(t.TempDir(), "aside.log")
	if _, err := Archive(path, to); !errors.Is(err, ErrNothing) {
		t.Errorf("nothing: %v", err)
	}
	log := New(path, func(err error) { t.Error(err) })
	for range 100 {
		log.Tell(Event{Event: "service", Name: "reader"})
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, taken := range map[string]string{"taken": to, "a folder that is away": filepath.Join(data, "none", "x")} {
		if name == "taken" {
			if err := os.WriteFile(to, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Archive(path, taken); err == nil {
			t.Errorf("%s: it was put aside", name)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != string(before) {
			t.Errorf("%s: the chronicle was touched (%v)", name, err)
		}
	}
	if mine, err := os.ReadFile(to); err != nil || string(mine) != "mine" {
		t.Errorf("what was there is %q (%v)", mine, err)
	}
	if _, err := Archive(path, to); !errors.Is(err, durable.ErrExists) {
		t.Errorf("taken: %v", err)
	}
	if err := os.Remove(to); err != nil {
		t.Fatal(err)
	}
	n, err := Archive(path, to)
	if now, rerr := os.ReadFile(to); err != nil || rerr != nil || n != int64(len(before)) || string(now) != string(before) {
		t.Errorf("put aside: %d bytes, %v, %v", n, err, rerr)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(to), ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	log.Tell(Event{Event: "service", Name: "after"})
	if got := lines(t, path); len(got) != 1 || got[0].Name != "after" {
		t.Errorf("after: %+v", got)
	}
}
