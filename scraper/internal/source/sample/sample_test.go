package sample

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/sample/samplesite"
	"mangrove/scraper/internal/source/sourcetest"
)

func served(t *testing.T, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	samplesite.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	body, err := io.ReadAll(w.Body)
	if err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s: status %d, %v", path, w.Code, err)
	}
	return string(body)
}

func TestConformance(t *testing.T) {
	a, err := Start("http://sample.example")
	if err != nil {
		t.Fatal(err)
	}
	seriesPage, chapterPage := served(t, "/series/pepper-and-carrot"), served(t, "/series/pepper-and-carrot/episode-3")
	_, catalogue, err := samplesite.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	shipped := catalogue.Series[0]
	want := source.Reading{Validators: source.Validators{ETag: `"x"`}, Series: source.Series{
		ID: shipped.ID, Title: "Pepper&Carrot", Authors: []string{shipped.Author}, Description: shipped.Description, License: shipped.Licence,
		URL: "http://sample.example/series/pepper-and-carrot", Status: "ongoing", Direction: "ltr", Tags: shipped.Tags,
		CoverURL: "http://sample.example/images/" + shipped.Cover,
	}}
	for i, c := range []struct{ number, title, day string }{
		{"3", "The secret ingredients", "2014-10-03"}, {"2", "Rainbow potions", "2014-07-25"}, {"1", "Potion of Flight", "2014-05-10"},
	} {
		day, err := time.Parse(time.DateOnly, c.day)
		if err != nil {
			t.Fatal(err)
		}
		want.Chapters = append(want.Chapters, source.Chapter{
			ID: "episode-" + c.number, Number: c.number, Title: c.title, Language: "en", Order: i, Published: day,
			URL: "http://sample.example/series/pepper-and-carrot/episode-" + c.number,
		})
	}
	var images []string
	for _, p := range shipped.Chapters[2].Pages {
		images = append(images, "/images/"+p)
	}
	start, end := strings.Index(seriesPage, `<ol class="chapters"`), strings.Index(seriesPage, "</ol>")
	sourcetest.Run(t, sourcetest.Case{
		Adapter: a, Series: source.Ask{SeriesID: "pepper-and-carrot", URL: a.Listed()[0].URL},
		SeriesPath: "/series/pepper-and-carrot", ChapterPath: "/series/pepper-and-carrot/episode-3",
		Pages: sourcetest.Pages{
			"/series/pepper-and-carrot":           {Body: seriesPage, MediaType: "text/html"},
			"/series/pepper-and-carrot/episode-3": {Body: chapterPage, MediaType: "text/html"},
		},
		Want: want, Images: images, Empty: seriesPage[:start] + `<ol class="chapters">` + seriesPage[end:],
	})
}

func TestTheListenerIsLoopbackAndNamed(t *testing.T) {
	a, err := Start("")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	s := a.Site()
	if !strings.HasPrefix(s.Loopback, "127.0.0.1:") || s.Hosts[0] != s.Loopback {
		t.Errorf("hosts %v, loopback %q", s.Hosts, s.Loopback)
	}
	if got := a.here("http://127.0.0.1:1/series/x/y?z=1"); got != "http://"+s.Loopback+"/series/x/y?z=1" {
		t.Errorf("an address of an earlier start became %s", got)
	}
}

func TestRecognise(t *testing.T) {
	a, err := Start("http://sample.example")
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"http://sample.example/series/x": "x", " http://sample.example/series/x/episode-1?page=2 ": "x", "http://sample.example/": "",
		"http://other.example/series/x": "", "http://sample.example/series/": "", "series/x": "", "%zz": "",
	} {
		if got, _, ok := a.Recognise(address); got != want || ok != (want != "") {
			t.Errorf("%q is recognised as %q (%v), want %q", address, got, ok, want)
		}
	}
}
