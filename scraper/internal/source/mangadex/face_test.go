package mangadex

import (
	"context"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fakesite"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/staging"
)

type anytime struct{}

func (anytime) Acquire(context.Context, source.Want) (func(), error) { return func() {}, nil }

func (anytime) Again(context.Context) error { return nil }

func (anytime) Sent() {}

// start serves a face for the one Series with gaps, and makes who reads it.
func start(t *testing.T, f *fakesite.MangaDex) (*Adapter, *fakesite.Server, source.Fetcher) {
	t.Helper()
	s := fakesite.Start(t)
	a := adapter(t, Config{API: s.URL, Uploads: s.URL})
	f.ServeFeed(s, gapsID)
	s.On("/manga/"+gapsID, fakesite.JSON(recorded(t, "series-with-gaps.json")))
	c := fetch.New(fetch.Options{
		Site: a.Site(), Slots: anytime{}, Identity: "Mangrove/test", FirstWait: time.Millisecond,
		Guard: fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
	})
	t.Cleanup(c.Close)
	return a, s, c
}

func TestListsInPages(t *testing.T) {
	tests := []struct {
		name     string
		face     *fakesite.MangaDex
		want     poll.Outcome
		chapters int
		asked    int // pages of the list
	}{
		{"one page", &fakesite.MangaDex{Chapters: 33}, poll.OK, 33, 1},
		{"no chapter", &fakesite.MangaDex{}, poll.NoChapter, 0, 1},
		{"two pages", &fakesite.MangaDex{Chapters: 734}, poll.OK, 734, 2},
		{"a page that is just full", &fakesite.MangaDex{Chapters: 500}, poll.OK, 500, 2},
		{"a smaller page than asked for", &fakesite.MangaDex{Chapters: 340, Cap: 100}, poll.OK, 340, 4},
		{"pages that overlap", &fakesite.MangaDex{Chapters: 734, Overlap: 5}, poll.OK, 734, 2},
		{"the second page fails", &fakesite.MangaDex{Chapters: 734, Later: 500}, poll.Unfetchable, 0, 4},
		{"the second page is refused", &fakesite.MangaDex{Chapters: 734, Later: 403}, poll.Refused, 0, 2},
		{"the second page is not there", &fakesite.MangaDex{Chapters: 734, Later: 404}, poll.Errors, 0, 2},
		{"the first page again", &fakesite.MangaDex{Chapters: 340, Cap: 100, Stuck: true}, poll.Errors, 0, 2},
		{"a total that is too high", &fakesite.MangaDex{Chapters: 3, Total: 5}, poll.Errors, 0, 2},
		{"a total that is too low", &fakesite.MangaDex{Chapters: 734, Total: 100}, poll.OK, 734, 2},
		{"entries that are counted and not shown", &fakesite.MangaDex{Chapters: 734, Hidden: 4}, poll.Errors, 0, 3},
		{"a list longer than its window", &fakesite.MangaDex{Chapters: 10_240}, poll.Errors, 0, 1},
		{"a list up to its window", &fakesite.MangaDex{Chapters: 9_999}, poll.OK, 9_999, 20},
		{"a list without end", &fakesite.MangaDex{Endless: true, Total: 9_999}, poll.Errors, 0, 20},
		{"a list without end, a chapter at a time", &fakesite.MangaDex{Endless: true, Total: 9_999, Cap: 1}, poll.Errors, 0, 100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, s, f := start(t, tt.face)
			r := poll.Check(t.Context(), a, f, source.Ask{SeriesID: gapsID})
			if r.Outcome != tt.want || len(r.Reading.Chapters) != tt.chapters {
				t.Errorf("%.300s with %d chapters; want %s with %d", r, len(r.Reading.Chapters), tt.want, tt.chapters)
			}
			if n := s.Count("/manga/" + gapsID + "/feed"); n != tt.asked {
				t.Errorf("the list was asked for %d times, want %d", n, tt.asked)
			}
			for i, c := range r.Reading.Chapters {
				if c.Order != i || c.Number != strconv.Itoa(tt.chapters-i) {
					t.Fatalf("place %d has chapter %s, order %d", i, c.Number, c.Order)
				}
			}
		})
	}
}

func TestAnUnchangedListIsOneQuestion(t *testing.T) {
	for _, tt := range []struct {
		name     string
		chapters int
		again    int // requests of the second read
	}{{"in one page", 33, 1}, {"in two, whose first says nothing of the second", 734, 3}} {
		t.Run(tt.name, func(t *testing.T) {
			a, s, f := start(t, &fakesite.MangaDex{Chapters: tt.chapters})
			first := poll.Check(t.Context(), a, f, source.Ask{SeriesID: gapsID})
			s.Forget()
			second := poll.Check(t.Context(), a, f, source.Ask{SeriesID: gapsID, Validators: first.Reading.Validators})
			if first.Outcome != poll.OK || second.Outcome != poll.OK || second.Reading.NotModified != (tt.again == 1) {
				t.Errorf("%s, then %s, not modified %v", first, second, second.Reading.NotModified)
			}
			if n := len(s.Ledger().Requests); n != tt.again {
				t.Errorf("the second read took %d requests, want %d", n, tt.again)
			}
		})
	}
}

func TestATitleThatIsGone(t *testing.T) {
	a, s, f := start(t, &fakesite.MangaDex{})
	gone := fakesite.JSON(`{"result":"error","errors":[{"id":"x","status":404,"title":"not_found_http_exception"}]}`)
	gone.Status = 404
	s.On("/manga/"+gapsID+"/feed", gone)
	if r := poll.Check(t.Context(), a, f, source.Ask{SeriesID: gapsID}); r.Outcome != poll.NotFound {
		t.Errorf("gone: %s", r)
	}
	if n := len(s.Ledger().Requests); n != 1 {
		t.Errorf("it took %d requests to learn it", n)
	}
	// An empty list is no title yet.
	s.On("/manga/"+gapsID+"/feed", fakesite.JSON(collection(0)))
	s.On("/manga/"+gapsID, gone)
	if r := poll.Check(t.Context(), a, f, source.Ask{SeriesID: gapsID}); r.Outcome != poll.NotFound {
		t.Errorf("gone, with an empty list: %s", r)
	}
}

// Server and token are of the moment; what a chapter consists of is not.
func TestAFreshServerIsTheSameChapter(t *testing.T) {
	a, s, f := start(t, &fakesite.MangaDex{})
	var prints []string
	var addresses [][]source.Page
	key := source.Key{Site: Key, SeriesID: gapsID}
	for range 2 {
		pages, err := a.Pages(t.Context(), f, key, source.Chapter{ID: gapsFirst})
		if err != nil {
			t.Fatal(err)
		}
		m, err := staging.NewManifest(key, gapsFirst, pages)
		if err != nil {
			t.Fatal(err)
		}
		prints, addresses = append(prints, m.Fingerprint()), append(addresses, pages)
	}
	want := []source.Page{{URL: s.URL + "/token2/data/abc/1-a.png", Identity: "1-a.png"}, {URL: s.URL + "/token2/data/abc/2-b.png", Identity: "2-b.png"}}
	if d := cmp.Diff(want, addresses[1]); d != "" || prints[0] != prints[1] {
		t.Errorf("fingerprints %v\n%s", prints, d)
	}
}

// A server outside the Site's hosts is not asked, whatever the API says.
func TestAStrangeServerIsNotAsked(t *testing.T) {
	a, s, f := start(t, &fakesite.MangaDex{})
	other := fakesite.Start(t)
	s.On("/at-home/server/*", fakesite.JSON(`{"result":"ok","baseUrl":"`+other.URL+`","chapter":{"hash":"abc","data":["1.png"]}}`))
	pages, err := a.Pages(t.Context(), f, source.Key{}, source.Chapter{ID: gapsFirst})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Get(t.Context(), source.Request{URL: pages[0].URL, Want: source.WantImage})
	if n := len(other.Ledger().Requests); n != 0 || !fault.Is(err, fault.Parser) {
		t.Errorf("%d requests, %v", n, err)
	}
}

func TestSearch(t *testing.T) {
	a, s, f := start(t, &fakesite.MangaDex{})
	cover := `"id": "3cb52447-e892-4b99-bd38-992ad5a6ccd7",
        "type": "cover_art"`
	title := strings.Replace(recorded(t, "series-with-gaps.json"), cover, cover+`, "attributes": {"fileName": "a-b.jpg"}`, 1)
	_, title, _ = strings.Cut(title, `"data":`)
	title = strings.TrimSuffix(strings.TrimSpace(title), "}")
	s.On("/manga", fakesite.JSON(collection(1, title)))
	got, err := a.Search(t.Context(), f, " lantern & street ")
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if got[0].ID != gapsID || got[0].Title != "Lantern Street" || got[0].URL != a.Address(gapsID) || got[0].CoverURL != s.URL+"/covers/"+gapsID+"/a-b.jpg.512.jpg" {
		t.Errorf("%+v", got[0])
	}
	if q := s.Ledger().Requests[0].Query; !strings.Contains(q, "title=lantern+%26+street") || !strings.Contains(q, "limit=25") {
		t.Errorf("asked with %s", q)
	}
	s.Forget()
	for _, query := range []string{"", "  ", strings.Repeat("x", 201)} {
		if _, err := a.Search(t.Context(), f, query); !fault.Is(err, fault.Invalid) {
			t.Errorf("%.10q: %v", query, err)
		}
	}
	if n := len(s.Ledger().Requests); n != 0 {
		t.Errorf("%d requests for nothing", n)
	}
	s.On("/manga", fakesite.JSON(collection(0)))
	if got, err := a.Search(t.Context(), f, "x"); err != nil || len(got) != 0 {
		t.Errorf("none: %v, %v", got, err)
	}
	s.On("/manga", fakesite.JSON(`{"result":"ok","response":"collection"}`))
	if _, err := a.Search(t.Context(), f, "x"); !fault.Is(err, fault.Parser) {
		t.Errorf("no list: %v", err)
	}
}
