package rpc

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"mangrove/internal/fault"
	"mangrove/internal/redact"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

// Incidents is what the edge reads of incidents.
type Incidents interface {
	Incidents(ctx context.Context, unresolved bool, offset, limit int) ([]store.IncidentRow, error)
	CountIncidents(ctx context.Context) (all, unresolved int, err error)
	Incident(ctx context.Context, id int64) (store.IncidentRow, error)
	OpenIncidents(ctx context.Context) (map[source.Key]int64, error)
	ResolveIncident(ctx context.Context, id int64, now time.Time) (bool, error)
}

// maxShown is how much of each answer a page shows; the bundle has the rest.
const maxShown = 16 << 10

// ListIncidents lists incidents, newest first.
func (s *Server) ListIncidents(ctx context.Context, r *scraperv1.ListIncidentsRequest) (*scraperv1.ListIncidentsResponse, error) {
	limit := int(r.GetLimit())
	if limit == 0 {
		limit = 50
	}
	if limit < 1 || limit > incident.Kept || r.GetOffset() < 0 {
		return nil, fault.Newf(fault.Invalid, "list", "incidents", "limit %d, offset %d", limit, r.GetOffset())
	}
	rows, err := s.Store.Incidents(ctx, r.GetUnresolved(), int(r.GetOffset()), limit)
	if err != nil {
		return nil, err
	}
	all, unresolved, err := s.Store.CountIncidents(ctx)
	if err != nil {
		return nil, err
	}
	out := &scraperv1.ListIncidentsResponse{Total: int32(all), Unresolved: int32(unresolved)}
	if r.GetUnresolved() {
		out.Total = int32(unresolved)
	}
	for _, row := range rows {
		out.Incidents = append(out.Incidents, s.incident(row))
	}
	return out, nil
}

func (s *Server) incident(r store.IncidentRow) *scraperv1.Incident {
	m := &scraperv1.Incident{
		Id: r.ID, Kind: string(r.Kind), About: string(r.About), Key: keyMessage(r.Key), SiteName: s.siteName(r.Key.Site), Title: r.Title, JobId: r.JobID,
		ChapterId: r.ChapterID, ChapterNumber: r.ChapterNumber, Subject: r.Subject, Reason: r.Reason, At: stamp(r.At), LastAt: stamp(r.LastAt),
		Seen: int32(r.Seen), ResolvedAt: stamp(r.ResolvedAt), Resolution: string(r.Resolution),
	}
	for _, d := range r.Decided {
		m.Decided = append(m.Decided, &scraperv1.Decision{At: stamp(d.At), What: d.What, Id: d.ID, To: d.To, Reason: d.Reason})
	}
	return m
}

// bundle is an incident with its bundle.
func (s *Server) bundle(ctx context.Context, id int64) (store.IncidentRow, []byte, error) {
	in, err := s.Store.Incident(ctx, id)
	if err != nil {
		return in, nil, err
	}
	data, err := incident.Bundle(in.Incident, s.Version)
	return in, data, err
}

// GetIncident answers one incident with what was read.
func (s *Server) GetIncident(ctx context.Context, r *scraperv1.GetIncidentRequest) (*scraperv1.GetIncidentResponse, error) {
	in, bundle, err := s.bundle(ctx, r.GetId())
	if err != nil {
		return nil, err
	}
	out := &scraperv1.GetIncidentResponse{Incident: s.incident(in), BundleSize: int64(len(bundle))}
	for _, e := range in.Evidence {
		m := &scraperv1.Evidence{
			Address: e.Address, Status: int32(e.Status), MediaType: e.MediaType, Size: e.Size, Kept: int64(len(e.Body)), Removed: int32(e.Removed), Text: shown(e), Cut: e.Cut,
		}
		for _, h := range e.Headers {
			m.Headers = append(m.Headers, &scraperv1.Header{Name: h.Name, Value: h.Value})
		}
		out.Evidence = append(out.Evidence, m)
	}
	return out, nil
}

// shown is the beginning of an answer as text, "" when it is none.
func shown(e incident.Evidence) string {
	if redact.Extension(e.MediaType, e.Body) == "bin" {
		return ""
	}
	head := e.Body[:min(len(e.Body), maxShown)]
	for i := 0; i < utf8.UTFMax && len(head) < len(e.Body) && !utf8.Valid(head); i++ {
		head = head[:len(head)-1]
	}
	return strings.ToValidUTF8(string(head), "\uFFFD")
}

// SaveIncident answers the bundle of one incident.
func (s *Server) SaveIncident(ctx context.Context, r *scraperv1.SaveIncidentRequest) (*scraperv1.SaveIncidentResponse, error) {
	in, bundle, err := s.bundle(ctx, r.GetId())
	if err != nil {
		return nil, err
	}
	return &scraperv1.SaveIncidentResponse{Name: incident.BundleName(in.ID), Zip: bundle}, nil
}

// ResolveIncident marks an incident as seen to by an operator.
func (s *Server) ResolveIncident(ctx context.Context, r *scraperv1.ResolveIncidentRequest) (*scraperv1.ResolveIncidentResponse, error) {
	in, err := s.Store.Incident(ctx, r.GetId())
	if err != nil {
		return nil, err
	}
	resolved, err := s.Store.ResolveIncident(ctx, in.ID, time.Now())
	if err == nil && resolved {
		s.Recorder.Acted("seen", in.Key)
	}
	return &scraperv1.ResolveIncidentResponse{Resolved: resolved}, err
}
