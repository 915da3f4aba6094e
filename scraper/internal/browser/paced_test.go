package browser

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"mangrove/internal/fakesite"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/source"
)

// pacing is that of the tests; a request may arrive a little late, and the next one
// then seems early.
const (
	pacing = 500 * time.Millisecond
	late   = 250 * time.Millisecond
)

// laneOf asks a fake Site as a Lane does: a client over slots, with the browser.
func laneOf(t *testing.T, s *fakesite.Server, b *Browser, gate func() error, hosts ...string) *fetch.Client {
	t.Helper()
	site := siteOf(t, s)
	site.Pacing, site.Hosts = pacing, append(site.Hosts, hosts...)
	c := fetch.New(fetch.Options{Site: site, Slots: lane.NewSlots(site, gate, 0), Identity: "Mangrove/test", Guard: fetch.Guard{Allow: allowed()}, Renderer: b})
	t.Cleanup(c.Close)
	return c
}

func always() error { return nil }

// startsOf are when requests whose path begins so arrived, in order.
func startsOf(s *fakesite.Server, prefixes ...string) (out []time.Time) {
	for _, r := range s.Ledger().Requests {
		for _, p := range prefixes {
			if strings.HasPrefix(r.Path, p) {
				out = append(out, r.At)
			}
		}
	}
	return out
}

// paced fails unless n requests came, a pacing apart.
func paced(t *testing.T, starts []time.Time, n int) {
	t.Helper()
	if len(starts) != n {
		t.Errorf("%d requests, want %d", len(starts), n)
	}
	for i := 1; i < len(starts); i++ {
		if gap := starts[i].Sub(starts[i-1]); gap < pacing-late {
			t.Errorf("request %d came %s after the one before, pacing %s", i, gap, pacing)
		}
	}
}

// The Site's pacing holds for the pages and the data that scripts ask for, and for
// what the Lane asks for after them (ADR 0010). What belongs to the page comes with
// it, a few at a time.
func TestWhatScriptsAskForIsPaced(t *testing.T) {
	t.Parallel()
	s := fakesite.Start(t)
	var parts strings.Builder
	for i := range 20 {
		fmt.Fprintf(&parts, `<script defer src="/part/%d.js"></script>`, i)
		s.On(fmt.Sprintf("/part/%d.js", i), fakesite.Answer{ContentType: "text/javascript", Body: []byte("// a little"), DripEvery: 30 * time.Millisecond, DripBytes: 8})
	}
	s.On("/page", fakesite.HTML(`<main></main><link rel=stylesheet href="/part/style.css">`+parts.String()+`<script>
		const add = t => { const i = document.createElement('i'); i.textContent = t; document.querySelector('main').append(i) }
		for (let n = 0; n < 3; n++) fetch('/data/' + n).then(r => r.text()).then(add)
		const x = new XMLHttpRequest(); x.open('GET', '/data/x'); x.onload = () => add(x.responseText); x.send()
		fetch('http://elsewhere.example/data').catch(() => add('away'))
	</script>`))
	s.On("/part/style.css", fakesite.Bytes("text/css", []byte("i {}")))
	s.On("/data/*", fakesite.Bytes("text/plain", []byte("told")))
	s.On("/next", fakesite.HTML("<main></main>"))
	c := laneOf(t, s, share(t), always)
	got, err := c.Get(t.Context(), source.Request{URL: s.URL + "/page", Want: source.WantHTML})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(got.Body), "<i>told</i>"); n != 4 || !strings.Contains(string(got.Body), "<i>away</i>") {
		t.Errorf("the page was read before its data was there: %s", got.Body)
	}
	if _, err := c.Get(t.Context(), source.Request{URL: s.URL + "/next", Want: source.WantHTML}); err != nil {
		t.Fatal(err)
	}
	paced(t, startsOf(s, "/page", "/data/", "/next"), 6)
	l := s.Ledger()
	if parts := startsOf(s, "/part/"); len(parts) != 21 || parts[20].Sub(parts[0]) > 5*pacing {
		t.Errorf("%d parts of the page came within %s", len(parts), parts[len(parts)-1].Sub(parts[0]))
	}
	if l.Peak > 7 {
		t.Errorf("%d requests were under way at once", l.Peak)
	}
}

// A page that sends itself on, and what stands in its frames, are paced too.
func TestPagesThatScriptsOpenArePaced(t *testing.T) {
	t.Parallel()
	s, other := fakesite.Start(t), fakesite.Start(t)
	s.On("/page", fakesite.HTML(`<script>location.replace('/second')</script>`))
	s.On("/second", fakesite.HTML(`<main>there</main><script>new Worker(URL.createObjectURL(new Blob(["fetch('`+s.URL+`/frame/worker')"], {type: 'text/javascript'})))</script><iframe src="/frame/1"></iframe><iframe src="`+other.URL+`/frame"></iframe>`))
	other.On("/frame", fakesite.HTML(`<script>fetch('/data')</script>`))
	s.On("/frame/*", fakesite.HTML(`<script>fetch('/frame/data')</script>`))
	got, err := laneOf(t, s, share(t), always, strings.TrimPrefix(other.URL, "http://")).Get(t.Context(), source.Request{URL: s.URL + "/page", Want: source.WantHTML})
	if err != nil || !strings.Contains(string(got.Body), "there") {
		t.Fatal(err)
	}
	paced(t, startsOf(s, "/"), 5)
	if n := len(other.Ledger().Requests); n != 0 {
		t.Errorf("%d requests for a frame of another host, of which nothing is read", n)
	}
}

// What the Lane holds back is waited for longer than what the page takes by itself.
func TestAPageIsNotReadWhileItWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	s := fakesite.Start(t)
	s.On("/page", fakesite.HTML(`<main></main><script>for (let n = 0; n < 5; n++) fetch('/data/' + n).then(r => r.text()).then(t => { document.querySelector('main').textContent += t })</script>`))
	s.On("/data/*", fakesite.Bytes("text/plain", []byte("told ")))
	b := open(t, func(o *Options) { o.Settle = 3 * pacing })
	warm(t, b)
	got, err := laneOf(t, s, b, always).Get(t.Context(), source.Request{URL: s.URL + "/page", Want: source.WantHTML})
	if err != nil || !strings.Contains(string(got.Body), strings.Repeat("told ", 5)) {
		t.Errorf("%v; half a page was read: %s", err, got.Body)
	}
}

// What a page may ask for by script is bounded in number.
func TestAPageThatAsksWithoutEnd(t *testing.T) {
	t.Parallel()
	s := fakesite.Start(t)
	s.On("/page", fakesite.HTML(`<main>there</main><script>const ask = () => fetch('/data/' + Math.random()).catch(() => {}).then(() => setTimeout(ask, 1)); for (let i = 0; i < 9; i++) ask()</script>`))
	s.On("/data/*", fakesite.Bytes("text/plain", nil))
	b := open(t, func(o *Options) { o.Timeout = 8 * time.Second })
	warm(t, b)
	var asked turns
	_, err := b.Render(t.Context(), siteOf(t, s), ask(s.URL+"/page"), &asked)
	if n := len(startsOf(s, "/data/")); n > maxPaced || n < maxPaced-1 || int(asked.again.Load()) > maxPaced {
		t.Errorf("%d requests by script, at most %d may be; %v", n, maxPaced, err)
	}
}

// A Site that refuses what a script asks for is left alone at once.
func TestAScriptIsRefused(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]fakesite.Answer{
		"too many":    {Status: 429, Header: http.Header{"Retry-After": {"120"}}},
		"a challenge": {Status: 403, Header: http.Header{"Cf-Mitigated": {"challenge"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fakesite.Start(t)
			s.On("/page", fakesite.HTML(`<main>there</main><script>for (let i = 0; i < 5; i++) fetch('/data/' + i)</script>`))
			s.On("/data/*", answer)
			_, err := laneOf(t, s, share(t), always).Get(t.Context(), source.Request{URL: s.URL + "/page", Want: source.WantHTML})
			var f *fault.Error
			if !errors.As(err, &f) || f.Class != fault.Access || f.RetryAfter.IsZero() == (name == "too many") {
				t.Errorf("it ends in %v", err)
			}
			if n := len(startsOf(s, "/data/")); n != 1 {
				t.Errorf("%d requests after the refusal", n-1)
			}
		})
	}
	s := fakesite.Start(t)
	s.On("/page", fakesite.HTML(`<main></main><script>fetch('/me').then(r => { document.querySelector('main').textContent = 'a visitor: ' + r.status })</script>`))
	s.On("/me", fakesite.Status(401))
	got, err := laneOf(t, s, share(t), always).Get(t.Context(), source.Request{URL: s.URL + "/page", Want: source.WantHTML})
	if err != nil || !strings.Contains(string(got.Body), "a visitor: 401") {
		t.Errorf("a page that asks who one is: %v", err)
	}
}

// A circuit that is not closed any more ends the page under way.
func TestAPageEndsWithTheCircuit(t *testing.T) {
	t.Parallel()
	s := fakesite.Start(t)
	s.On("/page", fakesite.HTML(`<main>there</main><script>fetch('/data/1')</script>`))
	shut := fault.Newf(fault.Stale, "ask", "t", "it is paused")
	asked := 0
	_, err := laneOf(t, s, share(t), func() error {
		if asked++; asked > 1 {
			return shut
		}
		return nil
	}).Get(t.Context(), source.Request{URL: s.URL + "/page", Want: source.WantHTML})
	if !errors.Is(err, shut) || s.Count("/data/1") != 0 {
		t.Errorf("%v after %d requests", err, s.Count("/data/1"))
	}
}
