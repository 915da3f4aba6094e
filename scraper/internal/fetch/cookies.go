package fetch

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync"

	"golang.org/x/net/publicsuffix"
)

// A Site's cookies are kept for as long as its Lane is worked, and no more of them
// than a visitor's would be: what a Site sets comes back with every request (B44).
const (
	// maxSent are sent with one request, maxKept are kept in all.
	maxSent   = 50
	maxKept   = 500
	maxCookie = 4 << 10
)

// cookies are one Site's.
type cookies struct {
	jar *cookiejar.Jar

	mu sync.Mutex
	// kept are names with what they are for; one that was taken back still counts.
	kept map[string]bool
}

func newCookies() *cookies {
	jar, err := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
	if err != nil {
		// New fails for no input it is given here.
		panic(err)
	}
	return &cookies{jar: jar, kept: map[string]bool{}}
}

// Cookies are those a request to u carries.
func (c *cookies) Cookies(u *url.URL) []*http.Cookie {
	all := c.jar.Cookies(u)
	return all[:min(len(all), maxSent)]
}

// SetCookies keeps what an answer from u sets, up to a bound.
func (c *cookies) SetCookies(u *url.URL, set []*http.Cookie) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range set {
		is := u.Host + " " + k.Domain + " " + k.Path + " " + k.Name
		if len(is)+len(k.Value) > maxCookie || !c.kept[is] && len(c.kept) >= maxKept {
			continue
		}
		c.kept[is] = true
		c.jar.SetCookies(u, []*http.Cookie{k})
	}
}
