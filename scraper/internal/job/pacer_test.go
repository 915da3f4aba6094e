package job

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestPacerKeepsStartsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pacer{}
		start := time.Now()
		for i, want := range []time.Duration{0, 2 * time.Second, 4 * time.Second} {
			if err := p.wait(t.Context(), 2*time.Second); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(start); got != want {
				t.Errorf("start %d after %s, want %s", i, got, want)
			}
		}
		time.Sleep(time.Minute)
		before := time.Now()
		if err := p.wait(t.Context(), 2*time.Second); err != nil || time.Since(before) != 0 {
			t.Errorf("after a rest: %v, waited %s", err, time.Since(before))
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := p.wait(ctx, 2*time.Second); !errors.Is(err, context.Canceled) {
			t.Errorf("a stop while waiting: %v", err)
		}
	})
}
