package peppercarrot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/sourcetest"
)

const path = "/0_sources/episodes-v1.json"

func recorded(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "episodes-v1.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestConformance(t *testing.T) {
	chapter := func(order int, name, code, language, number, title string) source.Chapter {
		return source.Chapter{
			ID: name + "/" + code, Number: number, Title: title, Language: language, Order: order, URL: "https://www.peppercarrot.com/" + code + "/webcomic/" + name + ".html",
		}
	}
	const first = "ep01_Potion-of-Flight"
	var images []string
	for _, p := range []string{"00", "01", "02", "10", "11"} {
		images = append(images, "https://www.peppercarrot.com/0_sources/ep01_Potion-of-Flight/low-res/en_Pepper-and-Carrot_by-David-Revoy_E01P"+p+".jpg")
	}
	sourcetest.Run(t, sourcetest.Case{
		Adapter: New(), Series: source.Ask{SeriesID: "pepper-and-carrot", URL: "https://www.peppercarrot.com/"}, SeriesPath: path, ChapterPath: path,
		Pages: sourcetest.Pages{path: {Body: recorded(t), MediaType: "application/json"}},
		Want: source.Reading{Validators: source.Validators{ETag: `"x"`}, Series: about(), Chapters: []source.Chapter{
			chapter(0, first, "en", "en", "1", "Potion of Flight"), chapter(1, first, "fr", "fr", "1", "Potion of Flight"), chapter(2, first, "kr", "ko", "1", "Potion of Flight"),
			chapter(3, first, "jz", "und-x-jz", "1", "Potion of Flight"), chapter(4, "ep02_Rainbow-potions", "en", "en", "2", "Rainbow potions"),
		}},
		Images: images, Empty: "[]",
	})
}

func TestHostileIndexes(t *testing.T) {
	entry := func(name, file string) string {
		return `[{"name":"` + name + `","translated_languages":["en"],"pages":{"1":"` + file + `"}}]`
	}
	for _, tt := range []struct {
		name, body string
		want       poll.Outcome
	}{
		{"good", entry("ep01_x", "a.jpg"), poll.OK},
		{"no number", entry("special_x", "a.jpg"), poll.OK},
		{"a path for a name", entry("../../etc", "a.jpg"), poll.Errors},
		{"a path for a file", entry("ep01_x", "../../../etc/passwd"), poll.Errors},
		{"an address for a file", entry("ep01_x", "http://127.0.0.1/"), poll.Errors},
		{"a query", entry("ep01_x?y", "a.jpg"), poll.Errors},
		{"no name", entry("", "a.jpg"), poll.Errors},
		{"a long name", entry(strings.Repeat("x", 1000), "a.jpg"), poll.Errors},
		{"a number for a name", `[{"name":1}]`, poll.Errors},
		{"the same episode twice", "[" + strings.Trim(entry("ep01_x", "a.jpg"), "[]") + "," + strings.Trim(entry("ep01_x", "a.jpg"), "[]") + "]", poll.Errors},
		{"deep", strings.Repeat("[", 100_000), poll.Errors},
		{"large", "[" + strings.Repeat(" ", 5<<20) + "]", poll.Errors},
		{"many", "[" + strings.Repeat(`{"name":"x"},`, 2000) + `{"name":"x"}]`, poll.Errors},
		{"an object", `{"error":"maintenance"}`, poll.Unfetchable},
		{"null", "null", poll.Unfetchable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := poll.Check(t.Context(), New(), sourcetest.Pages{path: {Body: tt.body}}, source.Ask{SeriesID: "pepper-and-carrot"})
			if got.Outcome != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestPagesSayWhatIsMissing(t *testing.T) {
	pages := sourcetest.Pages{path: {Body: recorded(t)}}
	for id, want := range map[string]fault.Class{"ep02_Rainbow-potions/en": fault.Parser, "ep01_Potion-of-Flight/xx": fault.NotFound, "": fault.NotFound} {
		if _, err := New().Pages(t.Context(), pages, source.Key{}, source.Chapter{ID: id}); !fault.Is(err, want) {
			t.Errorf("%q: %v, want %s", id, err, want)
		}
	}
}

func TestRecognise(t *testing.T) {
	for address, want := range map[string]bool{
		"https://www.peppercarrot.com/en/webcomic/ep01_Potion-of-Flight.html": true, "http://peppercarrot.com": true, " https://www.peppercarrot.com/ ": true,
		"https://www.peppercarrot.com.evil.example/": false, "ftp://www.peppercarrot.com/": false, "www.peppercarrot.com": false, "%zz": false,
	} {
		if id, _, ok := New().Recognise(address); ok != want || ok && id != "pepper-and-carrot" {
			t.Errorf("%q: %q, %v", address, id, ok)
		}
	}
}

// silent fails the test when it is asked anything.
type silent struct{ t *testing.T }

func (s silent) Get(_ context.Context, r source.Request) (*source.Response, error) {
	s.t.Errorf("%s was asked", r.URL)
	return nil, errors.New("asked")
}

// The Site is asked nothing before somebody follows it: it lists nothing and a
// search needs no request.
func TestNothingIsAskedUnfollowed(t *testing.T) {
	if got := New().Listed(); len(got) != 0 {
		t.Errorf("it lists %v", got)
	}
	for query, want := range map[string]int{"pepper": 1, "Pepper&Carrot": 1, "revoy": 1, "One Piece": 0, "": 0, "pepper salt": 0} {
		got, err := New().Search(t.Context(), silent{t}, query)
		if err != nil || len(got) != want {
			t.Errorf("%q finds %v, %v", query, got, err)
		}
	}
	if _, err := New().Series(t.Context(), silent{t}, source.Ask{SeriesID: "another"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("another Series: %v", err)
	}
}
