package budget

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func at(minutes float64) Moment {
	return Moment{Wall: noon.Add(time.Duration(minutes * float64(time.Minute)))}
}

func ledger(minutes ...float64) (l Ledger) {
	for _, m := range minutes {
		l.Record(Failure{Moment: at(m), What: "exit code 1"})
	}
	return l
}

// TestLedger shows F36.
func TestLedger(t *testing.T) {
	tests := []struct {
		name     string
		failures []float64
		now      float64
		left     int
		frees    time.Duration
	}{
		{"none", nil, 0, 3, 0},
		{"one", []float64{0}, 0, 2, 0},
		{"two", []float64{0, 30}, 59, 1, 0},
		{"three", []float64{0, 30, 59}, 59, 0, time.Minute},
		{"three, the oldest just counts", []float64{0, 30, 59}, 59.999, 0, 60 * time.Millisecond},
		{"three, the oldest no longer", []float64{0, 30, 59}, 60, 1, 0},
		{"one hour and none", []float64{0}, 60, 3, 0},
		{"one that lies ahead counts", []float64{90, 91, 92}, 0, 0, 150 * time.Minute},
		{"more than three", []float64{0, 1, 2, 3}, 4, 0, 57 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := ledger(tt.failures...)
			if got := l.Left(at(tt.now)); got != tt.left {
				t.Errorf("%d left, want %d", got, tt.left)
			}
			if got := l.FreesIn(at(tt.now)).Round(time.Millisecond); got != tt.frees {
				t.Errorf("frees in %s, want %s", got, tt.frees)
			}
			if l.Spent(at(tt.now)) != (tt.left == 0) {
				t.Error("spent and left disagree")
			}
		})
	}
	l := ledger(0, 1, 2, 300, 600, 900)
	if len(l.Failures) != kept {
		t.Errorf("%d failures are remembered, want the last %d", len(l.Failures), kept)
	}
}

// TestAClockThatStepsChangesNothing: within one boot the machine's own clock counts.
// It shows features D34.
func TestAClockThatStepsChangesNothing(t *testing.T) {
	up := func(wall float64, up time.Duration, boot string) Moment {
		m := at(wall)
		m.Boot, m.Up = boot, up
		return m
	}
	var l Ledger
	for i := range 3 {
		l.Record(Failure{Moment: up(float64(i), time.Duration(i)*time.Minute, "a")})
	}
	for name, tt := range map[string]struct {
		now  Moment
		left int
	}{
		"the wall jumps ahead by a day":  {up(24*60, 10*time.Minute, "a"), 0},
		"the wall jumps back by a day":   {up(-24*60, 10*time.Minute, "a"), 0},
		"back, and the hour has passed":  {up(-24*60, 63*time.Minute, "a"), 3},
		"another boot, by the wall":      {up(10, time.Second, "b"), 0},
		"another boot, an hour later":    {up(63, time.Second, "b"), 3},
		"another boot, the clock behind": {up(-5, time.Second, "b"), 0},
	} {
		if got := l.Left(tt.now); got != tt.left {
			t.Errorf("%s: %d left, want %d", name, got, tt.left)
		}
	}
}

// TestAFileThatCannotBeBelieved counts as spent, and is kept (SUP-4, F55).
// It shows features D32.
// It shows P6.
func TestAFileThatCannotBeBelieved(t *testing.T) {
	good := func(change func(*stored)) string {
		s := stored{version, "scraper", ledger(-90)}
		change(&s)
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	tests := map[string]string{
		"empty":           "",
		"torn":            `{"version":1,"serv`,
		"null":            "null",
		"a list":          "[]",
		"NULs":            strings.Repeat("\x00", 300),
		"trailing junk":   good(func(*stored) {}) + "}",
		"an empty object": "{}",
		"null failures":   `{"version":1,"service":"scraper","failures":null}`,
		"a bad date":      `{"version":1,"service":"scraper","failures":[{"at":"yesterday","what":"x"}]}`,
		"no date":         `{"version":1,"service":"scraper","failures":[{"what":"x"}]}`,
		"the year 9999":   good(func(s *stored) { s.Failures[0].Wall = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }),
		"an hour ahead":   good(func(s *stored) { s.Failures[0].Wall = noon.Add(time.Hour) }),
		"a stranger's":    good(func(s *stored) { s.Service = "reader" }),
		"a later version": good(func(s *stored) { s.Version = 2 }),
		"an unknown word": `{"version":1,"service":"scraper","failures":[],"forgive":true}`,
		"too large":       good(func(*stored) {}) + strings.Repeat(" ", maxFile),
	}
	for name, content := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := Path(dir, "scraper")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			now := func() Moment { return at(0) }
			b, strict := Open(dir, "scraper", now)
			if parked, _ := b.Parked(); !parked || strict == "" || b.Left() != 0 {
				t.Errorf("parked %v, %d left, strict %q", parked, b.Left(), strict)
			}
			copies, err := filepath.Glob(path + ".unreadable-*")
			if err != nil || len(copies) != 1 {
				t.Fatalf("copies %v, %v", copies, err)
			}
			kept, err := os.ReadFile(copies[0])
			if want := content[:min(len(content), maxFile)]; err != nil || string(kept) != want {
				t.Errorf("the copy has %d bytes (%v), want %d", len(kept), err, len(want))
			}
			// The one in its place says the same to the next supervisor, until the hour is over.
			b, strict = Open(dir, "scraper", now)
			if parked, _ := b.Parked(); !parked || strict != "" {
				t.Errorf("read again: parked %v, strict %q", parked, strict)
			}
			b, _ = Open(dir, "scraper", func() Moment { return at(60) })
			if parked, _ := b.Parked(); parked {
				t.Error("still parked after an hour and a restart")
			}
		})
	}
	t.Run("not there", func(t *testing.T) {
		b, strict := Open(t.TempDir(), "scraper", func() Moment { return at(0) })
		if parked, _ := b.Parked(); parked || strict != "" || b.Left() != Limit {
			t.Errorf("parked %v, strict %q", parked, strict)
		}
	})
	t.Run("an empty list is a full budget", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(Path(dir, "scraper"), []byte(`{"version":1,"service":"scraper","failures":[]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		b, strict := Open(dir, "scraper", func() Moment { return at(0) })
		if parked, _ := b.Parked(); parked || strict != "" {
			t.Errorf("parked %v, strict %q", parked, strict)
		}
	})
}

// TestResetClearsOneBudgetAndKeepsTheFile shows SUP-5, F58.
func TestResetClearsOneBudgetAndKeepsTheFile(t *testing.T) {
	dir := t.TempDir()
	now := func() Moment { return at(0) }
	for _, name := range []string{"scraper", "reader"} {
		b, _ := Open(dir, name, now)
		for range Limit {
			b.Fail("exit code 1", []string{"last words"})
		}
	}
	before, err := os.ReadFile(Path(dir, "scraper"))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := Open(dir, "scraper", now)
	backup, err := b.Reset()
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(backup)
	if d := cmp.Diff(string(before), string(kept)); err != nil || d != "" {
		t.Errorf("the copy differs (%v):\n%s", err, d)
	}
	b, strict := Open(dir, "scraper", now)
	if parked, _ := b.Parked(); parked || strict != "" || b.Left() != Limit {
		t.Errorf("after the reset: parked %v, strict %q, %d left", parked, strict, b.Left())
	}
	r, _ := Open(dir, "reader", now)
	if parked, _ := r.Parked(); !parked {
		t.Error("the other service's budget was touched")
	}
}

func TestNowKnowsTheBoot(t *testing.T) {
	a, b := Now(), Now()
	if a.Boot == "" || a.Boot != b.Boot || b.Since(a) < 0 || b.Since(a) > time.Minute {
		t.Errorf("%+v, then %+v", a, b)
	}
}
