package service

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/supervisor/internal/budget"
)

// TestTheOperatorsActs: what is allowed in which state, and what is said of it.
func TestTheOperatorsActs(t *testing.T) {
	crash := scripted{life: time.Millisecond, exit: Exit{Code: 1, What: "exit code 1"}}
	blocked := scripted{life: time.Millisecond, exit: Exit{Code: 78, What: "exit code 78"}, lines: []string{"wrong schema"}}
	tests := []struct {
		name  string
		runs  []scripted
		hold  string
		after time.Duration
		state State // before the acts
		acts  []Act
		said  []string // part of each answer; "!" before it is a refusal
		want  State
		start int // starts in all
	}{
		{"a restart of what serves is no failure", []scripted{{}}, "", time.Minute, Serving, []Act{ActRestart}, []string{"is restarting"}, Serving, 2},
		{"a stop stays", []scripted{{}}, "", time.Minute, Serving, []Act{ActStop}, []string{"is stopping"}, Stopped, 1},
		{"a stop, and a start", []scripted{{}}, "", time.Minute, Serving, []Act{ActStop, ActStart}, []string{"is stopping", "is started"}, Serving, 2},
		{"what runs is not started", []scripted{{}}, "", time.Minute, Serving, []Act{ActStart, ActReset}, []string{"!runs already", "!mangrove stop scraper"}, Serving, 1},
		{"what is stopped is not stopped", []scripted{{}}, "", time.Minute, Serving, []Act{ActStop, ActStop}, []string{"is stopping", "!stopped already"}, Stopped, 1},
		{"a start cuts a pause short", []scripted{crash, crash, {}}, "", 500 * time.Millisecond, BackingOff, []Act{ActStart}, []string{"is started"}, Serving, 3},
		{"a stop ends a pause", []scripted{crash, crash, {}}, "", 500 * time.Millisecond, BackingOff, []Act{ActStop}, []string{"it was backing-off"}, Stopped, 2},
		{"no reset in a pause", []scripted{crash, crash, {}}, "", 500 * time.Millisecond, BackingOff, []Act{ActReset}, []string{"!stop it first"}, Serving, 3},
		{"a parked one is not restarted", []scripted{crash, crash, crash, {}}, "", time.Minute, RepairRequired, []Act{ActRestart, ActStart}, []string{"!mangrove reset-budget scraper", "!it may be restarted from"}, RepairRequired, 3},
		{"after the hour it is", []scripted{crash, crash, crash, {}}, "", 61 * time.Minute, RepairRequired, []Act{ActRestart}, []string{"is started"}, Serving, 4},
		{"or after a reset", []scripted{crash, crash, crash, {}}, "", time.Minute, RepairRequired, []Act{ActReset, ActRestart}, []string{"before-reset-", "is started"}, Serving, 4},
		{"a reset starts nothing", []scripted{crash, crash, crash, {}}, "", time.Minute, RepairRequired, []Act{ActReset}, []string{"start it with: mangrove start scraper"}, RepairRequired, 3},
		{"a parked one is stopped, and reset, and started", []scripted{crash, crash, crash, {}}, "", time.Minute, RepairRequired, []Act{ActStop, ActStart, ActReset, ActStart}, []string{"it was parked", "!it is parked|is parked", "full again", "is started"}, Serving, 4},
		{"a blocked one is tried on a word", []scripted{blocked, {}}, "", time.Hour, Blocked, []Act{ActRestart}, []string{"is started"}, Serving, 2},
		{"a held one says why", []scripted{{}}, "the database is down", time.Minute, Waiting, []Act{ActStart, ActStop}, []string{"!the database is down", "it was waiting"}, Stopped, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				s := &script{runs: tt.runs, hold: tt.hold}
				k := start(t, s, dir)
				defer k.stop()
				time.Sleep(tt.after)
				synctest.Wait()
				if got := k.Status().State; got != tt.state {
					t.Fatalf("it is %s, want %s", got, tt.state)
				}
				for i, act := range tt.acts {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					said, err := k.Do(ctx, act)
					cancel()
					want, refused := strings.CutPrefix(tt.said[i], "!")
					if errors.Is(err, ErrRefused) != refused || (err != nil && !refused) {
						t.Errorf("%s: %q, %v; want a refusal: %v", act, said, err, refused)
					}
					if err != nil {
						said = err.Error()
					}
					ok := false
					for _, w := range strings.Split(want, "|") {
						ok = ok || strings.Contains(said, w)
					}
					if !ok {
						t.Errorf("%s: %q does not say %q", act, said, want)
					}
				}
				time.Sleep(20 * time.Second)
				synctest.Wait()
				if at := k.Status(); at.State != tt.want || len(s.starts) != tt.start {
					t.Errorf("it is %s after %d starts, want %s after %d", at.State, len(s.starts), tt.want, tt.start)
				}
			})
		})
	}
}

// TestTheBudgetOutlivesTheSupervisor: a restart of the supervisor and a deployment
// neither erase nor spend it (SUP-4, P7), and a spent one starts parked.
// It shows F57, features D28 and D31.
func TestTheBudgetOutlivesTheSupervisor(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		crash := scripted{life: time.Millisecond, exit: Exit{Code: 1, What: "exit code 1"}}
		k := start(t, &script{runs: []scripted{crash, crash, {}}}, dir)
		time.Sleep(time.Minute)
		k.stop()
		for range 20 {
			k = start(t, &script{runs: []scripted{{}}}, dir)
			time.Sleep(time.Second)
			synctest.Wait()
			if at := k.Status(); at.State != Serving || at.Left != 1 {
				t.Fatalf("after a deployment it is %s with %d left", at.State, at.Left)
			}
			k.stop()
		}
		last := &script{runs: []scripted{crash}}
		k = start(t, last, dir)
		time.Sleep(time.Minute)
		k.stop()
		if len(last.starts) != 1 || k.states[len(k.states)-3] != RepairRequired && k.states[len(k.states)-2] != RepairRequired {
			t.Errorf("%d starts, states %v; want one, and parked", len(last.starts), k.states)
		}
		// Inside the hour it starts parked; after it, it starts.
		s := &script{runs: []scripted{{}}}
		k = start(t, s, dir)
		time.Sleep(10 * time.Hour)
		synctest.Wait()
		if at := k.Status(); at.State != RepairRequired || len(s.starts) != 0 {
			t.Errorf("it is %s after %d starts; time alone unparks nothing", at.State, len(s.starts))
		}
		k.stop()
		k = start(t, s, dir)
		time.Sleep(time.Second)
		synctest.Wait()
		if at := k.Status(); at.State != Serving {
			t.Errorf("after the hour and a restart of the supervisor it is %s", at.State)
		}
		k.stop()
	})
}

// TestABudgetThatCannotBeWrittenAllowsNoRestart (SUP-4, F56).
func TestABudgetThatCannotBeWrittenAllowsNoRestart(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		// A folder of that name stands in the way, for root too.
		s := &script{runs: []scripted{{life: time.Second, exit: Exit{Code: 1, What: "exit code 1"}}, {}}}
		k := start(t, s, dir)
		if err := os.Mkdir(budget.Path(dir, "scraper"), 0o755); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if at := k.Status(); at.State != RepairRequired || len(s.starts) != 1 || !strings.Contains(at.Reason, "cannot be written") {
			t.Errorf("it is %s (%s) after %d starts", at.State, at.Reason, len(s.starts))
		}
		if _, err := k.Do(t.Context(), ActStart); !errors.Is(err, ErrRefused) {
			t.Errorf("a start while it cannot be written: %v", err)
		}
		if err := os.Remove(budget.Path(dir, "scraper")); err != nil {
			t.Fatal(err)
		}
		if _, err := k.Do(t.Context(), ActStart); err != nil {
			t.Errorf("a start once it can: %v", err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if diff := cmp.Diff(Serving, k.Status().State); diff != "" {
			t.Error(diff)
		}
		k.stop()
	})
}
