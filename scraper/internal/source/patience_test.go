package source_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// slow answers after a day, whoever asks.
type slow struct{}

func (slow) Get(ctx context.Context, _ source.Request) (*source.Response, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(24 * time.Hour):
		return &source.Response{}, nil
	}
}

// No single Series stalls a Lane (POLL-4, S-092): an adapter that does not come back
// is left behind and has not read the page, however long the Site may take.
func TestAnAdapterThatDoesNotComeBack(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		do    func(context.Context, source.Fetcher) (int, error)
		stuck bool
		took  time.Duration
	}{
		"one that thinks": {func(context.Context, source.Fetcher) (int, error) { time.Sleep(time.Minute); return 1, nil }, false, time.Minute},
		"one that waits for the Site, and for its pace": {func(ctx context.Context, f source.Fetcher) (int, error) {
			for range 3 {
				if _, err := f.Get(ctx, source.Request{}); err != nil {
					return 0, err
				}
				time.Sleep(time.Minute)
			}
			return 1, nil
		}, false, 72*time.Hour + 3*time.Minute},
		"one that hangs": {func(ctx context.Context, f source.Fetcher) (int, error) {
			if _, err := f.Get(ctx, source.Request{}); err != nil {
				return 0, err
			}
			time.Sleep(time.Hour)
			_, err := f.Get(ctx, source.Request{})
			if err == nil {
				t.Error("one that was left behind still asks the Site")
			}
			return 1, err
		}, true, 24*time.Hour + source.Patience},
		"one that panics": {func(context.Context, source.Fetcher) (int, error) { panic("no landmark") }, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				got, err := source.Attend(t.Context(), slow{}, "https://site.example/1", tt.do)
				if stuck := fault.Is(err, fault.Parser); stuck != tt.stuck || !stuck && (got != 1 || err != nil) {
					t.Errorf("%d, %v", got, err)
				}
				if took := time.Since(began); took < tt.took || took > tt.took+source.Patience/4 {
					t.Errorf("after %s, want %s", took, tt.took)
				}
				// What was left behind comes to its end, and asks no more.
				time.Sleep(2 * time.Hour)
				if tt.stuck && !strings.Contains(err.Error(), "https://site.example/1") {
					t.Errorf("it does not name the page: %v", err)
				}
			})
		})
	}
}
