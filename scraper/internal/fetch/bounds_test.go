package fetch

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"mangrove/internal/fakesite"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// free lets every request go at once, and notes when.
type free struct{ at *[]time.Time }

func (f free) Acquire(context.Context, source.Want) (func(), error) {
	if f.at != nil {
		*f.at = append(*f.at, time.Now())
	}
	return func() {}, nil
}

func (free) Again(context.Context) error { return nil }

func (free) Sent() {}

// JOB-13: thirty seconds for a page, sixty for an image, and three tries of either
// with growing waits between them.
func TestTimeOutsAndTries(t *testing.T) {
	for want, limit := range map[source.Want]time.Duration{source.WantHTML: 30 * time.Second, source.WantJSON: 30 * time.Second, source.WantXML: 30 * time.Second, source.WantImage: time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			var at []time.Time
			c := New(Options{Site: source.Site{Key: "t", Hosts: []string{"site.example"}}, Slots: free{&at}, Identity: "Mangrove/test"})
			transport := c.http.Transport.(signed).next
			transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				go func() {
					// It takes the question and never answers.
					_, _ = http.ReadRequest(bufio.NewReader(theirs))
				}()
				return ours, nil
			}
			_, err := c.Get(t.Context(), source.Request{URL: "http://site.example/x", Want: want})
			c.Close()
			var f *fault.Error
			if !errors.As(err, &f) || f.Class != fault.Network || f.Evidence != fault.Answered || len(at) != 3 {
				t.Fatalf("%s: %d tries, %v", want, len(at), err)
			}
			first, second := at[1].Sub(at[0])-limit, at[2].Sub(at[1])-limit
			if first < time.Second || first > 4*time.Second || second < first/3 || second > 31*time.Second {
				t.Errorf("%s: tried again %s and %s after the time-out of %s", want, first, second, limit)
			}
		})
	}
}

// S-040: Retry-After comes as a number or as a date in any of three forms, which
// counts by the Site's own clock.
func TestRetryAfterByTheSitesClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 2, 9, 0, 0, 0, time.UTC)
	ahead := http.Header{"Date": {now.Add(time.Hour).Format(http.TimeFormat)}}
	tests := []struct {
		value string
		date  http.Header
		want  time.Duration
	}{
		{"120", ahead, 2 * time.Minute}, {"Wed, 02 Dec 2026 10:00:00 GMT", nil, time.Hour}, {"Wednesday, 02-Dec-26 10:00:00 GMT", nil, time.Hour},
		{"Wed Dec  2 10:00:00 2026", nil, time.Hour}, {"Wed, 02 Dec 2026 10:30:00 GMT", ahead, 30 * time.Minute}, {"Wednesday, 02-Dec-26 10:30:00 GMT", ahead, 30 * time.Minute},
		{"Wed, 02 Dec 2026 09:30:00 GMT", ahead, 0}, {"Wed, 02 Dec 2026 10:00:00 +0000", nil, 0}, {"2026-12-02T10:00:00Z", nil, 0},
		{"Wed, 02 Dec 2026 10:00:00 GMT", http.Header{"Date": {"today"}}, time.Hour}, {"Wed, 02 Dec 2026 10:00:00 GMT", http.Header{"Date": {"Thu, 01 Jan 1970 00:00:00 GMT"}}, 0},
	}
	for _, tt := range tests {
		h := tt.date.Clone()
		if h == nil {
			h = http.Header{}
		}
		h.Set("Retry-After", tt.value)
		got := retryAfter(h, now)
		if tt.want == 0 && !got.IsZero() || tt.want != 0 && got.Sub(now) != tt.want {
			t.Errorf("%q with %v is %v, want in %s", tt.value, tt.date, got, tt.want)
		}
	}
}

// https is never left for http, and a redirect that is too long is none.
func TestRedirectsThatAreNotFollowed(t *testing.T) {
	t.Parallel()
	site := source.Site{Hosts: []string{"site.example"}}
	parse := func(s string) *url.URL {
		u, err := url.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	secure, plain := parse("https://site.example/a"), parse("http://site.example/b")
	if err := Redirected(site, secure, plain, 302, 1); !errors.Is(err, errScheme) {
		t.Errorf("from https to http: %v", err)
	}
	if err := Redirected(site, plain, secure, 302, maxRedirects); err != nil {
		t.Errorf("from http to https: %v", err)
	}
	if err := Redirected(site, plain, secure, 302, maxRedirects+1); !errors.Is(err, errLoop) {
		t.Errorf("the sixth: %v", err)
	}
	s := fakesite.Start(t)
	s.On("/long", fakesite.Answer{Status: 302, Header: http.Header{"Location": {"/" + strings.Repeat("x", 1<<20)}}})
	s.On("/big", fakesite.Answer{ContentType: "image/png", Body: make([]byte, maxImage+1)})
	c := New(Options{
		Site: source.Site{Key: "t", Hosts: []string{parse(s.URL).Host}}, Slots: free{}, FirstWait: time.Millisecond, Guard: Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
	})
	t.Cleanup(c.Close)
	if _, err := c.Get(t.Context(), source.Request{URL: s.URL + "/long", Want: source.WantHTML}); fault.Of(err) != fault.Network || len(err.Error()) > 1000 {
		t.Errorf("a Location of a mebibyte (B46): %v", fault.Of(err))
	}
	if _, err := c.Get(t.Context(), source.Request{URL: s.URL + "/big", Want: source.WantImage}); !fault.Is(err, fault.Parser) && !fault.Is(err, fault.Page) {
		t.Errorf("an image over its limit: %v", err)
	}
}

// B38 to B43: loopback in disguise, odd ports and odd addresses reach nothing, though
// the Site declares the host.
func TestDisguisesReachNothing(t *testing.T) {
	t.Parallel()
	s := fakesite.Start(t)
	s.On("/*", fakesite.HTML("<html>reached"))
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	for _, host := range []string{
		"127.1", "2130706433", "0x7f000001", "0177.0.0.1", "①②⑦.⓪.⓪.①", "[::ffff:127.0.0.1]", "[::1]", "[fe80::1%25lo]", "localhost", "localhost.", "127.0.0.1", "0.0.0.0", "[::]",
	} {
		address := "http://" + host + ":" + port + "/"
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		c := New(Options{Site: source.Site{Key: "t", Hosts: []string{u.Host}}, Slots: free{}, FirstWait: time.Millisecond})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		_, err = c.Get(ctx, source.Request{URL: address, Want: source.WantHTML})
		cancel()
		c.Close()
		var f *fault.Error
		if !errors.As(err, &f) || f.Evidence == fault.PageRead {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, address := range []string{
		"http://site.example:0/", "http://site.example:22/", "http://site.example:5432/", "http://site.example:65536/", "http://site.example/\r\nX: y", "http://site.example\\@evil.example/",
		"/\\evil.example", "data:text/html,x", "blob:http://site.example/x", "view-source:http://site.example/", "FILE:///etc/passwd", "http://xn--ste-gjy.example/", "http://s\u0456te.example/",
	} {
		c := New(Options{Site: source.Site{Key: "t", Hosts: []string{"site.example"}}, Slots: free{}, FirstWait: time.Millisecond})
		if _, err := c.Get(t.Context(), source.Request{URL: address, Want: source.WantHTML}); !fault.Is(err, fault.Parser) {
			t.Errorf("%q: %v, want it refused before it is asked", address, err)
		}
		c.Close()
	}
	if n := len(s.Ledger().Requests); n != 0 {
		t.Errorf("%d requests reached loopback", n)
	}
}

// What a Site may have us keep is bounded, whatever paths it names; what is kept
// already is renewed all the same.
func TestCookiesAreBounded(t *testing.T) {
	t.Parallel()
	c := newCookies()
	u := &url.URL{Scheme: "https", Host: "site.example", Path: "/"}
	c.SetCookies(u, []*http.Cookie{{Name: "visit", Value: "1", Path: "/"}})
	for i := range 3000 {
		c.SetCookies(u, []*http.Cookie{{Name: "n", Value: "1", Path: "/" + strconv.Itoa(i)}})
	}
	c.SetCookies(u, []*http.Cookie{{Name: "visit", Value: "2", Path: "/"}})
	if got := c.Cookies(u); len(got) != 1 || got[0].Value != "2" {
		t.Errorf("%v", got)
	}
	last := 0
	for i := range 3000 {
		if len(c.jar.Cookies(u.JoinPath(strconv.Itoa(i)))) == 2 {
			last++
		}
	}
	if last != maxKept-1 {
		t.Errorf("%d are kept besides", last)
	}
}

// named answers look-ups from a list, each from the next entry (B39).
func named(t *testing.T, addresses ...[4]byte) *net.Resolver {
	t.Helper()
	l, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		buf := make([]byte, 1500)
		for asked := 0; ; {
			n, from, err := l.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Header.Response, m.Additionals = true, nil
			if q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}, Body: &dnsmessage.AResource{A: addresses[min(asked, len(addresses)-1)]},
				}}
				asked++
			}
			if out, err := m.Pack(); err == nil {
				_, _ = l.WriteTo(out, from) // who asked may be gone
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp4", l.LocalAddr().String())
	}}
}

// B39: the address that is dialled is checked, whatever the name led to before.
func TestANameThatChangesItsMindReachesNothing(t *testing.T) {
	t.Parallel()
	s := fakesite.Start(t)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	// Allowed on its first address, which is a listed one; not on its second.
	dialer := Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}.Dialer()
	dialer.Resolver = named(t, [4]byte{127, 0, 0, 1}, [4]byte{127, 0, 0, 2})
	conn, err := dialer.DialContext(t.Context(), "tcp", "rebinds.example:"+port)
	if err != nil {
		t.Fatalf("the first look-up: %v", err)
	}
	_ = conn.Close()
	if conn, err := dialer.DialContext(t.Context(), "tcp", "rebinds.example:"+port); !errors.Is(err, errGuarded) {
		t.Errorf("the second look-up leads to %v, %v", conn, err)
	}
}

// B45: a header value is of one line. What a Site writes into one that is not never
// comes back in a request, which could then not be sent at all.
func TestHeaderValuesOfMoreThanOneLine(t *testing.T) {
	t.Parallel()
	s := fakesite.Start(t)
	host := strings.TrimPrefix(s.URL, "http://")
	c := New(Options{
		Site: source.Site{Key: "t", Hosts: []string{host}}, Slots: free{}, FirstWait: time.Millisecond, Guard: Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
	})
	t.Cleanup(c.Close)
	for name, value := range map[string]string{
		"a lone return": "\"a\rX-Injected: 1\"", "a NUL": "\"a\x00\"", "a control": "\"a\x01\"", "folded": "\"a\r\n b\"", "a second header": "\"a\"\r\nX-Injected: 1",
	} {
		s.On("/p", fakesite.Answer{Raw: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\nConnection: close\r\nETag: " + value + "\r\nLast-Modified: " + value + "\r\n\r\n<html>")},
			fakesite.HTML("<html>"))
		first, err := c.Get(t.Context(), source.Request{URL: s.URL + "/p", Want: source.WantHTML})
		if err != nil {
			// No answer at all is as good: it is classified.
			if fault.Of(err) != fault.Network {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		for _, v := range []string{first.Validators.ETag, first.Validators.LastModified} {
			if strings.ContainsAny(v, "\r\n\x00\x01") {
				t.Errorf("%s: kept %q", name, v)
			}
		}
		s.On("/p", fakesite.HTML("<html>"))
		if _, err := c.Get(t.Context(), source.Request{URL: s.URL + "/p", Want: source.WantHTML, Validators: first.Validators}); err != nil {
			t.Errorf("%s: the next request: %v", name, err)
		}
	}
	// Whatever was stored before this was checked.
	s.On("/p", fakesite.HTML("<html>"))
	if _, err := c.Get(t.Context(), source.Request{URL: s.URL + "/p", Want: source.WantHTML, Referer: s.URL + "/\r\nX: 1", Validators: source.Validators{ETag: "a\r\nb"}}); err != nil {
		t.Errorf("stored values of two lines: %v", err)
	}
	for _, r := range s.Ledger().Requests {
		if r.Header.Get("X-Injected") != "" || r.Header.Get("X") != "" {
			t.Errorf("a header was let in: %v", r.Header)
		}
	}
}
