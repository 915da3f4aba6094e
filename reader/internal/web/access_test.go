package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/reader/internal/account"
	"mangrove/reader/internal/forwarded"
)

// fill replaces the wildcards of a pattern with things that exist.
var fill = strings.NewReplacer("{import}", "99", "{item}", "1", "{incident}", "1", "{person}", "99", "{key}", "99", "{job}", "1", "{title}", "1", "{book}", "1", "{page}", "1", "{site}", "sample", "{series}", "s", "{$}", "", "{digest}", "x", "{file}", "app.css")

// asker is one kind of caller: what it adds to each request.
type asker struct {
	name    string
	browser *http.Client
	key     string
}

// askers are one of each kind: a stranger, each role at a browser, and keys of
// each scope.
func (s *site) askers(mo *http.Client) []asker {
	s.t.Helper()
	out := []asker{{name: "stranger", browser: s.anyone}, {name: "guest", browser: s.person("Gus", account.Guest)}, {name: "member", browser: s.person("Mia", account.Member)}, {name: "admin", browser: mo}}
	for _, k := range []struct{ name, person, scope string }{
		{"g:read", "Gus", account.ReadScope}, {"m:read", "Mia", account.ReadScope}, {"m:opds", "Mia", account.OPDSScope}, {"m:admin", "Mia", account.AdminScope},
		{"a:read", "Mo", account.ReadScope}, {"a:opds", "Mo", account.OPDSScope}, {"a:admin", "Mo", account.AdminScope},
	} {
		out = append(out, asker{name: k.name, browser: browser(s.t), key: s.key(k.person, k.scope)})
	}
	return append(out, asker{name: "wrong", browser: mo, key: "mgv_wrong"})
}

func TestEveryRouteByWho(t *testing.T) {
	t.Parallel()
	// Each wrong key comes from another address, so that none is slowed.
	s := newSiteWith(t, Options{TrustedProxies: loopback})
	s.series(nil)
	mo := s.claim()
	s.publish("c1", "1", 2)
	askers := s.askers(mo)
	wrong := 0
	var got strings.Builder
	fmt.Fprintf(&got, "%-53s", "")
	for _, a := range askers {
		fmt.Fprintf(&got, " %-8s", a.name)
	}
	for _, rt := range s.web.routes() {
		method, pattern, _ := strings.Cut(rt.pattern, " ")
		path := fill.Replace(pattern)
		switch path {
		case "/":
			if pattern == "/" {
				path = "/no/such/page"
			}
		case "/events":
			path += "?view=unknown"
		case "/sign-out":
			// Tried last of all, below, because it ends the sign-in.
			continue
		}
		fmt.Fprintf(&got, "\n%-44s %-8s", rt.pattern, rt.access)
		s.web.costly = account.NewLimits()
		for _, a := range askers {
			open := rt.access == public || rt.access == file
			if open && a.name != "stranger" && a.name != "admin" {
				fmt.Fprintf(&got, " %-8s", "")
				continue
			}
			headers := []string{"Content-Type", "application/x-www-form-urlencoded"}
			if a.key != "" {
				headers = append(headers, account.KeyHeader, a.key)
			}
			if a.name == "wrong" {
				wrong++
				headers = append(headers, forwarded.ForHeader, fmt.Sprintf("198.51.100.%d", wrong))
			}
			resp, _ := s.do(a.browser, s.request(method, path, "", headers...))
			fmt.Fprintf(&got, " %-8d", resp.StatusCode)
			if to := resp.Header.Get("Location"); to != "" {
				to, _, _ = strings.Cut(to, "?")
				if a.name == "stranger" && to != "/sign-in" {
					t.Errorf("%s leads a stranger to %s", rt.pattern, to)
				}
			}
			if !open && (a.name == "stranger" || a.name == "wrong") && resp.StatusCode < 300 {
				t.Errorf("%s answers a %s with %d", rt.pattern, a.name, resp.StatusCode)
			}
			if method == http.MethodPost && strings.HasSuffix(a.name, ":read") && resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s takes a change from a key that only reads: %d", rt.pattern, resp.StatusCode)
			}
		}
	}
	got.WriteString("\n")
	golden(t, "routes.txt", trailing.ReplaceAllString(got.String(), "\n"))
	if resp, _ := s.post(mo, "/sign-out", nil); resp.Header.Get("Location") != "/sign-in" {
		t.Errorf("sign-out leads to %q", resp.Header.Get("Location"))
	}
	if resp, _ := s.get(mo, "/library"); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("after signing out the library answers %d", resp.StatusCode)
	}
}

var trailing = regexp.MustCompile(` +\n`)

// golden compares with a file; UPDATE=1 writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s: (-want +got)\n%s", path, d)
	}
}

func TestAccessWordsAreKnown(t *testing.T) {
	t.Parallel()
	for _, rt := range (&Server{}).routes() {
		rule, known := admissions()[rt.access]
		if !known && rt.access != file && rt.access != public {
			t.Errorf("%s is for %q", rt.pattern, rt.access)
		}
		if known && (!slices.Contains(rule.scopes, account.Whole) || !slices.Contains(rule.roles, account.Administrator)) {
			t.Errorf("%s is closed to an administrator at a browser", rt.pattern)
		}
	}
}

// state is everything in the reader's tables but when sign-ins were used.
func (s *site) state() string {
	s.t.Helper()
	var out string
	err := s.pool.QueryRow(context.Background(), `SELECT concat_ws(';',
		(SELECT jsonb_agg(x) FROM users x), (SELECT jsonb_agg(x) FROM claim x), (SELECT jsonb_agg(x) FROM bookmarks x),
		(SELECT jsonb_agg(x) FROM follow_revision x), (SELECT jsonb_agg(x) FROM titles x), (SELECT jsonb_agg(x) FROM books x),
		(SELECT jsonb_agg(x) FROM pages x), (SELECT jsonb_agg(x) FROM reading_settings x), (SELECT jsonb_agg(x) FROM progress x), (SELECT jsonb_agg(x) FROM library_cursor x),
		(SELECT jsonb_agg(x) FROM user_codes x), (SELECT jsonb_agg(x) FROM api_keys x), (SELECT jsonb_agg(x) FROM identities x), (SELECT count(*) FROM sessions))`).Scan(&out)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func TestNoStateChangesOnGet(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	mo := s.claim()
	s.publish("c1", "1", 2)
	before := s.state()
	for _, rt := range s.web.routes() {
		_, pattern, _ := strings.Cut(rt.pattern, " ")
		path := fill.Replace(pattern)
		if path == "/events" {
			path += "?view=unknown"
		}
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			s.do(mo, s.request(method, path+"?finished=1&download=1&page=1", ""))
		}
	}
	if d := cmp.Diff(before, s.state()); d != "" {
		t.Error(d)
	}
	if n := len(s.scraper.Follows()) + len(s.scraper.Polls()); n != 0 {
		t.Errorf("the scraper was told %d things", n)
	}
}

func TestCrossSiteRequestsAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	mo := s.claim()
	for _, tt := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"same origin", []string{"Sec-Fetch-Site", "same-origin"}, http.StatusSeeOther},
		{"typed by a person", []string{"Sec-Fetch-Site", "none"}, http.StatusSeeOther},
		{"own Origin without Sec-Fetch", []string{"Origin", s.url}, http.StatusSeeOther},
		{"another site", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		{"another port", []string{"Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		{"foreign Origin", []string{"Origin", "https://evil.example"}, http.StatusForbidden},
		{"Origin null", []string{"Origin", "null"}, http.StatusForbidden},
	} {
		h := append([]string{"Content-Type", "application/x-www-form-urlencoded"}, tt.headers...)
		resp, _ := s.do(mo, s.request(http.MethodPost, "/sites/sample/s/follow", "", h...))
		if resp.StatusCode != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, resp.StatusCode, tt.want)
		}
		if resp.StatusCode == http.StatusForbidden && resp.Header.Get("Content-Security-Policy") != policy {
			t.Errorf("%s: the refusal has no policy", tt.name)
		}
	}
}

func TestAllowedHost(t *testing.T) {
	t.Parallel()
	names := []string{"manga.example"}
	for host, want := range map[string]bool{
		"127.0.0.1:8484": true, "localhost": true, "LOCALHOST:1": true, "[::1]:8484": true, "192.168.1.5": true, "localhost.": true,
		"manga.example": true, "Manga.Example:443": true, "evil.example": false, "": false, "manga.example.evil.example": false,
		"127.0.0.1.evil.example": false, "localhost.evil.example": false, "127.1": false, "2130706433": false,
	} {
		if got := allowedHost(host, names); got != want {
			t.Errorf("allowedHost(%q) = %v, want %v", host, got, want)
		}
	}
	s := newSite(t)
	resp, body := s.do(s.anyone, s.request(http.MethodGet, "/", "", "Host", "evil.example"))
	if resp.StatusCode != http.StatusMisdirectedRequest || !strings.Contains(body, "MANGROVE_HOSTS") {
		t.Errorf("got %d %q", resp.StatusCode, body)
	}
}

func TestSafePath(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"/library": "/library", "/read/1?page=2": "/read/1?page=2", "": "/", "//evil": "/", "/\\evil": "/", "\\evil": "/", "https:evil": "/",
		" //evil": "/", "/a\r\nb": "/", "/\t/evil": "/", "http://evil": "/", "/" + strings.Repeat("x", 3000): "/",
	} {
		if got := safePath(to); got != want {
			t.Errorf("safePath(%q) = %q, want %q", to, got, want)
		}
	}
	s := newSite(t)
	s.claim()
	for _, next := range []string{"//evil.example", "/\\evil.example", "https://evil.example", "/%0d%0aX: y"} {
		resp, _ := s.post(browser(t), "/sign-in", url.Values{"name": {"mo"}, "password": {password}, "next": {next}})
		if to := resp.Header.Get("Location"); !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.Contains(to, "\\") {
			t.Errorf("next %q leads to %q", next, to)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	mo := s.claim()
	s.publish("c1", "1", 2)
	var got strings.Builder
	names := []string{
		"Cache-Control", "Content-Disposition", "Content-Security-Policy", "Content-Type", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy",
		"Referrer-Policy", "Strict-Transport-Security", "X-Content-Type-Options",
	}
	for _, path := range []string{
		"/library", "/sign-in?x", "/series/1", "/read/1", "/read/1/pages/1", "/covers/title/1", "/nope", s.web.assets["app.css"].address, "/manifest.webmanifest",
	} {
		resp, _ := s.get(mo, path)
		if strings.HasPrefix(path, "/static/") {
			path = "/static/…"
		}
		fmt.Fprintf(&got, "%s %d\n", path, resp.StatusCode)
		for _, name := range names {
			if v := resp.Header.Get(name); v != "" {
				fmt.Fprintf(&got, "  %s: %s\n", name, v)
			}
		}
	}
	golden(t, "headers.txt", got.String())
}

func TestOddRequests(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	mo := s.claim()
	s.publish("c1", "1", 2)
	for _, path := range []string{
		"/series/0", "/series/-1", "/series/9223372036854775808", "/series/1e9", "/series/1%20or%201=1", "/series/01", "/series/2", "/read/2", "/read/x",
		"/read/1/pages/0", "/read/1/pages/-1", "/read/1/pages/1000000000", "/read/1/pages/1.5", "/read/1/pages/3", "/read/1?page=0", "/read/1?page=x",
		"/covers/title/1?w=0", "/covers/title/1?w=1000000000", "/covers/site/none/x", "/static/../web.go", "/static/%2e%2e/x", "/events",
		"/events?view=series", "/sites/sample/%3Cscript%3E", "/static/000000000000/app.css",
	} {
		resp, body := s.get(mo, path)
		if resp.StatusCode != http.StatusNotFound && resp.StatusCode != http.StatusMovedPermanently && resp.StatusCode != http.StatusTemporaryRedirect {
			t.Errorf("%s: got %d", path, resp.StatusCode)
		}
		hasNot(t, body, "SELECT", "goroutine", "pgconn", "<script>")
	}
	for _, tt := range []struct {
		method, path, body, kind string
		want                     int
	}{
		{"TRACE", "/library", "", "", 405}, {"BREW", "/library", "", "", 405}, {"PUT", "/read/1/progress", "", "", 405},
		{"POST", "/read/1/progress", "{", "application/json", 400}, {"POST", "/read/1/progress", "{}", "application/json", 400},
		{"POST", "/read/1/progress", `{"page":-1}`, "application/json", 404}, {"POST", "/read/1/progress", `{"page":99}`, "application/json", 404},
		{"POST", "/read/1/progress", `{"page":0,"user":2}`, "application/json", 400}, {"POST", "/read/1/progress", `{"page":0}`, "text/plain", 415},
		{"POST", "/read/9/progress", `{"page":0}`, "application/json", 404}, {"POST", "/read/1/progress", `{"page":0}`, "application/json", 200},
		{"POST", "/sign-in", strings.Repeat("x", 2<<20), "application/x-www-form-urlencoded", 413},
	} {
		resp, body := s.do(mo, s.request(tt.method, tt.path, tt.body, "Content-Type", tt.kind))
		if resp.StatusCode != tt.want {
			t.Errorf("%s %s %.30s: got %d %.60q, want %d", tt.method, tt.path, tt.body, resp.StatusCode, body, tt.want)
		}
	}
}

func TestTheDatabaseAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.database.down = true
	for _, b := range []*http.Client{s.anyone, mo} {
		resp, body := s.get(b, "/library")
		if resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("got %d", resp.StatusCode)
		}
		has(t, body, "The database does not answer", "2026-08-12T14:02:00Z", "<code>mangrove status</code>")
	}
	if resp, _ := s.get(s.anyone, s.web.assets["app.css"].address); resp.StatusCode != http.StatusOK {
		t.Errorf("the style of that page answers %d", resp.StatusCode)
	}
}
