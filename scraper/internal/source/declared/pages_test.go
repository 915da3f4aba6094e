package declared

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

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
		{"on a host below one", comic(t, "languages", "image_hosts: ['*.cdn.example']\nlanguages"), `<main><img src="//s1.cdn.example/1.jpg">`, []string{"https://s1.cdn.example/1.jpg"}, ""},
		{"on a host that only looks so", comic(t, "languages", "image_hosts: ['*.cdn.example']\nlanguages"), `<main><img src="//evilcdn.example/1.jpg">`, nil, "none of hosts"},
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
