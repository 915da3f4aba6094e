package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"mangrove/internal/standing"
	"mangrove/reader/internal/scraperclient"
)

// parked is the word of a supervisor whose scraper spent its budget at 14:02.
func parked(now time.Time) standing.Report {
	since := now.Add(-24 * time.Minute)
	return standing.Report{At: now, Limit: 3, Services: []standing.Service{
		{Name: "postgres", State: "serving", Since: now.Add(-72 * time.Hour), Left: 3},
		{Name: "scraper", State: "repair-required", Since: since, FreesAt: standing.Moment(since.Add(45 * time.Minute)), Reason: "3 failures within an hour", Exits: []standing.Exit{
			{At: since.Add(-15 * time.Minute), What: "exit code 2"}, {At: since.Add(-7 * time.Minute), What: "signal: killed"},
			{At: since, What: "exit code 2", LastLines: []string{"panic: <b>index</b> out of range [14]"}},
		}},
		{Name: "reader", State: "serving", Since: now.Add(-time.Hour), Left: 3},
	}}
}

// TestHealthShowsWhatIsParkedAndWhatMayBeDone shows OBS-1, SUP-9, features H1 and D33.
func TestHealthShowsWhatIsParkedAndWhatMayBeDone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.series(nil)
	s.scraper.SetIncidents(incident(7, nil))
	now := time.Now()
	report := parked(now)
	s.standing.Store(&report)
	resp, body := s.get(mo, "/settings/health")
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.StatusCode)
	}
	from := report.Services[1].FreesAt.Local().Format("15:04")
	has(t, body, "<h1>Service health</h1>", "Reading works. Downloads and following have stopped since ", ". The scraper ended 3 times within an hour and waits for you.",
		"Repair required", `<span class="exact">repair-required</span>`, "0 of 3 failures left in this hour", "none of 3 left, one again at ", "panic: &lt;b&gt;index&lt;/b&gt; out of range [14]",
		"A restart is allowed from "+from, "<code>mangrove restart scraper</code>", "from "+from+", in ", "<code>mangrove reset-budget scraper</code>", "now, deliberately",
		"What the supervisor sees", "What the scraper reports", "Page list not understood", `href="/incidents/7"`, "1 waits for a person", `aria-current="page">Health</a>`)
	hasNot(t, body, "is not heard", "unreachable", "<b>index", "<form method=\"post\" action=\"/settings/health")
	// The parked one comes first, and neither list holds the other's.
	services, scraper, _ := strings.Cut(body, `id="health-scraper"`)
	if i, j := strings.Index(services, "<h3 lang=\"en\" dir=\"ltr\">scraper</h3>"), strings.Index(services, "<h3 lang=\"en\" dir=\"ltr\">reader</h3>"); i < 0 || j < i {
		t.Errorf("scraper at %d, reader at %d", i, j)
	}
	hasNot(t, scraper, "panic", "budget")
	hasNot(t, services, "Page list not understood")
}

// TestHealthWhenOneIsAway: its last word with its age, and the other's as it is.
// It shows features H1.
func TestHealthWhenOneIsAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.series(nil)
	s.scraper.SetIncidents(incident(7, nil))
	_, body := s.get(mo, "/settings/health")
	has(t, body, "The supervisor has said nothing here", "mangrove check", "nobody would restart them", "Page list not understood")
	old := standing.Report{At: time.Now().Add(-2 * time.Hour), Limit: 3, Services: []standing.Service{{Name: "scraper", State: "serving", Since: time.Now().Add(-3 * time.Hour), Left: 3}}}
	s.standing.Store(&old)
	_, body = s.get(mo, "/settings/health")
	has(t, body, "The supervisor is not heard", "2 h old", "Serving")
	fresh := old
	fresh.At = time.Now()
	s.standing.Store(&fresh)
	_, body = s.get(mo, "/settings/health")
	has(t, body, "All is well: reading, following and downloads work.", "3 of 3 left")
	hasNot(t, body, "What you can do next", "not heard")
	s.scraper.Stop()
	_, body = s.get(mo, "/settings/health")
	has(t, body, "Scraper: unreachable since ", "What follows is its last word", "Page list not understood", "The scraper is not heard just now")
}

// TestHealthIsForAdministrators and changes nothing by any request.
func TestHealthIsForAdministrators(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	if resp, _ := s.post(mo, "/settings/health", url.Values{"restart": {"scraper"}}); resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusSeeOther {
		t.Errorf("a form was taken: %d", resp.StatusCode)
	}
	if resp, _ := s.get(s.anyone, "/settings/health"); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("a stranger: %d", resp.StatusCode)
	}
}

// A supervisor that was started again since does not make it a new trouble.
func TestAParkedServiceIsParkedSinceItsLastFailure(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 8, 12, 14, 26, 0, 0, time.Local)
	report := parked(now)
	report.Services[1].Since = now.Add(-time.Minute)
	v := english.healthOf(report, scraperclient.Presence{}, nil, now)
	if !strings.Contains(v.Whole, "since 14:02. ") || v.Services[0].Facts[0] != (laneFact{Name: "Parked", Text: "14:02, 24 min ago"}) {
		t.Errorf("%q, %+v", v.Whole, v.Services[0].Facts)
	}
}

// Each state of a service has words of its own and a sentence for the whole.
func TestEveryStateOfAServiceIsWorded(t *testing.T) {
	t.Parallel()
	now := time.Now()
	seen := map[string]string{}
	for _, state := range []string{"starting", "serving", "backing-off", "waiting", "blocked", "repair-required", "stopping", "stopped"} {
		one := standing.Service{Name: "scraper", State: state, Since: now, Reason: "the schema is newer", NextStart: standing.Moment(now.Add(time.Second))}
		v := english.healthOf(standing.Report{At: now, Limit: 3, Services: []standing.Service{one}}, scraperclient.Presence{}, nil, now)
		if seen[v.Whole] != "" || v.Services[0].State.Word == state || (state == "serving") != (v.Tone == "ok") {
			t.Errorf("%s: %q as %s, %+v", state, v.Whole, seen[v.Whole], v.Services[0].State)
		}
		seen[v.Whole] = state
		needs := state == "blocked" || state == "repair-required" || state == "stopped"
		if (v.Services[0].Next != nil) != needs {
			t.Errorf("%s: what to do next is %+v", state, v.Services[0].Next)
		}
	}
}
