package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	scraperv1 "mangrove/proto/gen/scraper/v1"
)

func TestFromClaimToReading(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	if resp, _ := s.get(s.anyone, "/library"); resp.Header.Get("Location") != "/claim" {
		t.Fatalf("an unclaimed library leads to %q", resp.Header.Get("Location"))
	}
	_, body := s.post(s.anyone, "/claim", url.Values{"code": {"AAAA-BBBB-CCCC"}, "name": {"Mo"}, "password": {password}})
	has(t, body, "This code is not right", `value="Mo"`, `aria-describedby="problem code-hint"`)
	mo := s.claim()
	if resp, _ := s.get(s.anyone, "/claim"); resp.Header.Get("Location") != "/sign-in" {
		t.Error("a claimed library still offers the claim")
	}

	_, body = s.get(mo, "/library")
	has(t, body, "Nothing on the shelves yet", "Pepper", "By David", "CC BY 4.0", `action="/sites/sample/s/follow"`)
	has(t, body, `action="/add"`, `href="/search"`)
	hasNot(t, body, "Import")
	resp, _ := s.post(mo, "/sites/sample/s/follow", nil)
	if resp.Header.Get("Location") != "/sites/sample/s" {
		t.Fatalf("follow leads to %q", resp.Header.Get("Location"))
	}
	if m := s.scraper.Follows(); len(m) != 1 || !m[0].GetFollows()[0].GetDownload() || m[0].GetRevision() != 1 {
		t.Fatalf("the scraper heard %v", m)
	}
	_, body = s.get(mo, "/sites/sample/s")
	has(t, body, "Following", "Chapter 2", "Not here", "0 <small>of 2 chapters in the library", `src="/covers/site/sample/s?v=`)
	hasNot(t, body, "Start reading")

	book := s.publish("c1", "1", 3)
	resp, _ = s.get(mo, "/sites/sample/s")
	if resp.Header.Get("Location") != "/series/1" {
		t.Fatalf("a catalogued Series leads to %q", resp.Header.Get("Location"))
	}
	_, body = s.get(mo, "/series/1")
	has(t, body, "Start reading", "1 unread", "3 p.", "1 <small>of 2 chapters", `href="/read/1"`, "/covers/title/1?v=")
	if book != 1 {
		t.Fatalf("book %d", book)
	}
	_, body = s.get(mo, "/read/1")
	has(t, body, "1 / 3", "/read/1/pages/1?v=", "Chapter 2 is not here yet", "&#34;sizes&#34;:[[40,60],[40,60],[40,60]]")
	resp, body = s.get(mo, "/read/1/pages/3")
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "image/png" || len(body) == 0 {
		t.Errorf("page 3: %d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}

	var known int64
	save := func(body string) string {
		t.Helper()
		resp, got := s.do(mo, s.request(http.MethodPost, "/read/1/progress", body, "Content-Type", "application/json"))
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("save %s: %d", body, resp.StatusCode)
		}
		var place placeData
		if err := json.Unmarshal([]byte(got), &place); err != nil || place.Version == 0 || place.When == "" || place.Device != "computer" {
			t.Fatalf("save %s: %s, %v", body, got, err)
		}
		known = place.Version
		return fmt.Sprintf("page %d, read %t", place.Page, place.Finished)
	}
	if got := save(`{"page":1,"asked":true}`); got != "page 1, read false" {
		t.Error(got)
	}
	first := known
	_, body = s.get(mo, "/series/1")
	has(t, body, "Continue chapter 1, page 2", "Read to page 2 of 3")
	_, body = s.get(mo, "/")
	has(t, body, "Continue reading", `href="/read/1?page=2"`, "1 page left")
	_, body = s.get(mo, "/read/1")
	has(t, body, "2 / 3")
	if got := save(`{"page":0}`); got != "page 1, read false" {
		t.Errorf("an old tab moved the place: %s", got)
	}
	if got := save(fmt.Sprintf(`{"page":0,"asked":true,"known":%d}`, known)); got != "page 0, read false" {
		t.Errorf("turning back where one was: %s", got)
	}
	if got := save(`{"page":1}`); got != "page 1, read false" {
		t.Error(got)
	}
	if got := save(fmt.Sprintf(`{"page":0,"asked":true,"known":%d}`, first)); got != "page 1, read false" {
		t.Errorf("an old tab in which a page was turned moved the place: %s", got)
	}
	_, body = s.get(mo, "/read/1?page=1")
	has(t, body, "Page 2 on the computer", fmt.Sprintf(`name="known" value="%d"`, known))
	if got := save(`{"page":2}`); got != "page 2, read true" {
		t.Error(got)
	}
	_, body = s.get(mo, "/series/1")
	has(t, body, "Read again from chapter 1", `class="ch done"`)
	resp, _ = s.post(mo, "/sites/sample/s/finished", url.Values{"book": {"1"}})
	if resp.Header.Get("Location") != "/series/1" {
		t.Errorf("marking unread leads to %q", resp.Header.Get("Location"))
	}
	_, body = s.get(mo, "/series/1")
	has(t, body, "Start reading")
	resp, _ = s.post(mo, "/read/1/progress", url.Values{"page": {"2"}})
	if resp.Header.Get("Location") != "/read/1?page=2" {
		t.Errorf("the form without script leads to %q", resp.Header.Get("Location"))
	}

	if resp, _ = s.post(mo, "/sites/sample/s/unfollow", nil); resp.Header.Get("Location") != "/sites/sample/s" {
		t.Errorf("unfollow leads to %q", resp.Header.Get("Location"))
	}
	if m := s.scraper.Follows(); len(m) != 2 || len(m[1].GetUnfollowed()) != 1 || m[1].GetRevision() != 2 {
		t.Errorf("the scraper heard %v", m)
	}
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.claim()
	b := browser(t)
	form := func(name, password string) url.Values {
		return url.Values{"name": {name}, "password": {password}, "next": {"/library"}, "stay": {"1"}}
	}
	var wrong []string
	for _, name := range []string{"Mo", "nobody"} {
		resp, body := s.post(b, "/sign-in", form(name, "not the sentence"))
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, resp.StatusCode)
		}
		has(t, body, "The name or the password is not right.", `value="`+name+`"`)
		wrong = append(wrong, strings.ReplaceAll(body, name, ""))
	}
	if wrong[0] != wrong[1] {
		t.Error("a known and an unknown name are answered differently")
	}
	if resp, _ := s.post(b, "/sign-in", form("mo", password)); resp.Header.Get("Location") != "/library" {
		t.Errorf("signing in leads to %q", resp.Header.Get("Location"))
	}
	if resp, _ := s.get(b, "/library"); resp.StatusCode != http.StatusOK {
		t.Errorf("signed in, the library answers %d", resp.StatusCode)
	}
	var body string
	var resp *http.Response
	for range 12 {
		if resp, body = s.post(browser(t), "/sign-in", form("ada", "guess")); resp.StatusCode == http.StatusTooManyRequests {
			break
		}
	}
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" {
		t.Errorf("after a dozen guesses: %d", resp.StatusCode)
	}
	has(t, body, "Too many tries. Try again in", "data-wait=")
}

func TestHostileWordsAreText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	evil := `<script>alert(1)</script>"'><img src=x onerror=alert(1)>` + "\u202eabc"
	s.series(func(st *scraperv1.SeriesState) {
		x := st.GetSeries()
		x.Title, x.NativeTitle, x.Authors, x.Description, x.Url = evil, evil, []string{evil}, evil, "javascript:alert(1)"
		x.Tags, x.License, x.SiteName = []string{evil}, evil, evil
		st.Chapters[0].Title, st.Chapters[0].Number, st.Chapters[0].Groups, st.Chapters[0].Language = evil, evil, []string{evil}, evil
		st.Chapters[0].DownloadState, st.Chapters[0].SetAsideReason, st.Chapters[0].Volume = "set_aside", evil, evil
		st.Job = &scraperv1.Job{State: evil, Reason: evil}
		st.Failure = &scraperv1.Failure{Outcome: evil, FailingSince: timestamppb.Now()}
	})
	mo := s.claim()
	for _, follow := range []bool{false, true} {
		if follow {
			s.post(mo, "/sites/sample/s/follow", nil)
		}
		for _, path := range []string{"/library", "/", "/sites/sample/s"} {
			_, body := s.get(mo, path)
			hasNot(t, body, "<script>", "<img src=x", "javascript:", "\u202e")
			if path != "/library" && !strings.Contains(body, "&lt;script&gt;") {
				t.Errorf("%s: the words are not there at all", path)
			}
		}
	}
}

func TestNothingInline(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	pages := []string{}
	_, claim := s.get(s.anyone, "/claim")
	mo := s.claim()
	s.publish("c1", "1", 2)
	_, signIn := s.get(s.anyone, "/sign-in")
	for _, path := range []string{"/", "/library", "/series/1", "/read/1", "/me", "/nope", "/worklist", "/lanes"} {
		_, body := s.get(mo, path)
		pages = append(pages, body)
	}
	for _, body := range append(pages, claim, signIn) {
		hasNot(t, body, " style=", "<style", " onclick=", " onload=", "javascript:", "http://www.w3.org/1999/xhtml")
		for _, part := range strings.Split(body, "<script")[1:] {
			if !strings.HasPrefix(part, ` src="/static/`) {
				t.Errorf("an inline script: %.60s", part)
			}
		}
		if n := strings.Count(body, "<h1"); n != 1 {
			t.Errorf("%d headings of the first rank in %.200s", n, body)
		}
	}
}

func TestScraperAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	mo := s.claim()
	s.post(mo, "/sites/sample/s/follow", nil)
	s.publish("c1", "1", 2)
	s.scraper.Stop()
	_, body := s.get(mo, "/series/1")
	has(t, body, "Scraper: unreachable since", `id="away"`, `aria-disabled="true" aria-describedby="away"`, "Start reading", "1 <small>chapter in the library")
	for _, path := range []string{"/library", "/", "/read/1", "/read/1/pages/1", "/me"} {
		if resp, _ := s.get(mo, path); resp.StatusCode != http.StatusOK {
			t.Errorf("%s answers %d without the scraper", path, resp.StatusCode)
		}
	}
	if resp, _ := s.do(mo, s.request(http.MethodPost, "/read/1/progress", `{"page":1}`, "Content-Type", "application/json")); resp.StatusCode != http.StatusOK {
		t.Errorf("progress answers %d without the scraper", resp.StatusCode)
	}
	resp, body := s.post(mo, "/sites/sample/s/poll", nil)
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("asking for a Poll answers %d", resp.StatusCode)
	}
	has(t, body, "Scraper: unreachable since", "nothing was changed")
}

func TestEventsCarryFinishedHTML(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	mo := s.claim()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r := s.request(http.MethodGet, "/events?view=series&site=sample&series=s", "").WithContext(ctx)
	resp, err := mo.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("headers %v", resp.Header)
	}
	seen := make(chan piece, 1000)
	go func() {
		defer close(seen)
		in := bufio.NewScanner(resp.Body)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
				var p piece
				if json.Unmarshal([]byte(data), &p) == nil {
					seen <- p
				}
			}
		}
	}()
	wait := func(id, says string) {
		t.Helper()
		for p := range seen {
			if !strings.Contains(p.HTML, `id="`+p.ID+`"`) {
				t.Errorf("the piece for %s has another id: %s", p.ID, p.HTML)
			}
			if p.ID == id && strings.Contains(p.HTML, says) {
				return
			}
		}
		t.Fatalf("nothing said %q in %s", says, id)
	}
	wait("chapters", "Not here")
	s.series(func(st *scraperv1.SeriesState) {
		st.Chapters[1].DownloadState, st.Chapters[1].PagesDone, st.Chapters[1].PagesTotal = "downloading", 2, 3
	})
	row := tongue{}.rowOf(fromTest("c1"), noBook, false, time.Now()).ID
	wait(row, "2 of 3 pages")
	s.publish("c1", "1", 3)
	wait("series-acts-wide", "Start reading")
	s.scraper.Stop()
	wait("series-notices", "Scraper: unreachable since")
}
