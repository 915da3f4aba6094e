package trial

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/config"
)

// disk is a Store that may fail.
type disk struct {
	s     Settings
	full  atomic.Bool
	wrote int
}

func (d *disk) Read() (Settings, error) {
	s := d.s
	s.Kept = maps.Clone(d.s.Kept)
	if s.Kept == nil {
		s.Kept = map[string]string{}
	}
	return s, nil
}

func (d *disk) Write(s Settings) error {
	if d.full.Load() {
		return errors.New("no space left")
	}
	if s.Trial != nil {
		t := *s.Trial
		s.Trial = &t
	}
	s.Kept = maps.Clone(s.Kept)
	d.s = s
	d.wrote++
	return nil
}

// machine is a System that takes its time.
type machine struct {
	given, against string
	// takes is how long a restart takes, broken the values with which nothing serves.
	takes    time.Duration
	broken   []string
	failures chan string
	force    atomic.Value // a string
	// disk is looked at when something changes: the trial is there before.
	disk  *disk
	early bool
	steps []string
}

func (m *machine) Given(string) string     { return m.given }
func (m *machine) Failures() <-chan string { return m.failures }
func (m *machine) Tell(s Step)             { m.steps = append(m.steps, fmt.Sprintf("%s>%s", s.Event, s.To)) }
func (m *machine) Check(context.Context, string, string) error {
	if m.against != "" {
		return errors.New(m.against)
	}
	return nil
}

func (m *machine) Apply(ctx context.Context, values map[string]string, name string, trying bool) error {
	if trying && m.disk.s.Trial == nil {
		m.early = true
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(m.takes):
	}
	m.force.Store(values[name])
	if slices.Contains(m.broken, values[name]) {
		return errors.New("the reader is blocked")
	}
	return nil
}

// within runs a keeper in a bubble of its own time, over a kept value "old".
func within(t *testing.T, do func(t *testing.T, k *Keeper, m *machine, d *disk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{s: Settings{Kept: map[string]string{config.HTTP: "old"}}}
		m := &machine{takes: time.Second, failures: make(chan string, 1), disk: d}
		m.force.Store("old")
		k := NewKeeper(d, m)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); k.Run(ctx) }()
		do(t, k, m, d)
		cancel()
		<-done
		if m.early {
			t.Error("something changed before the trial was on disk")
		}
	})
}

// pass lets time pass, and whatever happens then end.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// TestTheWholeTable: every cell, the forbidden ones too.
func TestTheWholeTable(t *testing.T) {
	t.Parallel()
	want := map[string]State{
		"/begin": Applying, "applying/serves": Trying, "applying/fail": Returning, "applying/expire": Returning, "applying/found": Returning,
		"trying/keep": None, "trying/fail": Returning, "trying/expire": Returning, "trying/found": Returning, "returning/back": None, "returning/found": Returning,
	}
	for _, from := range States() {
		for _, event := range Events() {
			to, ok := Next(from, event)
			expected, allowed := want[string(from)+"/"+string(event)]
			if ok != allowed || ok && to != expected {
				t.Errorf("%s when %q: %q (%v), want %q (%v)", event, from, to, ok, expected, allowed)
			}
		}
	}
}

// TestATrialEnds in the new value only by an operator's word, and otherwise in the one
// before (features H20).
func TestATrialEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(t *testing.T, k *Keeper, m *machine, d *disk)
		// force and kept are the values in the end, steps what was told.
		force, kept string
		steps       []string
	}{
		{"kept", func(t *testing.T, k *Keeper, _ *machine, _ *disk) {
			said, err := k.Try(t.Context(), config.HTTP, "new", Default)
			if err != nil || !strings.Contains(said, "mangrove settings keep") {
				t.Errorf("try: %q %v", said, err)
			}
			pass(Default - 2*time.Second)
			if said, err := k.Keep(t.Context()); err != nil || said != config.HTTP+" is kept" {
				t.Errorf("keep: %q %v", said, err)
			}
			pass(time.Hour)
		}, "new", "new", []string{"begin>applying", "serves>trying", "keep>"}},
		{"not kept", func(t *testing.T, k *Keeper, m *machine, _ *disk) {
			if _, err := k.Try(t.Context(), config.HTTP, "new", Default); err != nil {
				t.Error(err)
			}
			pass(Default - 2*time.Second)
			if m.force.Load() != "new" {
				t.Errorf("it went back before its time")
			}
			pass(5 * time.Second)
			if !strings.Contains(k.Said(), "went back at") || !strings.Contains(k.Said(), "not kept within 2m0s") {
				t.Errorf("it says %q", k.Said())
			}
			if _, err := k.Keep(t.Context()); !errors.Is(err, ErrRefused) {
				t.Errorf("keep, too late: %v", err)
			}
		}, "old", "old", []string{"begin>applying", "serves>trying", "expire>returning", "back>"}},
		{"does not serve", func(t *testing.T, k *Keeper, m *machine, _ *disk) {
			m.broken = []string{"new"}
			if _, err := k.Try(t.Context(), config.HTTP, "new", Default); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "the reader is blocked") {
				t.Errorf("try: %v", err)
			}
		}, "old", "old", []string{"begin>applying", "fail>returning", "back>"}},
		{"served, and serves no more", func(t *testing.T, k *Keeper, m *machine, _ *disk) {
			if _, err := k.Try(t.Context(), config.HTTP, "new", Default); err != nil {
				t.Error(err)
			}
			m.failures <- "the reader ended"
			pass(2 * time.Second)
			if !strings.Contains(k.Said(), "the reader ended") {
				t.Errorf("it says %q", k.Said())
			}
		}, "old", "old", []string{"begin>applying", "serves>trying", "fail>returning", "back>"}},
		{"takes longer than its time", func(t *testing.T, k *Keeper, m *machine, _ *disk) {
			m.takes = 20 * time.Second
			if _, err := k.Try(t.Context(), config.HTTP, "new", Least); !errors.Is(err, ErrRefused) {
				t.Errorf("try: %v", err)
			}
			pass(time.Minute)
		}, "old", "old", []string{"begin>applying", "expire>returning", "back>"}},
		{"kept before it serves", func(t *testing.T, k *Keeper, m *machine, _ *disk) {
			tried := make(chan error, 1)
			go func() { _, err := k.Try(t.Context(), config.HTTP, "new", Least); tried <- err }()
			synctest.Wait()
			if _, err := k.Keep(t.Context()); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "does not serve with the new value yet") {
				t.Errorf("keep: %v", err)
			}
			if _, err := k.Try(t.Context(), config.Library, "/x", Least); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "is on trial until") {
				t.Errorf("another: %v", err)
			}
			if err := <-tried; err != nil {
				t.Error(err)
			}
			pass(time.Minute)
		}, "old", "old", []string{"begin>applying", "serves>trying", "expire>returning", "back>"}},
		{"cannot be kept", func(t *testing.T, k *Keeper, _ *machine, d *disk) {
			if _, err := k.Try(t.Context(), config.HTTP, "new", Default); err != nil {
				t.Error(err)
			}
			d.full.Store(true)
			if _, err := k.Keep(t.Context()); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "no space left") {
				t.Errorf("keep: %v", err)
			}
			pass(Default + time.Minute)
			if d.s.Trial == nil {
				t.Error("the trial is off a disk that is full")
			}
			d.full.Store(false)
			pass(rewriteEvery + time.Second)
		}, "old", "old", []string{"begin>applying", "serves>trying", "expire>returning", "back>"}},
		{"the default", func(t *testing.T, k *Keeper, _ *machine, d *disk) {
			if _, err := k.Try(t.Context(), config.HTTP, "", Default); err != nil {
				t.Error(err)
			}
			if _, err := k.Keep(t.Context()); err != nil {
				t.Error(err)
			}
			if _, there := d.s.Kept[config.HTTP]; there {
				t.Error("the default is kept as a value")
			}
		}, "", "", []string{"begin>applying", "serves>trying", "keep>"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			within(t, func(t *testing.T, k *Keeper, m *machine, d *disk) {
				tt.do(t, k, m, d)
				synctest.Wait()
				if m.force.Load() != tt.force || d.s.Kept[config.HTTP] != tt.kept || d.s.Trial != nil {
					t.Errorf("in force %v, kept %q, on trial %+v; want %q and %q", m.force.Load(), d.s.Kept[config.HTTP], d.s.Trial, tt.force, tt.kept)
				}
				if diff := cmp.Diff(tt.steps, m.steps); diff != "" {
					t.Errorf("steps (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestATrialIsRefused before anything is changed.
func TestATrialIsRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set     func(*machine, *disk)
		setting string
		within  time.Duration
		want    string
	}{
		"given":         {func(m *machine, _ *disk) { m.given = "the environment" }, config.HTTP, Default, "is set by the environment"},
		"against":       {func(m *machine, _ *disk) { m.against = "it is taken" }, config.HTTP, Default, "it is taken"},
		"no space":      {func(_ *machine, d *disk) { d.full.Store(true) }, config.HTTP, Default, "nothing was changed: no space left"},
		"another":       {func(*machine, *disk) {}, config.Data, Default, "cannot be tried"},
		"too short":     {func(*machine, *disk) {}, config.HTTP, time.Second, "lasts from 10s to 1h"},
		"much too long": {func(*machine, *disk) {}, config.HTTP, 24 * time.Hour, "lasts from 10s to 1h"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			within(t, func(t *testing.T, k *Keeper, m *machine, d *disk) {
				tt.set(m, d)
				if _, err := k.Try(t.Context(), tt.setting, "new", tt.within); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v, want %q", err, tt.want)
				}
				if m.force.Load() != "old" || d.wrote != 0 || len(m.steps) != 0 || k.Said() != "" {
					t.Errorf("something changed: %+v %+v", m.steps, d.s)
				}
			})
		})
	}
}

// TestAStopLeavesTheTrialToTheNextStart, whatever the state it was killed in.
func TestAStopLeavesTheTrialToTheNextStart(t *testing.T) {
	t.Parallel()
	for _, state := range []State{Applying, Trying, Returning} {
		d := &disk{s: Settings{Kept: map[string]string{config.HTTP: "old"}, Trial: &Trial{Name: config.HTTP, Value: "new", State: state}}}
		var steps []Step
		s, err := Recover(d, func(s Step) { steps = append(steps, s) })
		if err != nil || s.InForce()[config.HTTP] != "old" || d.s.Trial != nil || len(steps) != 1 || steps[0].Event != Found {
			t.Errorf("%s: %+v, %v, told %+v", state, s, err, steps)
		}
	}
	within(t, func(t *testing.T, k *Keeper, _ *machine, d *disk) {
		if _, err := k.Try(t.Context(), config.HTTP, "new", Default); err != nil {
			t.Fatal(err)
		}
		if d.s.Trial == nil || d.s.InForce()[config.HTTP] != "new" || d.s.Kept[config.HTTP] != "old" {
			t.Errorf("on disk: %+v", d.s)
		}
	})
}

// TestTheFile comes back as it was written, and one that is not understood is refused.
func TestTheFile(t *testing.T) {
	t.Parallel()
	file := FileOf(t.TempDir())
	if s, err := file.Read(); err != nil || len(s.Kept) != 0 || s.Trial != nil {
		t.Errorf("none: %+v, %v", s, err)
	}
	want := Settings{Format: format, Kept: map[string]string{config.HTTP: "127.0.0.1:1"}, Trial: &Trial{Name: config.Library, Value: "/x", State: Trying, Begun: time.Unix(1, 0).UTC(), Until: time.Unix(2, 0).UTC()}}
	if err := file.Write(want); err != nil {
		t.Fatal(err)
	}
	got, err := file.Read()
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if info, err := os.Stat(string(file)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	whole, err := os.ReadFile(string(file))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty": "", "null": "null", "torn": string(whole[:len(whole)/2]), "another format": strings.Replace(string(whole), `"format": 1`, `"format": 2`, 1),
		"a setting that cannot be tried": strings.Replace(string(whole), config.HTTP, config.Data, 1), "no state": strings.Replace(string(whole), `"trying"`, `"fine"`, 1),
	} {
		if err := os.WriteFile(string(file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := file.Read(); err == nil || !strings.Contains(err.Error(), filepath.Base(string(file))) {
			t.Errorf("%s: read as %+v (%v)", name, got, err)
		}
	}
}
