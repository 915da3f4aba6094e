package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/scraperclient"
)

// incident is one that the scraper keeps; change makes it another.
func incident(id int64, change func(*scraperv1.GetIncidentResponse)) *scraperv1.GetIncidentResponse {
	at := timestamppb.New(time.Now().Add(-time.Hour))
	out := &scraperv1.GetIncidentResponse{
		Incident: &scraperv1.Incident{
			Id: id, Kind: "parser", About: "job", Key: sampleKey, SiteName: "Sample", Title: "Pepper", JobId: 7781, ChapterId: "c91", ChapterNumber: "91",
			Subject: "https://sample.example/c91", Reason: "no list in the page", At: at, LastAt: at, Seen: 1,
			Decided: []*scraperv1.Decision{{At: at, What: "job", Id: "7781", To: "quarantined", Reason: "parser"}, {At: at, What: "circuit", Id: "sample", To: "paused", Reason: "systemic"}},
		},
		Evidence: []*scraperv1.Evidence{
			{Address: "https://sample.example/s", Status: 200, MediaType: "text/html", Size: 12, Kept: 12, Text: "<html>before"},
			{
				Address: "https://sample.example/c91", Status: 200, MediaType: "text/html", Size: 412, Kept: 412, Removed: 1, Headers: []*scraperv1.Header{{Name: "server", Value: "x"}},
				Text: "<html><script>alert(1)</script><input value=\"[removed]\"></html>" + strings.Repeat(" ", 349),
			},
		},
		BundleSize: 38_400,
	}
	if change != nil {
		change(out)
	}
	return out
}

func TestAnIncidentIsShownAsText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.series(nil)
	s.scraper.SetIncidents(incident(1043, nil))
	resp, body := s.get(mo, "/incidents/1043")
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.StatusCode)
	}
	has(t, body, "<h1>Page list not understood</h1>", "Incident 1,043", "Pepper, chapter 91 · Sample", "&lt;script&gt;alert(1)&lt;/script&gt;", "<mark>[removed]</mark>",
		"GET https://sample.example/c91  200  text/html  412 B\nserver: x", "whole, 1 secret removed", "1 answer before it", "Job 7781 is quarantined", "Sample is paused: two downloads",
		"What stopped it: no list in the page", "and every other Site goes on.", "mangrove retry sample s", "38 kB, fit for a bug report", `href="/incidents/1043/bundle" download`, "Mark as seen to", `href="/sites/sample/s"`,
		`action="/jobs/7781"`, `name="back" value="/incidents/1043"`)
	hasNot(t, body, "<script>alert", "This is over")
	resp, _ = s.post(mo, "/jobs/7781", url.Values{"act": {"retry"}, "back": {"/incidents/1043"}})
	if to := resp.Header.Get("Location"); resp.StatusCode == http.StatusSeeOther && !strings.HasPrefix(to, "/incidents/1043") {
		t.Errorf("a retry leads to %q", to)
	}
	resp, body = s.get(mo, "/incidents/1043/bundle")
	if resp.Header.Get("Content-Type") != "application/zip" || resp.Header.Get("Content-Disposition") != "attachment; filename=incident-1043.zip" || body != "PK bundle 1043" {
		t.Errorf("the bundle is %v %q", resp.Header, body)
	}
	resp, _ = s.post(mo, "/incidents/1043/seen", url.Values{})
	if to := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || to != "/incidents/1043" {
		t.Errorf("%d to %q", resp.StatusCode, to)
	}
	_, body = s.get(mo, "/incidents/1043")
	has(t, body, "that is a new incident", "Seen to ")
	hasNot(t, body, "Mark as seen to")
	for _, path := range []string{"/incidents/9", "/incidents/0", "/incidents/x", "/incidents/9/bundle", "/incidents?show=some", "/incidents?page=0", "/incidents?page=5000"} {
		if resp, _ := s.get(mo, path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
	if resp, _ := s.post(mo, "/incidents/9/seen", url.Values{}); resp.StatusCode != http.StatusNotFound {
		t.Errorf("%d", resp.StatusCode)
	}
}

// Each kind has words of its own, and none an empty page.
func TestEveryKindOfIncidentIsWorded(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, kind := range []string{"network", "parser", "access", "storage", "page", "conflict", "stall", "unknown"} {
		for _, about := range []string{"series", "job", "chapter", "circuit", "hold", "canary"} {
			in := scraperclient.Incident{ID: 1, Kind: kind, About: about, Key: scraperclient.Key{Site: "x", SeriesID: "s"}, At: time.Now()}
			v := english.incidentIn(scraperclient.IncidentDetail{Incident: in}, time.Now())
			if v.Heading == "" || v.Help.Text == "" || v.Alone == "" || v.NoEvidence == "" || v.Kind.Icon == "" {
				t.Errorf("%s %s: %+v", kind, about, v)
			}
			seen[v.Kind.Word] = kind
		}
	}
	if len(seen) != 8 {
		t.Errorf("%d words for eight kinds: %v", len(seen), seen)
	}
	for _, d := range []scraperclient.Decision{
		{What: "job", ID: "1", To: "quarantined"}, {What: "job", ID: "1", To: "queued"}, {What: "job", ID: "1", To: "requested"}, {What: "job", ID: "1", To: "retry_wait"},
		{What: "chapter", ID: "1", To: "set_aside"}, {What: "circuit", ID: "x", To: "paused", Reason: "access"}, {What: "circuit", ID: "x", To: "paused", Reason: "systemic"},
		{What: "circuit", ID: "x", To: "paused", Reason: "operator"}, {What: "circuit", ID: "x", To: "open"}, {What: "hold", ID: "storage", To: "held"}, {What: "poll", ID: "s", To: "errors"},
		{What: "canary", ID: "x", To: "failing"},
	} {
		if text, _ := english.decisionWords(d, scraperclient.Incident{}); strings.Contains(text, ": "+d.To) {
			t.Errorf("%+v has no words: %q", d, text)
		}
	}
	if text, _ := english.decisionWords(scraperclient.Decision{What: "moon", ID: "1", To: "blue"}, scraperclient.Incident{}); text != "Moon 1: blue." {
		t.Errorf("what is not known reads %q", text)
	}
}

func TestIncidentsAreListed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	_, body := s.get(mo, "/incidents")
	has(t, body, "Nothing waits for a person", "Show all that are kept")
	_, body = s.get(mo, "/incidents?show=all")
	has(t, body, "Nothing has gone wrong yet")
	var many []*scraperv1.GetIncidentResponse
	for i := range 120 {
		many = append(many, incident(int64(120-i), func(in *scraperv1.GetIncidentResponse) {
			in.Incident.Reason = fmt.Sprint("reason ", 120-i)
			in.Incident.Seen = int32(i + 1)
			if i%2 == 1 {
				in.Incident.ResolvedAt, in.Incident.Resolution = timestamppb.Now(), "good_read"
			}
		}))
	}
	s.scraper.SetIncidents(many...)
	_, body = s.get(mo, "/incidents")
	has(t, body, `aria-current="true">Waiting <span>60</span>`, "reason 120<", "1 to 50 of 60", `href="/incidents?page=2" rel="next"`, "3 times")
	hasNot(t, body, "reason 119<", "Read well")
	_, body = s.get(mo, "/incidents?page=2")
	has(t, body, "51 to 60 of 60", `href="/incidents" rel="prev"`)
	hasNot(t, body, `rel="next"`)
	_, body = s.get(mo, "/incidents?show=all&page=2")
	has(t, body, "51 to 100 of 120", "Read well", `href="/incidents?page=3&amp;show=all" rel="next"`)
	if resp, _ := s.get(mo, "/incidents?page=9"); resp.Header.Get("Location") != "/incidents" {
		t.Errorf("a page behind the last: %d", resp.StatusCode)
	}
}

func TestIncidentsWithTheScraperAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.scraper.SetIncidents(incident(1, nil))
	s.scraper.Stop()
	// A call that is cut off tells of the connection; the next one finds nobody.
	for client := s.web.Scraper.(*scraperclient.Client); !client.Presence().Away; {
		_, _ = client.Status(t.Context())
	}
	for _, path := range []string{"/incidents", "/incidents/1"} {
		resp, body := s.get(mo, path)
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
		has(t, body, "Scraper: unreachable since", "mangrove incident ")
		hasNot(t, body, "Nothing waits", "Save bundle")
	}
	if resp, _ := s.get(mo, "/incidents/1/bundle"); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("the bundle: %d", resp.StatusCode)
	}
}

func TestTheWorklistLinksWhatWasRead(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.failing("alpha", "1", "Ash", "errors", 3)
	s.failing("alpha", "2", "Birch", "not_found", 3)
	s.scraper.SetLanes(time.Now().Add(-14*24*time.Hour), lane("alpha", 2, nil))
	s.scraper.SetIncidents(incident(5, func(in *scraperv1.GetIncidentResponse) {
		in.Incident.About, in.Incident.Key = "series", &scraperv1.SeriesKey{Site: "alpha", SeriesId: "1"}
		in.Incident.ChapterId, in.Incident.ChapterNumber = "", ""
	}))
	_, body := s.get(mo, "/worklist")
	if n := strings.Count(body, `href="/incidents/5"`); n != 1 {
		t.Errorf("%d links to the incident, want one, in the row that is our side", n)
	}
	_, body = s.get(mo, "/incidents/5")
	has(t, body, "<h1>Series page not understood</h1>", `name="one" value="alpha/1"`, "Poll again")
}
