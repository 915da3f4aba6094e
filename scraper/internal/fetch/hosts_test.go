package fetch

import (
	"net/url"
	"testing"

	"mangrove/scraper/internal/source"
)

func TestDeclaredHosts(t *testing.T) {
	c := &Client{o: Options{Site: source.Site{Hosts: []string{"api.mangadex.org", "127.0.0.1:4000", "*.mangadex.network", "*", "*network"}}}}
	tests := []struct {
		name    string
		address string
		allowed bool
	}{
		{"a declared host", "https://api.mangadex.org/manga", true},
		{"its standard port, named", "https://api.mangadex.org:443/manga", true},
		{"another port", "https://api.mangadex.org:8443/manga", false},
		{"a declared port", "http://127.0.0.1:4000/", true},
		{"below a wildcard", "https://abc123.mangadex.network/token/data/x/1.png", true},
		{"two labels below a wildcard", "https://a.b.mangadex.network:443/", true},
		{"in capitals", "https://ABC.MangaDex.Network/", true},
		{"a punycode label", "https://xn--a-ecp.mangadex.network/", true},
		{"the wildcard's own root", "https://mangadex.network/", false},
		{"a longer name with the same end", "https://evilmangadex.network/", false},
		{"a name that only begins with it", "https://a.mangadex.network.evil.example/", false},
		{"an empty label", "https://.mangadex.network/", false},
		{"an empty label between", "https://a..mangadex.network/", false},
		{"a dot at the end", "https://a.mangadex.network./", false},
		{"a port below a wildcard", "https://a.mangadex.network:4443/", false},
		{"a user before it", "https://evil.example@a.mangadex.network/", false},
		{"an odd character", "https://a_b$.mangadex.network/", false},
		{"a host of nothing but the wildcard", "https://evil.example/", false},
		{"a wildcard without its dot", "https://evilnetwork/", false},
		{"another scheme", "ftp://a.mangadex.network/", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, err := url.Parse(tt.address)
			if err != nil {
				t.Fatal(err)
			}
			if err := Allowed(c.o.Site, u); (err == nil) != tt.allowed {
				t.Errorf("%s: %v, want allowed %v", tt.address, err, tt.allowed)
			}
		})
	}
}
