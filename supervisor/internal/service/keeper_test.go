package service

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/supervisor/internal/budget"
)

// script is a program whose runs are written down beforehand: it keeps no
// process, so that hours pass in no time. The last run repeats.
type script struct {
	runs []scripted

	mu     sync.Mutex
	n      int
	hold   string
	slow   bool            // a start takes until it is given up
	starts []time.Duration // since the bubble began
	again  []bool          // by start: the run before failed
	began  time.Time
	stops  int
}

// scripted is one run: it serves after ready and ends after life (0: never).
type scripted struct {
	ready, life time.Duration
	exit        Exit
	lines       []string
	startErr    error
	hang        time.Duration // stops answering after that long, if not 0
	slow        bool          // then says so only once the asker gives up
	still       []int         // the probes, from 1, in which we stand still for ten minutes
	flaps       bool          // answers only every third probe
}

type scriptedRun struct {
	scripted
	parent *script
	pid    int
	probes int
	began  time.Time
	done   chan struct{}
	once   sync.Once
}

func (s *script) Name() string { return "scraper" }
func (s *script) Hold() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hold
}

func (s *script) StartLimit() time.Duration { return 2 * time.Minute }

func (s *script) setHold(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold = reason
}

func (s *script) Start(ctx context.Context, again bool) (Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slow {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s.starts, s.again = append(s.starts, time.Since(s.began)), append(s.again, again)
	run := s.runs[min(s.n, len(s.runs)-1)]
	s.n++
	if run.startErr != nil {
		return nil, run.startErr
	}
	p := &scriptedRun{scripted: run, parent: s, pid: s.n, began: time.Now(), done: make(chan struct{})}
	if run.life > 0 {
		time.AfterFunc(run.life, p.end)
	}
	return p, nil
}

func (s *script) Probe(ctx context.Context, p Process) error {
	run := p.(*scriptedRun)
	if run.probes++; slices.Contains(run.still, run.probes) {
		time.Sleep(10 * time.Minute)
		return ctx.Err()
	}
	age := time.Since(run.began)
	if run.flaps && run.probes%3 != 0 {
		return errors.New("no answer")
	}
	if age < run.ready || (run.hang > 0 && age >= run.hang) {
		if run.slow {
			<-ctx.Done()
		}
		return errors.New("no answer")
	}
	return nil
}

func (p *scriptedRun) end()                  { p.once.Do(func() { close(p.done) }) }
func (p *scriptedRun) PID() int              { return p.pid }
func (p *scriptedRun) Done() <-chan struct{} { return p.done }
func (p *scriptedRun) Exit() Exit            { return p.exit }
func (p *scriptedRun) LastLines() []string   { return p.lines }
func (p *scriptedRun) Kill()                 { p.end() }
func (p *scriptedRun) Stop(<-chan struct{}) {
	p.parent.mu.Lock()
	p.parent.stops++
	p.parent.mu.Unlock()
	p.end()
}

// moment is now on virtual time, by the wall's clock alone.
func moment() budget.Moment { return budget.Moment{Wall: time.Now()} }

// kept is one keeper at work, on virtual time.
type kept struct {
	*Keeper
	dir    string
	states []State
	stop   func()
}

// start runs a keeper over s with the budget that lies in dir.
func start(t *testing.T, s *script, dir string) *kept {
	t.Helper()
	s.began = time.Now()
	b, _ := budget.Open(dir, s.Name(), moment)
	k := &kept{dir: dir}
	k.Keeper = NewKeeper(s, b, func(now Status) { k.states = append(k.states, now.State) })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); k.Run(ctx, nil) }()
	k.stop = func() { cancel(); <-done }
	return k
}

// keep runs a keeper over s for d of fake time and returns its status then and
// the states it went through, stop included.
func keep(t *testing.T, s *script, d time.Duration, during func()) (Status, []State) {
	t.Helper()
	k := start(t, s, t.TempDir())
	if during != nil {
		during()
	}
	time.Sleep(d)
	synctest.Wait()
	at := k.Status()
	k.stop()
	return at, k.states
}

func seconds(list []time.Duration) []int {
	var out []int
	for _, d := range list {
		out = append(out, int(d/time.Second))
	}
	return out
}

func TestBackOffDoublesToAMinute(t *testing.T) {
	var got []int
	for n := 1; n <= 9; n++ {
		got = append(got, int(pause(n)/time.Second))
	}
	if diff := cmp.Diff([]int{0, 1, 2, 4, 8, 16, 32, 60, 60}, got); diff != "" {
		t.Errorf("pauses in seconds (-want +got):\n%s", diff)
	}
}

// TestTheStatusSaysWhatTimeHasFreed: what is left is what is left now, though nothing
// happened to the service meanwhile.
func TestTheStatusSaysWhatTimeHasFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crash := scripted{life: time.Millisecond, exit: Exit{Code: 1, What: "exit code 1"}}
		k := start(t, &script{runs: []scripted{crash, {}}}, t.TempDir())
		time.Sleep(time.Minute)
		synctest.Wait()
		if left := k.Status().Left; left != 2 {
			t.Errorf("%d left after one failure, want two", left)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if now := k.Status(); now.Left != 3 || now.State != Serving {
			t.Errorf("%s with %d left after the hour, want three", now.State, now.Left)
		}
		k.stop()
	})
}

// TestTheThirdFailureWithinAnHourParks: there is no fourth start (SUP-2, S-089, features D2).
func TestTheThirdFailureWithinAnHourParks(t *testing.T) {
	for _, life := range []time.Duration{0, time.Millisecond, time.Second, 10 * time.Second, 59 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{runs: []scripted{{life: max(life, time.Nanosecond), exit: Exit{Code: 1, What: "exit code 1"}}}}
			at, states := keep(t, s, 5*time.Hour, nil)
			if len(s.starts) != 3 || at.State != RepairRequired || at.Failures != 3 || at.Reason != "3 failures within an hour" {
				t.Errorf("a life of %s: %d starts, status %+v", life, len(s.starts), at)
			}
			if got := states[len(states)-1]; got != Stopped {
				t.Errorf("it ended %s", got)
			}
		})
	}
}

// TestAnExitNobodyAskedForIsAFailure, though its code says that all is well (SUP-2, F35).
func TestAnExitNobodyAskedForIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{runs: []scripted{{life: time.Minute, exit: Exit{What: "exit code 0"}}}}
		at, _ := keep(t, s, 5*time.Hour, nil)
		if len(s.starts) != 3 || at.State != RepairRequired || at.LastExit != "exit code 0" {
			t.Errorf("%d starts, status %+v", len(s.starts), at)
		}
	})
}

// TestTheRollingHour are the vectors of P1 and S-090, through the keeper.
// It shows F36, F54, features D2.
func TestTheRollingHour(t *testing.T) {
	tests := []struct {
		name   string
		at     []time.Duration // failures, since the first start
		parked bool
	}{
		{"0:00, 0:30, 0:59:59", []time.Duration{0, 30 * time.Minute, time.Hour - time.Second}, true},
		{"0:00, 0:30, 1:00:00", []time.Duration{0, 30 * time.Minute, time.Hour}, false},
		{"0, 25, 59 minutes", []time.Duration{0, 25 * time.Minute, 59 * time.Minute}, true},
		{"0, 25, 61, 86 minutes", []time.Duration{0, 25 * time.Minute, 61 * time.Minute, 86 * time.Minute}, false},
		{"every 31 minutes for a day", func() (out []time.Duration) {
			for i := range 47 {
				out = append(out, time.Duration(i)*31*time.Minute)
			}
			return out
		}(), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{}
				began := time.Duration(0)
				for i, at := range tt.at {
					s.runs = append(s.runs, scripted{life: max(at-began, time.Nanosecond), exit: Exit{Code: 1, What: "exit code 1"}})
					began = max(at, began) + pause(1)
					if i == 1 && tt.at[1]-tt.at[0] < steadyAfter {
						began += pause(2) - pause(1)
					}
				}
				s.runs = append(s.runs, scripted{})
				at, _ := keep(t, s, 48*time.Hour, nil)
				if (at.State == RepairRequired) != tt.parked || (at.State == Serving) == tt.parked {
					t.Errorf("it is %s after failures at %v, want parked %v", at.State, tt.at, tt.parked)
				}
			})
		})
	}
}

// TestLastWordsAreKept with each failure.
func TestLastWordsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{runs: []scripted{{life: time.Millisecond, exit: Exit{Code: 1, What: "exit code 1"}, lines: []string{"a", "b"}}, {}}}
		at, _ := keep(t, s, 4*time.Minute, nil)
		if at.State != Serving || at.Failures != 1 || at.LastExit != "exit code 1" || at.Left != 2 || len(at.Exits) != 1 || at.Exits[0].What != "exit code 1" {
			t.Errorf("status %+v", at)
		}
		if diff := cmp.Diff([]string{"a", "b"}, at.LastLines); diff != "" {
			t.Errorf("last lines (-want +got):\n%s", diff)
		}
	})
}

func TestBackOffForgetsAfterTenMinutesOfServing(t *testing.T) {
	tests := []struct {
		name   string
		served time.Duration
		pause  time.Duration
	}{
		{"just short", 9 * time.Minute, time.Second},
		{"ten minutes", 11 * time.Minute, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				quick := scripted{life: time.Millisecond, exit: Exit{Code: 1, What: "exit code 1"}}
				s := &script{runs: []scripted{quick, {life: tt.served, exit: Exit{Code: 0, What: "exit code 0"}}, {}}}
				at, _ := keep(t, s, time.Hour, nil)
				if len(s.starts) != 3 {
					t.Fatalf("%d starts, want 3", len(s.starts))
				}
				if got := s.starts[2] - s.starts[1] - tt.served; got != tt.pause {
					t.Errorf("pause %s, want %s", got, tt.pause)
				}
				if at.State != Serving || at.Failures != 2 {
					t.Errorf("status %+v", at)
				}
			})
		})
	}
}

// TestRefusalsBlock shows SUP-3.
func TestRefusalsBlock(t *testing.T) {
	tests := []struct {
		name   string
		exit   Exit
		starts []int
	}{
		{"78 is not tried again", Exit{78, "exit code 78"}, []int{0}},
		{"75 is tried every five seconds", Exit{75, "exit code 75"}, []int{0, 5, 10, 15, 20, 25, 30, 35, 40, 45}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{runs: []scripted{{life: time.Millisecond, exit: tt.exit, lines: []string{"starting", "the schema is newer"}}}}
				at, states := keep(t, s, 50*time.Second, nil)
				if at.State != Blocked || at.Reason != "the schema is newer" || at.Failures != 0 {
					t.Errorf("status %+v", at)
				}
				if diff := cmp.Diff(tt.starts, seconds(s.starts)); diff != "" {
					t.Errorf("starts at second (-want +got):\n%s", diff)
				}
				if last := states[len(states)-1]; last != Stopped {
					t.Errorf("ended %s", last)
				}
			})
		})
	}
}

// TestAHoldWaitsAndCountsNothing shows SUP-3, features D35.
func TestAHoldWaitsAndCountsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{runs: []scripted{{}}, hold: "the database is starting"}
		at, states := keep(t, s, time.Minute, func() {
			time.Sleep(time.Minute)
			s.setHold("")
		})
		if at.State != Serving || at.Failures != 0 || at.Reason != "" {
			t.Errorf("status %+v", at)
		}
		if diff := cmp.Diff([]State{Waiting, Starting, Serving, Stopping, Stopped}, states); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	})
}

// TestAnswersNowAndThen: only misses in a row are a failure (F53).
func TestAnswersNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{runs: []scripted{{flaps: true}}}
		at, _ := keep(t, s, 5*time.Hour, nil)
		if at.State != Serving || at.Failures != 0 || len(s.starts) != 1 {
			t.Errorf("%d starts, status %+v", len(s.starts), at)
		}
	})
}

// TestThreeMissesInARowEndTheProgram shows SUP-2, features D1.
func TestThreeMissesInARowEndTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{runs: []scripted{{hang: 35 * time.Second}, {}}}
		at, _ := keep(t, s, 2*time.Minute, nil)
		if at.State != Serving || at.Failures != 1 || at.PID != 2 {
			t.Errorf("status %+v", at)
		}
		if diff := cmp.Diff([]int{0, 60}, seconds(s.starts)); diff != "" {
			t.Errorf("starts at second (-want +got):\n%s", diff)
		}
	})
}

// TestAStandstillOfOursIsNobodysFailure: the supervisor is stopped for ten minutes in
// the middle of a probe, again and again, and the programs are well (F51).
func TestAStandstillOfOursIsNobodysFailure(t *testing.T) {
	tests := []struct {
		name string
		run  scripted
	}{
		{"while it serves", scripted{still: []int{3, 4, 5, 6}}},
		{"while it starts", scripted{ready: time.Minute + 2*10*time.Minute, still: []int{3, 4}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{runs: []scripted{tt.run}}
				at, _ := keep(t, s, time.Hour, nil)
				if at.State != Serving || at.Failures != 0 || at.PID != 1 {
					t.Errorf("status %+v", at)
				}
			})
		})
	}
}

// TestAStoppedProgramIsNoticed: a program that answers nothing from some moment on is
// ended within thirty-five seconds (F50), whether its probes fail at once or wait.
// It shows F52.
func TestAStoppedProgramIsNoticed(t *testing.T) {
	for _, slow := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{runs: []scripted{{hang: 11 * time.Second, slow: slow}, {}}}
			at, _ := keep(t, s, 2*time.Minute, nil)
			if at.Failures != 1 || len(s.starts) != 2 || s.starts[1] > (11+35)*time.Second {
				t.Errorf("slow %t: starts %v, status %+v", slow, s.starts, at)
			}
		})
	}
}

// TestOnlyARunThatFailedMakesTheNextOneASecondTry: the scraper looks for the Job
// that brought it down after a crash, and after nothing else (JOB-12).
func TestOnlyARunThatFailedMakesTheNextOneASecondTry(t *testing.T) {
	crash, busy := Exit{Code: 2, What: "exit code 2"}, Exit{Code: 75, What: "exit code 75"}
	tests := []struct {
		name string
		runs []scripted
		want []bool
	}{
		{"it serves", []scripted{{}}, []bool{false}},
		{"it crashes", []scripted{{life: time.Second, exit: crash}, {}}, []bool{false, true}},
		{"it hangs", []scripted{{hang: time.Minute}, {}}, []bool{false, true}},
		{"another holds its lock", []scripted{{life: time.Second, exit: busy}, {}}, []bool{false, false}},
		{"a crash, then a start that fails", []scripted{{life: time.Second, exit: crash}, {startErr: errors.New("no memory")}, {}}, []bool{false, true, true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{runs: tt.runs}
				keep(t, s, 5*time.Minute, nil)
				if diff := cmp.Diff(tt.want, s.again); diff != "" {
					t.Errorf("second tries, by start (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestAStartThatNeverAnswersIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{runs: []scripted{{ready: time.Hour}, {ready: time.Minute}}}
		at, _ := keep(t, s, 10*time.Minute, nil)
		if at.State != Serving || at.Failures != 1 || at.LastExit != "it did not answer within 2m0s of its start and was ended" {
			t.Errorf("status %+v", at)
		}
		if diff := cmp.Diff([]int{0, 120}, seconds(s.starts)); diff != "" {
			t.Errorf("starts at second (-want +got):\n%s", diff)
		}
	})
}

// TestAStartThatFailsBacksOff shows F37.
func TestAStartThatFailsBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{runs: []scripted{{startErr: errors.New("start /x: permission denied")}, {}}}
		at, states := keep(t, s, time.Minute, nil)
		if at.State != Serving || at.Failures != 1 || at.LastExit != "start /x: permission denied" {
			t.Errorf("status %+v", at)
		}
		if diff := cmp.Diff([]State{Starting, BackingOff, Starting, Serving, Stopping, Stopped}, states); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	})
}

// TestAStopDuringBackOffStartsNothing shows F59.
func TestAStopDuringBackOffStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{runs: []scripted{{life: time.Millisecond, exit: Exit{Code: 1}}}}
		_, states := keep(t, s, 500*time.Millisecond, nil)
		if len(s.starts) != 2 || s.stops != 0 || states[len(states)-1] != Stopped {
			t.Errorf("%d starts, %d stops, states %v", len(s.starts), s.stops, states)
		}
	})
}

// TestAStopDuringASlowStartIsNoFailure shows F60.
func TestAStopDuringASlowStartIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{runs: []scripted{{}}, slow: true}
		_, states := keep(t, s, time.Second, nil)
		if diff := cmp.Diff([]State{Starting, Stopping, Stopped}, states); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	})
}

// TestAStopWhileStartingIsNoFailure shows F60.
func TestAStopWhileStartingIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{runs: []scripted{{ready: time.Hour}}}
		at, states := keep(t, s, time.Second, nil)
		if at.State != Starting || s.stops != 1 {
			t.Errorf("status %+v, %d stops", at, s.stops)
		}
		if diff := cmp.Diff([]State{Starting, Stopping, Stopped}, states); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	})
}
