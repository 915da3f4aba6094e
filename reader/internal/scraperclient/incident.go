package scraperclient

import (
	"context"
	"fmt"
	"time"

	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// Incident is one classified failure (OBS-2).
type Incident struct {
	ID int64
	// Kind is the fault class; About what it stopped: "series", "job", "chapter",
	// "circuit" or "hold".
	Kind, About string
	Key         Key
	// SiteName and Title are for people; Title is "" when it is not known any more.
	SiteName, Title string
	JobID           int64
	// ChapterID and ChapterNumber are "" without one.
	ChapterID, ChapterNumber string
	Subject, Reason          string
	Decided                  []Decision
	At, LastAt               time.Time
	Seen                     int
	// ResolvedAt is zero and Resolution "" while it waits.
	ResolvedAt time.Time
	Resolution string
}

// Decision is one thing the program decided, in the words that are stored.
type Decision struct {
	At                   time.Time
	What, ID, To, Reason string
}

// Header is one header of an answer.
type Header struct{ Name, Value string }

// Evidence is one answer of the Site. Text is its beginning, "" when it is no text.
type Evidence struct {
	Address, MediaType string
	Status             int
	Headers            []Header
	Size, Kept         int64
	Removed            int
	Text               string
	// Cut is true when no more than the beginning was kept.
	Cut bool
}

// IncidentDetail is one incident with what was read.
type IncidentDetail struct {
	Incident
	// Evidence is in the order in which it came.
	Evidence   []Evidence
	BundleSize int64
}

// Incidents is one stretch of the list, newest first.
type Incidents struct {
	Incidents []Incident
	// Total counts what the filter keeps, Unresolved all that wait.
	Total, Unresolved int
}

// Bundle is a file that holds an incident.
type Bundle struct {
	Name string
	Zip  []byte
}

// ListIncidents lists incidents, newest first; unresolved keeps those that wait.
func (c *Client) ListIncidents(ctx context.Context, unresolved bool, offset, limit int) (Incidents, error) {
	resp, err := call(ctx, c, "list", "the incidents", func(ctx context.Context) (*scraperv1.ListIncidentsResponse, error) {
		return c.api.ListIncidents(ctx, &scraperv1.ListIncidentsRequest{Unresolved: unresolved, Offset: int32(offset), Limit: int32(limit)})
	})
	if err != nil {
		return Incidents{}, err
	}
	out := Incidents{Total: int(resp.GetTotal()), Unresolved: int(resp.GetUnresolved())}
	for _, i := range resp.GetIncidents() {
		out.Incidents = append(out.Incidents, fromIncident(i))
	}
	return out, nil
}

func fromIncident(i *scraperv1.Incident) Incident {
	out := Incident{
		ID: i.GetId(), Kind: i.GetKind(), About: i.GetAbout(), Key: fromKey(i.GetKey()), SiteName: i.GetSiteName(), Title: i.GetTitle(), JobID: i.GetJobId(),
		ChapterID: i.GetChapterId(), ChapterNumber: i.GetChapterNumber(), Subject: i.GetSubject(), Reason: i.GetReason(), At: when(i.GetAt()),
		LastAt: when(i.GetLastAt()), Seen: int(i.GetSeen()), ResolvedAt: when(i.GetResolvedAt()), Resolution: i.GetResolution(),
	}
	for _, d := range i.GetDecided() {
		out.Decided = append(out.Decided, Decision{when(d.GetAt()), d.GetWhat(), d.GetId(), d.GetTo(), d.GetReason()})
	}
	return out
}

func incidentName(id int64) string { return fmt.Sprintf("incident %d", id) }

// GetIncident answers one incident with what was read.
func (c *Client) GetIncident(ctx context.Context, id int64) (IncidentDetail, error) {
	resp, err := call(ctx, c, "ask for", incidentName(id), func(ctx context.Context) (*scraperv1.GetIncidentResponse, error) {
		return c.api.GetIncident(ctx, &scraperv1.GetIncidentRequest{Id: id})
	})
	if err != nil {
		return IncidentDetail{}, err
	}
	out := IncidentDetail{Incident: fromIncident(resp.GetIncident()), BundleSize: resp.GetBundleSize()}
	for _, e := range resp.GetEvidence() {
		ev := Evidence{
			Address: e.GetAddress(), Status: int(e.GetStatus()), MediaType: e.GetMediaType(), Size: e.GetSize(), Kept: e.GetKept(), Removed: int(e.GetRemoved()), Text: e.GetText(), Cut: e.GetCut(),
		}
		for _, h := range e.GetHeaders() {
			ev.Headers = append(ev.Headers, Header{h.GetName(), h.GetValue()})
		}
		out.Evidence = append(out.Evidence, ev)
	}
	return out, nil
}

// SaveIncident answers the bundle of one incident.
func (c *Client) SaveIncident(ctx context.Context, id int64) (Bundle, error) {
	resp, err := call(ctx, c, "save", incidentName(id), func(ctx context.Context) (*scraperv1.SaveIncidentResponse, error) {
		return c.api.SaveIncident(ctx, &scraperv1.SaveIncidentRequest{Id: id})
	})
	return Bundle{resp.GetName(), resp.GetZip()}, err
}

// ResolveIncident marks an incident as seen to.
func (c *Client) ResolveIncident(ctx context.Context, id int64) error {
	_, err := call(ctx, c, "resolve", incidentName(id), func(ctx context.Context) (*scraperv1.ResolveIncidentResponse, error) {
		return c.api.ResolveIncident(ctx, &scraperv1.ResolveIncidentRequest{Id: id})
	})
	return err
}
