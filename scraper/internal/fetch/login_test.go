package fetch_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"mangrove/internal/fakesite"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/source"
)

// A name and a password go to the host they are for, on redirects too, and are in
// no message when they are refused.
func TestALoginIsForOneHost(t *testing.T) {
	t.Parallel()
	catalog, other := fakesite.Start(t), fakesite.Start(t)
	base, err := url.Parse(catalog.URL)
	if err != nil {
		t.Fatal(err)
	}
	image := fakesite.Bytes("image/png", []byte("x"))
	catalog.On("/one", image)
	catalog.On("/near", fakesite.Answer{Status: 302, Header: header("Location", "/one")})
	catalog.On("/far", fakesite.Answer{Status: 302, Header: header("Location", other.URL+"/two")})
	catalog.On("/shut", fakesite.Status(401))
	other.On("/two", image)
	c := fetch.New(fetch.Options{
		Site:  source.Site{Key: "t", Hosts: []string{base.Host, strings.TrimPrefix(other.URL, "http://")}, Login: source.NewLogin(base, "reader", "s3cret")},
		Slots: anytime{}, Identity: "Mangrove/test", Guard: fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
	})
	t.Cleanup(c.Close)
	for _, path := range []string{"/one", "/near", "/far"} {
		if _, err := c.Get(t.Context(), source.Request{URL: catalog.URL + path, Want: source.WantImage}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Get(t.Context(), source.Request{URL: catalog.URL + "/shut", Want: source.WantImage}); !fault.Is(err, fault.Access) || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "reader") {
		t.Errorf("a wrong password: %v", err)
	}
	told := func(s *fakesite.Server) (n int) {
		for _, r := range s.Ledger().Requests {
			if user, password, ok := (&http.Request{Header: r.Header}).BasicAuth(); ok && user == "reader" && password == "s3cret" {
				n++
			}
		}
		return n
	}
	if n := told(catalog); n != 5 {
		t.Errorf("the catalog is told in %d of 5 requests", n)
	}
	if told(other) != 0 || other.Count("/two") != 1 {
		t.Error("another host is told the password")
	}
}
