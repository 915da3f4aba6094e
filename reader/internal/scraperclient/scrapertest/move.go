package scrapertest

import (
	"context"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// placed is what the scraper knows of addresses and of what Sites find.
type placed struct {
	readable map[string]*scraperv1.RecogniseAddressResponse
	searches map[string]func(context.Context, string) ([]*scraperv1.Series, error)
	asked    []string
	moves    []*scraperv1.MoveSeriesRequest
}

// Read makes an address one that a Site reads, as the page of this Series.
func (s *Scraper) Read(address, siteName string, key *scraperv1.SeriesKey) {
	s.change(func() {
		if s.readable == nil {
			s.readable = map[string]*scraperv1.RecogniseAddressResponse{}
		}
		s.readable[address] = &scraperv1.RecogniseAddressResponse{Key: key, Url: address, SiteName: siteName}
	})
}

// SearchWith makes a Site searchable: find answers each query.
func (s *Scraper) SearchWith(site string, find func(ctx context.Context, query string) ([]*scraperv1.Series, error)) {
	s.change(func() {
		if s.searches == nil {
			s.searches = map[string]func(context.Context, string) ([]*scraperv1.Series, error){}
		}
		s.searches[site] = find
	})
}

// Searched are the queries that Sites were asked, as "site query".
func (s *Scraper) Searched() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

// RecogniseAddress answers what was made readable, with the state of it if set.
func (s *Scraper) RecogniseAddress(_ context.Context, r *scraperv1.RecogniseAddressRequest) (*scraperv1.RecogniseAddressResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recognise(r.GetAddress())
}

// recognise is RecogniseAddress with s.mu held.
func (s *Scraper) recognise(address string) (*scraperv1.RecogniseAddressResponse, error) {
	out, ok := s.readable[strings.TrimSpace(address)]
	if !ok {
		return nil, fault.New(fault.NotFound, "read", "this address", nil)
	}
	out = proto.CloneOf(out)
	if st := s.states[id(out.GetKey())]; st != nil {
		out.Known = st.GetSeries()
	}
	return out, nil
}

// SearchSite answers as the test says.
func (s *Scraper) SearchSite(ctx context.Context, r *scraperv1.SearchSiteRequest) (*scraperv1.SearchSiteResponse, error) {
	s.mu.Lock()
	find := s.searches[r.GetSite()]
	s.asked = append(s.asked, r.GetSite()+" "+r.GetQuery())
	s.mu.Unlock()
	if find == nil {
		return nil, status.Error(codes.Unimplemented, "cannot be searched")
	}
	found, err := find(ctx, r.GetQuery())
	return &scraperv1.SearchSiteResponse{Series: found}, err
}

// MoveSeries gives a state its new name, or refuses as the API says.
func (s *Scraper) MoveSeries(_ context.Context, r *scraperv1.MoveSeriesRequest) (*scraperv1.MoveSeriesResponse, error) {
	s.mu.Lock()
	to, err := s.recognise(r.GetAddress())
	st := s.states[id(r.GetKey())]
	s.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case st == nil:
		return nil, fault.New(fault.NotFound, "move", "a Series", nil)
	case outstanding(st.GetJob().GetState()):
		return nil, fault.New(fault.Stale, "move", "a Series", nil)
	case to.GetKnown() != nil && id(to.GetKey()) != id(r.GetKey()):
		return nil, fault.New(fault.Conflict, "move", "a Series", nil)
	}
	s.change(func() {
		delete(s.states, id(r.GetKey()))
		st = proto.CloneOf(st)
		st.Series.Key, st.Series.Url, st.Series.SiteName = to.GetKey(), to.GetUrl(), to.GetSiteName()
		st.ProposedUrl, st.ProposedBecause, st.MovedAt = "", "", timestamppb.Now()
		s.states[id(to.GetKey())] = st
		s.moves = append(s.moves, r)
	})
	return &scraperv1.MoveSeriesResponse{Key: to.GetKey()}, nil
}

// Moves are the moves that were made.
func (s *Scraper) Moves() []*scraperv1.MoveSeriesRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*scraperv1.MoveSeriesRequest(nil), s.moves...)
}

func outstanding(state string) bool {
	switch state {
	case "", "done", "cancelled", "unavailable", "quarantined":
		return false
	}
	return true
}
