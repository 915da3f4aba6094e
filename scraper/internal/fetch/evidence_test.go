package fetch_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fakesite"
	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/source"
)

// The last answers of a unit of work are its evidence: bounded, with the headers
// that tell nothing about who asked, and nothing of a good picture.
func TestAnswersAreEvidence(t *testing.T) {
	t.Parallel()
	site := fakesite.Start(t)
	u, err := url.Parse(site.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := fetch.New(fetch.Options{
		Site: source.Site{Key: "t", Hosts: []string{u.Host}}, Slots: &counting{}, FirstWait: time.Millisecond,
		Guard: fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
	})
	t.Cleanup(c.Close)
	long := "<html>" + strings.Repeat("x", 300<<10)
	private := http.Header{"Set-Cookie": {"sid=c4nary-cookie; Path=/"}, "X-Token": {"c4nary"}, "Authorization": {"c4nary"}, "Etag": {`"e"`}, "Retry-After": {"9"}}
	site.On("/first", fakesite.Answer{ContentType: "text/html", Header: private, Body: []byte("<html>first")})
	site.On("/gone", fakesite.Answer{Status: 404, ContentType: "text/html", Body: []byte("<html>gone")})
	site.On("/long", fakesite.HTML(long))
	site.On("/wrong", fakesite.JSON(`{}`))
	site.On("/good.png", fakesite.Bytes("image/png", []byte("png")))
	site.On("/bad.png", fakesite.HTML("<html>no picture"))
	site.On("/from", fakesite.Answer{Status: 302, Header: http.Header{"Location": {"/first"}}})
	ask := func(paths ...string) []source.Seen {
		ctx := source.WithEvidence(t.Context())
		for _, p := range paths {
			want := source.WantHTML
			if strings.HasSuffix(p, ".png") {
				want = source.WantImage
			}
			_, _ = c.Get(ctx, source.Request{URL: site.URL + p, Want: want})
		}
		return source.SeenIn(ctx)
	}
	for _, tt := range []struct {
		paths []string
		want  []string
	}{
		{[]string{"/first"}, []string{"/first 200 text/html 11 of 11"}},
		{[]string{"/from"}, []string{"/first 200 text/html 11 of 11"}},
		{[]string{"/gone", "/wrong", "/bad.png"}, []string{"/gone 404 text/html 10 of 10", "/wrong 200 application/json 2 of 2", "/bad.png 200 text/html 16 of 16"}},
		{[]string{"/first", "/good.png"}, []string{"/first 200 text/html 11 of 11"}},
		{[]string{"/long"}, []string{fmt.Sprintf("/long 200 text/html %d of %d", 256<<10, len(long))}},
		{[]string{"/first", "/gone", "/wrong", "/long"}, []string{
			"/gone 404 text/html 10 of 10", "/wrong 200 application/json 2 of 2", fmt.Sprintf("/long 200 text/html %d of %d", 256<<10, len(long)),
		}},
	} {
		var got []string
		for _, s := range ask(tt.paths...) {
			got = append(got, fmt.Sprintf("%s %d %s %d of %d", strings.TrimPrefix(s.URL, site.URL), s.Status, s.MediaType, len(s.Body), s.Size))
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%v: %s", tt.paths, d)
		}
	}
	// The cookie was set above and is sent now: it is known to be secret both ways.
	seen := ask("/first", "/gone")
	var names []string
	for _, h := range seen[0].Headers {
		names = append(names, h.Name)
		if strings.Contains(h.Value, "c4nary") {
			t.Errorf("header %s is kept", h.Name)
		}
	}
	if d := cmp.Diff([]string{"content-type", "content-length", "date", "retry-after", "etag"}, names); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"c4nary-cookie", "c4nary-cookie"}, seen[0].Secrets); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"c4nary-cookie"}, seen[1].Secrets); d != "" {
		t.Error(d)
	}
	// Without a unit of work nothing is kept.
	if _, err := c.Get(t.Context(), source.Request{URL: site.URL + "/first", Want: source.WantHTML}); err != nil || source.SeenIn(t.Context()) != nil {
		t.Error(err)
	}
}
