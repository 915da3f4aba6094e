package web

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// readingPage is what the script of a reading view is given.
func (s *site) readingPage(b *http.Client, path string) readData {
	s.t.Helper()
	_, body := s.get(b, path)
	_, rest, ok := strings.Cut(body, `data-read="`)
	text, _, closed := strings.Cut(rest, `"`)
	var d readData
	if !ok || !closed || json.Unmarshal([]byte(html.UnescapeString(text)), &d) != nil {
		s.t.Fatalf("%s holds no reading view: %.400s", path, body)
	}
	return d
}

func TestReadingSettingsAreRemembered(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	mo := s.claim()
	s.publish("c1", "1", 2)
	s.publish("c2", "2", 3)
	send := func(path, body string) int {
		t.Helper()
		resp, _ := s.do(mo, s.request(http.MethodPost, path, body, "Content-Type", "application/json"))
		return resp.StatusCode
	}
	d := s.readingPage(mo, "/read/1")
	if got := d.Settings; got.Mode != "auto" || got.Direction != "ltr" || got.Changed != 0 {
		t.Errorf("nobody chose, and it is %+v", got)
	}
	if len(d.Ahead) != 2 || !strings.HasPrefix(d.Ahead[0], "/read/2/pages/1?v=") || d.Next != "/read/2" || d.User == 0 || d.Place.Page != -1 {
		t.Errorf("the next chapter is not at hand: %+v", d)
	}
	const all = `{"mode":"double","dir":"ltr","fit":"width","bg":"paper","gap":"none","cover":"alone"}`
	if code := send("/reading", all); code != http.StatusOK {
		t.Fatalf("for every title: %d", code)
	}
	if got := s.readingPage(mo, "/read/1").Settings; got.Mode != "double" || got.Background != "paper" || got.Changed == 0 {
		t.Errorf("chosen for every title: %+v", got)
	}
	if code := send("/series/1/reading", strings.NewReplacer("double", "vertical", "ltr", "rtl").Replace(all)); code != http.StatusOK {
		t.Fatalf("for the title: %d", code)
	}
	if got := s.readingPage(mo, "/read/2").Settings; got.Mode != "vertical" || got.Direction != "rtl" {
		t.Errorf("chosen for the title: %+v", got)
	}
	for path, body := range map[string]string{
		"/series/1/reading": strings.Replace(all, "double", "scroll", 1), "/reading": `{"mode":"auto"}`, "/series/1/reading?": `{"user":2}`, "/reading?": "[]",
	} {
		if code := send(path, body); code != http.StatusBadRequest {
			t.Errorf("%s %s: got %d", path, body, code)
		}
	}
	if code := send("/series/99/reading", all); code != http.StatusNotFound {
		t.Errorf("of no Series: %d", code)
	}
}

func TestTheEndOfAChapterHasItsAction(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	mo := s.claim()
	s.publish("c1", "1", 2)
	_, body := s.get(mo, "/read/1")
	has(t, body, "Chapter 2 is not here yet", `action="/sites/sample/s/follow"`, "Follow and download")
	s.post(mo, "/sites/sample/s/follow", nil)
	_, body = s.get(mo, "/read/1")
	has(t, body, `action="/sites/sample/s/poll"`, "Look now")
	s.series(func(st *scraperv1.SeriesState) {
		st.Job = &scraperv1.Job{Id: 7, State: "quarantined", Reason: "Two pages could not be read whole."}
	})
	_, body = s.get(mo, "/read/1")
	has(t, body, "Two pages could not be read whole.", `href="/jobs/7"`, "See the download")
	s.series(func(st *scraperv1.SeriesState) {
		st.Chapters, st.NextPollAt = st.Chapters[1:], timestamppb.New(time.Now().Add(time.Hour))
	})
	_, body = s.get(mo, "/read/1")
	has(t, body, "That was the newest chapter", "Mangrove looks for the next one about", "Look now")
}

func TestARangeIsMarkedWithoutScript(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	mo := s.claim()
	s.publish("c1", "1", 2)
	s.publish("c2", "2", 3)
	_, body := s.get(mo, "/series/1")
	has(t, body, `<form class="bulk`, `action="/sites/sample/s/finished"`, `name="book" value="1" form="mark"`, `name="book" value="2" form="mark"`)
	resp, _ := s.post(mo, "/sites/sample/s/finished", url.Values{"book": {"1", "2"}, "finished": {"1"}})
	if resp.Header.Get("Location") != "/series/1" {
		t.Errorf("marking leads to %q", resp.Header.Get("Location"))
	}
	_, body = s.get(mo, "/series/1")
	if n := strings.Count(body, `class="ch done"`); n != 2 {
		t.Errorf("%d chapters are read, want both", n)
	}
	s.post(mo, "/sites/sample/s/finished", url.Values{"book": {"2"}})
	_, body = s.get(mo, "/series/1")
	has(t, body, "1 unread", "Continue chapter 2")
	if resp, _ := s.post(mo, "/sites/sample/s/finished", url.Values{"book": {"x"}}); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a chapter that is no number: %d", resp.StatusCode)
	}
}
