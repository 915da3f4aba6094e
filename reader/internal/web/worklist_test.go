package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/scraperclient"
)

// failing tells the scraper of one failing Series, failing for so many days.
func (s *site) failing(site, id, title, outcome string, days int) {
	since := time.Now().Add(-time.Duration(days) * 24 * time.Hour)
	s.scraper.SetState(&scraperv1.SeriesState{
		Series:  &scraperv1.Series{Key: &scraperv1.SeriesKey{Site: site, SeriesId: id}, Title: title, SiteName: strings.ToUpper(site), Url: "https://" + site + ".example/" + id},
		Failure: &scraperv1.Failure{Outcome: outcome, FailingSince: timestamppb.New(since)}, LastGoodRead: timestamppb.New(since.Add(-time.Hour)),
		NextPollAt: timestamppb.New(time.Now().Add(time.Hour)), Polled: true, Lane: &scraperv1.Lane{Site: site, Circuit: "closed"},
	})
}

func lane(site string, failing int, change func(*scraperv1.LaneDetail)) *scraperv1.LaneDetail {
	d := &scraperv1.LaneDetail{
		Lane:   &scraperv1.Lane{Site: site, SiteName: strings.ToUpper(site), Circuit: "closed", Activity: "idle"},
		Series: 1204, Failing: int32(failing), LastGoodRead: timestamppb.New(time.Now().Add(-40*time.Minute - time.Second)), PacingSeconds: 2,
	}
	if change != nil {
		change(d)
	}
	return d
}

// know lets the reader hear the scraper's status, as Run does now and then.
func (s *site) know() {
	s.t.Helper()
	if _, err := s.web.Scraper.(*scraperclient.Client).Status(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

func TestWorklistFiltersLiveInTheAddress(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.failing("alpha", "1", "Ash", "not_found", 111)
	s.failing("alpha", "2", "Birch", "no_chapter", 59)
	s.failing("beta", "3", "Cedar", "errors", 10)
	s.scraper.SetLanes(time.Now().Add(-14*24*time.Hour), lane("alpha", 2, nil), lane("beta", 1, nil))
	for _, tt := range []struct {
		name, path string
		want       []string
	}{
		{"oldest first", "/worklist", []string{"Ash", "Birch", "Cedar"}},
		{"newest first", "/worklist?sort=newest", []string{"Cedar", "Birch", "Ash"}},
		{"by title", "/worklist?sort=title", []string{"Ash", "Birch", "Cedar"}},
		{"one Site", "/worklist?site=alpha", []string{"Ash", "Birch"}},
		{"one word", "/worklist?outcome=errors", []string{"Cedar"}},
		{"both", "/worklist?outcome=no_chapter&site=alpha", []string{"Birch"}},
		{"nothing left", "/worklist?outcome=no_chapter&site=beta", nil},
		{"a Site that is not there", "/worklist?site=%3Cscript%3E", nil},
	} {
		resp, body := s.get(mo, tt.path)
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", tt.name, resp.StatusCode)
		}
		if d := cmp.Diff(tt.want, titlesOf(body)); d != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, d)
		}
		if tt.want == nil {
			has(t, body, "Nothing that you filter for fails")
		}
	}
	_, body := s.get(mo, "/worklist?site=alpha&sort=newest")
	has(t, body, `href="/worklist?outcome=no_chapter&amp;site=alpha&amp;sort=newest">No chapters listed <span>1</span>`, `href="/worklist?site=alpha&amp;sort=newest" aria-current="true">All <span>2</span>`,
		`href="/worklist?sort=newest">Every Site`, `name="back" value="/worklist?site=alpha&amp;sort=newest"`, `data-live="/events?site=alpha&amp;sort=newest&amp;view=worklist"`)
	for _, path := range []string{"?outcome=refused", "?outcome=x", "?sort=age", "?page=0", "?page=x", "?page=-1", "?page=99999999999999999999", "?site=" + strings.Repeat("x", 600)} {
		if resp, _ := s.get(mo, "/worklist"+path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%.40s answers %d", path, resp.StatusCode)
		}
	}
}

// titlesOf are the Series of the page's rows, in order.
func titlesOf(body string) []string {
	var out []string
	for _, part := range strings.Split(body, `class="row-title"`)[1:] {
		_, rest, _ := strings.Cut(part, ">")
		title, _, _ := strings.Cut(rest, "<")
		out = append(out, title)
	}
	return out
}

func TestWorklistRow(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	for i, o := range failureOutcomes() {
		s.failing("alpha", o, "Series "+o, o, 10*(4-i))
	}
	s.scraper.SetLanes(time.Now(), lane("alpha", 4, nil))
	s.know()
	_, body := s.get(mo, "/worklist")
	for o, want := range map[string]string{
		"not_found": "tone-bad|i-gone|Not found", "no_chapter": "tone-odd|i-list0|No chapters listed", "unfetchable": "tone-warn|i-cut|Could not be read",
		"errors": "tone-warn|i-puzzle|Not understood",
	} {
		_, row, _ := strings.Cut(body, `id="`+rowID(scraperclient.Key{Site: "alpha", SeriesID: o})+`"`)
		row, _, _ = strings.Cut(row, "</li>")
		has(t, row, append(strings.Split(want, "|"), `<span class="exact">`+o+`</span>`, "Lane last read 40 min ago", "next Poll", `value="alpha/`+o+`"`, `href="https://alpha.example/`+o+`"`)...)
	}
	has(t, body, "<strong>40 days</strong>", `<rect width="100"`, `<rect width="75"`, `<rect width="25"`, "Poll all 4", `id="side-worklist">4<span class="sr"> Series failing</span>`,
		`id="foot-running">4<`, `id="side-lanes" hidden`)
	hasNot(t, body, " style=", "Counting since")
}

func TestWorklistPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	for i := range 205 {
		s.failing("alpha", fmt.Sprint(i), fmt.Sprintf("S%03d", i), "errors", 300-i)
	}
	_, body := s.get(mo, "/worklist")
	has(t, body, "1 to 100 of 205", `href="/worklist?page=2" rel="next"`)
	hasNot(t, body, `rel="prev"`)
	_, body = s.get(mo, "/worklist?page=3&outcome=errors")
	if got := titlesOf(body); len(got) != 5 || got[0] != "S200" {
		t.Errorf("page 3 has %v", got)
	}
	// Held against the oldest of all, not the oldest of the page.
	has(t, body, "201 to 205 of 205", `href="/worklist?outcome=errors&amp;page=2" rel="prev"`, `<rect width="33"`)
	hasNot(t, body, `rel="next"`)
	if resp, _ := s.get(mo, "/worklist?page=9"); resp.Header.Get("Location") != "/worklist?page=3" {
		t.Errorf("a page that is no more leads to %q", resp.Header.Get("Location"))
	}
	resp, _ := s.post(mo, "/worklist/poll", url.Values{"all": {"1"}, "back": {"/worklist?outcome=errors"}})
	if to := resp.Header.Get("Location"); to != "/worklist?outcome=errors" || len(s.scraper.Polls()) != 205 {
		t.Errorf("Poll all leads to %q with %d Polls", to, len(s.scraper.Polls()))
	}
}

func TestPollAgainWithoutScript(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.failing("alpha", "1", "Ash", "not_found", 3)
	s.failing("alpha", "a/b ?#é", "Birch", "errors", 2)
	s.failing("alpha", "3", "Cedar", "errors", 1)
	s.scraper.SetLanes(time.Now(), lane("alpha", 3, nil))
	_, body := s.get(mo, "/worklist?sort=title")
	has(t, body, `method="post" action="/worklist/poll"`, `value="alpha/a%2Fb%20%3F%23%C3%A9"`)
	form := url.Values{"key": {"alpha/1", "alpha/a%2Fb%20%3F%23%C3%A9"}, "back": {"/worklist?sort=title"}}
	resp, _ := s.post(mo, "/worklist/poll", form)
	if to := resp.Header.Get("Location"); to != "/worklist?sort=title" {
		t.Errorf("the form leads to %q", to)
	}
	var got []string
	for _, k := range s.scraper.Polls() {
		got = append(got, k.GetSeriesId())
	}
	if d := cmp.Diff([]string{"1", "a/b ?#é"}, got); d != "" {
		t.Error(d)
	}
	// A Forced Poll clears nothing: the rows stay and say that it waits (POLL-6).
	_, body = s.get(mo, "/worklist")
	if n := strings.Count(body, "not read yet. The next Pass takes it."); n != 2 || len(titlesOf(body)) != 3 {
		t.Errorf("%d rows wait among %v", n, titlesOf(body))
	}
	// The button of one row leaves the ticked ones alone.
	form.Set("one", "alpha/3")
	resp, _ = s.post(mo, "/worklist/poll", form)
	if to, want := resp.Header.Get("Location"), "/worklist?sort=title#"+rowID(scraperclient.Key{Site: "alpha", SeriesID: "3"}); to != want {
		t.Errorf("got %q, want %q", to, want)
	}
	if n := len(s.scraper.Polls()); n != 3 {
		t.Errorf("%d Polls", n)
	}
	for _, back := range []string{"//evil.example/worklist", "https://evil.example/worklist", "/library", "/worklist?sort=evil", "/\\evil"} {
		resp, _ := s.post(mo, "/worklist/poll", url.Values{"back": {back}})
		if to := resp.Header.Get("Location"); to != "/worklist" {
			t.Errorf("back %q leads to %q", back, to)
		}
	}
	for _, key := range []string{"alpha", "/1", "alpha/", "alpha/%zz", strings.Repeat("x", 5000) + "/1"} {
		if resp, _ := s.post(mo, "/worklist/poll", url.Values{"key": {key}}); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("key %.20q answers %d", key, resp.StatusCode)
		}
	}
}

func TestForcedPollsAreLimited(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	var resp *http.Response
	var body string
	n := 0
	for ; n < 70; n++ {
		if resp, body = s.post(mo, "/worklist/poll", nil); resp.StatusCode != http.StatusSeeOther {
			break
		}
	}
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" || n < 20 {
		t.Errorf("after %d: %d", n, resp.StatusCode)
	}
	has(t, body, "A little slower, please", "Try again in")
}

func TestCountingBanner(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	since := time.Now().Add(-time.Hour)
	s.scraper.SetCounting(since)
	s.scraper.SetLanes(time.Now(), lane("alpha", 0, nil), lane("beta", 0, func(d *scraperv1.LaneDetail) { d.CountingSince = timestamppb.New(since) }))
	_, body := s.get(mo, "/worklist")
	has(t, body, "Counting since "+Clock(since, time.Now())+": not all of BETA has been read once yet; the first full cycle ends about", "No Series is known to fail.", "As far as they have been looked at")
	// The first full cycle of a Site is as long as its interval (A7).
	for _, hours := range []int{12, 30} {
		s.scraper.SetLanes(time.Now(), lane("alpha", 0, func(d *scraperv1.LaneDetail) { d.Lane.IntervalSeconds = 99 * 3600 }), lane("beta", 0, func(d *scraperv1.LaneDetail) {
			d.CountingSince, d.Lane.IntervalSeconds = timestamppb.New(since), float64(hours)*3600
		}))
		_, body := s.get(mo, "/worklist")
		has(t, body, "the first full cycle ends about "+Clock(since.Add(time.Duration(hours)*time.Hour), time.Now())+".")
	}
	_, lanes := s.get(mo, "/lanes")
	if n := strings.Count(lanes, "Counting since"); n != 1 {
		t.Errorf("%d Lanes are counting", n)
	}
	s.scraper.SetCounting(time.Time{})
	_, body = s.get(mo, "/worklist")
	hasNot(t, body, "Counting since", "As far as")
	has(t, body, "Everything you follow was read.")
}

func TestLaneTroubleIsOneNoticeAndNeverASeries(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	now := time.Now()
	at := timestamppb.New(now.Add(-90 * time.Minute))
	s.failing("closed", "1", "Ash", "not_found", 3)
	s.failing("access", "1", "Birch", "not_found", 3)
	set := func(circuit, reason, trouble string) func(*scraperv1.LaneDetail) {
		return func(d *scraperv1.LaneDetail) {
			d.Lane.Circuit, d.Lane.CircuitReason, d.Lane.CircuitSince, d.Lane.Trouble = circuit, reason, at, trouble
			d.Lane.CircuitUntil, d.Lane.TroubleSince = timestamppb.New(now.Add(time.Minute)), at
			d.RetryAfter = timestamppb.New(now.Add(time.Minute))
		}
	}
	browserless := func(circuit, reason, trouble string) func(*scraperv1.LaneDetail) {
		return func(d *scraperv1.LaneDetail) {
			set(circuit, reason, trouble)(d)
			d.Lane.Needs = "browser"
		}
	}
	s.scraper.SetLanes(now, lane("scripted", 0, browserless("open", "outage", "unreachable")), lane("asks", 0, browserless("closed", "", "refused")),
		lane("access", 1, set("paused", "access", "refused")), lane("systemic", 0, set("paused", "systemic", "")), lane("operator", 0, set("paused", "operator", "")),
		lane("open", 0, set("open", "outage", "unreachable")), lane("gone", 0, set("closed", "", "unreachable")), lane("closed", 1, nil))
	s.know()
	_, body := s.get(mo, "/worklist")
	until := Clock(now.Add(time.Minute), now)
	has(t, body, "ACCESS refused since", "It asked for quiet until "+until, "1,204 Series wait. Nothing is held against them.", "SYSTEMIC paused since", "its pages are not understood",
		"OPERATOR paused by an operator since", "OPEN: resting until "+until, "GONE not reachable since", "SCRIPTED needs a browser, which is missing here.", "ASKS refused since", `href="/lanes#lane-access"`,
		"; this age is not being re-tested", "Lane last read 40 min ago", `id="side-lanes">4<span class="sr"> needing a person`)
	if n := strings.Count(body, "See the Lane"); n != 7 {
		t.Errorf("%d notices for seven Sites", n)
	}
	if got := titlesOf(body); len(got) != 2 {
		t.Errorf("rows %v", got)
	}
	hasNot(t, body, `<span class="exact">refused`, `<span class="exact">unreachable`)
	_, body = s.get(mo, "/lanes")
	has(t, body, "<code>mangrove resume access</code>", "<code>mangrove resume systemic</code>", "<code>mangrove resume operator</code>", "The Site refuses to answer",
		"No Series is marked as failing because of this.", "Resting until "+until, "this ends by itself", "Not reachable since",
		"It needs a browser, which is missing here", "<code>sudo apt-get install chromium</code>")
	if n := strings.Count(body, "mangrove resume"); n != 3 {
		t.Errorf("%d commands: only an operator ends a pause, the rest ends by itself", n)
	}
	if n := strings.Count(body, `<button class="btn sm" type="submit">Resume</button>`); n != 3 {
		t.Errorf("%d Resume buttons, want one a paused Site", n)
	}
	// The Site's own time has not passed: asked once more, then done.
	resp, _ := s.post(mo, "/lanes/access/resume", url.Values{})
	_, body = s.get(mo, strings.TrimSuffix(resp.Header.Get("Location"), "#lane-access"))
	has(t, body, "The Site’s own time has not passed. Resume now all the same?", `name="confirmed" value="yes"`, "The Site refuses to answer")
	s.post(mo, "/lanes/access/resume", url.Values{"confirmed": {"yes"}})
	_, body = s.get(mo, "/lanes")
	hasNot(t, body, "The Site refuses to answer", "/lanes/access/resume")
	if resp, _ := s.post(mo, "/lanes/nosuch/resume", url.Values{}); resp.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown Site: status %d", resp.StatusCode)
	}
}

func TestRunningIsForAdministrators(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.failing("alpha", "1", "Ash", "not_found", 3)
	s.scraper.SetIncidents(incident(1, nil))
	mo := s.claim()
	s.know()
	_, body := s.get(mo, "/")
	has(t, body, `href="/worklist"`, `href="/lanes"`, `href="/incidents"`)
	for _, role := range []string{"member", "guest"} {
		if _, err := s.pool.Exec(t.Context(), "UPDATE users SET role = $1", role); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/worklist", "/lanes", "/incidents", "/incidents/1", "/incidents/1/bundle", "/events?view=worklist", "/events?view=lanes", "/events?view=incidents"} {
			if resp, _ := s.get(mo, path); resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s answers a %s with %d", path, role, resp.StatusCode)
			}
		}
		if resp, _ := s.post(mo, "/incidents/1/seen", nil); resp.StatusCode != http.StatusNotFound {
			t.Errorf("a %s may say that an incident is seen to: %d", role, resp.StatusCode)
		}
		if resp, _ := s.post(mo, "/worklist/poll", url.Values{"key": {"alpha/1"}}); resp.StatusCode != http.StatusNotFound || len(s.scraper.Polls()) != 0 {
			t.Errorf("a %s may ask for Polls: %d", role, resp.StatusCode)
		}
		for _, path := range []string{"/", "/library", "/me"} {
			_, body := s.get(mo, path)
			hasNot(t, body, "Worklist", "/lanes", "Running", "failing")
		}
	}
}

func TestRunningWithTheScraperAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.failing("alpha", "1", "Ash", "not_found", 3)
	s.know()
	s.scraper.Stop()
	// A call that is cut off tells of the connection; the next one finds nobody.
	for client := s.web.Scraper.(*scraperclient.Client); !client.Presence().Away; {
		_, _ = client.Status(t.Context())
	}
	for _, path := range []string{"/worklist", "/worklist?page=7", "/lanes"} {
		resp, body := s.get(mo, path)
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s answers %d", path, resp.StatusCode)
		}
		has(t, body, "Scraper: unreachable since "+Clock(time.Now(), time.Now())[:2], "goes by itself", `id="side-worklist" hidden`)
		hasNot(t, body, "Everything you follow was read", "No Site has a Lane", "Poll all")
	}
	resp, body := s.post(mo, "/worklist/poll", url.Values{"key": {"alpha/1"}})
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("asking for a Poll answers %d", resp.StatusCode)
	}
	has(t, body, "nothing was changed")
}

func TestHostileWordsOfRunningAreText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	evil := `<script>alert(1)</script>"'><img src=x onerror=alert(1)>` + "\u202eabc"
	s.scraper.SetState(&scraperv1.SeriesState{
		Series:  &scraperv1.Series{Key: &scraperv1.SeriesKey{Site: evil, SeriesId: evil}, Title: evil, SiteName: evil, Url: "javascript:alert(1)"},
		Failure: &scraperv1.Failure{Outcome: evil, FailingSince: timestamppb.Now()},
	})
	s.scraper.SetLanes(time.Now(), lane(evil, 1, func(d *scraperv1.LaneDetail) {
		d.Lane.SiteName, d.Lane.Circuit, d.Lane.CircuitReason, d.Lane.Activity, d.Current, d.CircuitDetail = evil, "paused", "access", evil, evil, evil
		d.Passes = []*scraperv1.Pass{{StartedAt: timestamppb.Now(), EndedAt: timestamppb.Now(), EndReason: evil, Ok: 1}}
	}))
	for _, path := range []string{"/worklist", "/lanes", "/worklist?site=" + url.QueryEscape(evil), "/lanes?pass=1&site=" + url.QueryEscape(evil)} {
		resp, body := s.get(mo, path)
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%.20s answers %d", path, resp.StatusCode)
		}
		hasNot(t, body, "<script>", "<img src=x", "javascript:", "\u202e", " style=", " onclick=", "mangrove resume")
		has(t, body, "&lt;script&gt;")
	}
	resp, _ := s.post(mo, "/worklist/poll", url.Values{"one": {keyText(scraperclient.Key{Site: evil, SeriesID: evil})}})
	if resp.StatusCode != http.StatusSeeOther || len(s.scraper.Polls()) != 1 || s.scraper.Polls()[0].GetSeriesId() != evil {
		t.Errorf("asking for it: %d, %v", resp.StatusCode, s.scraper.Polls())
	}
}
