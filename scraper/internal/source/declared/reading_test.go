package declared

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// comic is plain with lines changed.
func comic(t *testing.T, changes ...string) *Described {
	t.Helper()
	return good(t, "comic.yaml", strings.NewReplacer(changes...).Replace(plain))
}

const seriesAt, chapterAt = "https://comic.example/series/x", "https://comic.example/c/1"

func check(t *testing.T, s *Described, a source.Fetcher) poll.Result {
	t.Helper()
	return poll.Check(t.Context(), s.Adapter(), a, source.Ask{SeriesID: "x"})
}

func seriesPage(list string) answers {
	return answers{seriesAt: "<main><h1>Title</h1><ul>" + list + "</ul></main>"}
}

func TestSeriesValues(t *testing.T) {
	s := comic(t, "  title: h1", `  title: [h2, h1]
  native_title: h1@lang
  authors: {from: span.by, match: 'by (.*)'}
  status: {from: p.status, words: {Läuft: ongoing}}
  direction: {constant: rtl}
  tags: "p.tags b"
  cover: img@data-src|src
  license: {template: "{p.license} ({series_id})"}
  description: p.text`)
	page := `<base href="/deep/"><main><h1 lang="ja">A  <b>title</b><script>no</script></h1><span class=by>by One</span><span class=by>by Two</span><span class=by>nobody</span>
		<p class=status>läuft</p><p class=tags><b>a</b><b>b</b><b>a</b></p><img src="data:x" data-src="cover.jpg"><p class=license>CC</p><p class=text>one<br>two</p></main>`
	got := check(t, s, answers{seriesAt: page})
	want := source.Series{
		ID: "x", Title: "A title", NativeTitle: "ja", Authors: []string{"One", "Two"}, Status: "ongoing", Direction: "rtl", Tags: []string{"a", "b"},
		CoverURL: "https://comic.example/deep/cover.jpg", License: "CC (x)", Description: "one two", URL: seriesAt,
	}
	if d := cmp.Diff(want, got.Reading.Series); d != "" || got.Outcome != poll.NoChapter {
		t.Error(got, d)
	}
}

func TestChapterValues(t *testing.T) {
	s := comic(t, "  item: li\n  address: a@href\n  date: time", `  item: li
  skip: .locked
  number: b
  title: i
  group: span
  language: {from: "@lang", words: {English: en}}
  external: "@data-out"
  date: {from: time, formats: ["D MMM YYYY HH:mm", unix], zone: Asia/Tokyo}`)
	got := check(t, s, seriesPage(`
		<li lang=English><a href="/c/3#x">x</a><b>Vol. 2 Chapter 010.50</b><i>Three</i><span>N</span><span>S</span><time>3rd Feb 2024 08:00</time></li>
		<li class=x><div class=locked></div><a href="/c/0">x</a></li>
		<li><a href="//publisher.example/2">x</a><b>Extra: tea</b><time>1700000000</time></li>
		<li data-out=yes lang=xx-nonsense-word><a href=" /c/1
">x</a><b>9th of never</b><time>soon</time></li>`))
	want := []source.Chapter{
		{ID: "/c/3", Number: "10.5", Volume: "2", Title: "Three", Groups: []string{"N", "S"}, Language: "en", URL: "https://comic.example/c/3", Published: time.Date(2024, 2, 2, 23, 0, 0, 0, time.UTC)},
		{ID: "/2", Title: "Extra: tea", Language: "en", URL: "https://publisher.example/2", Order: 1, External: true, Published: time.Unix(1700000000, 0).UTC()},
		{ID: "/c/1", Title: "9th of never", URL: "https://comic.example/c/1", Order: 2, External: true},
	}
	if d := cmp.Diff(want, got.Reading.Chapters); d != "" || got.Outcome != poll.OK {
		t.Error(got, d)
	}
}

func TestNumber(t *testing.T) {
	for label, want := range map[string][2]string{
		"10.50": {"10.5", ""}, "007": {"7", ""}, "Extra": {}, "-1": {}, "NaN": {}, "1e3": {}, "９": {}, "": {}, strings.Repeat("1", 40): {},
		"Chapter 12": {"12", ""}, "Vol.3 Ch.4.5": {"4.5", "3"}, "Volume 2": {"", "2"}, "12: Rain": {"12", ""}, "#5": {"5", ""}, "Episode 3 - x": {"3", ""}, "2 fast": {"2", ""},
	} {
		if n, v := number(label); n != want[0] || v != want[1] {
			t.Errorf("%q is number %q of volume %q, want %q", label, n, v, want)
		}
	}
}

// S-047, POLL-10: what kind of page it is decides the word.
func TestOutcomes(t *testing.T) {
	s := comic(t, "  title: h1", "  title: h1\n  missing: p.removed", "  item: li", "  item: li\n  landmark: ul\n  missing: p.empty")
	tests := []struct {
		name, page string
		want       poll.Outcome
	}{
		{"well", "<main><h1>T</h1><ul><li><a href=/c/1>1</a></ul></main>", poll.OK},
		{"removed", "<main><h1>T</h1><p class=removed></p></main>", poll.NotFound},
		{"a notice in place of the list", "<main><h1>T</h1><ul></ul><p class=empty></p></main>", poll.NotFound},
		{"a notice beside the list", "<main><h1>T</h1><p class=empty></p><ul><li><a href=/c/1>1</a></ul></main>", poll.OK},
		{"no chapter", "<main><h1>T</h1><ul></ul></main>", poll.NoChapter},
		{"no list", "<main><h1>T</h1></main>", poll.Unfetchable},
		{"maintenance", "<html><body></body></html>", poll.Unfetchable},
		{"no title", "<main><ul><li><a href=/c/1>1</a></ul></main>", poll.Errors},
		{"an entry without address", "<main><h1>T</h1><ul><li>1</ul></main>", poll.Errors},
		{"one id at two addresses", "<main><h1>T</h1><ul><li><a href=/c/1>1</a><li><a href=//publisher.example/c/1>1</a></ul></main>", poll.Errors},
		{"one entry twice", "<main><h1>T</h1><ul><li><a href=/c/1>1</a><li><a href=/c/1>1</a></ul></main>", poll.OK},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := check(t, s, answers{seriesAt: tt.page}); got.Outcome != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// led answers every request from another address.
type led struct {
	to, body string
	asked    *[]string
}

func (l led) Get(_ context.Context, r source.Request) (*source.Response, error) {
	if l.asked != nil {
		*l.asked = append(*l.asked, r.URL)
	}
	return &source.Response{URL: l.to, Permanent: true, Body: []byte(l.body)}, nil
}

// S-043, POLL-13: a redirect is another title unless the page proves the id.
func TestRedirects(t *testing.T) {
	page := "<main data-id=x><h1>T</h1><ul><li><a href=/c/1>1</a></ul></main>"
	byAddress, byPage := comic(t), comic(t, "  title: h1", "  title: h1\n  id: main@data-id")
	tests := []struct {
		name  string
		site  *Described
		to    string
		want  poll.Outcome
		moved bool
	}{
		{"to the front", byAddress, "https://comic.example/", poll.NotFound, false},
		{"to another title", byAddress, "https://comic.example/series/y", poll.NotFound, false},
		{"to a longer name", byAddress, "https://comic.example/series/x/a-slug", poll.OK, true},
		{"to another host", byAddress, "https://evil.example/series/x", poll.NotFound, false},
		{"to another name, proved", byPage, "https://comic.example/series/y", poll.OK, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := check(t, tt.site, led{to: tt.to, body: page})
			if got.Outcome != tt.want || (got.Reading.MovedTo != "") != tt.moved {
				t.Errorf("%s, moved to %q", got, got.Reading.MovedTo)
			}
		})
	}
	var asked []string
	_, err := byPage.Series(t.Context(), led{to: seriesAt, body: page, asked: &asked}, source.Ask{SeriesID: "x", URL: "https://comic.example/series/y"})
	if err != nil || asked[0] != "https://comic.example/series/y" {
		t.Errorf("a page that proves its id is asked for at %v (%v)", asked, err)
	}
}

// S-050, S-051, S-109: a part of a list is never taken for the whole.
func TestPagedLists(t *testing.T) {
	item := func(ids ...string) string {
		out := ""
		for _, id := range ids {
			out += "<li><a href=/c/" + id + ">" + id + "</a>"
		}
		return out
	}
	page := func(next string, ids ...string) string {
		out := "<main><h1>T</h1><ul>" + item(ids...) + "</ul>"
		if next != "" {
			out += `<a rel=next href="` + next + `">more</a>`
		}
		return out + "</main>"
	}
	byLink := comic(t, "  item: li", "  item: li\n  next: a[rel=next]@href\n  next_limit: 3")
	byNumber := comic(t, "  item: li", "  item: li\n  read: https://comic.example/list/{id}?p={page}\n  order: oldest\n  next_limit: 4")
	counted := comic(t, "  item: li", "  item: li\n  count: h1@title")
	p2, p3, p4 := seriesAt+"?p=2", seriesAt+"?p=3", seriesAt+"?p=4"
	l := "https://comic.example/list/x?p="
	tests := []struct {
		name  string
		site  *Described
		pages answers
		want  poll.Outcome
		ids   string
	}{
		{"one page", byLink, answers{seriesAt: page("", "3", "2")}, poll.OK, "/c/3 /c/2"},
		{"three pages", byLink, answers{seriesAt: page("?p=2", "3"), p2: page("?p=3", "2"), p3: page("", "1")}, poll.OK, "/c/3 /c/2 /c/1"},
		{"a list that moved meanwhile", byLink, answers{seriesAt: page("?p=2", "3", "2"), p2: page("", "2", "1")}, poll.OK, "/c/3 /c/2 /c/1"},
		{"the second is gone", byLink, answers{seriesAt: page("?p=2", "3")}, poll.Errors, ""},
		{"the second is the first", byLink, answers{seriesAt: page("?p=2", "3"), p2: page("?p=3", "3")}, poll.Errors, ""},
		{"in a circle", byLink, answers{seriesAt: page("?p=2", "3"), p2: page("/series/x", "2")}, poll.Errors, ""},
		{"without end", byLink, answers{seriesAt: page("?p=2", "4"), p2: page("?p=3", "3"), p3: page("?p=4", "2"), p4: page("", "1")}, poll.Errors, ""},
		{"to another host", byLink, answers{seriesAt: page("//evil.example/", "3")}, poll.Errors, ""},
		{"the second has no landmark", comic(t, "  item: li", "  item: li\n  landmark: ul\n  next: a[rel=next]@href"), answers{seriesAt: page("?p=2", "3"), p2: "<h1>Back soon</h1>"}, poll.Unfetchable, ""},
		{"by number, oldest first", byNumber, answers{seriesAt: page("", "9"), l + "1": page("", "1", "2"), l + "2": page("", "3"), l + "3": page("")}, poll.OK, "/c/3 /c/2 /c/1"},
		{"by number to a 404", byNumber, answers{seriesAt: page(""), l + "1": page("", "1"), l + "2": page("", "2")}, poll.OK, "/c/2 /c/1"},
		{"by number, the same again", byNumber, answers{seriesAt: page(""), l + "1": page("", "1"), l + "2": page("", "1")}, poll.Errors, ""},
		{"the list's own page is gone", byNumber, answers{seriesAt: page("")}, poll.NotFound, ""},
		{"counted", counted, answers{seriesAt: strings.Replace(page("", "2", "1"), "<h1>", "<h1 title=2>", 1)}, poll.OK, "/c/2 /c/1"},
		{"fewer than counted", counted, answers{seriesAt: strings.Replace(page("", "2", "1"), "<h1>", "<h1 title=3>", 1)}, poll.Errors, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := check(t, tt.site, tt.pages)
			var ids []string
			for i, c := range got.Reading.Chapters {
				if ids = append(ids, c.ID); c.Order != i {
					t.Errorf("chapter %s has order %d", c.ID, c.Order)
				}
			}
			if got.Outcome != tt.want || strings.Join(ids, " ") != tt.ids {
				t.Errorf("%s: %v, want %s: %s", got, ids, tt.want, tt.ids)
			}
		})
	}
}

func TestPageLists(t *testing.T) {
	lazy := comic(t)
	hosts := comic(t, "languages", "image_hosts: [cdn.example]\nlanguages")
	tests := []struct {
		name  string
		site  *Described
		body  string
		want  []string
		fails string
	}{
		{"plain", lazy, `<main><img src="/1.jpg"><img src="2.jpg?w=1">`, []string{"https://comic.example/1.jpg", "https://comic.example/c/2.jpg?w=1"}, ""},
		{"lazy", lazy, `<main><img src="/1x1.gif" data-lazy-src="/1.jpg"><noscript><img src="/1.jpg"></noscript><img src="data:image/svg+xml,x" data-src=" /2.jpg
">`, []string{"https://comic.example/1.jpg", "https://comic.example/2.jpg"}, ""},
		{"a stub where the address should be", lazy, `<main><img data-src="data:x" src="/1.jpg">`, []string{"https://comic.example/1.jpg"}, ""},
		{"srcset", lazy, `<main><img src="/s.jpg" srcset="/s.jpg 480w, /l,1.jpg 1200w,/m.jpg 800w"><img srcset="/a.jpg, /b.jpg 2x">`, []string{"https://comic.example/l,1.jpg", "https://comic.example/b.jpg"}, ""},
		{"twice", lazy, `<main><img src="/1.jpg"><img src="/1.jpg">`, []string{"https://comic.example/1.jpg"}, ""},
		{"stubs only", lazy, `<main><img src="data:x">`, nil, "image 1 has no address"},
		{"elsewhere", lazy, `<main><img src="//cdn.example/p 1.jpg">`, nil, "image 1 lies on cdn.example, which is none of hosts or image_hosts"},
		{"on its image host", hosts, `<main><img src="//cdn.example/p 1.jpg">`, []string{"https://cdn.example/p%201.jpg"}, ""},
		{"a file", lazy, `<main><img src="FILE:///etc/passwd">`, nil, "image 1 has no address"},
		{"a script", lazy, `<main><img src="javascript:alert(1)">`, nil, "image 1 has no address"},
		{"with a password", lazy, `<main><img src="http://u:p@comic.example/1.jpg">`, nil, "image 1 has no address"},
		{"on another port", lazy, `<main><img src="http://comic.example:22/1.jpg">`, nil, "image 1 lies on comic.example:22"},
		{"loopback in disguise", lazy, `<main><img src="http://2130706433/1.jpg">`, nil, "none of hosts"},
		{"a backslash", lazy, `<main><img src="/\evil.example/1.jpg">`, []string{"https://comic.example/%5Cevil.example/1.jpg"}, ""},
		{"none", lazy, `<main></main>`, nil, "the page shows no image"},
		{"too many", lazy, `<main>` + strings.Repeat("<img src=/1.jpg>", maxPages+1), nil, "more than 2000 images"},
		{"maintenance", lazy, `<h1>Back soon</h1>`, nil, "the page has no main"},
		{"counted", comic(t, "  image: img", "  image: img\n  count: main@data-n"), `<main data-n=2><img src=/1.jpg>`, nil, `lists 1 images and says "2"`},
		{"of another chapter", comic(t, "  image: img", "  image: img\n  chapter: main@id"), `<main id=c2><img src=/1.jpg>`, nil, `the page is of chapter "c2", not "c1"`},
		{"in a script", comic(t, "  image: img", "  script: {match: 'var p = '}\n  source: u"), `<main></main><script>x()</script><script>var p = [{"u":"\/1.jpg"},{"u":"\/2.jpg"}]; y()</script>`, []string{"https://comic.example/1.jpg", "https://comic.example/2.jpg"}, ""},
		{"deep in a script", comic(t, "  image: img", `  script: {from: "#data", path: "a.b[0].c"}`), `<main></main><script id=data>{"a":{"b":[{"c":["/1.jpg"]}]}}</script>`, []string{"https://comic.example/1.jpg"}, ""},
		{"in an attribute", comic(t, "  image: img", `  script: {from: "main@data-pages"}`), `<main data-pages='["/1.jpg"]'></main>`, []string{"https://comic.example/1.jpg"}, ""},
		{"in a script that is no JSON", comic(t, "  image: img", `  script: {match: "p = (.*?);", each: "'([^']+)'"}`), `<main></main><script>p = ['\/1.jpg', '/2.jpg']; q = ['/3.jpg'];</script>`, []string{"https://comic.example/1.jpg", "https://comic.example/2.jpg"}, ""},
		{"no such script", comic(t, "  image: img", "  script: {match: 'var p = '}"), `<main></main><script>x()</script>`, nil, "no script with the list"},
		{"pieced together", comic(t, "  image: img", `  script: {match: 'p = ', path: "files"}
  source: {template: "/img/{series_id}/{chapter_id}/{name}"}`), `<main></main><script>p = {"files":[{"name":"a.jpg"}]}</script>`, []string{"https://comic.example/img/x/c1/a.jpg"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.site.Pages(t.Context(), answers{chapterAt: tt.body}, source.Key{SeriesID: "x"}, source.Chapter{ID: "c1", URL: chapterAt})
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) || fault.Of(err) != fault.Parser {
					t.Errorf("got %v, %v, want %q", got, err, tt.fails)
				}
				return
			}
			var urls []string
			for _, p := range got {
				urls = append(urls, p.URL)
			}
			if d := cmp.Diff(tt.want, urls); d != "" || err != nil {
				t.Error(err, d)
			}
		})
	}
}

func TestIdentities(t *testing.T) {
	pages := func(s *Described, body string) (out []string) {
		got, err := s.Pages(t.Context(), answers{chapterAt: body}, source.Key{}, source.Chapter{URL: chapterAt})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range got {
			out = append(out, p.Identity)
		}
		return out
	}
	byQuery := `<main><img src="/i?n=1"><img src="/i?n=2">`
	if d := cmp.Diff([]string{"https://comic.example/i?n=1", "https://comic.example/i?n=2"}, pages(comic(t), byQuery)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"/1.jpg", "/2.jpg"}, pages(comic(t, "  image: img", "  image: img\n  identity: path"), `<main><img src="/1.jpg?t=9"><img src="/2.jpg?t=9">`)); d != "" {
		t.Error(d)
	}
}

func TestJSONAnswers(t *testing.T) {
	s := good(t, "comic.yaml", `name: Comic
hosts: [comic.example]
languages: [en, ja]
series:
  address: https://comic.example/series/{id}
  read: https://comic.example/api/{id}
  also: ["https://comic.example/s/{id}"]
  answer: json
  landmark: data.id
  missing: error
  id: data.id
  title: data.title
  authors: data.authors[*].name
  tags: data.tags
chapters:
  read: https://comic.example/api/{id}/chapters
  answer: json
  item: chapters.*
  id: n
  address: {template: "/read/{series_id}/{n}"}
  number: n
  language: lang
  date: {from: at, formats: [unix_ms]}
pages:
  read: https://comic.example/api/{id}/{chapter}
  answer: json
  landmark: pages
  image: pages
search:
  read: https://comic.example/api/search?q={query}
  answer: json
  item: found
  id: id
  title: title
  cover: cover
`)
	api := answers{
		"https://comic.example/api/x":            `{"data":{"id":"x","title":"T","authors":[{"name":"A"},{"name":"B"},{}],"tags":["p","q"],"x":1e400}}`,
		"https://comic.example/api/x/chapters":   `{"chapters":{"b":{"n":2,"lang":"ja","at":"1700000000000"},"a":{"n":1.50,"lang":"en"}}}`,
		"https://comic.example/api/x/2":          `{"pages":["/1.jpg","/2.jpg"]}`,
		"https://comic.example/api/search?q=a+b": `{"found":[{"id":"x","title":"T","cover":"/c.jpg"},{"id":"","title":"no"},{"id":"x","title":"again"}]}`,
		"https://comic.example/api/gone":         `{"error":"no such title"}`,
		"https://comic.example/api/odd":          `{"data":`,
	}
	got := check(t, s, api)
	want := []source.Chapter{
		{ID: "2", Number: "2", Language: "ja", URL: "https://comic.example/read/x/2", Published: time.UnixMilli(1700000000000).UTC()},
		{ID: "1.50", Number: "1.5", Language: "en", URL: "https://comic.example/read/x/1.50", Order: 1},
	}
	if d := cmp.Diff(want, got.Reading.Chapters); d != "" || got.Outcome != poll.OK {
		t.Fatal(got, d)
	}
	if d := cmp.Diff([]string{"A", "B"}, got.Reading.Series.Authors); d != "" {
		t.Error(d)
	}
	pages, err := s.Pages(t.Context(), api, source.Key{SeriesID: "x"}, got.Reading.Chapters[0])
	if err != nil || len(pages) != 2 || pages[1].URL != "https://comic.example/2.jpg" {
		t.Error(pages, err)
	}
	found, err := s.Adapter().(source.Searcher).Search(t.Context(), api, "a b")
	if d := cmp.Diff([]source.Series{{ID: "x", Title: "T", URL: seriesAt, CoverURL: "https://comic.example/c.jpg"}}, found); d != "" || err != nil {
		t.Error(err, d)
	}
	for id, want := range map[string]poll.Outcome{"gone": poll.NotFound, "odd": poll.Unfetchable} {
		if got := poll.Check(t.Context(), s.Adapter(), api, source.Ask{SeriesID: id}); got.Outcome != want {
			t.Errorf("%s: %s", id, got)
		}
	}
	if id, url, ok := s.Recognise("https://comic.example/s/x"); id != "x" || url != seriesAt || !ok {
		t.Errorf("recognised as %q %q", id, url)
	}
}

func TestSearch(t *testing.T) {
	s := good(t, "comic.yaml", plain+"search:\n  read: https://comic.example/?s={query}&post=manga\n  landmark: main\n  item: .hit\n  title: h3\n")
	page := `<main><div class=hit><a href="/series/one?ref=search"><h3>One</h3></a></div><div class=hit><a href="/news/1"><h3>News</h3></a></div>
		<div class=hit><a href="//evil.example/series/two"><h3>Two</h3></a></div><div class=hit><a href="/series/three"></a></div></main>`
	a := s.Adapter().(source.Searcher)
	got, err := a.Search(t.Context(), answers{"https://comic.example/?s=%22a%26b%22&post=manga": page}, `"a&b"`)
	if d := cmp.Diff([]source.Series{{ID: "one", Title: "One", URL: "https://comic.example/series/one"}}, got); d != "" || err != nil {
		t.Error(err, d)
	}
	if _, ok := comic(t).Adapter().(source.Searcher); ok {
		t.Error("a Site that does not say how can be searched")
	}
}

func TestASiteOfOneSeries(t *testing.T) {
	s := comic(t, "series/{id}", "archive", "pacing: 1s", "listed: [{id: comic, title: The Comic}]")
	if d := cmp.Diff([]source.Series{{ID: "comic", Title: "The Comic", URL: "https://comic.example/archive"}}, s.Listed()); d != "" {
		t.Error(d)
	}
	if id, url, ok := s.Recognise("https://comic.example/archive"); id != "comic" || url != "https://comic.example/archive" || !ok {
		t.Errorf("recognised as %q %q %v", id, url, ok)
	}
	if got := poll.Check(t.Context(), s, answers{}, source.Ask{SeriesID: "other"}); got.Outcome != poll.NotFound {
		t.Error(got)
	}
}

func TestIDsAreEscapedAndRefused(t *testing.T) {
	s := comic(t, "  title: h1", "  title: h1\n  read: https://comic.example/page?series={id}&x=1")
	for id, want := range map[string]string{
		"a b": "https://comic.example/series/a%20b", "a/b": "https://comic.example/series/a%2Fb", "?": "https://comic.example/series/%3F", "Yotsubato!": "https://comic.example/series/Yotsubato!",
		"": "", "..": "", ".": "", "a\nb": "", strings.Repeat("x", 513): "", "\xff": "", "{id}": "https://comic.example/series/%7Bid%7D",
	} {
		got := s.Address(id)
		if got != want {
			t.Errorf("the address of %q is %q, want %q", id, got, want)
		}
		if back, _, ok := s.Recognise(got); want != "" && (back != id || !ok) {
			t.Errorf("%q is recognised as %q", got, back)
		}
	}
	if got := s.seriesAddress(source.Ask{SeriesID: "a&b"}); got != "https://comic.example/page?series=a%26b&x=1" {
		t.Error(got)
	}
	if id, _, ok := s.Recognise("https://comic.example/page?x=1&series=a%26b"); id != "a&b" || !ok {
		t.Errorf("recognised as %q", id)
	}
}

func TestDates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the bubble's clock stands at 2000-01-01
		tokyo, err := time.LoadLocation("Asia/Tokyo")
		if err != nil {
			t.Fatal(err)
		}
		tests := []struct {
			in, format string
			zone       *time.Location
			want       string
		}{
			{"2026-06-04", "iso", tokyo, "2026-06-04T00:00:00Z"},
			{"2026-12-01T10:00:00+00:00", "iso", tokyo, "2026-12-01T10:00:00Z"},
			{"2026-02-11T08:00:00", "iso", tokyo, "2026-02-10T23:00:00Z"},
			{"4. juni 2026", "D. MMMM YYYY", nil, ""},
			{"4 June 2026", "D MMMM YYYY", nil, "2026-06-04T00:00:00Z"},
			{"Jun 4th, 26 3:05 pm", "MMM D, YY h:mm a", nil, "2026-06-04T15:05:00Z"},
			{"3 days ago", "relative", nil, "1999-12-29T00:00:00Z"},
			{"an hour ago", "relative", nil, "1999-12-31T00:00:00Z"},
			{"Yesterday", "relative", tokyo, "1999-12-31T00:00:00Z"},
			{"2 weeks ago", "relative", nil, "1999-12-18T00:00:00Z"},
			{"soon", "relative", nil, ""},
			{"99999999999999999999", "unix", nil, ""},
			{"0", "unix", nil, ""},
			{"0001-01-01", "iso", nil, ""},
		}
		for _, tt := range tests {
			f, err := parseFormat(tt.format)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if at := parseDate(tt.in, []dateFormat{f}, tt.zone, time.Now()); !at.IsZero() {
				got = at.Format(time.RFC3339)
			}
			if got != tt.want {
				t.Errorf("%q as %s is %q, want %q", tt.in, tt.format, got, tt.want)
			}
		}
	})
}

func TestCharsets(t *testing.T) {
	sjis := "\x82\xe6\x82\xc2\x82\xce\x82\xc6" // よつばと
	page := func(head string) string {
		return head + "<main><h1>" + sjis + "</h1><ul><li><a href=/c/1>1</a></ul></main>"
	}
	for name, s := range map[string]*Described{"": comic(t), "<meta charset=shift_jis>": comic(t), "declared": comic(t, "pacing: 1s", "charset: shift_jis")} {
		head := name
		if name == "declared" {
			head = ""
		}
		got := check(t, s, answers{seriesAt: page(head)}).Reading.Series.Title
		if (got == "よつばと") != (name != "") {
			t.Errorf("%q: the title is %q", name, got)
		}
	}
}

func TestHostilePages(t *testing.T) {
	sites := []*Described{comic(t), comic(t, "  image: img", `  script: {match: 'p = '}`), comic(t, "  title: h1", "  title: h1\n  answer: json", "item: li\n  address: a@href\n  date: time", "item: x\n  address: y", "landmark: main\n  title", "landmark: x\n  title")}
	long := strings.Repeat("x", 1<<20)
	for name, body := range map[string]string{
		"nested":           strings.Repeat("<div>", 1_000_000),
		"nested list":      "<main><h1>T</h1>" + strings.Repeat("<li><a href=/c/1>", 300_000),
		"many items":       "<main><h1>T</h1>" + strings.Repeat("<li><a href=/c/1>1</a>", maxChapters+10),
		"many elements":    "<main><h1>T</h1>" + strings.Repeat("<p>", 400_000),
		"long words":       "<main><h1>" + long + "</h1><li><a href='/c/" + long + "'>1</a><img src='/" + long + "'>",
		"NULs":             "<main><h1>\x00T\x00</h1><li><a href='/c/\x00'>\x00</a><img src='/\x00'>",
		"surrogates":       "<main><h1>\xed\xa0\x80</h1><li><a href='/c/\xed\xa0\x80'>x</a>",
		"BOM":              "\xef\xbb\xbf<main><h1>T</h1><li><a href=/c/1>1</a>",
		"deep JSON":        strings.Repeat("[", 100_000),
		"deep script":      "<main><script>p = " + strings.Repeat(`{"a":`, 100_000) + "</script>",
		"numbers":          `{"x":[{"y":1e400,"n":-0},{"y":9223372036854775808}]}`,
		"twice":            `{"x":1,"X":2,"x":[]}`,
		"wide JSON":        "[" + strings.Repeat("0,", 600_000) + "0]",
		"attributes":       "<main " + strings.Repeat("a=b ", 100_000) + "><h1>T</h1>",
		"attribute srcset": "<main><h1>T</h1><img srcset='" + strings.Repeat(", ,a ", 100_000) + "'>",
	} {
		began := time.Now()
		for _, s := range sites {
			readAll(t, s, seriesAt, []byte(body))
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
}

func FuzzPages(f *testing.F) {
	f.Add([]byte("<main><h1>T</h1><li><a href=/c/1>Ch. 1</a><img srcset='a 1x, b 2x'></main><script>p = [1]</script>"))
	f.Add([]byte(`{"x":[{"y":"z"}]}`))
	f.Add([]byte("<base href='//x'><main><h1 lang=1>"))
	var sites []*Described
	for _, more := range []string{"", "search:\n  read: https://comic.example/?s={query}\n  item: li\n  title: a\n"} {
		s, problems := Parse("comic.yaml", []byte(strings.Replace(plain, "image: img", "script: {match: 'p = ', path: \"[0]\"}", 1)+more))
		if s == nil {
			f.Fatal(problems)
		}
		sites = append(sites, s)
	}
	s, problems := Parse("comic.yaml", []byte(plain))
	if s == nil {
		f.Fatal(problems)
	}
	sites = append(sites, s)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, s := range sites {
			readAll(t, s, seriesAt, body)
		}
	})
}
