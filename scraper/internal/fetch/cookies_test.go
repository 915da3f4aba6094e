package fetch_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"mangrove/internal/fakesite"
	"mangrove/scraper/internal/source"
)

// A Site's cookies come back to it, are told to no other Site, and do not grow
// without end; those for another domain are none of its (B44).
func TestCookiesStayWithTheirSite(t *testing.T) {
	t.Parallel()
	s, c := client(t)
	var set []string
	for i := range 3000 {
		set = append(set, fmt.Sprintf("n%d=1; Path=/", i))
	}
	s.On("/set", fakesite.Answer{ContentType: "text/html", Body: []byte("<html>"), Header: http.Header{"Set-Cookie": {
		"visit=1; Path=/", "foreign=1; Domain=elsewhere.example", "wide=1; Domain=com", "long=" + strings.Repeat("x", 5000),
	}}}, fakesite.Answer{ContentType: "text/html", Body: []byte("<html>"), Header: http.Header{"Set-Cookie": set}})
	s.On("/then", fakesite.HTML("<html>"))
	ask := func(path string) {
		t.Helper()
		if _, err := c.Get(t.Context(), source.Request{URL: s.URL + path, Want: source.WantHTML}); err != nil {
			t.Fatal(err)
		}
	}
	ask("/set")
	ask("/then")
	ask("/set")
	ask("/set")
	ask("/then")
	asked := s.Ledger().Requests
	if got := asked[1].Header.Get("Cookie"); got != "visit=1" {
		t.Errorf("the Site is told %q", got)
	}
	last := asked[len(asked)-1].Header.Get("Cookie")
	if n := strings.Count(last, "="); n != 50 || !strings.Contains(last, "visit=1") {
		t.Errorf("%d cookies came back: %.200s", n, last)
	}
	other, stranger := client(t)
	other.On("/", fakesite.HTML("<html>"))
	if _, err := stranger.Get(t.Context(), source.Request{URL: other.URL + "/", Want: source.WantHTML}); err != nil {
		t.Fatal(err)
	}
	if got := other.Ledger().Requests[0].Header.Get("Cookie"); got != "" {
		t.Errorf("another Site is told %q", got)
	}
}
