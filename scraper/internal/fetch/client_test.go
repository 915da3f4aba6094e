package fetch_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mangrove/internal/fakesite"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/source"
)

// anytime lets every request go at once.
type anytime struct{}

func (anytime) Acquire(context.Context, source.Want) (func(), error) { return func() {}, nil }

func (anytime) Again(context.Context) error { return nil }

func (anytime) Sent() {}

func client(t *testing.T, hosts ...string) (*fakesite.Server, *fetch.Client) {
	t.Helper()
	s := fakesite.Start(t)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := fetch.New(fetch.Options{
		Site: source.Site{Key: "t", Hosts: append(hosts, u.Host)}, Slots: anytime{}, Identity: "Mangrove/test", FirstWait: time.Millisecond,
		Guard: fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
	})
	t.Cleanup(c.Close)
	return s, c
}

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func TestGetClassifies(t *testing.T) {
	page := "<html><body>" + strings.Repeat("words ", 100) + "</body></html>"
	tests := []struct {
		name     string
		answer   fakesite.Answer
		want     source.Want
		class    fault.Class
		evidence fault.Evidence
		requests int
	}{
		{"good", fakesite.HTML(page), source.WantHTML, "", "", 1},
		{"not found", fakesite.Status(404), source.WantHTML, fault.NotFound, fault.PageRead, 1},
		{"gone", fakesite.Status(410), source.WantHTML, fault.NotFound, fault.PageRead, 1},
		{"unauthorised", fakesite.Status(401), source.WantHTML, fault.Access, fault.Answered, 1},
		{"forbidden", fakesite.Status(403), source.WantImage, fault.Access, fault.Answered, 1},
		{"too many", fakesite.Status(429), source.WantHTML, fault.Access, fault.Answered, 1},
		{"server error is tried again", fakesite.Status(503), source.WantHTML, fault.Network, fault.Answered, 3},
		{"a server that names a time is not hurried", fakesite.Answer{Status: 503, Header: header("Retry-After", "120")}, source.WantHTML, fault.Network, fault.Answered, 1},
		{"challenge by header", fakesite.Answer{Status: 503, Header: header("cf-mitigated", "challenge")}, source.WantHTML, fault.Access, fault.Answered, 1},
		{
			"challenge with status 200",
			fakesite.HTML(`<html><title>Just a moment...</title><script>window._cf_chl_opt={}</script><script src="/cdn-cgi/challenge-platform/x"></script></html>`),
			source.WantHTML, fault.Access, fault.Answered, 1,
		},
		{
			"challenge with status 503", fakesite.Answer{Status: 503, ContentType: "text/html", Body: []byte(`<html><title>Just a moment...</title><script>window._cf_chl_opt={}</script></html>`)},
			source.WantHTML, fault.Access, fault.Answered, 1,
		},
		{
			"challenge with status 404", fakesite.Answer{Status: 404, ContentType: "text/html", Body: []byte(`<html><title>Attention Required! | Cloudflare</title><div id="cf-wrapper"></div></html>`)},
			source.WantHTML, fault.Access, fault.Answered, 1,
		},
		{"a page that speaks of challenges", fakesite.HTML("<html><title>The challenge</title>Just a moment... said the captcha to Cloudflare</html>"), source.WantHTML, "", "", 1},
		{"an image where a page was due", fakesite.Bytes("image/png", []byte("x")), source.WantHTML, fault.Parser, fault.Answered, 1},
		{"a page where an image was due", fakesite.HTML(page), source.WantImage, fault.Page, fault.Answered, 1},
		{"not JSON", fakesite.HTML(page), source.WantJSON, fault.Parser, fault.Answered, 1},
		{"a feed", fakesite.Bytes("application/rss+xml", []byte("<rss/>")), source.WantXML, "", "", 1},
		{"a feed served as text", fakesite.Bytes("text/plain", []byte("<?xml version='1.0'?>\n<!-- x -->\n<feed xmlns='x'/>")), source.WantXML, "", "", 1},
		{"a feed served as a page", fakesite.HTML("<rdf:RDF/>"), source.WantXML, "", "", 1},
		{"a page where a feed was due", fakesite.HTML(page), source.WantXML, fault.Parser, fault.Answered, 1},
		{"XHTML where a feed was due", fakesite.Bytes("application/xhtml+xml", []byte("<html/>")), source.WantXML, fault.Parser, fault.Answered, 1},
		{"only a bracket where a feed was due", fakesite.Bytes("text/plain", []byte("<!<")), source.WantXML, fault.Parser, fault.Answered, 1},
		{"reset", fakesite.Answer{Reset: true}, source.WantHTML, fault.Network, fault.Answered, 3},
		{"cut short", fakesite.Answer{ContentType: "text/html", Body: []byte(page), CutAfter: 20}, source.WantHTML, fault.Network, fault.Answered, 3},
		{"too large", fakesite.Answer{ContentType: "text/html", Body: make([]byte, 9<<20)}, source.WantHTML, fault.Parser, fault.Answered, 1},
		{"304 nobody asked for", fakesite.Status(304), source.WantHTML, fault.Network, fault.Answered, 3},
		{"redirect to another host", fakesite.Answer{Status: 302, Header: header("Location", "http://example.org/")}, source.WantHTML, fault.Parser, fault.Answered, 1},
		{"redirect to a file", fakesite.Answer{Status: 302, Header: header("Location", "file:///etc/passwd")}, source.WantHTML, fault.Parser, fault.Answered, 1},
		{"redirect for ever", fakesite.Answer{Status: 302, Header: header("Location", "/page")}, source.WantHTML, fault.Parser, fault.Answered, 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, c := client(t)
			s.On("/page", tt.answer)
			_, err := c.Get(t.Context(), source.Request{URL: s.URL + "/page?token=canary", Want: tt.want})
			if got := fault.Of(err); got != tt.class {
				t.Errorf("class %q (%v), want %q", got, err, tt.class)
			}
			var f *fault.Error
			if errors.As(err, &f) && f.Evidence != tt.evidence {
				t.Errorf("evidence %q, want %q", f.Evidence, tt.evidence)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the query stands in the error: %v", err)
			}
			if got := s.Count("/page"); got != tt.requests {
				t.Errorf("%d requests, want %d", got, tt.requests)
			}
		})
	}
}

func TestNothingAnswers(t *testing.T) {
	s, c := client(t)
	s.Close()
	_, err := c.Get(t.Context(), source.Request{URL: s.URL + "/", Want: source.WantHTML})
	var f *fault.Error
	if !errors.As(err, &f) || f.Class != fault.Network || f.Evidence != fault.NoRead {
		t.Errorf("connection refused: got %v, want network without a read", err)
	}
}

func TestUndeclaredHostsAreNeverDialled(t *testing.T) {
	s, c := client(t, "private.example")
	other := fakesite.Start(t)
	for _, address := range []string{
		other.URL + "/", "file:///etc/passwd", "gopher://x/", "javascript:alert(1)", "http://user:pw@" + strings.TrimPrefix(s.URL, "http://") + "/", "//x", "", "http://[::1]:80/",
	} {
		if _, err := c.Get(t.Context(), source.Request{URL: address, Want: source.WantHTML}); !fault.Is(err, fault.Parser) {
			t.Errorf("%q: got %v, want it refused before it is asked", address, err)
		}
	}
	if n := len(other.Ledger().Requests) + len(s.Ledger().Requests); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestTheGuardStopsADeclaredHostAtAPrivateAddress(t *testing.T) {
	s := fakesite.Start(t)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := fetch.New(fetch.Options{Site: source.Site{Key: "t", Hosts: []string{u.Host}}, Slots: anytime{}, FirstWait: time.Millisecond})
	t.Cleanup(c.Close)
	_, err = c.Get(t.Context(), source.Request{URL: s.URL + "/", Want: source.WantHTML})
	var f *fault.Error
	if !errors.As(err, &f) || !strings.Contains(err.Error(), "not allowed") || f.Evidence != fault.NoRead {
		t.Errorf("got %v, want the address refused and no read", err)
	}
	if n := len(s.Ledger().Requests); n != 0 {
		t.Errorf("%d requests reached a loopback address", n)
	}
}

func TestConditionalRequestAndIdentity(t *testing.T) {
	s, c := client(t)
	s.On("/page", fakesite.Answer{ContentType: "text/html", Header: header("ETag", `"a"`, "Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT"), Body: []byte("<html>")}, fakesite.Status(304))
	first, err := c.Get(t.Context(), source.Request{URL: s.URL + "/page", Want: source.WantHTML})
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.Get(t.Context(), source.Request{URL: s.URL + "/page", Want: source.WantHTML, Validators: first.Validators})
	if err != nil || !second.NotModified {
		t.Errorf("got %+v, %v; want not modified", second, err)
	}
	asked := s.Ledger().Requests
	if got := asked[1].Header.Get("If-None-Match"); got != `"a"` {
		t.Errorf("If-None-Match %q", got)
	}
	if got := asked[0].Header.Get("User-Agent"); got != "Mangrove/test" {
		t.Errorf("User-Agent %q, want it stated plainly", got)
	}
}

func TestPermanentRedirectIsToldApart(t *testing.T) {
	s, c := client(t)
	s.On("/new", fakesite.HTML("<html>"))
	for status, want := range map[int]bool{301: true, 308: true, 302: false, 307: false} {
		s.On("/old", fakesite.Answer{Status: status, Header: header("Location", "/new")})
		r, err := c.Get(t.Context(), source.Request{URL: s.URL + "/old", Want: source.WantHTML})
		if err != nil || r.Permanent != want || !strings.HasSuffix(r.URL, "/new") {
			t.Errorf("%d: %+v, %v; want permanent %v", status, r, err, want)
		}
	}
}

func TestAMoveToAnotherHostIsProposedNotFollowed(t *testing.T) {
	for status, proposed := range map[int]bool{301: true, 308: true, 302: false} {
		s, c := client(t)
		s.On("/s", fakesite.Answer{Status: status, Header: header("Location", "http://new.example/s?x=1")})
		_, err := c.Get(t.Context(), source.Request{URL: s.URL + "/s", Want: source.WantHTML})
		want := ""
		if proposed {
			want = "http://new.example/s?x=1"
		}
		if got := source.ProposedMove(err); got != want {
			t.Errorf("%d: proposed %q, want %q", status, got, want)
		}
	}
}

func TestRetryAfterIsRecorded(t *testing.T) {
	for value, want := range map[string]time.Duration{"120": 2 * time.Minute, "-1": 0, "1000000000": 0, "junk": 0, "Mon, 02 Jan 2006 15:04:05 GMT": 0, "": 0} {
		s, c := client(t)
		s.On("/p", fakesite.Answer{Status: 429, Header: header("Retry-After", value)})
		_, err := c.Get(t.Context(), source.Request{URL: s.URL + "/p", Want: source.WantHTML})
		var f *fault.Error
		if !errors.As(err, &f) {
			t.Fatal(err)
		}
		if got := time.Until(f.RetryAfter).Round(time.Minute); (want == 0) != f.RetryAfter.IsZero() || (want != 0 && got != want) {
			t.Errorf("Retry-After %q: in %v, want %v", value, got, want)
		}
	}
}

func TestAStopEndsTheRead(t *testing.T) {
	s, c := client(t)
	s.On("/slow", fakesite.Answer{ContentType: "text/html", Body: bytes.Repeat([]byte("x"), 100), Hold: make(chan struct{})})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.Get(ctx, source.Request{URL: s.URL + "/slow", Want: source.WantHTML})
		done <- err
	}()
	if err := s.WaitCount(t.Context(), "/slow", 1); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("a stopped read came back well")
	}
	if got := s.Count("/slow"); got != 1 {
		t.Errorf("asked %d times, a stop was taken for a failure", got)
	}
}

func TestTheStatusIsTold(t *testing.T) {
	challenge := fakesite.Answer{Status: 403, ContentType: "text/html", Header: header("cf-mitigated", "challenge")}
	for _, tt := range []struct {
		name   string
		answer fakesite.Answer
		status int
	}{
		{"forbidden", fakesite.Status(403), 403}, {"gone", fakesite.Status(410), 410}, {"too many", fakesite.Status(429), 429},
		{"a challenge is no status", challenge, 0},
		{"a captcha is no status", fakesite.Answer{Status: 403, Header: header("X-Captcha-Sitekey", "x")}, 0}, {"well", fakesite.HTML("<html>"), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, c := client(t)
			s.On("/x", tt.answer)
			_, err := c.Get(t.Context(), source.Request{URL: s.URL + "/x", Want: source.WantHTML})
			if got := source.StatusOf(err); got != tt.status {
				t.Errorf("status %d of %v, want %d", got, err, tt.status)
			}
		})
	}
}

// turnstile lets requests through one at a time, by hand.
type turnstile chan struct{}

func (g turnstile) Acquire(ctx context.Context, _ source.Want) (func(), error) {
	select {
	case g <- struct{}{}:
		return func() { <-g }, nil
	case <-ctx.Done():
		return nil, fault.New(fault.Network, "wait for", "a request slot", ctx.Err()).WithEvidence(fault.NoRead)
	}
}

func (turnstile) Again(context.Context) error { return nil }

func (turnstile) Sent() {}

func TestAWithdrawnRequestIsNotSent(t *testing.T) {
	s := fakesite.Start(t)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	slots := make(turnstile, 1)
	c := fetch.New(fetch.Options{
		Site: source.Site{Key: "t", Hosts: []string{u.Host}}, Slots: slots, Identity: "Mangrove/test", FirstWait: time.Millisecond,
		Guard: fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
	})
	t.Cleanup(c.Close)
	hold := make(chan struct{})
	s.On("/sent", fakesite.Answer{ContentType: "text/html", Body: []byte("<html>"), Hold: hold})
	s.On("/refused", fakesite.Status(403))
	batch := source.NewBatch()
	results := map[string]chan error{"/sent": make(chan error, 1), "/waits": make(chan error, 1)}
	for _, path := range []string{"/sent", "/waits"} {
		go func() {
			_, err := c.Get(t.Context(), source.Request{URL: s.URL + path, Want: source.WantHTML, Batch: batch})
			results[path] <- err
		}()
		if path == "/sent" {
			if err := s.WaitCount(t.Context(), path, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	batch.End()
	if err := <-results["/waits"]; !errors.Is(err, source.ErrWithdrawn) || !fault.Is(err, fault.Stale) {
		t.Errorf("the waiting request: %v, want withdrawn", err)
	}
	close(hold)
	if err := <-results["/sent"]; err != nil {
		t.Errorf("the request that was sent: %v, want its answer", err)
	}
	if n := s.Count("/waits"); n != 0 {
		t.Errorf("the withdrawn request was sent %d times", n)
	}
	batch = source.NewBatch()
	_, err = c.Get(t.Context(), source.Request{URL: s.URL + "/refused", Want: source.WantHTML, Batch: batch})
	_, next := c.Get(t.Context(), source.Request{URL: s.URL + "/waits", Want: source.WantHTML, Batch: batch})
	if !fault.Is(err, fault.Access) || !errors.Is(next, source.ErrWithdrawn) {
		t.Errorf("refused: %v, then %v; want the second withdrawn", err, next)
	}
}

func TestARateLimitsOwnHeaderIsRead(t *testing.T) {
	at := time.Now().Add(90 * time.Second).Truncate(time.Second)
	unix := strconv.FormatInt(at.Unix(), 10)
	tests := []struct {
		name   string
		status int
		header http.Header
		want   time.Time
	}{
		{"too many", 429, header("X-RateLimit-Retry-After", unix), at},
		{"with another status it says nothing", 403, header("X-RateLimit-Retry-After", unix), time.Time{}},
		{"long past", 429, header("X-RateLimit-Retry-After", "1700000000"), time.Time{}},
		{"absurd", 429, header("X-RateLimit-Retry-After", "99999999999999999999"), time.Time{}},
		{"no number", 429, header("X-RateLimit-Retry-After", "soon"), time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, c := client(t)
			s.On("/x", fakesite.Answer{Status: tt.status, Header: tt.header})
			_, err := c.Get(t.Context(), source.Request{URL: s.URL + "/x", Want: source.WantJSON})
			var f *fault.Error
			if !errors.As(err, &f) || !f.RetryAfter.Equal(tt.want) {
				t.Errorf("%v, until %v; want %v", err, f.RetryAfter, tt.want)
			}
		})
	}
}

// leaving counts what was said to leave.
type leaving struct {
	anytime
	sent atomic.Int32
}

func (l *leaving) Sent() { l.sent.Add(1) }

// TestThePacingCountsFromWhenARequestLeaves: each request says when it does, a
// redirect is one more, and what never leaves says nothing.
func TestThePacingCountsFromWhenARequestLeaves(t *testing.T) {
	t.Parallel()
	s, _ := client(t)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	slots := &leaving{}
	c := fetch.New(fetch.Options{
		Site: source.Site{Key: "t", Hosts: []string{u.Host, "127.0.0.1:1"}}, Slots: slots, Identity: "Mangrove/test", FirstWait: time.Millisecond,
		Guard: fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
	})
	t.Cleanup(c.Close)
	s.On("/a", fakesite.HTML("<html>"))
	s.On("/old", fakesite.Answer{Status: 301, Header: header("Location", "/a")})
	for _, tt := range []struct {
		url  string
		want int32
	}{{s.URL + "/a", 1}, {s.URL + "/a", 1}, {s.URL + "/old", 2}, {"http://127.0.0.1:1/", 0}} {
		slots.sent.Store(0)
		_, _ = c.Get(t.Context(), source.Request{URL: tt.url, Want: source.WantHTML})
		if got := slots.sent.Load(); got != tt.want {
			t.Errorf("%s: %d requests were said to leave, want %d", tt.url, got, tt.want)
		}
	}
}
