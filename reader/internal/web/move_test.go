package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	scraperv1 "mangrove/proto/gen/scraper/v1"
)

const elsewhere = "https://other.example/t/9"

var otherKey = &scraperv1.SeriesKey{Site: "other", SeriesId: "9"}

// movable is a followed Series with a chapter here that fails since a while, and an
// address elsewhere that a Site reads.
func movable(t *testing.T, change func(*scraperv1.SeriesState)) (*site, *http.Client) {
	t.Helper()
	s := newSite(t)
	s.series(func(st *scraperv1.SeriesState) {
		st.Failure = &scraperv1.Failure{Outcome: "not_found", FailingSince: timestamppb.New(time.Now().Add(-50 * time.Hour))}
		if change != nil {
			change(st)
		}
	})
	s.scraper.SetLanes(time.Now(), &scraperv1.LaneDetail{Lane: &scraperv1.Lane{Site: "sample", SiteName: "Sample"}}, &scraperv1.LaneDetail{Lane: &scraperv1.Lane{Site: "other", SiteName: "Other"}})
	s.scraper.Read(elsewhere, "Other", otherKey)
	mo := s.claim()
	s.post(mo, "/sites/sample/s/follow", nil)
	s.publish("c1", "1", 2)
	return s, mo
}

func TestAMoveIsPreviewedThenMade(t *testing.T) {
	t.Parallel()
	s, mo := movable(t, nil)
	_, body := s.get(mo, "/series/1")
	has(t, body, `href="/sites/sample/s/move"`, `action="/sites/sample/s/move"`, "Move it")
	before := s.state()
	_, body = s.get(mo, "/sites/sample/s/move?address="+url.QueryEscape(elsewhere))
	has(t, body, "Move Pepper", "Will be read on", "<strong>Other</strong>", elsewhere, "What stays", "1 chapter in the library stays",
		"Not found since", "for 2 days. The age stands until the first good read there.", "finds its chapters by number", "Move it to Other")
	if d := cmp.Diff(before, s.state()); d != "" || len(s.scraper.Moves()) != 0 {
		t.Errorf("the preview changed something: %s %v", d, s.scraper.Moves())
	}
	resp, _ := s.post(mo, "/sites/sample/s/move", url.Values{"address": {elsewhere}})
	if to := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || to != "/sites/other/9" {
		t.Fatalf("the move answers %d to %q", resp.StatusCode, to)
	}
	if resp, _ := s.get(mo, "/sites/other/9"); resp.Header.Get("Location") != "/series/1" {
		t.Errorf("the new name leads to %q, want the same title", resp.Header.Get("Location"))
	}
	_, body = s.get(mo, "/series/1")
	has(t, body, "Moved today, ", "; not read there yet", "on Other", "The age of the failure stands until then.", "Start reading", `aria-pressed="true"`)
	hasNot(t, body, "Other says there is no such title")
	if m := s.scraper.Follows(); m[len(m)-1].GetFollows()[0].GetKey().GetSite() != "other" {
		t.Errorf("the scraper heard %v, want the follow under its new name", m[len(m)-1])
	}
}

func TestWhyAMoveIsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, address string
		change        func(*scraperv1.SeriesState)
		code          int
		want          []string
	}{
		{"a download is under way", elsewhere, func(st *scraperv1.SeriesState) { st.Job = &scraperv1.Job{State: "downloading"} }, 409, []string{"A download of it is under way", "It stands at “Downloading”", "Nothing was moved"}},
		{"known here under that name", "https://other.example/t/10", nil, 409, []string{"Another Series here has that address", "Carrot on Other is known here already", `href="/sites/other/10"`}},
		{"no Site reads it", "https://nowhere.example/", nil, 404, []string{"No Site here reads this address", "What can be read: Other and Sample."}},
		{"not an address", "Pepper and Carrot", nil, 404, []string{"No Site here reads this address", `value="Pepper and Carrot"`}},
		{"a script", "javascript:alert(1)//x/", nil, 404, []string{"No Site here reads this address"}},
		{"where it is", "https://sample.example/s", nil, 200, []string{"It is read there already"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, mo := movable(t, tt.change)
			s.scraper.Read("https://sample.example/s", "Sample", sampleKey)
			tenth := &scraperv1.SeriesKey{Site: "other", SeriesId: "10"}
			s.scraper.Read("https://other.example/t/10", "Other", tenth)
			s.scraper.SetState(&scraperv1.SeriesState{Series: &scraperv1.Series{Key: tenth, Title: "Carrot"}})
			_, body := s.get(mo, "/sites/sample/s/move?address="+url.QueryEscape(tt.address))
			has(t, body, tt.want...)
			hasNot(t, body, "Move it to", "<script>alert")
			if tt.code == http.StatusOK {
				return
			}
			resp, body := s.post(mo, "/sites/sample/s/move", url.Values{"address": {tt.address}})
			if resp.StatusCode != tt.code {
				t.Errorf("got %d, want %d", resp.StatusCode, tt.code)
			}
			has(t, body, tt.want...)
			if n := len(s.scraper.Moves()); n != 0 {
				t.Errorf("%d moves were made", n)
			}
		})
	}
}

func TestAProposalIsShownAndNotFollowed(t *testing.T) {
	t.Parallel()
	s, mo := movable(t, func(st *scraperv1.SeriesState) { st.ProposedUrl = elsewhere })
	_, body := s.get(mo, "/series/1")
	preview := "/sites/sample/s/move?address=https%3A%2F%2Fother.example%2Ft%2F9"
	has(t, body, "Sample sends readers elsewhere for good", elsewhere, "Mangrove can read it there, on Other", `href="`+preview+`"`)
	_, body = s.get(mo, "/worklist")
	has(t, body, "Sample sends readers elsewhere for good", `href="`+preview+`"`)
	s.series(func(st *scraperv1.SeriesState) {
		st.Failure = &scraperv1.Failure{Outcome: "not_found", FailingSince: timestamppb.Now()}
		st.ProposedUrl, st.ProposedBecause = elsewhere, "same_title"
	})
	for _, page := range []string{"/series/1", "/worklist"} {
		_, body = s.get(mo, page)
		has(t, body, "Sample lists this title at another address")
		hasNot(t, body, "sends readers elsewhere")
	}
	if _, body = s.get(mo, preview); !strings.Contains(body, "Move it to Other") {
		t.Error("the preview offers no move")
	}
	hostile := "https://nowhere.example/\"><script>alert(1)</script>\u202e"
	s.series(func(st *scraperv1.SeriesState) { st.ProposedUrl = hostile })
	_, body = s.get(mo, "/series/1")
	has(t, body, "No Site here reads that address. What can be read: Other and Sample.", "&lt;script&gt;alert(1)")
	hasNot(t, body, "<script>alert", "\u202e", "Look at the move</a>")
}

func TestWhoMayMove(t *testing.T) {
	t.Parallel()
	s, mo := movable(t, func(st *scraperv1.SeriesState) { st.ProposedUrl = elsewhere })
	if _, err := s.pool.Exec(t.Context(), "UPDATE users SET role = 'member'"); err != nil {
		t.Fatal(err)
	}
	_, body := s.get(mo, "/series/1")
	has(t, body, "Mangrove can read it there. An administrator can move it.")
	hasNot(t, body, "Move it", "Look at the move", "/move")
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if resp, _ := s.do(mo, s.request(method, "/sites/sample/s/move?address="+elsewhere, "")); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s answers a reader with %d", method, resp.StatusCode)
		}
	}
}

func TestMovingWithoutTheScraper(t *testing.T) {
	t.Parallel()
	s, mo := movable(t, nil)
	s.scraper.Stop()
	resp, body := s.get(mo, "/sites/sample/s/move?address="+elsewhere)
	if resp.StatusCode != http.StatusOK {
		t.Errorf("got %d", resp.StatusCode)
	}
	has(t, body, "A Series is moved by the scraper, so this has to wait")
	hasNot(t, body, "Move it to")
	resp, body = s.post(mo, "/sites/sample/s/move", url.Values{"address": {elsewhere}})
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("got %d", resp.StatusCode)
	}
	has(t, body, "nothing was changed")
}

func TestMovedWords(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 8, 12, 15, 0, 0, 0, time.Local)
	for _, tt := range []struct {
		name string
		at   time.Time
		want string
	}{
		{"today", now.Add(-time.Hour), "Moved today, 14:00; not read there yet"},
		{"yesterday", now.AddDate(0, 0, -1), "Moved yesterday, 15:00; not read there yet"},
		{"before", now.AddDate(0, 0, -9), "Moved on 3 Aug; not read there yet"},
	} {
		if got := (tongue{}).movedWords(tt.at, now); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
