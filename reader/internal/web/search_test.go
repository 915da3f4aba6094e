package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
)

func now() time.Time { return time.Now() }

func searchable(site, name string) *scraperv1.LaneDetail {
	return &scraperv1.LaneDetail{Searchable: true, Lane: &scraperv1.Lane{Site: site, SiteName: name, Circuit: "closed"}}
}

// piece asks for one Site's group as the script does.
func (s *site) piece(b *http.Client, site, query string) (*http.Response, string) {
	s.t.Helper()
	return s.do(b, s.request(http.MethodGet, "/search/site/"+url.PathEscape(site)+"?q="+url.QueryEscape(query), "", pieceHeader, "mangrove"))
}

func finds(series ...*scraperv1.Series) func(context.Context, string) ([]*scraperv1.Series, error) {
	return func(context.Context, string) ([]*scraperv1.Series, error) { return series, nil }
}

func fails(class fault.Class) func(context.Context, string) ([]*scraperv1.Series, error) {
	return func(context.Context, string) ([]*scraperv1.Series, error) {
		return nil, fault.New(class, "search", "a Site", nil)
	}
}

func TestSearchLooksInTheLibraryFirst(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	mute := searchable("sample", "Sample")
	mute.Searchable = false
	s.scraper.SetLanes(now(), searchable("z", "Zeta"), mute, searchable("a", "Alpha"))
	s.scraper.SearchWith("a", finds())
	mo := s.claim()
	s.publish("c1", "1", 2)
	_, body := s.get(mo, "/search?q=PEPP")
	has(t, body, "1 found", `href="/series/1"`, "By address only: Sample.", `data-search="/search/site/a?q=PEPP"`, `href="/search?q=PEPP&amp;site=a#`+groupID("a")+`"`, "Search Zeta", "Not asked yet")
	if strings.Index(body, "Search Alpha") > strings.Index(body, "Search Zeta") {
		t.Error("the Sites are not in the order of their names")
	}
	if asked := s.scraper.Searched(); len(asked) != 0 {
		t.Errorf("opening the page asked %v", asked)
	}
	_, body = s.get(mo, "/search?q=witch&site=a")
	has(t, body, "Nothing is called “witch” here.", "Alpha finds nothing called “witch”", "Nothing found")
	if d := cmp.Diff([]string{"a witch"}, s.scraper.Searched()); d != "" {
		t.Errorf("the chosen Site alone is asked (-want +got)\n%s", d)
	}
	_, body = s.get(mo, "/search")
	has(t, body, "Looks in your library, and on Alpha and Zeta.", "autofocus")
	_, body = s.get(mo, "/search?q="+strings.Repeat("é", 201))
	has(t, body, "That is too long to search for: at most 200 characters.")
	resp, _ := s.get(mo, "/search?q="+url.QueryEscape(" "+elsewhere))
	if to := resp.Header.Get("Location"); to != addOf(elsewhere) {
		t.Errorf("an address leads to %q", to)
	}
}

func TestWhatAnotherSitesLinkDoes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.scraper.SetLanes(now(), searchable("a", "Alpha"))
	s.scraper.SearchWith("a", finds())
	mo := s.claim()
	for _, tt := range []struct {
		name, path string
		headers    []string
	}{
		{"a link to the page", "/search?q=x&site=a", []string{"Sec-Fetch-Site", "cross-site"}},
		{"a picture of a group", "/search/site/a?q=x", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "image"}},
		{"a group typed by a person", "/search/site/a?q=x", nil},
	} {
		resp, _ := s.do(mo, s.request(http.MethodGet, tt.path, "", tt.headers...))
		if asked := s.scraper.Searched(); len(asked) != 0 {
			t.Errorf("%s asked %v", tt.name, asked)
		}
		if to := resp.Header.Get("Location"); strings.HasPrefix(tt.path, "/search/") && to != searchAddress("x", "a") {
			t.Errorf("%s leads to %q", tt.name, to)
		}
	}
}

func TestTheStatesOfASite(t *testing.T) {
	t.Parallel()
	in := func(d time.Duration) *timestamppb.Timestamp { return timestamppb.New(now().Add(d)) }
	refused := searchable("a", "Alpha")
	refused.Lane.Circuit, refused.Lane.CircuitReason, refused.Lane.CircuitSince, refused.RetryAfter = "paused", "access", in(-time.Hour), in(time.Hour)
	resting := searchable("a", "Alpha")
	resting.Lane.Circuit, resting.Lane.CircuitSince, resting.Lane.CircuitUntil = "open", in(-time.Hour), in(time.Hour)
	for _, tt := range []struct {
		name  string
		lane  *scraperv1.LaneDetail
		find  func(context.Context, string) ([]*scraperv1.Series, error)
		asked bool
		want  []string
		not   []string
	}{
		{"nothing", nil, finds(), true, []string{"Nothing found"}, []string{"Try again"}},
		{"timed out", nil, fails(fault.Stall), true, []string{"Timed out", "Try again", "data-again"}, nil},
		{"refused just now", nil, fails(fault.Access), true, []string{"Refused", "Alpha refused this search just now"}, nil},
		{"not reachable", nil, fails(fault.Network), true, []string{"Could not be asked", "Try again"}, nil},
		{"not understood", nil, fails(fault.Parser), true, []string{"Not understood"}, nil},
		{"no search", nil, nil, true, []string{"Cannot be searched", "Paste the address"}, []string{"Try again", "data-search"}},
		{"refused since", refused, finds(), false, []string{"Alpha refused since", "It asked for quiet until", "Not asked"}, []string{"data-search"}},
		{"resting", resting, finds(), false, []string{"Alpha: resting until", "It has not answered since"}, []string{"data-search"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			lane := tt.lane
			if lane == nil {
				lane = searchable("a", "Alpha")
			}
			s.scraper.SetLanes(now(), lane)
			if tt.find != nil {
				s.scraper.SearchWith("a", tt.find)
			}
			resp, body := s.piece(s.claim(), "a", "witch")
			if resp.StatusCode != http.StatusOK || !strings.HasPrefix(body, `<section class="found" id="`+groupID("a")+`"`) {
				t.Errorf("got %d %.80s", resp.StatusCode, body)
			}
			has(t, body, tt.want...)
			hasNot(t, body, tt.not...)
			if got := len(s.scraper.Searched()) > 0; got != tt.asked {
				t.Errorf("asked: %v, want %v", got, tt.asked)
			}
		})
	}
}

func TestWhatASiteFinds(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	s.scraper.SetLanes(now(), searchable("sample", "Sample"))
	hostile := "<script>alert(1)</script>\u202eX"
	found := []*scraperv1.Series{
		{Key: sampleKey, Title: "Pepper", Url: "https://sample.example/s"},
		{Key: &scraperv1.SeriesKey{Site: "sample", SeriesId: "2"}, Title: hostile, NativeTitle: hostile, Authors: []string{hostile}, Url: "https://sample.example/2?a=1&b=2"},
		{Key: &scraperv1.SeriesKey{Site: "sample", SeriesId: "3"}, Title: "Nowhere", Url: "javascript:alert(1)"},
	}
	s.scraper.SearchWith("sample", finds(found...))
	mo := s.claim()
	s.post(mo, "/sites/sample/s/follow", nil)
	_, body := s.piece(mo, "sample", hostile)
	has(t, body, "3 found", `href="/sites/sample/s"`, "Following", "&lt;script&gt;alert(1)", `href="/add?address=https%3A%2F%2Fsample.example%2F2%3Fa%3D1%26b%3D2&amp;title=`, "Nowhere")
	hasNot(t, body, "<script>alert", "\u202e", "javascript:")
	for i := range 30 {
		more := proto.CloneOf(found[1])
		more.Key.SeriesId = strings.Repeat("m", i+1)
		found = append(found, more)
	}
	s.scraper.SearchWith("sample", finds(found...))
	_, body = s.piece(mo, "sample", "x")
	has(t, body, "33 found", "Show 25 more")
}

func TestSearchesAreLimitedForEachPerson(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.scraper.SetLanes(now(), searchable("a", "Alpha"))
	s.scraper.SearchWith("a", finds())
	mo := s.claim()
	var body string
	for range 40 {
		_, body = s.piece(mo, "a", "x")
	}
	has(t, body, "You have asked for many things just now. It can be searched in", "Try again")
	if n := len(s.scraper.Searched()); n > 35 {
		t.Errorf("the Site was asked %d times", n)
	}
	if resp, _ := s.piece(mo, "nope", "x"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown Site answers %d", resp.StatusCode)
	}
	if resp, _ := s.piece(mo, "a", strings.Repeat("x", 201)); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a search too long answers %d", resp.StatusCode)
	}
}

func TestSearchingWithoutTheScraper(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	mo := s.claim()
	s.publish("c1", "1", 2)
	s.scraper.Stop()
	_, body := s.get(mo, "/search?q=pepper&site=a")
	has(t, body, "1 found", "The library can be searched as always")
	_, body = s.piece(mo, "a", "x")
	has(t, body, "Scraper: unreachable", "Only the library can be searched until it is back.")
}
