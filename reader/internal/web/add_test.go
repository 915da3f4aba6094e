package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"google.golang.org/protobuf/testing/protocmp"

	scraperv1 "mangrove/proto/gen/scraper/v1"
)

func addOf(address string) string { return "/add?" + url.Values{"address": {address}}.Encode() }

func TestFollowingAnAddressTheScraperDoesNotKnow(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.scraper.Read(elsewhere, "Other", otherKey)
	mo := s.claim()
	_, body := s.get(mo, "/add?"+url.Values{"address": {" " + elsewhere + " "}, "title": {"  Saltwater \n Witches "}}.Encode())
	has(t, body, "<h1>Saltwater Witches</h1>", "On Other", "Not in your library", "Follow and download", "Follow only", "Only tell me", elsewhere)
	hasNot(t, body, "Languages")
	if n := len(s.scraper.Follows()); n != 0 {
		t.Fatalf("looking told the scraper %d things", n)
	}
	resp, _ := s.post(mo, "/add", url.Values{"address": {elsewhere}, "title": {"Saltwater Witches"}, "new": {"tell"}, "language": {"xx"}})
	if to := resp.Header.Get("Location"); to != "/sites/other/9" {
		t.Fatalf("following leads to %q", to)
	}
	want := []*scraperv1.Follow{{Key: otherKey, Url: elsewhere, Title: "Saltwater Witches"}}
	if d := cmp.Diff(want, s.scraper.Follows()[0].GetFollows(), protocmp.Transform()); d != "" {
		t.Errorf("what the scraper heard (-want +got)\n%s", d)
	}
	if resp, body := s.get(mo, "/sites/other/9"); resp.StatusCode != http.StatusOK || !strings.Contains(body, "Saltwater Witches") {
		t.Errorf("the page of the followed Series answers %d", resp.StatusCode)
	}
	_, body = s.get(mo, addOf(elsewhere))
	has(t, body, "You follow this Series already", `href="/sites/other/9"`)
	hasNot(t, body, "Follow and download")
	s.post(mo, "/add", url.Values{"address": {elsewhere}})
	if n := len(s.scraper.Follows()); n != 1 {
		t.Errorf("following again told the scraper, %d messages", n)
	}
}

func TestFollowingAKnownSeries(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(func(st *scraperv1.SeriesState) {
		st.Chapters = append(st.Chapters, &scraperv1.Chapter{ChapterId: "f1", Number: "1", Language: "fr"})
	})
	s.scraper.Read("https://sample.example/s", "Sample", sampleKey)
	mo := s.claim()
	_, body := s.get(mo, "/add?"+url.Values{"address": {"sample.example/s"}, "title": {"A lie"}}.Encode())
	has(t, body, "<h1>Pepper</h1>", "By David", "/covers/site/sample/s", "3 chapters", `value="en"`, `value="fr"`, "French")
	resp, _ := s.post(mo, "/add", url.Values{"address": {"https://sample.example/s"}, "title": {"A lie"}, "new": {"download"}, "language": {"fr", "de"}})
	if to := resp.Header.Get("Location"); to != "/sites/sample/s" {
		t.Fatalf("following leads to %q", to)
	}
	want := []*scraperv1.Follow{{Key: sampleKey, Url: "https://sample.example/s", Title: "Pepper", Download: true, Languages: []string{"fr"}}}
	if d := cmp.Diff(want, s.scraper.Follows()[0].GetFollows(), protocmp.Transform()); d != "" {
		t.Errorf("what the scraper heard (-want +got)\n%s", d)
	}
}

func TestAddressesThatNoSiteReads(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.scraper.SetLanes(time.Now(), &scraperv1.LaneDetail{Lane: &scraperv1.Lane{Site: "b", SiteName: "Beta"}}, &scraperv1.LaneDetail{Lane: &scraperv1.Lane{Site: "alpha"}})
	mo := s.claim()
	for _, address := range []string{
		"https://nowhere.example/", "javascript:alert(1)", "https://", "two words", `"><script>alert(1)</script>`, "//evil.example/x", strings.Repeat("x", 5000),
		"https://a.example/" + strings.Repeat("y", 5000), "file:///etc/passwd", "https://u:p@nowhere.example/\x00",
	} {
		resp, body := s.get(mo, addOf(address))
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%.30q answers %d", address, resp.StatusCode)
		}
		has(t, body, "No Site here reads this address", "Beta and alpha")
		hasNot(t, body, "<script>alert", "Follow and download")
		if resp, _ := s.post(mo, "/add", url.Values{"address": {address}}); resp.StatusCode != http.StatusNotFound {
			t.Errorf("following %.30q answers %d", address, resp.StatusCode)
		}
	}
	if n := len(s.scraper.Follows()); n != 0 {
		t.Errorf("the scraper was told %d things", n)
	}
	_, body := s.get(mo, "/add")
	has(t, body, "Follow by address", "What can be read here: Beta and alpha.")
}

func TestAddingWithoutTheScraper(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.scraper.Stop()
	for _, path := range []string{"/add", addOf(elsewhere)} {
		_, body := s.get(mo, path)
		has(t, body, "following has to wait")
	}
	if resp, body := s.post(mo, "/add", url.Values{"address": {elsewhere}}); resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, `value="`+elsewhere+`"`) {
		t.Errorf("following answers %d, want 503 with the address kept", resp.StatusCode)
	}
}

func TestAsAddress(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"whole", "https://a.example/x?y#z", "https://a.example/x?y#z"},
		{"spaces around", " http://a.example/x\n", "http://a.example/x"},
		{"capitals", "HTTPS://A.example/x", "HTTPS://A.example/x"},
		{"without a scheme", "a.example/x", "https://a.example/x"},
		{"a title", "witches", ""},
		{"a title with a stroke", "Fate/Zero", ""},
		{"a title with a dot", "Dr. Stone", ""},
		{"a number", "No.6", ""},
		{"another scheme", "javascript:a.b/c", ""},
		{"only a scheme", "https://", ""},
		{"two lines", "https://a.example/\nx", ""},
		{"too long", "https://a.example/" + strings.Repeat("x", maxAddress), ""},
	} {
		got, ok := asAddress(tt.text)
		if want := tt.want; ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, ok, want)
		}
	}
}
