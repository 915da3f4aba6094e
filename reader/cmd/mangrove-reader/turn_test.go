package main

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"mangrove/internal/pulse"
)

// TestAHandlerThatHangsTakesTheLiveness, and gives it back (S-092).
func TestAHandlerThatHangsTakesTheLiveness(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		beats, got, asked := &pulse.Pulse{}, []bool(nil), 0
		stuck, done := make(chan struct{}), make(chan struct{})
		pages := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if asked++; asked > 10 {
				<-stuck
			}
			if r.URL.Path != turnPath || r.Host != "localhost" {
				t.Errorf("it asks for %s of %s", r.URL.Path, r.Host)
			}
		})
		go beats.Watch(ctx, func(alive bool) { got = append(got, alive) }, zap.NewNop())
		go func() {
			defer close(done)
			if err := turn(ctx, beats, pages, nil); err != nil {
				t.Error(err)
			}
		}()
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if diff := cmp.Diff([]bool{true}, got); diff != "" {
			t.Errorf("liveness while it turns (-want +got):\n%s", diff)
		}
		time.Sleep(time.Hour)
		close(stuck)
		time.Sleep(time.Minute)
		cancel()
		<-done
		if diff := cmp.Diff([]bool{true, false, true}, got); diff != "" {
			t.Errorf("liveness (-want +got):\n%s", diff)
		}
	})
}
