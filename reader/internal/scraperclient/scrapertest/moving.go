package scrapertest

import (
	"context"

	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// Recognise sets what is answered about the Series of another program by its
// address; any other has no adapter.
func (s *Scraper) Recognise(address string, answer *scraperv1.RecognisedSeries) {
	s.change(func() {
		if s.foreign == nil {
			s.foreign = map[string]*scraperv1.RecognisedSeries{}
		}
		s.foreign[address] = answer
	})
}

// RecogniseSeries answers from what was set.
func (s *Scraper) RecogniseSeries(_ context.Context, r *scraperv1.RecogniseSeriesRequest) (*scraperv1.RecogniseSeriesResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &scraperv1.RecogniseSeriesResponse{}
	for _, f := range r.GetSeries() {
		answer, ok := s.foreign[f.GetAddress()]
		if !ok {
			answer = &scraperv1.RecognisedSeries{Word: "no-adapter"}
		}
		out.Series = append(out.Series, answer)
	}
	return out, nil
}
