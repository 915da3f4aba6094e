package opds

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

func declared(t testing.TB) *Adapter {
	t.Helper()
	a, err := New(Config{Declaration: source.Declaration{Key: "library", Name: "A library", Address: "https://books.example/opds/v1.2/catalog", Hosts: []string{"pages.example"}, Language: "de"}, Width: 1600})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func served(t testing.TB) sourcetest.Pages {
	return sourcetest.Pages{
		"/opds/v1.2/catalog": {Body: data(t, "catalog.xml")}, "/opds/v1.2/series/7": {Body: data(t, "series.xml")}, "/opds/v1.2/series/7?page=1": {Body: data(t, "series-1.xml")},
		"/opds/v1.2/search": {Body: data(t, "search.xml")}, "/opds/v1.2/series?search=la%26n+t&author=&page=": {Body: data(t, "catalog.xml")},
	}
}

func TestConformance(t *testing.T) {
	const series = "https://books.example/opds/v1.2/series/7"
	sourcetest.Run(t, sourcetest.Case{
		Adapter: declared(t), Series: source.Ask{SeriesID: "/opds/v1.2/series/7", URL: series}, Pages: served(t),
		SeriesPath: "/opds/v1.2/series/7", ChapterPath: "/opds/v1.2/series/7",
		// It goes on in a second feed, of which the first one's validators say nothing.
		Want: source.Reading{
			Series: source.Series{ID: "/opds/v1.2/series/7", Title: "Lantern 14", URL: series, Authors: []string{"A. Person"}, CoverURL: "https://books.example/opds/v1.2/books/1/cover"},
			Chapters: []source.Chapter{
				{ID: "urn:book:1", Volume: "1", Language: "en", URL: series, Published: time.Date(2014, 3, 2, 0, 0, 0, 0, time.UTC)},
				{ID: "urn:book:2", Number: "12.5", Title: "Rain", Language: "de", URL: series, Order: 1, External: true},
				{ID: "urn:book:3", Title: "Epilogue", Language: "de", URL: series + "?page=1", Order: 2},
			},
		},
		Images: []string{
			"https://books.example/opds/v1.2/books/1/pages/0?width=1600", "https://books.example/opds/v1.2/books/1/pages/1?width=1600", "https://books.example/opds/v1.2/books/1/pages/2?width=1600",
		},
		Empty: `<feed xmlns="http://www.w3.org/2005/Atom"><title>Lantern 14</title></feed>`,
	})
}

func TestPages(t *testing.T) {
	key := source.Key{Site: "library", SeriesID: "/opds/v1.2/series/7"}
	tests := []struct {
		name, id, url string
		want          []string
		class         fault.Class
	}{
		{"in a later feed", "urn:book:3", "https://books.example/opds/v1.2/series/7", []string{"https://pages.example/stream/3?page=0", "https://pages.example/stream/3?page=1"}, ""},
		{"the books were shifted", "urn:book:1", "https://books.example/opds/v1.2/series/7?page=1", []string{
			"https://books.example/opds/v1.2/books/1/pages/0?width=1600", "https://books.example/opds/v1.2/books/1/pages/1?width=1600", "https://books.example/opds/v1.2/books/1/pages/2?width=1600",
		}, ""},
		{"not streamed", "urn:book:2", "https://books.example/opds/v1.2/series/7", nil, fault.Parser},
		{"not there", "urn:book:9", "https://books.example/opds/v1.2/series/7", nil, fault.NotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := declared(t).Pages(t.Context(), served(t), key, source.Chapter{ID: tt.id, URL: tt.url})
			var urls []string
			for _, p := range got {
				urls = append(urls, p.URL)
			}
			if diff := cmp.Diff(tt.want, urls); diff != "" || fault.Of(err) != tt.class {
				t.Errorf("%v, pages (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestSearch(t *testing.T) {
	lantern := source.Series{ID: "/opds/v1.2/series/7", Title: "Lantern 14", URL: "https://books.example/opds/v1.2/series/7"}
	moths := source.Series{ID: "/opds/v1.2/series/9", Title: "Moths", URL: "https://books.example/opds/v1.2/series/9", CoverURL: "https://books.example/opds/v1.2/series/9/thumbnail"}
	got, err := declared(t).Search(t.Context(), served(t), "la&n t")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]source.Series{lantern, moths}, got); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	without := served(t)
	without["/opds/v1.2/catalog"] = sourcetest.Answer{Body: strings.Replace(data(t, "catalog.xml"), `rel="search"`, `rel="other"`, 1)}
	if got, err = declared(t).Search(t.Context(), without, " MOTH "); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]source.Series{moths}, got); diff != "" {
		t.Errorf("found without a search (-want +got):\n%s", diff)
	}
	outside := served(t)
	outside["/opds/v1.2/search"] = sourcetest.Answer{Body: strings.Replace(data(t, "search.xml"), `template="/opds`, `template="http://127.0.0.1/opds`, 1)}
	if _, err := declared(t).Search(t.Context(), outside, "x"); !fault.Is(err, fault.Parser) {
		t.Errorf("a search elsewhere: %v", err)
	}
}

// endless is a catalog whose feeds go on for ever.
type endless struct{ asked int }

func (e *endless) Get(_ context.Context, r source.Request) (*source.Response, error) {
	e.asked++
	return &source.Response{URL: r.URL, Body: fmt.Appendf(nil, `<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title><link rel="next" href="/opds/v1.2/x?page=%d"/></feed>`, e.asked)}, nil
}

func TestHostileCatalogs(t *testing.T) {
	book := func(link string) string {
		return `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:pse="http://vaemendis.net/opds-pse/ns"><title>x</title><entry><id>1</id><title>y</title>` + link + `</entry></feed>`
	}
	stream := func(href, count string) string {
		return book(`<link rel="` + relStream + `" type="image/png" href="` + href + `" pse:count="` + count + `"/>`)
	}
	ask := source.Ask{SeriesID: "/opds/v1.2/x", URL: "https://books.example/opds/v1.2/x"}
	for _, tt := range []struct {
		name, body string
		want       poll.Outcome
		pages      fault.Class
	}{
		{"entities", `<!DOCTYPE feed [<!ENTITY a "aaaa">]>` + book(""), poll.Errors, fault.Parser},
		{"deep", "<feed>" + strings.Repeat("<entry>", 100_000), poll.Errors, fault.Parser},
		{"not an Atom feed", "<rss/>", poll.Unfetchable, fault.Parser},
		{"a hundred thousand pages", stream("/p/{pageNumber}", "100000"), poll.OK, fault.Parser},
		{"a count that is no number", stream("/p/{pageNumber}", "1e3"), poll.Errors, fault.Parser},
		{"pages less than none", stream("/p/{pageNumber}", "-5"), poll.NoChapter, fault.Parser},
		{"no place for the number", stream("/p/1", "5"), poll.NoChapter, fault.Parser},
		{"pages on this machine", stream("http://127.0.0.1:5432/{pageNumber}", "5"), poll.OK, fault.Parser},
		{"pages of a file", stream("file:///etc/{pageNumber}", "5"), poll.OK, fault.Parser},
		{"an id of a megabyte", strings.Replace(stream("/p/{pageNumber}", "5"), "<id>1</id>", "<id>"+strings.Repeat("x", 1<<20)+"</id>", 1), poll.Errors, fault.NotFound},
		{"it goes on elsewhere", strings.Replace(book(""), "<entry>", `<link rel="next" href="http://169.254.169.254/"/><entry>`, 1), poll.Errors, fault.Parser},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pages := sourcetest.Pages{"/opds/v1.2/x": {Body: tt.body}}
			if got := poll.Check(t.Context(), declared(t), pages, ask); got.Outcome != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if _, err := declared(t).Pages(t.Context(), pages, source.Key{}, source.Chapter{ID: "1", URL: ask.URL}); fault.Of(err) != tt.pages {
				t.Errorf("pages: %v, want %s", err, tt.pages)
			}
		})
	}
	e := &endless{}
	if got := poll.Check(t.Context(), declared(t), e, ask); got.Outcome != poll.Errors || e.asked != maxFeeds {
		t.Errorf("a catalog without end: %s after %d feeds", got, e.asked)
	}
}

// The samples of the specification are read as they came.
func TestSpecSample(t *testing.T) {
	body, err := os.ReadFile("../../../../../shared/data/opds/samples-from-spec/opds12-example-02.xml")
	if err != nil {
		t.Skip("the specification's samples are not on this machine")
	}
	got := poll.Check(t.Context(), declared(t), sourcetest.Pages{"/opds/v1.2/x": {Body: string(body)}}, source.Ask{SeriesID: "/opds/v1.2/x"})
	if got.Outcome != poll.OK || len(got.Reading.Chapters) != 2 || !got.Reading.Chapters[0].External || got.Reading.Series.Title != "Unpopular Publications" {
		t.Errorf("%s: %+v", got, got.Reading)
	}
}

func TestRecognise(t *testing.T) {
	a := declared(t)
	for address, want := range map[string]string{
		"https://books.example/opds/v1.2/series/7": "/opds/v1.2/series/7", " https://books.example/opds/v1.2/series/7?x=1 ": "/opds/v1.2/series/7?x=1",
		"https://books.example/opds/v1.2/catalog": "", "https://books.example/": "", "https://books.example/opds/v1.2/../../admin": "", "https://other.example/opds/v1.2/series/7": "",
		"/opds/v1.2/series/7": "", "%zz": "", "https://books.example/opds/v1.2/" + strings.Repeat("x", 300): "",
	} {
		id, at, ok := a.Recognise(address)
		if id != want || ok != (want != "") || ok && at != a.Address(id) {
			t.Errorf("%.60q is %q at %q (%v), want %q", address, id, at, ok, want)
		}
	}
	for _, id := range []string{"", "x", "//evil.example/x", "http://evil.example/"} {
		if got := a.Address(id); got != "" {
			t.Errorf("the id %q leads to %q", id, got)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	good := Config{Declaration: source.Declaration{Key: "k", Name: "n", Address: "https://x.example/opds/"}}
	for name, change := range map[string]func(*Config){
		"no key": func(c *Config) { c.Key = "" }, "no address": func(c *Config) { c.Address = "opds" }, "a password": func(c *Config) { c.Address = "https://u:p@x/opds" },
		"a direction": func(c *Config) { c.Direction = "up" }, "haste": func(c *Config) { c.Pacing = time.Millisecond }, "a width": func(c *Config) { c.Width = -1 },
	} {
		c := good
		change(&c)
		if _, err := New(c); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzSeries(f *testing.F) {
	f.Add(data(f, "series.xml"))
	f.Add(data(f, "catalog.xml"))
	f.Fuzz(func(t *testing.T, body string) {
		a, pages := declared(t), sourcetest.Pages{"/opds/v1.2/x": {Body: body}, "/opds/v1.2/catalog": {Body: body}}
		var classified *fault.Error
		r, err := a.Series(t.Context(), pages, source.Ask{SeriesID: "/opds/v1.2/x"})
		if err != nil && !errors.As(err, &classified) {
			t.Fatalf("an error of no class: %v", err)
		}
		for _, c := range r.Chapters {
			if _, err := a.Pages(t.Context(), pages, source.Key{}, c); err != nil && !errors.As(err, &classified) {
				t.Fatalf("an error of no class: %v", err)
			}
		}
		if _, err := a.Search(t.Context(), pages, "x"); err != nil && !errors.As(err, &classified) {
			t.Fatalf("an error of no class: %v", err)
		}
	})
}
