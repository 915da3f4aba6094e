package web

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/pages/pagestest"
)

// shelve puts titles into the catalog with a chapter each, without files.
func (s *site) shelve(names ...string) {
	s.t.Helper()
	if _, err := s.pool.Exec(context.Background(), `
		WITH t AS (INSERT INTO titles (site, series_id, title, site_name) SELECT 'shelf', name, name, 'Shelf' FROM unnest($1::text[]) AS n (name) RETURNING id)
		INSERT INTO books (title_id, chapter_id, path, page_count, size, fingerprint, published_at) SELECT id, 'c', id::text, 5, 1, 'f' || id, now() FROM t`, names); err != nil {
		s.t.Fatal(err)
	}
}

func numbered(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("Title %d", i+1))
	}
	return out
}

var shownTitle = regexp.MustCompile(`class="(?:item-title|row-title)"[^>]*>([^<]*)<`)

func titlesIn(body string) (out []string) {
	for _, m := range shownTitle.FindAllStringSubmatch(body, -1) {
		out = append(out, m[1])
	}
	return out
}

func TestTheLibraryGoesOnWithoutScript(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.shelve(numbered(100)...)
	var met []string
	for at := "/library"; at != ""; {
		resp, body := s.get(mo, at)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s answers %d", at, resp.StatusCode)
		}
		met = append(met, titlesIn(body)...)
		at = ""
		if m := regexp.MustCompile(`id="more"><a class="btn" href="([^"]+)"`).FindStringSubmatch(body); m != nil {
			at = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	if len(met) != 100 || met[1] != "Title 2" || met[99] != "Title 100" {
		t.Errorf("met %d titles: %q", len(met), met)
	}
}

func TestALibrarysViewsLiveInTheAddress(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.shelve("Ash & Ember", "Salt")
	_, body := s.get(mo, "/library?view=list&q=ash&sort=read")
	has(t, body, "Ash &amp; Ember", `value="read" selected`, `class="ll"`, "2 titles, 2 chapters unread")
	hasNot(t, body, `>Salt<`)
	_, body = s.get(mo, "/library?q=nothing+like+it")
	has(t, body, "Nothing is called “nothing like it” here", `href="/search?q=nothing%20like%20it"`)
	_, body = s.get(mo, "/library?state=read")
	has(t, body, "Nothing here is like that")
	_, body = s.get(mo, "/library?state=failing")
	has(t, body, "Nothing here is like that")
	for _, bad := range []string{"sort=loud", "state=odd", "status=odd", "from=!", "from=eyJ9", "from=W10", "q=" + strings.Repeat("x", 5000)} {
		if resp, _ := s.get(mo, "/library?"+bad); resp.StatusCode != http.StatusNotFound && resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%.40s answers %d", bad, resp.StatusCode)
		}
	}
	// A block is for our script; a link to it leads to the page.
	resp, _ := s.get(mo, "/library/block?state=unread")
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/library?state=unread" {
		t.Errorf("a block without the script: %d %s", resp.StatusCode, resp.Header.Get("Location"))
	}
}

func TestSelectedTitles(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.shelve("One", "Two", "Three")
	act := func(b *http.Client, form url.Values) *http.Response {
		form["key"] = append(form["key"], "shelf/One", "shelf/Two")
		form.Set("back", "/library?view=list")
		resp, _ := s.post(b, "/library/select", form)
		return resp
	}
	if resp := act(mo, url.Values{"act": {"read"}}); resp.Header.Get("Location") != "/library?said=read-2&view=list" {
		t.Errorf("it leads to %s", resp.Header.Get("Location"))
	}
	_, body := s.get(mo, "/library?state=read&said=read-2")
	has(t, body, "One", "Two", "2 titles marked read.")
	hasNot(t, body, ">Three<")
	act(mo, url.Values{"act": {"unread"}})
	_, body = s.get(mo, "/library?state=unread")
	has(t, body, "One", "Two", "Three")
	act(mo, url.Values{"act": {"follow"}})
	_, body = s.get(mo, "/library?following=1")
	if d := strings.Join(titlesIn(body), ","); d != "One,Two" {
		t.Errorf("followed are %s", d)
	}
	act(mo, url.Values{"act": {"unfollow"}})
	_, body = s.get(mo, "/library?following=1")
	hasNot(t, body, ">One<")
	act(mo, url.Values{"collect": {"new"}, "name": {"Night"}})
	_, body = s.get(mo, "/collections/1")
	if d := strings.Join(titlesIn(body), ","); d != "One,Two" {
		t.Errorf("collected are %s", d)
	}
	kim := s.person("Kim", "guest")
	act(kim, url.Values{"act": {"read"}})
	_, body = s.get(kim, "/library?state=read")
	has(t, body, "One", "Two")
	for _, form := range []url.Values{{"act": {"follow"}}, {"act": {"unfollow"}}, {"collect": {"new"}, "name": {"Mine"}}, {"act": {"odd"}}} {
		if resp := act(kim, form); resp.StatusCode != http.StatusNotFound {
			t.Errorf("a guest's %v answers %d", form, resp.StatusCode)
		}
	}
}

// upload sends a cover.
func (s *site) upload(b *http.Client, path string, data []byte) (*http.Response, string) {
	s.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	w, err := form.CreateFormFile("cover", "../../evil.svg")
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return s.do(b, s.request(http.MethodPost, path, body.String(), "Content-Type", form.FormDataContentType()))
}

func TestCollections(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	ada, kim := s.person("Ada", "member"), s.person("Kim", "guest")
	s.shelve("One", "Two", "Three")
	_, body := s.get(mo, "/collections")
	has(t, body, "No collections yet")
	resp, body := s.post(mo, "/collections", url.Values{"name": {" \t "}})
	if resp.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("no name answers %d", resp.StatusCode)
	}
	has(t, body, "A name has 1 to 80 characters")
	if resp, _ = s.post(mo, "/collections", url.Values{"name": {"  <b>Night</b>  reads "}}); resp.Header.Get("Location") != "/collections/1" {
		t.Fatalf("making one answers %d %s", resp.StatusCode, resp.Header.Get("Location"))
	}
	s.post(mo, "/sites/shelf/One/collections", url.Values{"collection": {"1"}})
	s.post(mo, "/library/select", url.Values{"key": {"shelf/Two", "shelf/Three"}, "collect": {"1"}})
	s.post(mo, "/collections/1", url.Values{"act": {"up"}, "key": {"shelf/Three"}})
	_, body = s.get(mo, "/collections/1")
	has(t, body, "&lt;b&gt;Night&lt;/b&gt; reads", "3 titles, 3 unread")
	if d := strings.Join(titlesIn(body), ","); d != "One,Three,Two" {
		t.Errorf("its order is %s", d)
	}
	_, body = s.get(mo, "/collections/1?order=1")
	has(t, body, `aria-label="Move Three up"`)
	// A cover.
	if resp, _ := s.upload(mo, "/collections/1/cover", pagestest.Page(t, 4, 400, 600)); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("a cover answers %d", resp.StatusCode)
	}
	if resp, _ := s.get(mo, "/collections/1/cover"); resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "image/jpeg" {
		t.Errorf("the cover answers %d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	if resp, body := s.upload(mo, "/collections/1/cover", []byte("<svg onload=alert(1)>")); resp.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("an SVG answers %d %.80s", resp.StatusCode, body)
	}
	if resp, _ := s.upload(mo, "/collections/1/cover", make([]byte, 18<<20)); resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("18 MiB answer %d", resp.StatusCode)
	}
	// Nobody else sees it before it is shared, and nobody else changes it then.
	for name, b := range map[string]*http.Client{"a member": ada, "a guest": kim} {
		for _, path := range []string{"/collections/1", "/collections/1/cover", "/collections/1/block"} {
			if resp, _ := s.get(b, path); resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s is answered %d for %s", name, resp.StatusCode, path)
			}
		}
	}
	s.post(mo, "/collections/1", url.Values{"act": {"share"}})
	_, body = s.get(kim, "/collections")
	has(t, body, "shared by Mo")
	_, body = s.get(ada, "/collections/1")
	has(t, body, "One")
	hasNot(t, body, "Delete the collection")
	for _, act := range []string{"rename", "delete", "uncover", "up"} {
		if resp, _ := s.post(ada, "/collections/1", url.Values{"act": {act}, "name": {"Mine"}, "key": {"shelf/One"}}); resp.StatusCode != http.StatusNotFound {
			t.Errorf("a member's %s answers %d", act, resp.StatusCode)
		}
	}
	if resp, _ := s.upload(ada, "/collections/1/cover", pagestest.Page(t, 4, 400, 600)); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a member's cover answers %d", resp.StatusCode)
	}
	s.post(ada, "/collections", url.Values{"name": {"Mine"}})
	if resp, _ := s.post(ada, "/collections/2", url.Values{"act": {"share"}}); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a member shares: %d", resp.StatusCode)
	}
	// Another one of the same name, in other letters, is the same.
	if resp, _ := s.post(ada, "/collections", url.Values{"name": {"MINE"}}); resp.Header.Get("Location") != "/collections/2" {
		t.Errorf("the same name leads to %s", resp.Header.Get("Location"))
	}
	s.post(ada, "/collections", url.Values{"name": {"Other"}})
	if resp, _ := s.post(ada, "/collections/4", url.Values{"act": {"rename"}, "name": {"mine"}}); resp.StatusCode != http.StatusUnprocessableEntity && resp.StatusCode != http.StatusNotFound {
		t.Errorf("a name that is taken answers %d", resp.StatusCode)
	}
	s.post(mo, "/sites/shelf/One/collections", url.Values{})
	_, body = s.get(mo, "/collections/1")
	hasNot(t, body, ">One<")
	s.post(mo, "/collections/1", url.Values{"act": {"delete"}})
	_, body = s.get(mo, "/library")
	has(t, body, "3 titles")
}

// A guest who is kept to collections finds nothing else, whichever way they look.
func TestAGuestIsKeptToCollections(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	kim := s.person("Kim", "guest")
	s.shelve("Shown", "Hidden")
	s.post(mo, "/library/select", url.Values{"key": {"shelf/Shown"}, "collect": {"new"}, "name": {"For Kim"}})
	s.post(mo, "/library/select", url.Values{"key": {"shelf/Hidden"}, "collect": {"new"}, "name": {"Not for Kim"}})
	for _, id := range []string{"1", "2"} {
		s.post(mo, "/collections/"+id, url.Values{"act": {"share"}})
	}
	resp, _ := s.post(mo, "/settings/people/2/sees", url.Values{"sees": {"collections"}, "collection": {"1"}})
	if resp.StatusCode != http.StatusSeeOther {
		t.Fatalf("limiting answers %d", resp.StatusCode)
	}
	for _, path := range []string{"/library", "/", "/search?q=hidden", "/search?q=hiddne", "/collections", "/library?view=list", "/collections/1"} {
		resp, body := s.get(kim, path)
		if resp.StatusCode != http.StatusOK || strings.Contains(body, ">Hidden<") || strings.Contains(body, "Not for Kim") {
			t.Errorf("%s answers %d, and tells of what is hidden", path, resp.StatusCode)
		}
	}
	for _, path := range []string{"/series/2", "/read/2", "/read/2/pages/1", "/read/2/keep", "/covers/title/2", "/sites/shelf/Hidden", "/covers/site/shelf/Hidden", "/events?view=series&site=shelf&series=Hidden", "/collections/2", "/series/99999999999999999999"} {
		if resp, _ := s.get(kim, path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s answers %d", path, resp.StatusCode)
		}
	}
	if resp, _ := s.post(kim, "/sites/shelf/Hidden/finished", url.Values{"finished": {"1"}}); resp.StatusCode != http.StatusNotFound {
		t.Errorf("marking what is hidden answers %d", resp.StatusCode)
	}
	if resp, _ := s.get(kim, "/series/1"); resp.StatusCode != http.StatusOK {
		t.Errorf("what is shown answers %d", resp.StatusCode)
	}
	// Losing the last collection opens nothing.
	s.post(mo, "/collections/1", url.Values{"act": {"delete"}})
	_, body := s.get(kim, "/library")
	has(t, body, "Nothing on the shelves yet")
	s.post(mo, "/settings/people/2/sees", url.Values{"sees": {"everything"}})
	_, body = s.get(kim, "/library")
	has(t, body, ">Hidden<", ">Shown<")
}

// A title whose Series fails says so, how and since when, in the grid, in the list and in
// a collection, and the scraper is asked once for all of them.
func TestFailingTitlesSaySo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	kim := s.person("Kim", "guest")
	s.shelve(append(numbered(60), "Ash", "Birch", "Cedar")...)
	s.post(mo, "/library/select", url.Values{"key": {"shelf/Ash", "shelf/Cedar"}, "collect": {"new"}, "name": {"Trees"}})
	s.post(mo, "/collections/1", url.Values{"act": {"share"}})
	s.post(mo, "/library/select", url.Values{"key": {"shelf/Ash"}, "act": {"follow"}})
	s.failing("shelf", "Ash", "Ash", "not_found", 3)
	s.failing("shelf", "Birch", "Birch", "errors", 2)
	s.failing("shelf", "Title 60", "Title 60", "no_chapter", 2)
	// Nobody has said so yet.
	_, body := s.get(mo, "/library")
	hasNot(t, body, "Not found since")
	s.know()
	since := Clock(time.Now().AddDate(0, 0, -3), time.Now())
	_, body = s.get(mo, "/library")
	has(t, body, `class="mark tone-bad"`, `<span class="item-meta tone-bad">Not found since `+since+`</span>`, `<span class="item-meta tone-warn">Not understood since `)
	hasNot(t, body, "No chapters listed since")
	_, body = s.get(mo, "/library?view=list")
	has(t, body, `<span class="word tone-bad">`, "Not found since "+since)
	for _, b := range []*http.Client{mo, kim} {
		_, body = s.get(b, "/collections/1")
		has(t, body, "Not found since "+since)
	}
	next := regexp.MustCompile(`id="more"><a class="btn" href="[^"]+" data-fetch="([^"]+)"`)
	_, body = s.get(mo, "/library")
	_, body = s.do(mo, s.request(http.MethodGet, strings.ReplaceAll(next.FindStringSubmatch(body)[1], "&amp;", "&"), "", "X-Requested-With", "mangrove"))
	has(t, body, "No chapters listed since")
	if n := s.scraper.Worklists(); n != 1 {
		t.Errorf("the scraper was asked %d times, want once for all", n)
	}
	// What is muted waits for nobody; what is read again is well again.
	s.scraper.SetState(&scraperv1.SeriesState{Series: &scraperv1.Series{Key: &scraperv1.SeriesKey{Site: "shelf", SeriesId: "Ash"}, Title: "Ash"}, Polled: true})
	s.know()
	_, body = s.get(mo, "/library")
	hasNot(t, body, "Not found since")
	has(t, body, "Not understood since")
	// The shelves do not depend on it.
	s.failing("shelf", "Cedar", "Cedar", "errors", 2)
	s.know()
	s.scraper.Stop()
	if resp, body := s.get(mo, "/library"); resp.StatusCode != http.StatusOK || !strings.Contains(body, ">Cedar<") || strings.Contains(body, "Not understood since") {
		t.Errorf("without the scraper's word the library answers %d", resp.StatusCode)
	}
}

// The rail has the letters that a view has, and each leads to a page that begins with it.
func TestTheRailOfLetters(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.shelve("Ash", "Birch", "Éclair", "10 Days")
	_, body := s.get(mo, "/library")
	hasNot(t, body, `id="az"`) // one block: there is nothing to jump over
	s.shelve(numbered(60)...)
	s.shelve("魔女の手紙")
	_, body = s.get(mo, "/library")
	var labels []string
	links := regexp.MustCompile(`<a href="([^"]+)" data-fetch="([^"]+)" data-az="\d+"( aria-current="true")?>([^<]+)</a>`).FindAllStringSubmatch(body, -1)
	for _, l := range links {
		labels = append(labels, l[4])
	}
	if got := strings.Join(labels, ""); got != "#ABETあ" && got != "#ABET馬" {
		t.Fatalf("the rail is %s", got)
	}
	for i, want := range []string{"10 Days", "Ash", "Birch", "Éclair", "Title 1", "魔女の手紙"} {
		_, body := s.get(mo, strings.ReplaceAll(links[i][1], "&amp;", "&"))
		if got := titlesIn(body); len(got) == 0 || got[0] != want {
			t.Errorf("%s leads to %.60q, want %s first", labels[i], got, want)
		}
		has(t, body, `aria-current="true">`+labels[i]+`</a>`)
	}
	_, body = s.get(mo, "/library?q=title")
	hasNot(t, body, `id="az"`) // one letter alone leads nowhere
	_, body = s.get(mo, "/library?sort=added")
	hasNot(t, body, `id="az"`)
	_, body = s.get(mo, "/library?state=unread&view=list")
	has(t, body, `id="az"`, `?from=`, `state=unread&amp;view=list`, `<li class="ll" data-az="`)
}

// Titles are taken out of a collection together, by those who may change it, and put
// back where they stood.
func TestTitlesAreTakenOutAndPutBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	ada, kim := s.person("Ada", "member"), s.person("Kim", "guest")
	s.shelve("One", "Two", "Three", "Four", "Five")
	s.post(mo, "/library/select", url.Values{"key": {"shelf/One", "shelf/Two", "shelf/Three", "shelf/Four", "shelf/Five"}, "collect": {"new"}, "name": {"Night"}})
	s.post(mo, "/collections/1", url.Values{"act": {"share"}})
	in := func() string {
		_, body := s.get(mo, "/collections/1")
		return strings.Join(titlesIn(body), ",")
	}
	for name, b := range map[string]*http.Client{"a member": ada, "a guest": kim} {
		_, body := s.get(b, "/collections/1")
		hasNot(t, body, `value="take"`)
		for _, act := range []string{"take", "put"} {
			if resp, _ := s.post(b, "/collections/1", url.Values{"act": {act}, "key": {"shelf/Two"}, "at": {"1"}}); resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s's %s answers %d", name, act, resp.StatusCode)
			}
		}
	}
	_, body := s.get(mo, "/library")
	hasNot(t, body, `value="take"`)
	_, body = s.get(mo, "/collections/1")
	has(t, body, `value="take" type="submit" formaction="/collections/1"`)
	resp, body := s.post(mo, "/collections/1", url.Values{"act": {"take"}, "key": {"shelf/Two", "shelf/Four", "shelf/Nothing"}})
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("taking out answers %d", resp.StatusCode)
	}
	has(t, body, "2 titles taken out of the collection. They stay in the library.", "Put back")
	if got := in(); got != "One,Three,Five" {
		t.Errorf("what stays is %s", got)
	}
	undo := url.Values{"act": {"put"}}
	for _, m := range regexp.MustCompile(`name="key" value="([^"]+)"><input type="hidden" name="at" value="(\d+)"`).FindAllStringSubmatch(body, -1) {
		undo.Add("key", m[1])
		undo.Add("at", m[2])
	}
	if resp, _ = s.post(mo, "/collections/1", undo); resp.Header.Get("Location") != "/collections/1?said=put-2" {
		t.Errorf("putting back answers %d to %s", resp.StatusCode, resp.Header.Get("Location"))
	}
	if got := in(); got != "One,Two,Three,Four,Five" {
		t.Errorf("put back it is %s", got)
	}
	s.post(mo, "/collections/1", undo)
	if got := in(); got != "One,Two,Three,Four,Five" {
		t.Errorf("put back twice it is %s", got)
	}
	for _, bad := range []url.Values{
		{"key": {"shelf/Two"}}, {"key": {"shelf/Two"}, "at": {"first"}}, {"key": {"shelf/Two"}, "at": {"-1"}}, {"key": {"shelf/Two"}, "at": {"99999999999"}}, {"key": make([]string, 1001), "at": make([]string, 1001)},
	} {
		bad.Set("act", "put")
		if resp, _ := s.post(mo, "/collections/1", bad); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%.60v answers %d", bad, resp.StatusCode)
		}
	}
	_, body = s.get(mo, "/library")
	has(t, body, "5 titles")
}
