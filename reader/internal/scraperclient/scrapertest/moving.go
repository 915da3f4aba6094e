package scrapertest

import (
	"context"
	"maps"

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

// Folders are those that were adopted and not returned, with their Series.
func (s *Scraper) Folders() map[string]*scraperv1.SeriesKey {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.folders)
}

// RefuseFolders makes the adoption of folders fail from now on, or succeed with nil.
func (s *Scraper) RefuseFolders(err error) { s.change(func() { s.refused = err }) }

// AdoptFolder notes it.
func (s *Scraper) AdoptFolder(_ context.Context, r *scraperv1.AdoptFolderRequest) (*scraperv1.AdoptFolderResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused != nil {
		return nil, s.refused
	}
	if s.folders == nil {
		s.folders = map[string]*scraperv1.SeriesKey{}
	}
	s.folders[r.GetFolder()] = r.GetKey()
	return &scraperv1.AdoptFolderResponse{Files: 1}, nil
}

// ReturnFolder forgets it.
func (s *Scraper) ReturnFolder(_ context.Context, r *scraperv1.ReturnFolderRequest) (*scraperv1.ReturnFolderResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.folders, r.GetFolder())
	return &scraperv1.ReturnFolderResponse{Files: 1}, nil
}
