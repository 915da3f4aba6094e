package web

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"mangrove/reader/internal/scraperclient"
)

const (
	// failingKept is how long the failing Series are taken for what they were.
	failingKept = 15 * time.Second
	// failingWait is how long a page of the library waits for them: the shelves never
	// depend on the scraper.
	failingWait = time.Second
	// mostFailing bounds how many are known by name; the oldest failures come first.
	mostFailing = 5000
)

// failingNow are the Series that fail, held for all who look at shelves, so that a block
// of tiles asks nothing and a library that is scrolled through asks once in a while.
type failingNow struct {
	mu sync.Mutex
	of map[scraperclient.Key]scraperclient.Failure
	// asked is when, and count how many there were by the scraper's status then.
	asked time.Time
	count int
}

// failingSeries are the Series that fail and are not muted, as the scraper last said. It
// is empty while nothing is known: the shelves are shown all the same.
func (s *Server) failingSeries(ctx context.Context, now time.Time) map[scraperclient.Key]scraperclient.Failure {
	p := s.Scraper.Presence()
	if p.Away || p.Status == nil {
		return nil
	}
	count := p.Status.SeriesFailing - p.Status.SeriesMuted
	if count <= 0 {
		return nil
	}
	f := &s.failing
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count == count && now.Sub(f.asked) < failingKept {
		return f.of
	}
	f.of, f.asked, f.count = nil, now, count
	ctx, cancel := context.WithTimeout(ctx, failingWait)
	defer cancel()
	of := map[scraperclient.Key]scraperclient.Failure{}
	for ask := (scraperclient.WorklistQuery{Limit: 500}); ask.Offset < mostFailing; ask.Offset += ask.Limit {
		list, err := s.Scraper.ListWorklist(ctx, ask)
		if err != nil {
			if !unanswered(err) {
				s.Log.Warn("the failing Series could not be asked for", zap.Error(err))
			}
			return nil
		}
		for _, i := range list.Items {
			of[i.Series.Key] = i.Failure
		}
		if len(list.Items) < ask.Limit {
			break
		}
	}
	f.of = of
	return of
}
