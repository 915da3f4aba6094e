package rpc_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

func (e edge) record(t *testing.T, change func(*incident.Incident)) int64 {
	t.Helper()
	now := time.Now()
	in := incident.Incident{
		Kind: fault.Parser, About: incident.AboutSeries, Key: key, Reason: "no list", At: now, LastAt: now, Seen: 1,
		Decided:  []incident.Decision{{At: now, What: "poll", ID: key.SeriesID, To: "errors"}},
		Evidence: []incident.Evidence{{At: now, Address: "http://x/", Status: 200, MediaType: "text/html", Size: 6, Body: []byte("<html>"), Headers: []source.Header{{Name: "etag", Value: "x"}}}},
	}
	if change != nil {
		change(&in)
	}
	id, _, err := e.db.RecordIncident(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestIncidents(t *testing.T) {
	e := setup(t)
	ctx := t.Context()
	first := e.record(t, nil)
	second := e.record(t, func(in *incident.Incident) {
		in.About, in.JobID, in.ChapterID = incident.AboutJob, 7, "gone"
		in.Evidence[0].Body = append(bytes.Repeat([]byte("é"), 20<<10), 0xff)
		in.Evidence = append(in.Evidence, incident.Evidence{At: in.At, Status: 200, MediaType: "image/png", Body: []byte("\x89PNG\x00"), Size: 5})
	})
	list, err := e.ListIncidents(ctx, &scraperv1.ListIncidentsRequest{})
	if err != nil || list.GetTotal() != 2 || list.GetUnresolved() != 2 || len(list.GetIncidents()) != 2 || list.GetIncidents()[0].GetId() != second {
		t.Fatalf("%v, %v", list, err)
	}
	if m := list.GetIncidents()[1]; m.GetSiteName() != "Sample" || m.GetTitle() != "Pepper&Carrot" || m.GetKind() != "parser" || m.GetDecided()[0].GetTo() != "errors" || m.GetResolvedAt() != nil {
		t.Errorf("%v", m)
	}
	got, err := e.GetIncident(ctx, &scraperv1.GetIncidentRequest{Id: second})
	if err != nil || len(got.GetEvidence()) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	if text := got.GetEvidence()[0].GetText(); len(text) > 16<<10 || len(text) < 16<<10-4 || strings.ContainsRune(text, '\uFFFD') {
		t.Errorf("%d bytes of text are shown", len(text))
	}
	if got.GetEvidence()[1].GetText() != "" || got.GetEvidence()[1].GetKept() != 5 {
		t.Errorf("a picture is shown as text: %v", got.GetEvidence()[1])
	}
	saved, err := e.SaveIncident(ctx, &scraperv1.SaveIncidentRequest{Id: second})
	if err != nil || saved.GetName() != fmt.Sprintf("incident-%d.zip", second) || int64(len(saved.GetZip())) != got.GetBundleSize() {
		t.Errorf("%s of %d bytes, said to be %d, %v", saved.GetName(), len(saved.GetZip()), got.GetBundleSize(), err)
	}
	if r, _, err := incident.Open(saved.GetZip()); err != nil || r.ID != second || r.Version != "test" {
		t.Errorf("%+v, %v", r, err)
	}
	for _, want := range []bool{true, false} {
		resolved, err := e.ResolveIncident(ctx, &scraperv1.ResolveIncidentRequest{Id: second})
		if err != nil || resolved.GetResolved() != want {
			t.Errorf("%v, %v", resolved, err)
		}
	}
	list, err = e.ListIncidents(ctx, &scraperv1.ListIncidentsRequest{Unresolved: true})
	if err != nil || list.GetTotal() != 1 || list.GetIncidents()[0].GetId() != first {
		t.Errorf("%v, %v", list, err)
	}
	for _, r := range []*scraperv1.ListIncidentsRequest{{Limit: 201}, {Limit: -1}, {Offset: -1}} {
		if _, err := e.ListIncidents(ctx, r); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%v: %v", r, err)
		}
	}
	_, err = e.GetIncident(ctx, &scraperv1.GetIncidentRequest{Id: second + 1})
	_, serr := e.SaveIncident(ctx, &scraperv1.SaveIncidentRequest{Id: second + 1})
	_, rerr := e.ResolveIncident(ctx, &scraperv1.ResolveIncidentRequest{})
	for _, err := range []error{err, serr, rerr} {
		if status.Code(err) != codes.NotFound {
			t.Errorf("one that is not there: %v", err)
		}
	}
}

// A row that is our side links the incident; no other does.
func TestTheWorklistLinksTheIncident(t *testing.T) {
	e := setup(t)
	id := e.record(t, nil)
	for outcome, want := range map[poll.Outcome]int64{poll.Errors: id, poll.NotFound: 0} {
		if _, err := e.db.RecordFailure(t.Context(), key, outcome, time.Now()); err != nil {
			t.Fatal(err)
		}
		list, err := e.ListWorklist(t.Context(), &scraperv1.ListWorklistRequest{})
		if err != nil || len(list.GetItems()) != 1 || list.GetItems()[0].GetIncidentId() != want {
			t.Errorf("%s: %v, %v", outcome, list, err)
		}
	}
}

func TestResumeResolves(t *testing.T) {
	e := setup(t)
	ctx := t.Context()
	id := e.record(t, func(in *incident.Incident) {
		in.About, in.Kind, in.Key.SeriesID = incident.AboutCircuit, fault.Access, ""
	})
	c, err := e.db.Circuit(ctx, key.Site)
	if err != nil {
		t.Fatal(err)
	}
	paused, _ := c.Next(circuit.Refusal, time.Now(), "status 403", time.Time{})
	if moved, err := e.db.MoveCircuit(ctx, c, paused); !moved || err != nil {
		t.Fatal(moved, err)
	}
	if _, err := e.ResumeSite(ctx, &scraperv1.ResumeSiteRequest{Site: key.Site}); err != nil {
		t.Fatal(err)
	}
	if in, err := e.db.Incident(ctx, id); err != nil || in.Resolution != incident.Resumed {
		t.Errorf("after Resume it is %q (%v)", in.Resolution, err)
	}
}
