package mangadex

import (
	"fmt"
	"strings"
	"testing"

	"mangrove/internal/fakesite"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/sourcetest"
)

// item is a chapter of the feed, collection a list of some.
var (
	item       = fakesite.MangaDexChapter
	collection = fakesite.MangaDexCollection
)

func TestFeedsThatAreNoList(t *testing.T) {
	well := `"chapter":"1","pages":3`
	tests := []struct {
		name, body string
		want       poll.Outcome
	}{
		{"well", collection(1, item(1, well)), poll.OK},
		{"a parking page", `<html>For sale`, poll.Unfetchable},
		{"nothing", ``, poll.Unfetchable},
		{"an empty object", `{}`, poll.Unfetchable},
		{"a bare list", `[]`, poll.Unfetchable},
		{"a bare null", `null`, poll.Unfetchable},
		{"an entity for a list", `{"result":"ok","response":"entity","data":[],"total":0}`, poll.Unfetchable},
		{"not well", `{"result":"ko","response":"collection","data":[],"total":0}`, poll.Unfetchable},
		{"a result of another type", `{"result":1,"response":"collection","data":[],"total":0}`, poll.Unfetchable},
		{"no data", `{"result":"ok","response":"collection","total":0}`, poll.Errors},
		{"null data", `{"result":"ok","response":"collection","data":null,"total":0}`, poll.Errors},
		{"data of another kind", `{"result":"ok","response":"collection","data":{},"total":0}`, poll.Errors},
		{"no total", `{"result":"ok","response":"collection","data":[]}`, poll.Errors},
		{"a negative total", `{"result":"ok","response":"collection","data":[],"total":-1}`, poll.Errors},
		{"a total beyond numbers", `{"result":"ok","response":"collection","data":[],"total":1e400}`, poll.Errors},
		{"a total that is a word", `{"result":"ok","response":"collection","data":[],"total":"0"}`, poll.Errors},
		{"empty, and says otherwise", collection(5), poll.Errors},
		{"shorter than it says", collection(3, item(1, well), item(2, well)), poll.Errors},
		{"longer than the Site shows", collection(10_240, item(1, well)), poll.Errors},
		{"an entry that is null", collection(1, `null`), poll.Errors},
		{"an entry that is a list", collection(1, `[]`), poll.Errors},
		{"an entry of another type", collection(1, strings.Replace(item(1, well), `"chapter",`, `"manga",`, 1)), poll.Errors},
		{"an id that is a path", collection(1, strings.Replace(item(1, well), "00000000-0000", "../..//../../", 1)), poll.Errors},
		{"no attributes", collection(1, `{"id":"00000000-0000-4000-8000-000000000001","type":"chapter","relationships":[]}`), poll.Errors},
		{"no relationships", collection(1, `{"id":"00000000-0000-4000-8000-000000000001","type":"chapter","attributes":{"pages":1}}`), poll.Errors},
		{"pages beyond numbers", collection(1, item(1, `"pages":1e400`)), poll.Errors},
		{"negative pages", collection(1, item(1, `"pages":-1`)), poll.Errors},
		{"no pages", collection(1, item(1, `"chapter":"1"`)), poll.Errors},
		{"a number for a chapter", collection(1, item(1, `"pages":1,"chapter":1`)), poll.Errors},
		{"a title that is an object", collection(1, item(1, `"pages":1,"title":{"a":1}`)), poll.Errors},
		{"a date that is none", collection(1, item(1, `"pages":1,"publishAt":"soon"`)), poll.Errors},
		{"a well status that says not found", `{"result":"error","errors":[{"status":404}]}`, poll.NotFound},
		{"a well status that says too many", `{"result":"error","errors":[{"status":429}]}`, poll.Refused},
		{"a well status that says captcha", `{"result":"error","errors":[{"status":403,"title":"captcha_required_exception"}]}`, poll.Refused},
		{"a well status that says trouble", `{"result":"error","errors":[{"status":503}]}`, poll.Unfetchable},
		{"an error that says nothing", `{"result":"error","errors":[]}`, poll.Unfetchable},
		{"deep", `{"result":"ok","response":"collection","total":0,"data":` + strings.Repeat("[", 1_000_000), poll.Unfetchable},
		{"deep and whole", `{"result":"ok","response":"collection","total":0,"data":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, poll.Unfetchable},
		{"too large", `{"result":"ok","response":"collection","total":0,"data":[],"x":"` + strings.Repeat("x", maxBody) + `"}`, poll.Unfetchable},
	}
	a := adapter(t, Config{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pages := gaps(t, a)
			pages[feedPath(t, a, gapsID, 0, 500)] = answer(tt.body)
			for offset := 1; offset <= 3; offset++ {
				pages[feedPath(t, a, gapsID, offset, 500)] = answer(collection(3))
			}
			r := poll.Check(t.Context(), a, pages, source.Ask{SeriesID: gapsID})
			if r.Outcome != tt.want {
				t.Errorf("%.200s; want %s", r, tt.want)
			}
		})
	}
}

func TestTitlesThatAreNone(t *testing.T) {
	well := recorded(t, "series-with-gaps.json")
	change := func(from, to string) string {
		if !strings.Contains(well, from) {
			t.Fatalf("%q is not in the recorded title", from)
		}
		return strings.Replace(well, from, to, 1)
	}
	tests := []struct {
		name, body string
		want       poll.Outcome
	}{
		{"well", well, poll.OK},
		{"another title", change(gapsID, externalID), poll.NotFound},
		{"no text at all", strings.Replace(change(`"title": {`, `"title": [], "x": {`), `"altTitles": [`, `"altTitles": [], "y": [`, 1), poll.Errors},
		{"an alternative title only", change(`"title": {`, `"title": [], "x": {`), poll.OK},
		{"a title that is a word", change(`"title": {`, `"title": "x", "x": {`), poll.Errors},
		{"no description", change(`"description": {`, `"description": [], "x": {`), poll.OK},
		{"no relationships", change(`"relationships": [
      {
        "id": "c25c`, `"other": [
      {
        "id": "c25c`), poll.Errors},
		{"a status of its own", change(`"ongoing"`, `"asleep"`), poll.OK},
		{"a status that is a number", change(`"ongoing"`, `1e400`), poll.Errors},
		{"no attributes", change(`"attributes": {`, `"attributes": null, "x": {`), poll.Errors},
		{"a collection", change(`"entity"`, `"collection"`), poll.Unfetchable},
	}
	a := adapter(t, Config{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pages := gaps(t, a)
			pages[path(t, a.at("/manga/"+gapsID, wanted()))] = answer(tt.body)
			if r := poll.Check(t.Context(), a, pages, source.Ask{SeriesID: gapsID}); r.Outcome != tt.want {
				t.Errorf("%.300s; want %s", r, tt.want)
			}
		})
	}
	t.Run("an id of another shape is not asked for", func(t *testing.T) {
		r := poll.Check(t.Context(), a, sourcetest.Pages{}, source.Ask{SeriesID: "../manga/random"})
		if r.Outcome != poll.Errors {
			t.Error(r)
		}
	})
}

func TestServersThatAreNone(t *testing.T) {
	chapter := func(base, hash, files string) string {
		return fmt.Sprintf(`{"result":"ok","baseUrl":%q,"chapter":{"hash":%q,"data":%s,"dataSaver":[]}}`, base, hash, files)
	}
	tests := []struct {
		name, body string
		class      fault.Class
		pages      int
	}{
		{"well", chapter("https://x.mangadex.network/token", "abc", `["1-a.png"]`), "", 1},
		{"no page", chapter("https://x.mangadex.network", "abc", `[]`), "", 0},
		{"a null list", chapter("https://x.mangadex.network", "abc", `null`), fault.Parser, 0},
		{"no chapter", `{"result":"ok","baseUrl":"https://x.mangadex.network"}`, fault.Parser, 0},
		{"no result", `{"baseUrl":"https://x.mangadex.network","chapter":{"hash":"a","data":["1.png"]}}`, fault.Parser, 0},
		{"a list of numbers", chapter("https://x.mangadex.network", "abc", `[1e400]`), fault.Parser, 0},
		{"a file that leads away", chapter("https://x.mangadex.network", "abc", `["../../x"]`), fault.Parser, 0},
		{"a file with a query", chapter("https://x.mangadex.network", "abc", `["1.png?x"]`), fault.Parser, 0},
		{"a file without a name", chapter("https://x.mangadex.network", "abc", `[""]`), fault.Parser, 0},
		{"a hash that leads away", chapter("https://x.mangadex.network", "a/../b", `["1.png"]`), fault.Parser, 0},
		{"a server in the clear", chapter("http://x.mangadex.network", "abc", `["1.png"]`), fault.Parser, 0},
		{"a server with a user", chapter("https://u@x.mangadex.network", "abc", `["1.png"]`), fault.Parser, 0},
		{"no server", chapter("", "abc", `["1.png"]`), fault.Parser, 0},
		{"more pages than any chapter has", chapter("https://x.mangadex.network", "abc", "["+strings.Repeat(`"1.png",`, maxPages)+`"1.png"]`), fault.Parser, 0},
		{"not there", `{"result":"error","errors":[{"status":404}]}`, fault.NotFound, 0},
		{"refused", `{"result":"error","errors":[{"status":403}]}`, fault.Access, 0},
		{"an error of nothing", `{"result":"error"}`, fault.Parser, 0},
	}
	a := adapter(t, Config{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pages, err := a.Pages(t.Context(), sourcetest.Pages{"/at-home/server/" + gapsFirst + "?forcePort443=true": answer(tt.body)}, source.Key{}, source.Chapter{ID: gapsFirst})
			if fault.Of(err) != tt.class || len(pages) != tt.pages {
				t.Errorf("%v, %v; want class %q and %d pages", pages, err, tt.class, tt.pages)
			}
		})
	}
	if _, err := a.Pages(t.Context(), sourcetest.Pages{}, source.Key{}, source.Chapter{ID: "../x"}); !fault.Is(err, fault.Parser) {
		t.Errorf("a chapter's id of another shape: %v", err)
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add(collection(1, item(1, `"pages":1`)))
	f.Add(`{"result":"ok","response":"entity","data":{"type":"manga","attributes":{"title":[],"altTitles":[{"a":"b"}]}}}`)
	f.Add(`{"result":"ok","baseUrl":"https://x","chapter":{"hash":"a","data":["1.png"]}}`)
	a, err := New(Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		pages := sourcetest.Pages{}
		for _, p := range []string{a.at("/manga/"+gapsID+"/feed", feedQuery(0, pageSize)), a.at("/manga/"+gapsID, wanted()), "https://api.mangadex.org/at-home/server/" + gapsFirst + "?forcePort443=true"} {
			pages[path(t, p)] = answer(body)
		}
		r := poll.Check(t.Context(), a, pages, source.Ask{SeriesID: gapsID})
		if r.Outcome == poll.OK && r.Reading.Series.ID != gapsID || strings.Contains(fmt.Sprint(r.Err), "panicked") {
			t.Error(r)
		}
		if _, err := a.Pages(t.Context(), pages, source.Key{}, source.Chapter{ID: gapsFirst}); err != nil && fault.Is(err, fault.Unknown) {
			t.Errorf("an unclassified error: %v", err)
		}
	})
}
