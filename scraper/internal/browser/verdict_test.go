package browser

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fakesite"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func redirect(status int, to string) fakesite.Answer {
	return fakesite.Answer{Status: status, Header: header("Location", to)}
}

func squeezed(t *testing.T, body []byte) fakesite.Answer {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return fakesite.Answer{ContentType: "text/html", Header: header("Content-Encoding", "gzip"), Body: b.Bytes()}
}

const challenge = `<html><title>Just a moment...</title><script>window._cf_chl_opt={}</script><script src="/cdn-cgi/challenge-platform/x"></script></html>`

func TestVerdicts(t *testing.T) {
	t.Parallel()
	b := share(t)
	elsewhere := fakesite.Start(t)
	good := "<html><body><p>words</p></body></html>"
	access, answered, unreadable := verdict{fault.Access, fault.Answered}, verdict{fault.Network, fault.Answered}, verdict{fault.Parser, fault.Answered}
	tests := []struct {
		name   string
		answer fakesite.Answer
		want   verdict
		// has is a part of the page that was read, after the final address.
		has string
		// requests is how many reached the Site; 0 does not count them.
		requests int
	}{
		{"good", fakesite.HTML(good), verdict{}, "/p <p>words</p>", 1},
		{"compressed", squeezed(t, []byte(good)), verdict{}, "/p <p>words</p>", 1},
		{"empty", fakesite.HTML(""), verdict{}, "/p <body></body>", 1},
		{"another alphabet", fakesite.Answer{ContentType: "text/html; charset=windows-1251", Body: []byte("<p>\xcc\xe0\xed\xe3\xe0")}, verdict{}, "/p <p>Манга</p>", 1},
		{"unauthorised", fakesite.Answer{Status: 401, Header: header("WWW-Authenticate", `Basic realm="x"`)}, access, "", 1},
		{"forbidden", fakesite.Status(403), access, "", 1},
		{"not found", fakesite.Status(404), verdict{fault.NotFound, fault.PageRead}, "", 1},
		{"gone", fakesite.Status(410), verdict{fault.NotFound, fault.PageRead}, "", 1},
		{"too many", fakesite.Answer{Status: 429, Header: header("Retry-After", "120")}, access, "", 1},
		{"server error", fakesite.Status(503), answered, "", 1},
		{"304 nobody asked for", fakesite.Status(304), answered, "", 1},
		{"challenge by header", fakesite.Answer{ContentType: "text/html", Body: []byte(good), Header: header("cf-mitigated", "challenge")}, access, "", 1},
		{"challenge with status 200, of which no script runs", fakesite.HTML(challenge), access, "", 1},
		{"challenge with status 503", fakesite.Answer{Status: 503, ContentType: "text/html", Header: header("Retry-After", "120"), Body: []byte(challenge)}, access, "", 1},
		{"challenge that a script makes", fakesite.HTML(`<script>document.documentElement.innerHTML = '<head><title>Just a mom' + 'ent...</title></head><p class="cf-wra' + 'pper">chal' + 'lenge'</script>`), access, "", 1},
		{"a picture", fakesite.Bytes("image/png", []byte("x")), unreadable, "", 1},
		{"a download", fakesite.Answer{ContentType: "application/octet-stream", Header: header("Content-Disposition", "attachment"), Body: []byte("x")}, unreadable, "", 1},
		{"moved for good", redirect(301, "/new"), verdict{}, "/new permanent <p>new</p>", 2},
		{"moved for now", redirect(302, "/new"), verdict{}, "/new <p>new</p>", 2},
		{"moved by script", fakesite.HTML(`<script>location.replace('/new')</script>`), verdict{}, "/new <p>new</p>", 2},
		{"moved for ever", redirect(302, "/p"), unreadable, "", 6},
		{"reloads for ever", fakesite.HTML(`<script>location.reload()</script>`), unreadable, "", 5},
		{"moved to a file", redirect(302, "file:///etc/passwd"), unreadable, "", 1},
		{"moved to another host", redirect(302, elsewhere.URL+"/"), unreadable, "", 1},
		{"moved to another host by script", fakesite.HTML(`<script>location.href = '` + elsewhere.URL + `/x'</script>`), unreadable, "", 1},
		{"reset", fakesite.Answer{Reset: true}, answered, "", 0},
		{"cut short", fakesite.Answer{ContentType: "text/html", Body: []byte(strings.Repeat(good, 100)), CutAfter: 100}, answered, "", 0},
		{"50 MB", fakesite.Answer{ContentType: "text/html", Body: bytes.Repeat([]byte("<p>words</p>\n"), 4<<20)}, unreadable, "", 1},
		{"50 MB in 50 kB", squeezed(t, make([]byte, 50<<20)), unreadable, "", 1},
		{"12 MB made by a script", fakesite.HTML(`<body><script>document.body.textContent = 'x'.repeat(12 << 20)</script>`), unreadable, "", 1},
		{"asks in dialogs", fakesite.HTML(`<body><script>alert(1); confirm(2); prompt(3); document.body.innerHTML = '<i>on</i>'</script>`), verdict{}, "/p <i>on</i>", 1},
		{"opens windows", fakesite.HTML(`<body><script>for (let i = 0; i < 5; i++) open('/new'); document.body.innerHTML = '<i>on</i>'</script>`), verdict{}, "/p <i>on</i>", 0},
		{"asks without end", fakesite.HTML(`<body><script>setInterval(() => { for (let i = 0; i < 50; i++) fetch('/x?' + Math.random()) }, 1)</script>`), unreadable, "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := fakesite.Start(t)
			s.On("/p", tt.answer)
			s.On("/new", fakesite.HTML("<p>new</p>"))
			r, err := b.Render(t.Context(), siteOf(t, s), ask(s.URL+"/p?token=canary"), &turns{})
			if diff := cmp.Diff(tt.want, verdictOf(t, err)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s%v", diff, err)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the query stands in the error: %v", err)
			}
			if err == nil {
				where := strings.TrimSuffix(strings.TrimPrefix(r.URL, s.URL), "?token=canary")
				if r.Permanent {
					where += " permanent"
				}
				path, part, _ := strings.Cut(tt.has, " <")
				if where != path || !strings.Contains(string(r.Body), "<"+part) {
					t.Errorf("read %s, want %s with <%s:\n%s", where, path, part, r.Body)
				}
			}
			if got := len(s.Ledger().Requests); tt.requests > 0 && got != tt.requests {
				t.Errorf("%d requests, want %d", got, tt.requests)
			}
		})
	}
	t.Cleanup(func() {
		if n := len(elsewhere.Ledger().Requests); n != 0 {
			t.Errorf("%d requests reached another host", n)
		}
	})
}

// Pages that never end are the Site's doing and not the browser's, which reads
// the next one (S-083).
func TestPagesThatNeverEnd(t *testing.T) {
	t.Parallel()
	b := open(t, func(o *Options) { o.Timeout = 6 * time.Second })
	warm(t, b)
	never := make(chan struct{})
	tests := []struct {
		name   string
		answer fakesite.Answer
	}{
		{"turns round for ever", fakesite.HTML(`<script>for(;;){}</script>`)},
		{"turns round later", fakesite.HTML(`<p>x</p><script>setTimeout(() => { for(;;){} }, 300)</script>`)},
		{"does not answer", fakesite.Answer{Hold: never}},
		{"stops half way", fakesite.Answer{ContentType: "text/html", Body: []byte("<html><body>words"), Hold: never, HoldAfter: 10}},
	}
	t.Run("all", func(t *testing.T) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				s := fakesite.Start(t)
				s.On("/p", tt.answer)
				_, err := b.Render(t.Context(), siteOf(t, s), ask(s.URL+"/p"), &turns{})
				if got := verdictOf(t, err); got != (verdict{fault.Network, fault.Answered}) {
					t.Errorf("%v (%v)", got, err)
				}
			})
		}
	})
	first := b.current
	s := fakesite.Start(t)
	s.On("/p", fakesite.HTML("<p>words</p>"))
	if _, err := b.Render(t.Context(), siteOf(t, s), ask(s.URL+"/p"), &turns{}); err != nil {
		t.Error(err)
	}
	if b.current != first {
		t.Error("the browser did not outlive them")
	}
	if open := targets(t, b); open > 1 {
		t.Errorf("%d pages are left open", open)
	}
}

func TestAMoveToAnotherHostIsProposed(t *testing.T) {
	t.Parallel()
	b := share(t)
	for status, want := range map[int]string{301: "http://new.example/s?x=1", 302: ""} {
		s := fakesite.Start(t)
		s.On("/s", redirect(status, "http://new.example/s?x=1"))
		_, err := b.Render(t.Context(), siteOf(t, s), ask(s.URL+"/s"), &turns{})
		if got := source.ProposedMove(err); got != want {
			t.Errorf("%d: proposed %q, want %q", status, got, want)
		}
	}
}

func TestRetryAfterIsKept(t *testing.T) {
	t.Parallel()
	b := share(t)
	s := fakesite.Start(t)
	s.On("/p", fakesite.Answer{Status: 429, Header: header("Retry-After", "120")})
	_, err := b.Render(t.Context(), siteOf(t, s), ask(s.URL+"/p"), &turns{})
	var f *fault.Error
	if !errors.As(err, &f) || time.Until(f.RetryAfter).Round(time.Minute) != 2*time.Minute {
		t.Errorf("got %v, want a rest of two minutes", err)
	}
}

func TestNothingAnswers(t *testing.T) {
	t.Parallel()
	b := share(t)
	s := fakesite.Start(t)
	site := siteOf(t, s)
	s.Close()
	noRead := verdict{fault.Network, fault.NoRead}
	_, err := b.Render(t.Context(), site, ask(s.URL+"/"), &turns{})
	if got := verdictOf(t, err); got != noRead || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("connection refused: %v (%v)", got, err)
	}
	_, err = b.Render(t.Context(), source.Site{Hosts: []string{"nowhere.invalid"}}, ask("https://nowhere.invalid/"), &turns{})
	if got := verdictOf(t, err); got != noRead || !strings.Contains(err.Error(), "no address") {
		t.Errorf("no such name: %v (%v)", got, err)
	}
}

func TestAStopEndsTheRead(t *testing.T) {
	t.Parallel()
	b := share(t)
	s := fakesite.Start(t)
	s.On("/p", fakesite.Answer{Hold: make(chan struct{})})
	ctx, cancel := context.WithCancel(t.Context())
	done := inBackground(ctx, b, siteOf(t, s), s.URL+"/p")
	if err := s.WaitCount(t.Context(), "/p", 1); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	cancel()
	if err := <-done; err == nil || time.Since(began) > 5*time.Second {
		t.Errorf("stopped after %v: %v", time.Since(began), err)
	}
}

func TestWhatMayNotBeAskedNeverStartsABrowser(t *testing.T) {
	t.Parallel()
	b := New(options(t))
	s := fakesite.Start(t)
	for _, address := range []string{"file:///etc/passwd", "chrome://version", "javascript:1", "data:text/html,x", "http://other.example/", "http://u:p@" + strings.TrimPrefix(s.URL, "http://"), ""} {
		_, err := b.Render(t.Context(), siteOf(t, s), ask(address), &turns{})
		if got := verdictOf(t, err); got != (verdict{fault.Parser, fault.Answered}) {
			t.Errorf("%q: %v", address, err)
		}
	}
	if b.current != nil {
		t.Error("Chromium was started")
	}
}

func TestTheGuardStopsADeclaredHostAtAPrivateAddress(t *testing.T) {
	t.Parallel()
	b := open(t, func(o *Options) { o.Allow = []netip.Prefix{} })
	s := fakesite.Start(t)
	_, err := b.Render(t.Context(), siteOf(t, s), ask(s.URL+"/"), &turns{})
	if got := verdictOf(t, err); got != (verdict{fault.Network, fault.NoRead}) || !strings.Contains(err.Error(), "not allowed") {
		t.Errorf("%v, want the address refused and no read", err)
	}
	if n := len(s.Ledger().Requests); n != 0 {
		t.Errorf("%d requests reached a loopback address", n)
	}
}
