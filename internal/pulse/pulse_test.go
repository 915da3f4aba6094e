package pulse

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// change is a change of liveness and when it came.
type change struct {
	At    time.Duration
	Alive bool
}

// watched runs during in a bubble with a Pulse that is watched, for as long as it
// takes, and returns the changes and what was logged.
func watched(t *testing.T, during func(p *Pulse)) ([]change, *observer.ObservedLogs) {
	t.Helper()
	var got []change
	core, logs := observer.New(zapcore.InfoLevel)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := &Pulse{}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.Watch(ctx, func(alive bool) { got = append(got, change{time.Since(began), alive}) }, zap.New(core))
		}()
		during(p)
		cancel()
		<-done
	})
	return got, logs
}

func TestALoopThatStopsTurning(t *testing.T) {
	t.Parallel()
	got, logs := watched(t, func(p *Pulse) {
		p.Beat("work")
		time.Sleep(20 * time.Second)
		p.Beat("work")
		p.Beat("other")
		time.Sleep(25 * time.Second)
		p.Beat("other") // a second loop that turns does not speak for the first
		time.Sleep(15*time.Second + time.Millisecond)
		p.Beat("work")
		time.Sleep(5 * time.Second)
	})
	want := []change{{0, true}, {51 * time.Second, false}, {61 * time.Second, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	said := logs.FilterMessage("a loop does not turn").All()
	if len(said) != 1 || cmp.Diff([]any{"work"}, said[0].ContextMap()["loops"]) != "" {
		t.Errorf("the log says %v", said)
	}
}

func TestALoopThatRestsIsNotWatched(t *testing.T) {
	t.Parallel()
	got, _ := watched(t, func(p *Pulse) {
		time.Sleep(time.Hour) // no loop yet
		p.Beat("work")
		p.Rest("work")
		time.Sleep(time.Hour)
	})
	if diff := cmp.Diff([]change{{0, true}}, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestAProcessThatStoodStill: stopped and continued, or asleep with its machine, its
// loops are as late as the one that looks.
func TestAProcessThatStoodStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &Pulse{}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		changes := 0
		p.Beat("work")
		go p.Watch(ctx, func(bool) {
			// The first call holds the one that looks for ten minutes.
			if changes++; changes == 1 {
				time.Sleep(10 * time.Minute)
			}
		}, zap.NewNop())
		time.Sleep(10*time.Minute + 2*time.Second)
		synctest.Wait()
		if changes != 1 {
			t.Errorf("%d changes of liveness, want none after the first", changes)
		}
	})
}
