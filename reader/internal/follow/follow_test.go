package follow_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/reader/internal/follow"
	"mangrove/reader/internal/scraperclient"
)

// wishes is a store in memory, so that virtual time can pass; the real one is
// shown in package store.
type wishes struct {
	mu       sync.Mutex
	revision int64
	broken   bool
}

func (w *wishes) change() (scraperclient.FollowChange, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken {
		return scraperclient.FollowChange{}, errors.New("scripted")
	}
	w.revision++
	return scraperclient.FollowChange{Revision: w.revision}, nil
}

func (w *wishes) Follow(context.Context, follow.Wish) (scraperclient.FollowChange, error) {
	return w.change()
}
func (w *wishes) Unfollow(_ context.Context, _ int64, key scraperclient.Key) (scraperclient.FollowChange, error) {
	if key.SeriesID == "not followed" {
		return scraperclient.FollowChange{}, nil
	}
	return w.change()
}
func (w *wishes) Rekey(context.Context, scraperclient.Key, scraperclient.Key) (scraperclient.FollowChange, error) {
	return w.change()
}
func (w *wishes) RaiseRevision(_ context.Context, revision int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.revision = max(w.revision, revision)
	return nil
}
func (w *wishes) Wanted(context.Context) (scraperclient.FollowChange, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return scraperclient.FollowChange{Revision: w.revision}, nil
}

// told is a message that arrived.
type told struct {
	at       time.Duration
	whole    bool
	revision int64
}

// hearer is the scraper's side: it notes what it hears, or is away.
type hearer struct {
	mu    sync.Mutex
	start time.Time
	away  bool
	heard []told
}

func (h *hearer) ApplyFollows(_ context.Context, c scraperclient.FollowChange) (scraperclient.Applied, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.away {
		return scraperclient.Applied{}, fault.New(fault.Away, "tell", "the scraper", nil)
	}
	h.heard = append(h.heard, told{time.Since(h.start), c.Whole, c.Revision})
	return scraperclient.Applied{Revision: c.Revision}, nil
}
func (*hearer) MoveSeries(_ context.Context, key scraperclient.Key, _ string) (scraperclient.Key, error) {
	return key, nil
}

// alive runs the service for as long as during does.
func alive(t *testing.T, w *wishes, h *hearer, during func(*follow.Service)) {
	t.Helper()
	h.start = time.Now()
	s := follow.New(w, h, zap.NewNop())
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { s.Run(ctx); close(done) }()
	synctest.Wait()
	during(s)
	stop()
	<-done
}

// The whole set is told at start and every few minutes; a change is told at once,
// and by itself (OWN-3).
func TestTheWholeSetIsToldAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, h := &wishes{revision: 7}, &hearer{}
		alive(t, w, h, func(s *follow.Service) {
			time.Sleep(10 * time.Minute)
			if err := s.Follow(t.Context(), follow.Wish{}); err != nil {
				t.Fatal(err)
			}
		})
		if len(h.heard) != 5 {
			t.Fatalf("heard %+v, want the whole set at start and three times more, and the change", h.heard)
		}
		for i, m := range h.heard[:4] {
			if !m.whole || m.revision != 7 || m.at != time.Duration(i)*3*time.Minute {
				t.Errorf("message %d is %+v", i, m)
			}
		}
		if m := h.heard[4]; m.whole || m.revision != 8 || m.at != 10*time.Minute {
			t.Errorf("the change is %+v, want it at once and by itself", m)
		}
	})
}

// A scraper that is away loses nothing: once it is back it hears the whole set.
func TestAScraperThatWasAwayHearsTheWholeSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, h := &wishes{}, &hearer{away: true}
		alive(t, w, h, func(s *follow.Service) {
			if err := s.Unfollow(t.Context(), 1, scraperclient.Key{SeriesID: "x"}); err != nil {
				t.Errorf("the wish did not stand: %v", err)
			}
			time.Sleep(time.Hour)
			h.mu.Lock()
			h.away = false
			h.mu.Unlock()
			time.Sleep(6 * time.Second)
		})
		if len(h.heard) == 0 || !h.heard[0].whole || h.heard[0].revision != 1 || h.heard[0].at > time.Hour+5*time.Second {
			t.Errorf("heard %+v, want the whole set within five seconds", h.heard)
		}
	})
}

func TestUnfollowingManyGoesOnOverWhatIsNotFollowed(t *testing.T) {
	t.Parallel()
	w, h := &wishes{}, &hearer{}
	s := follow.New(w, h, zap.NewNop())
	keys := []scraperclient.Key{{SeriesID: "a"}, {SeriesID: "not followed"}, {SeriesID: "b"}}
	if err := s.UnfollowAll(t.Context(), 1, keys); err != nil || w.revision != 2 || len(h.heard) != 2 {
		t.Errorf("%v; revision %d, heard %+v; want two changes", err, w.revision, h.heard)
	}
	w.broken = true
	if err := s.UnfollowAll(t.Context(), 1, keys); err == nil {
		t.Error("a wish that could not be stored is no failure")
	}
}
