package incident

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

func linesOf(t *testing.T, path string) (out []Event) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var e Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, e)
	}
	return out
}

// The scraper and a command write beside each other; what was written stays.
func TestEventsAreAppended(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.log")
	scraper, command := NewEventLog(path, zap.NewNop()), AppendEventLog(path, zap.NewNop())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				scraper.Tell(Event{Event: "job", Job: 1, Reason: strings.Repeat("x", 200)})
				command.Tell(Event{Event: "operator", To: "resume"})
			}
		})
	}
	all.Wait()
	again := NewEventLog(path, zap.NewNop())
	again.Tell(Event{Event: "hold", To: "storage"})
	got := linesOf(t, path)
	if len(got) != 401 || got[400].Event != "hold" || got[400].Time.IsZero() {
		t.Errorf("%d lines, the last %+v", len(got), got[len(got)-1])
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A full file makes room for the next; five old ones are kept, and a command starts none.
func TestEventsAreBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.log")
	full := func() {
		t.Helper()
		if err := os.Truncate(path, maxEventLog); err != nil {
			t.Fatal(err)
		}
	}
	scraper, command := NewEventLog(path, zap.NewNop()), AppendEventLog(path, zap.NewNop())
	for i := range 8 {
		scraper.Tell(Event{Event: "job", Job: int64(i + 1)})
		full()
		command.Tell(Event{Event: "operator"})
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 6 {
		t.Errorf("%v, %v", entries, err)
	}
	if data, err := os.ReadFile(path + ".5"); err != nil || !strings.Contains(string(data), `"job":3`) || !strings.HasSuffix(string(data), "\"event\":\"operator\"}\n") {
		t.Errorf("the oldest begins with %.80s (%v)", data, err)
	}
}

// Whatever stands in its place, telling returns; the log says so once until it
// works again.
func TestEventsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zapcore.WarnLevel)
	log := zap.New(core)
	for name, prepare := range map[string]func(path string) error{
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"full":     func(path string) error { return os.Symlink("/dev/full", path) },
		"no folder for it": func(path string) error {
			return os.WriteFile(filepath.Dir(path), nil, 0o600)
		},
	} {
		for kind, open := range map[string]func(string, *zap.Logger) *EventLog{"scraper": NewEventLog, "command": AppendEventLog} {
			dir := t.TempDir()
			path := filepath.Join(dir, "events.log")
			if name == "no folder for it" {
				path = filepath.Join(dir, "scraper", "events.log")
			}
			if err := prepare(path); err != nil {
				t.Fatal(err)
			}
			before := logs.Len()
			l := open(path, log)
			for range 3 {
				l.Tell(Event{Event: "job"})
			}
			said := logs.Len() - before
			if said != 1 {
				t.Errorf("%s, %s: the log says it %d times", name, kind, said)
			}
		}
	}
	var none *EventLog
	none.Tell(Event{Event: "job"})
}

func TestAnEventKeepsNoSecret(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.log")
	l := AppendEventLog(path, zap.NewNop())
	l.Tell(Event{Event: "job", Reason: "at https://me:pw@x.example/?token=c4nary for you@mail.example\nsecond\n{\"event\":\"forged\"}"})
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, canary := range []string{"c4nary", "pw@", "you@mail", "forged"} {
		if strings.Contains(string(data), canary) {
			t.Errorf("%q is in %s", canary, data)
		}
	}
	if n := len(linesOf(t, path)); n != 1 {
		t.Errorf("%d lines", n)
	}
}
