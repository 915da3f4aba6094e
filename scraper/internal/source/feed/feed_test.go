package feed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/sourcetest"
)

func data(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func declared(t testing.TB, images string) *Adapter {
	t.Helper()
	a, err := New(Config{Declaration: source.Declaration{Key: "lantern", Name: "Lantern", Address: "https://comic.example/feed.xml", Language: "en", Direction: "ltr"}, Images: images})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func comic() source.Reading {
	return source.Reading{
		Validators: source.Validators{ETag: `"x"`},
		Series: source.Series{
			ID: "lantern", Title: "Lantern 14", Description: "A comic about lanterns & moths", URL: "https://comic.example/feed.xml", Direction: "ltr",
			License: "CC BY 4.0 A. Person", CoverURL: "https://comic.example/cover.png",
		},
		Chapters: []source.Chapter{
			{ID: "tag:comic.example,2024:125", Number: "12.5", Title: "Rain", Language: "en", URL: "https://comic.example/12-5", Published: time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC)},
			{ID: "https://comic.example/12", Number: "12", Title: "7 Little Moths", Language: "en", URL: "https://comic.example/12", Order: 1},
			{ID: "https://elsewhere.example/news", Title: "On holiday", Language: "en", URL: "https://elsewhere.example/news", Order: 2, External: true},
		},
	}
}

func TestConformance(t *testing.T) {
	feed := data(t, "comic.rss")
	sourcetest.Run(t, sourcetest.Case{
		Adapter: declared(t, "#comic img"), Series: source.Ask{SeriesID: "lantern", URL: "https://comic.example/feed.xml"},
		SeriesPath: "/feed.xml", ChapterPath: "/12-5",
		Pages: sourcetest.Pages{
			"/feed.xml": {Body: feed, MediaType: "application/rss+xml"},
			"/12-5":     {Body: data(t, "page.html"), MediaType: "text/html"},
		},
		Want: comic(), Images: []string{"https://comic.example/img/1.png", "https://comic.example/img/2.png"},
		Empty: `<rss version="2.0"><channel><title>Lantern 14</title></channel></rss>`,
	})
}

func TestAtom(t *testing.T) {
	a, err := New(Config{Declaration: source.Declaration{Key: "wache", Name: "Wache", Address: "https://wache.example/atom", Language: "de"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Series(t.Context(), sourcetest.Pages{"/atom": {Body: data(t, "comic.atom")}}, source.Ask{SeriesID: "wache"})
	if err != nil {
		t.Fatal(err)
	}
	want := []source.Chapter{{ID: "urn:x:3", Number: "3", Language: "de", URL: "https://wache.example/kapitel/3", Published: time.Date(2024, 5, 1, 8, 0, 0, 0, time.UTC)}}
	if diff := cmp.Diff(want, got.Chapters); diff != "" {
		t.Errorf("chapters (-want +got):\n%s", diff)
	}
	if got.Series.Title != "Nachtwache" || cmp.Diff([]string{"B. Person"}, got.Series.Authors) != "" {
		t.Errorf("the series is %+v", got.Series)
	}
}

func TestPages(t *testing.T) {
	pages := sourcetest.Pages{
		"/feed.xml": {Body: data(t, "comic.rss")}, "/12-5": {Body: data(t, "page.html")}, "/12": {Body: data(t, "page.html")}, "/old": {Body: data(t, "page.html")},
		"/bare": {Body: "<html><body>nothing</body></html>"},
	}
	tests := []struct {
		name, images string
		chapter      source.Chapter
		want         []string
		class        fault.Class
	}{
		{"from the item", "", source.Chapter{ID: "https://comic.example/12", URL: "https://comic.example/12"}, []string{"https://comic.example/img/121.png", "https://comic.example/img/122.png"}, ""},
		{"the feed dropped it", "", source.Chapter{ID: "old", URL: "https://comic.example/old"}, []string{"https://comic.example/img/share.png"}, ""},
		{"by selector", "#comic img", source.Chapter{ID: "x", URL: "https://comic.example/12"}, []string{"https://comic.example/img/1.png", "https://comic.example/img/2.png"}, ""},
		{"the selector finds nothing", "#strip img", source.Chapter{ID: "x", URL: "https://comic.example/12"}, nil, fault.Parser},
		{"no image at all", "", source.Chapter{ID: "x", URL: "https://comic.example/bare"}, nil, fault.Parser},
		{"no page", "", source.Chapter{ID: "x", URL: "https://comic.example/gone"}, nil, fault.NotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := declared(t, tt.images).Pages(t.Context(), pages, source.Key{}, tt.chapter)
			var ids []string
			for _, p := range got {
				ids = append(ids, p.Identity)
			}
			if diff := cmp.Diff(tt.want, ids); diff != "" || fault.Of(err) != tt.class {
				t.Errorf("%v, pages (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestHostileFeeds(t *testing.T) {
	item := func(inner string) string {
		return `<rss version="2.0"><channel><title>x</title><item>` + inner + `</item></channel></rss>`
	}
	var many strings.Builder
	for i := range maxItems + 1 {
		fmt.Fprintf(&many, "<item><guid>%d</guid></item>", i)
	}
	tests := []struct {
		name, body string
		want       poll.Outcome
	}{
		{"a bomb", `<!DOCTYPE rss [<!ENTITY a "` + strings.Repeat("a", 1000) + `"><!ENTITY b "&a;&a;&a;">]>` + item("<title>&b;</title><guid>1</guid>"), poll.Errors},
		{"a file", `<!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/passwd">]>` + item("<title>&a;</title><guid>1</guid>"), poll.Errors},
		{"deep", item(strings.Repeat("<x:a xmlns:x='y'>", 100_000)), poll.Errors},
		{"too many items", `<rss version="2.0"><channel><title>x</title>` + many.String() + `</channel></rss>`, poll.Errors},
		{"an item without id", item("<title>1</title>"), poll.Errors},
		{"a long id", item("<guid>" + strings.Repeat("x", 100_000) + "</guid>"), poll.OK},
		{"addresses of other kinds", item("<guid>1</guid><link>javascript:alert(1)</link><enclosure type='image/png' url='file:///etc/passwd'/>"), poll.OK},
		{"markup in a title", item("<guid>1</guid><title>&lt;script&gt;alert(1)&lt;/script&gt;Ch. 2</title>"), poll.OK},
		{"control characters", item("<guid>1</guid><title>a&#1;b</title>"), poll.Errors},
		{"no title", `<rss version="2.0"><channel><item><guid>1</guid></item></channel></rss>`, poll.OK},
		{"a feed of JSON", `{"version":"https://jsonfeed.org/version/1","title":"x","items":[{"id":"1"}]}`, poll.Unfetchable},
		{"another root", `<opml><body/></opml>`, poll.Unfetchable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := poll.Check(t.Context(), declared(t, ""), sourcetest.Pages{"/feed.xml": {Body: tt.body}}, source.Ask{SeriesID: "lantern", URL: "https://comic.example/feed.xml"})
			if got.Outcome != tt.want {
				t.Fatalf("%s, want %s", got, tt.want)
			}
			for _, c := range got.Reading.Chapters {
				if len(c.ID) > 200 || !strings.HasPrefix(c.URL, "http") || strings.ContainsAny(c.Title, "<\x01") {
					t.Errorf("chapter %+v", c)
				}
			}
		})
	}
}

// A feed recorded by others is read as it came.
func TestRecordedFeed(t *testing.T) {
	body, err := os.ReadFile("../../../../../shared/data/sites/dosage-webcomics_MIT/dailydose.rss")
	if err != nil {
		t.Skip("the recorded feeds are not on this machine")
	}
	a, err := New(Config{Declaration: source.Declaration{Key: "d", Name: "Daily", Address: "https://example.net/feed.xml"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Series(t.Context(), sourcetest.Pages{"/feed.xml": {Body: string(body)}}, source.Ask{SeriesID: "d"})
	if err != nil {
		t.Fatal(err)
	}
	want := []source.Chapter{
		{ID: "https://example.net/dosage/PlumedDotage/4034.png", Number: "4034"}, {ID: "https://example.net/dosage/PachinkoParlor/20190626.jpg"},
		{ID: "https://example.net/dosage/GurneysWithSurvivors/1560462175-GWS1123.jpg"},
	}
	if diff := cmp.Diff(want, got.Chapters, cmpopts.IgnoreFields(source.Chapter{}, "Title", "URL", "Published", "Order", "Language")); diff != "" {
		t.Errorf("chapters (-want +got):\n%s", diff)
	}
}

func TestNewRefuses(t *testing.T) {
	good := Config{Declaration: source.Declaration{Key: "k", Name: "n", Address: "https://x.example/feed"}}
	for name, change := range map[string]func(*Config){
		"no key": func(c *Config) { c.Key = "" }, "no name": func(c *Config) { c.Name = "" }, "no address": func(c *Config) { c.Address = "" },
		"a file": func(c *Config) { c.Address = "file:///x" }, "a password": func(c *Config) { c.Address = "https://u:p@x/" }, "a selector": func(c *Config) { c.Images = "[[" },
		"a direction": func(c *Config) { c.Direction = "up" }, "haste": func(c *Config) { c.Pacing = time.Millisecond },
	} {
		c := good
		change(&c)
		if _, err := New(c); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
}

func TestRecognise(t *testing.T) {
	a := declared(t, "")
	for address, want := range map[string]bool{
		"https://comic.example/feed.xml": true, " https://comic.example/ ": true, "http://comic.example": true, "https://comic.example/12": false,
		"https://other.example/feed.xml": false, "feed.xml": false, "%zz": false,
	} {
		if id, url, ok := a.Recognise(address); ok != want || ok && (id != "lantern" || url != "https://comic.example/feed.xml") {
			t.Errorf("%q is %q at %q (%v)", address, id, url, ok)
		}
	}
	if a.Address("lantern") == "" || a.Address("other") != "" {
		t.Error("the address does not follow from the id")
	}
}

func FuzzSeries(f *testing.F) {
	f.Add(data(f, "comic.rss"))
	f.Add(data(f, "comic.atom"))
	f.Fuzz(func(t *testing.T, body string) {
		a := declared(t, "")
		r, err := a.Series(t.Context(), sourcetest.Pages{"/feed.xml": {Body: body}}, source.Ask{SeriesID: "lantern"})
		var classified *fault.Error
		if err != nil && !errors.As(err, &classified) {
			t.Fatalf("an error of no class: %v", err)
		}
		for _, c := range r.Chapters {
			if _, err := a.Pages(t.Context(), sourcetest.Pages{"/feed.xml": {Body: body}}, source.Key{}, c); err != nil && !errors.As(err, &classified) {
				t.Fatalf("an error of no class: %v", err)
			}
		}
	})
}
