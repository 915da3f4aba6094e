package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"mangrove/internal/pulse"
)

// TestAStuckLoopTakesTheLiveness: a step that does not come back does, though the one
// that answers still runs (S-092). A step that waits for a database as long as it may
// does not (SUP-6).
func TestAStuckLoopTakesTheLiveness(t *testing.T) {
	t.Parallel()
	patient := func(ctx context.Context) { <-ctx.Done() }
	tests := []struct {
		name  string
		steps func(stuck <-chan struct{}) []step
		want  []bool
	}{
		{"nothing is wrong", func(<-chan struct{}) []step { return []step{{stepLimit, func(context.Context) {}}} }, []bool{true}},
		{"no database for an hour", func(<-chan struct{}) []step {
			return []step{{pingLimit, patient}, {stepLimit, patient}}
		}, []bool{true}},
		{"a step is stuck for a while", func(stuck <-chan struct{}) []step {
			return []step{{pingLimit, patient}, {stepLimit, func(context.Context) { <-stuck }}}
		}, []bool{true, false, true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				beats, got := &pulse.Pulse{}, []bool(nil)
				done := make(chan struct{}, 2)
				stuck := make(chan struct{})
				go func() {
					beats.Watch(ctx, func(alive bool) { got = append(got, alive) }, zap.NewNop())
					done <- struct{}{}
				}()
				go func() { turn(ctx, beats, tt.steps(stuck)...); done <- struct{}{} }()
				time.Sleep(time.Hour)
				close(stuck)
				time.Sleep(time.Minute)
				cancel()
				<-done
				<-done
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("liveness (-want +got):\n%s", diff)
				}
			})
		})
	}
}
