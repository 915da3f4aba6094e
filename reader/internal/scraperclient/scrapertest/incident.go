package scrapertest

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// SetIncidents sets the incidents, newest first, with their evidence.
func (s *Scraper) SetIncidents(incidents ...*scraperv1.GetIncidentResponse) {
	s.change(func() { s.incidents = incidents })
}

// ListIncidents lists what was set as the API says.
func (s *Scraper) ListIncidents(_ context.Context, r *scraperv1.ListIncidentsRequest) (*scraperv1.ListIncidentsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &scraperv1.ListIncidentsResponse{}
	for _, i := range s.incidents {
		open := i.GetIncident().GetResolvedAt() == nil
		if open {
			out.Unresolved++
		}
		if open || !r.GetUnresolved() {
			out.Total++
			out.Incidents = append(out.Incidents, i.GetIncident())
		}
	}
	out.Incidents = out.Incidents[min(len(out.Incidents), int(r.GetOffset())):]
	out.Incidents = out.Incidents[:min(len(out.Incidents), int(r.GetLimit()))]
	return out, nil
}

func (s *Scraper) incident(id int64) (*scraperv1.GetIncidentResponse, error) {
	i := slices.IndexFunc(s.incidents, func(i *scraperv1.GetIncidentResponse) bool { return i.GetIncident().GetId() == id })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "find", "an incident", nil)
	}
	return s.incidents[i], nil
}

// GetIncident answers one that was set.
func (s *Scraper) GetIncident(_ context.Context, r *scraperv1.GetIncidentRequest) (*scraperv1.GetIncidentResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.incident(r.GetId())
}

// SaveIncident answers a bundle that names the incident.
func (s *Scraper) SaveIncident(_ context.Context, r *scraperv1.SaveIncidentRequest) (*scraperv1.SaveIncidentResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.incident(r.GetId()); err != nil {
		return nil, err
	}
	return &scraperv1.SaveIncidentResponse{Name: fmt.Sprintf("incident-%d.zip", r.GetId()), Zip: fmt.Appendf(nil, "PK bundle %d", r.GetId())}, nil
}

// ResolveIncident marks one that was set.
func (s *Scraper) ResolveIncident(_ context.Context, r *scraperv1.ResolveIncidentRequest) (out *scraperv1.ResolveIncidentResponse, err error) {
	out = &scraperv1.ResolveIncidentResponse{}
	s.change(func() {
		var found *scraperv1.GetIncidentResponse
		if found, err = s.incident(r.GetId()); err != nil || found.GetIncident().GetResolvedAt() != nil {
			return
		}
		seen := proto.CloneOf(found)
		seen.Incident.ResolvedAt, seen.Incident.Resolution = timestamppb.Now(), "operator"
		s.incidents[slices.Index(s.incidents, found)] = seen
		out.Resolved = true
	})
	return out, err
}

// openIncident is the unresolved incident of a Series that is not understood.
func (s *Scraper) openIncident(st *scraperv1.SeriesState) int64 {
	for _, i := range s.incidents {
		if in := i.GetIncident(); st.GetFailure().GetOutcome() == "errors" && in.GetAbout() == "series" && in.GetResolvedAt() == nil && id(in.GetKey()) == id(st.GetSeries().GetKey()) {
			return in.GetId()
		}
	}
	return 0
}
