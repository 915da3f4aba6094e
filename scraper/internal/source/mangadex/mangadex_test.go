package mangadex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/sourcetest"
)

const (
	gapsID     = "1b2fddf9-1385-4f3c-b37a-cf86a9428b1a"
	externalID = "304ceac3-8cdb-4fe7-acf7-2b6ff7a60613"
	gapsFirst  = "9b12d8cf-6ee1-42d8-91c9-e80c9c1758e1"
)

func recorded(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func adapter(t *testing.T, c Config) *Adapter {
	t.Helper()
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// path is what the suite knows an address by.
func path(t *testing.T, address string) string {
	t.Helper()
	rest, ok := strings.CutPrefix(address, "https://api.mangadex.org")
	if !ok {
		t.Fatalf("%s is not of the API", address)
	}
	return rest
}

func feedPath(t *testing.T, a *Adapter, id string, offset, limit int) string {
	return path(t, a.at("/manga/"+id+"/feed", feedQuery(offset, limit)))
}

func answer(body string) sourcetest.Answer {
	return sourcetest.Answer{Body: body, MediaType: "application/json"}
}

// gaps are the pages of the recorded Series with gaps.
func gaps(t *testing.T, a *Adapter) sourcetest.Pages {
	return sourcetest.Pages{
		feedPath(t, a, gapsID, 0, 500):                        answer(recorded(t, "series-with-gaps-feed.json")),
		path(t, a.at("/manga/"+gapsID, wanted())):             answer(recorded(t, "series-with-gaps.json")),
		"/at-home/server/" + gapsFirst + "?forcePort443=true": answer(recorded(t, "at-home-server.json")),
	}
}

func gapsReading(t *testing.T) source.Reading {
	t.Helper()
	want := source.Reading{Validators: source.Validators{ETag: `"x"`}, Series: source.Series{
		ID: gapsID, Title: "Lantern Street", NativeTitle: "灯籠通り", AltTitles: []string{"Lantern Street, the Guild Years", "Улица фонарей"}, URL: "https://mangadex.org/title/" + gapsID, Status: "ongoing", Direction: "rtl",
		Description: "A guild of reviewers travels from inn to inn. (Text replaced; structure as recorded.)", Tags: []string{"Monsters", "Comedy", "Adventure"},
		License: "Read from MangaDex, mangadex.org.",
	}}
	for line := range strings.Lines(recorded(t, "series-with-gaps-list.tsv")) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		at, err := time.Parse(time.RFC3339, cells[5])
		if err != nil {
			t.Fatal(err)
		}
		c := source.Chapter{
			ID: cells[0], Volume: cells[1], Number: cells[2], Title: cells[3], Language: "en", Order: len(want.Chapters), Published: at.UTC(),
			URL: "https://mangadex.org/chapter/" + cells[0],
		}
		if cells[4] != "" {
			c.Groups = []string{cells[4]}
		}
		want.Chapters = append(want.Chapters, c)
	}
	return want
}

func TestConformance(t *testing.T) {
	a := adapter(t, Config{})
	images := strings.Split(recorded(t, "at-home-server.json"), `"data": [`)[1]
	images, _, _ = strings.Cut(images, "]")
	var files []string
	for f := range strings.SplitSeq(images, ",") {
		files = append(files, strings.Trim(strings.TrimSpace(f), `"`))
	}
	if len(files) != 17 {
		t.Fatalf("%d pages were recorded", len(files))
	}
	sourcetest.Run(t, sourcetest.Case{
		Adapter: a, Series: source.Ask{SeriesID: gapsID, URL: a.Address(gapsID)}, Pages: gaps(t, a), Want: gapsReading(t), Images: files,
		SeriesPath: feedPath(t, a, gapsID, 0, 500), ChapterPath: "/at-home/server/" + gapsFirst + "?forcePort443=true",
		Empty: `{"result":"ok","response":"collection","data":[],"limit":500,"offset":0,"total":0}`,
	})
}

func TestRecordedPageAddresses(t *testing.T) {
	for _, tt := range []struct {
		name        string
		config      Config
		first, last string
	}{
		{"as uploaded", Config{}, "/data/", ".png"},
		{"small copies", Config{DataSaver: true}, "/data-saver/", ".jpg"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := adapter(t, tt.config)
			pages, err := a.Pages(t.Context(), gaps(t, a), source.Key{}, source.Chapter{ID: gapsFirst})
			if err != nil || len(pages) != 17 {
				t.Fatal(len(pages), err)
			}
			for _, p := range pages {
				if !strings.Contains(p.URL, ".mangadex.network/") || !strings.Contains(p.URL, tt.first) || !strings.HasSuffix(p.URL, "/"+p.Identity) || !strings.HasSuffix(p.URL, tt.last) {
					t.Errorf("page %+v", p)
				}
			}
		})
	}
}

// A title that is read at its publishers only is read well, and nothing of it
// would be fetched (S-048, S-110).
func TestRecordedExternalChapters(t *testing.T) {
	a := adapter(t, Config{})
	title := strings.ReplaceAll(recorded(t, "series-with-gaps.json"), gapsID, externalID)
	r := poll.Check(t.Context(), a, sourcetest.Pages{
		feedPath(t, a, externalID, 0, 500):            answer(recorded(t, "series-external-feed.json")),
		path(t, a.at("/manga/"+externalID, wanted())): answer(title),
	}, source.Ask{SeriesID: externalID})
	if r.Outcome != poll.OK {
		t.Fatal(r)
	}
	var got []string
	for _, c := range r.Reading.Chapters {
		host, _, _ := strings.Cut(strings.TrimPrefix(c.URL, "https://"), "/")
		got = append(got, c.Number+" "+host+map[bool]string{true: " external"}[c.External])
	}
	want := []string{
		"3 comics.inkr.com external", "3 www.azuki.co external", "2 comics.inkr.com external", "2 www.azuki.co external",
		"1 kodansha.us external", "1 comics.inkr.com external", "1 www.azuki.co external",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestRecognise(t *testing.T) {
	a := adapter(t, Config{})
	for _, tt := range []struct{ name, address, id string }{
		{"a title", "https://mangadex.org/title/" + gapsID, gapsID},
		{"with its name", "https://mangadex.org/title/" + gapsID + "/lantern-street?tab=chapters#x", gapsID},
		{"in capitals, with spaces around", " http://WWW.MangaDex.org/title/" + strings.ToUpper(gapsID) + " ", gapsID},
		{"a chapter", "https://mangadex.org/chapter/" + gapsFirst, ""},
		{"another host", "https://mangadex.org.example/title/" + gapsID, ""},
		{"a host with the same end", "https://evilmangadex.org/title/" + gapsID, ""},
		{"a user before it", "https://mangadex.org@evil.example/title/" + gapsID, ""},
		{"no id", "https://mangadex.org/title/123/x", ""},
		{"nothing", "", ""},
		{"no address", "%zz", ""},
		{"another scheme", "javascript://mangadex.org/title/" + gapsID, ""},
		{"an id that leads away", "https://mangadex.org/title/../" + gapsID, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id, address, ok := a.Recognise(tt.address)
			if id != tt.id || ok != (tt.id != "") || (ok && address != "https://mangadex.org/title/"+tt.id) {
				t.Errorf("%q, %q, %v; want %q", id, address, ok, tt.id)
			}
		})
	}
	if got := a.Address("../x"); got != "" {
		t.Errorf("an id of another shape lies at %q", got)
	}
}

func TestNew(t *testing.T) {
	if _, err := New(Config{API: "nowhere"}); err == nil {
		t.Error("an address without a host was taken")
	}
	s := adapter(t, Config{Languages: []string{"fr"}}).Site()
	want := []string{"*.mangadex.network", "api.mangadex.org", "mangadex.org", "uploads.mangadex.org"}
	if d := cmp.Diff(want, s.Hosts); d != "" {
		t.Error(d)
	}
	// The Site's limits: five requests a second, forty page lists a minute.
	if s.Pacing < time.Second/5 || s.ListPacing < time.Minute/40 || s.ListLife != 15*time.Minute || s.Languages[0] != "fr" {
		t.Errorf("%+v", s)
	}
}
