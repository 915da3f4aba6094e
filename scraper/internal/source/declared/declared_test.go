package declared

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/sample"
	"mangrove/scraper/internal/source/sample/samplesite"
	"mangrove/scraper/internal/source/sourcetest"
)

// good parses a description that must have no problem.
func good(t *testing.T, file, yaml string) *Described {
	t.Helper()
	s, problems := Parse(file, []byte(yaml))
	if s == nil {
		t.Fatalf("%v", problems)
	}
	return s.Described
}

func sampleSite(t *testing.T) *Described {
	t.Helper()
	data, err := os.ReadFile("testdata/sample.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return good(t, "testdata/sample.yaml", string(data))
}

// served are all pages of a catalogue under the sample Site.
func served(t *testing.T, c samplesite.Catalogue, content http.Handler) sourcetest.Pages {
	t.Helper()
	pages := sourcetest.Pages{}
	for _, s := range c.Series {
		paths := []string{"/series/" + s.ID}
		for _, ch := range s.Chapters {
			if ch.External == "" {
				paths = append(paths, "/series/"+s.ID+"/"+ch.ID)
			}
		}
		for _, p := range paths {
			w := httptest.NewRecorder()
			content.ServeHTTP(w, httptest.NewRequest(http.MethodGet, p, nil))
			body, err := io.ReadAll(w.Body)
			if err != nil || w.Code != http.StatusOK {
				t.Fatalf("%s: status %d, %v", p, w.Code, err)
			}
			pages[p] = sourcetest.Answer{Body: string(body), MediaType: "text/html"}
		}
	}
	return pages
}

func TestTheDescribedSampleConforms(t *testing.T) {
	_, shipped, err := samplesite.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	pages := served(t, shipped, samplesite.Handler())
	a, err := sample.Start("http://sample.example")
	if err != nil {
		t.Fatal(err)
	}
	ask := source.Ask{SeriesID: "pepper-and-carrot", URL: a.Listed()[0].URL}
	want, err := a.Series(t.Context(), pages, ask)
	if err != nil {
		t.Fatal(err)
	}
	images, err := a.Pages(t.Context(), pages, source.Key{}, want.Chapters[0])
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range images {
		ids = append(ids, p.Identity)
	}
	path := "/series/pepper-and-carrot"
	body := pages[path].Body
	start, end := strings.Index(body, `<ol class="chapters"`), strings.Index(body, "</ol>")
	sourcetest.Run(t, sourcetest.Case{
		Adapter: sampleSite(t).Adapter(), Series: ask, SeriesPath: path, ChapterPath: path + "/" + want.Chapters[0].ID, Pages: pages, Want: want, Images: ids,
		Empty: body[:start] + `<ol class="chapters">` + body[end:],
	})
}

// Whatever the sample Site can show, the description reads what the adapter does.
func TestTheDescribedSampleReadsWhatTheAdapterReads(t *testing.T) {
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	catalogue := samplesite.Catalogue{Title: "Shelf", Series: []samplesite.Series{{
		ID: "pepper-and-carrot", Title: "A <b>& \"B\"", Author: "Ä Ö", Description: "one\n two", Status: "hiatus", Language: "en", Direction: "strip", Cover: "c.jpg",
		Tags: []string{"x", "y z"}, Licence: "CC BY",
		Chapters: []samplesite.Chapter{
			{ID: "one", Number: "1", Volume: "1", Title: "First", Language: "en", Group: "North", Pages: []string{"a.jpg", "b c.png"}, Published: day},
			{ID: "half", Number: "1.5", Title: "", Language: "ja", Pages: []string{"a.jpg"}, Published: day},
			{ID: "extra", Title: "Extra", Language: "en", Pages: []string{"b.jpg"}, Published: day},
			{ID: "bought", Number: "2", Title: "Elsewhere", Language: "en", External: "https://publisher.example/2", Published: day},
		},
	}}}
	pages := served(t, catalogue, samplesite.SiteHandler(os.DirFS(t.TempDir()), catalogue))
	a, err := sample.Start("http://sample.example")
	if err != nil {
		t.Fatal(err)
	}
	d := sampleSite(t).Adapter()
	read := func(a source.Adapter) (r source.Reading, lists [][]source.Page) {
		r, err := a.Series(t.Context(), pages, source.Ask{SeriesID: "pepper-and-carrot"})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Chapters {
			if c.External {
				continue
			}
			list, err := a.Pages(t.Context(), pages, source.Key{Site: "sample", SeriesID: "pepper-and-carrot"}, c)
			if err != nil {
				t.Fatal(err)
			}
			lists = append(lists, list)
		}
		return r, lists
	}
	wantReading, wantPages := read(a)
	gotReading, gotPages := read(d)
	if diff := cmp.Diff(wantReading, gotReading); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(wantPages, gotPages); diff != "" {
		t.Error(diff)
	}
	for _, address := range []string{
		"http://sample.example/series/x", " http://sample.example/series/x/episode-1?page=2 ", "http://sample.example/", "http://other.example/series/x",
		"http://sample.example/series/", "series/x", "%zz", "http://sample.example/series/a%20b", "http://sample.example/seriesx",
	} {
		wantID, wantURL, wantOK := a.Recognise(address)
		if id, url, ok := d.Recognise(address); id != wantID || url != wantURL || ok != wantOK {
			t.Errorf("%q is recognised as %q %q %v, by the adapter as %q %q %v", address, id, url, ok, wantID, wantURL, wantOK)
		}
	}
}

// script answers addresses from a map.
type answers map[string]string

func (a answers) Get(_ context.Context, r source.Request) (*source.Response, error) {
	body, ok := a[r.URL]
	if !ok {
		return nil, source.NotFound(r.URL)
	}
	return &source.Response{URL: r.URL, Body: []byte(body)}, nil
}

// The Series by which a Site is tried is the one it names, or its only one.
func TestTheCanary(t *testing.T) {
	for yaml, want := range map[string]string{
		plain: "",
		strings.Replace(plain, "pacing: 1s", "canary: one-long-runner", 1):                                        "one-long-runner",
		strings.NewReplacer("pacing: 1s", "listed: [{id: x, title: X}]", "series/{id}", "archive").Replace(plain): "x",
	} {
		if got := good(t, "comic.yaml", yaml).Site().Canary; got != want {
			t.Errorf("%q is its canary, want %q, of\n%s", got, want, yaml)
		}
	}
}
