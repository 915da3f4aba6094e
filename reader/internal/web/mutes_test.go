package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMutedFailuresStandApart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.failing("alpha", "1", "Ash", "not_found", 30)
	s.failing("alpha", "2", "Birch", "errors", 20)
	s.failing("beta", "3", "Cedar", "errors", 10)
	a, b := lane("alpha", 2, nil), lane("beta", 1, nil)
	s.scraper.SetLanes(time.Now(), a, b)
	_, body := s.get(mo, "/worklist")
	hasNot(t, body, "Muted", "/worklist/unmute")
	has(t, body, `formaction="/worklist/mute"`)

	resp, _ := s.post(mo, "/worklist/mute", url.Values{"key": {"alpha/1", "alpha/nosuch"}, "back": {"/worklist?sort=title"}})
	if to := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || to != "/worklist?sort=title" {
		t.Errorf("%d to %q", resp.StatusCode, to)
	}
	a.Muted = 1
	s.know()
	_, body = s.get(mo, "/worklist")
	if d := cmp.Diff([]string{"Birch", "Cedar"}, titlesOf(body)); d != "" {
		t.Error(d)
	}
	has(t, body, `href="/worklist?muted=1">Muted <span>1</span>`, `>All <span>2</span>`, `>ALPHA <span>1</span>`, `id="side-worklist">2<`, `id="foot-running">2<`)
	hasNot(t, body, "Not found <span>")
	_, home := s.get(mo, "/lanes")
	has(t, home, "2, 1 muted")

	_, body = s.get(mo, "/worklist?muted=1")
	if d := cmp.Diff([]string{"Ash"}, titlesOf(body)); d != "" {
		t.Error(d)
	}
	has(t, body, "Muted since "+dated(time.Now(), time.Now())[:2], `href="/worklist" aria-current="true">Muted <span>1</span>`, `formaction="/worklist/unmute"`, "show again",
		`name="back" value="/worklist?muted=1"`, `data-live="/events?muted=1&amp;view=worklist"`, "failures that somebody has looked at")
	hasNot(t, body, `formaction="/worklist/mute"`)
	_, body = s.get(mo, "/worklist?muted=1&outcome=errors")
	has(t, body, "Nothing that you filter for fails")

	// All of them muted: the list is empty, and does not say that all is well.
	s.post(mo, "/worklist/mute", url.Values{"key": {"alpha/2", "beta/3"}})
	_, body = s.get(mo, "/worklist")
	has(t, body, "Nothing fails but what is muted", "3 failures that somebody has looked at stand under Muted", `href="/worklist?muted=1"`)
	hasNot(t, body, "Everything you follow was read", "No Series is known to fail")
	s.know()
	_, body = s.get(mo, "/")
	has(t, body, `id="side-worklist" hidden`)
	hasNot(t, body, "stopped updating")

	s.post(mo, "/worklist/unmute", url.Values{"key": {"alpha/1", "alpha/2", "beta/3"}, "back": {"/worklist?muted=1"}})
	_, body = s.get(mo, "/worklist?muted=1")
	has(t, body, "No failure is muted")
	if n := len(s.scraper.Polls()); n != 0 {
		t.Errorf("muting asked for %d Polls", n)
	}
}

func TestTheWorklistByAge(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	for id, days := range map[string]int{"new": 0, "days": 3, "weeks": 10, "months": 100, "years": 500} {
		s.failing("alpha", id, id, "errors", days)
	}
	s.scraper.SetLanes(time.Now(), lane("alpha", 5, nil))
	for age, want := range map[string][]string{
		"": {"years", "months", "weeks", "days", "new"}, "day": {"years", "months", "weeks", "days"}, "week": {"years", "months", "weeks"},
		"month": {"years", "months"}, "year": {"years"},
	} {
		_, body := s.get(mo, "/worklist?age="+age)
		if d := cmp.Diff(want, titlesOf(body)); d != "" {
			t.Errorf("%q: (-want +got)\n%s", age, d)
		}
		has(t, body, fmt.Sprintf(`>All <span>%d</span>`, len(want)))
	}
	_, body := s.get(mo, "/worklist?age=week&outcome=errors")
	has(t, body, `href="/worklist?age=week&amp;outcome=errors" aria-current="true">Over a week`, `href="/worklist?outcome=errors">Any age`, `name="back" value="/worklist?age=week&amp;outcome=errors"`)
	for _, path := range []string{"?age=fortnight", "?age=-1", "?muted=yes", "?muted=", "?muted=0"} {
		if resp, _ := s.get(mo, "/worklist"+path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s answers %d", path, resp.StatusCode)
		}
	}
}

func TestUnfollowingFromTheWorklist(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	for i := range 3 {
		s.failing("alpha", fmt.Sprint(i), fmt.Sprint("Series ", i), "errors", 3)
		s.post(mo, fmt.Sprintf("/sites/alpha/%d/follow", i), nil)
	}
	follows := func() (n int) {
		if err := s.pool.QueryRow(t.Context(), "SELECT count(*) FROM bookmarks").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := follows(); n != 3 {
		t.Fatalf("%d follows", n)
	}
	resp, _ := s.post(mo, "/worklist/unfollow", url.Values{"key": {"alpha/0", "alpha/2", "alpha/unknown"}, "back": {"/worklist?sort=title"}})
	if to := resp.Header.Get("Location"); to != "/worklist?sort=title" || follows() != 1 {
		t.Errorf("leads to %q with %d follows left, want one", to, follows())
	}
	told := map[string]bool{}
	for _, f := range s.scraper.Follows() {
		for _, k := range f.GetUnfollowed() {
			told[k.GetSeriesId()] = true
		}
	}
	if d := cmp.Diff(map[string]bool{"0": true, "2": true}, told); d != "" {
		t.Errorf("the scraper heard:\n%s", d)
	}
}

func TestBulkActionsAreForAdministratorsAndBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.failing("alpha", "1", "Ash", "errors", 3)
	many := url.Values{}
	for i := range 1001 {
		many.Add("key", fmt.Sprint("alpha/", i))
	}
	paths := []string{"/worklist/mute", "/worklist/unmute", "/worklist/unfollow", "/worklist/poll"}
	for _, path := range paths {
		if resp, _ := s.post(mo, path, many); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s of 1,001: %d", path, resp.StatusCode)
		}
		if resp, _ := s.post(mo, path, url.Values{"key": {"alpha/%zz"}}); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s of no Series: %d", path, resp.StatusCode)
		}
	}
	if _, err := s.pool.Exec(t.Context(), "UPDATE users SET role = 'member'"); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if resp, _ := s.post(mo, path, url.Values{"key": {"alpha/1"}}); resp.StatusCode != http.StatusNotFound {
			t.Errorf("a member posts to %s: %d", path, resp.StatusCode)
		}
	}
	s.know()
	if st := s.web.Scraper.Presence().Status; st.SeriesMuted != 0 || len(s.scraper.Polls()) != 0 {
		t.Errorf("something was done: %+v", st)
	}
	if strings.Contains(fmt.Sprint(s.scraper.Follows()), "unfollowed") {
		t.Error("something was unfollowed")
	}
}
