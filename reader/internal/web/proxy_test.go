package web

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mangrove/internal/config"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/forwarded"
)

func TestUnderPath(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`<a href="/x">`: `<a href="/b/x">`, `<a href="/">/</a>`: `<a href="/b/">/</a>`, `<a href="//evil">`: `<a href="//evil">`,
		`<a href="https://a/b">`: `<a href="https://a/b">`, `<a href="#x">`: `<a href="#x">`, `<form method="post" action="/x"><input value="/x" alt="/y">`: `<form method="post" action="/b/x"><input value="/x" alt="/y">`,
		`<img srcset="/a 320w, /b 640w" src="/a">`: `<img srcset="/b/a 320w, /b/b 640w" src="/b/a">`, "<button\nformaction=\"/x\">": "<button\nformaction=\"/b/x\">",
		`<body data-live="/events?a=/b">`: `<body data-live="/b/events?a=/b">`, `href="/`: `href="/b/`, `="/`: `="/`, `srcset="/a`: `srcset="/b/a`,
	} {
		if got := string(underPath([]byte(in), "/b")); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
		if got := string(underPath([]byte(in), "")); got != in {
			t.Errorf("%s at the root: got %s", in, got)
		}
	}
}

// attribute finds every attribute of a page with its value.
var attribute = regexp.MustCompile(`([a-z-]+)="([^"]*)"`)

// texts are attributes that hold no address, whatever they begin with.
var texts = []string{"value", "alt", "title", "placeholder", "content", "aria-label", "d", "data-copy", "data-confirm", "data-name"}

// TestEveryPageUnderAPath crawls the library through a proxy that knows nothing
// but the path it passes on (S-077).
func TestEveryPageUnderAPath(t *testing.T) {
	t.Parallel()
	const base = "/my/books"
	s := newSiteWith(t, Options{BasePath: base, TrustedProxies: loopback})
	s.series(func(st *scraperv1.SeriesState) { st.Series.Title = `"/><a href="/evil">/Pepper` })
	inside, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(inside)
	var mu sync.Mutex
	var outside []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != base && !strings.HasPrefix(r.URL.Path, base+"/") {
			mu.Lock()
			outside = append(outside, r.Method+" "+r.URL.Path)
			mu.Unlock()
			w.WriteHeader(http.StatusTeapot)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	s.url = proxy.URL
	if resp, _ := s.get(s.anyone, base); resp.StatusCode/100 != 3 || resp.Header.Get("Location") != base+"/" {
		t.Errorf("the path without its slash: %d to %q", resp.StatusCode, resp.Header.Get("Location"))
	}
	if resp, _ := s.get(s.anyone, base+"/library?x=1"); resp.Header.Get("Location") != base+"/sign-in?next=%2Flibrary%3Fx%3D1" && resp.Header.Get("Location") != base+"/claim" {
		t.Errorf("a stranger is led to %q", resp.Header.Get("Location"))
	}
	mo := s.claim()
	s.publish("c1", "1", 2)
	s.publish("c2", "2", 3)
	s.person("Ada", account.Member)
	if resp, _ := s.post(mo, base+"/sites/sample/s/follow", nil); resp.Header.Get("Location") != base+"/sites/sample/s" {
		t.Errorf("following leads to %q", resp.Header.Get("Location"))
	}
	later := browser(t)
	resp, _ := s.post(later, base+"/sign-in", url.Values{"name": {"mo"}, "password": {password}, "next": {"/read/1?page=2"}})
	if resp.Header.Get("Location") != base+"/read/1?page=2" {
		t.Errorf("signing in leads to %q", resp.Header.Get("Location"))
	}
	for _, c := range resp.Cookies() {
		if c.Path != base {
			t.Errorf("the cookie %s is sent to %q", c.Name, c.Path)
		}
	}
	var seen []string
	todo := []string{base + "/", base + "/manifest.webmanifest", base + "/sign-in", base + "/join", base + "/nope", base + "/static/../library", base + "/settings/scraper", base + "/jobs/1", base + "/incidents/1", base + "/add?address=x"}
	checked := 0
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if slices.Contains(seen, at) {
			continue
		}
		seen = append(seen, at)
		who := mo
		if strings.HasPrefix(at, base+"/sign-in") {
			who = s.anyone
		}
		resp, body := s.get(who, at)
		if resp.StatusCode == http.StatusInternalServerError {
			t.Errorf("%s answers %d", at, resp.StatusCode)
		}
		add := func(address, where string) {
			u, err := url.Parse(strings.ReplaceAll(address, "&amp;", "&"))
			if err != nil || u.Host != "" || u.Path == "" {
				return
			}
			if !strings.HasPrefix(address, "/") {
				u.Path = path.Join(path.Dir(at), u.Path)
			}
			checked++
			if u.Path != base && !strings.HasPrefix(u.Path, base+"/") {
				t.Errorf("%s names %s in %s", at, address, where)
				return
			}
			if where != "action" && where != "formaction" && !strings.Contains(u.Path, "/events") {
				u.Fragment = ""
				todo = append(todo, u.String())
			}
		}
		if to := resp.Header.Get("Location"); to != "" {
			add(to, "Location")
		}
		switch kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); kind {
		case "application/manifest+json":
			for _, m := range regexp.MustCompile(`"(start_url|scope|src)":"([^"]*)"`).FindAllStringSubmatch(body, -1) {
				add(m[2], m[1])
			}
		case "text/html":
			for _, m := range attribute.FindAllStringSubmatch(body, -1) {
				name, value := m[1], m[2]
				if name == "data-read" {
					// The places of the reading view, which the script leads to.
					continue
				}
				if name == "srcset" {
					for one := range strings.SplitSeq(value, ", ") {
						add(strings.Fields(one)[0], name)
					}
					continue
				}
				if slices.Contains(addressAttributes(), name) || strings.HasPrefix(value, "/") && !slices.Contains(texts, name) {
					add(value, name)
				}
			}
		}
	}
	if len(seen) < 30 || checked < 300 {
		t.Errorf("only %d pages with %d addresses were seen: %v", len(seen), checked, seen)
	}
	if len(outside) > 0 {
		t.Errorf("asked for outside of %s: %v", base, outside)
	}
	resp, body := s.do(s.anyone, func() *http.Request {
		s.url = inside.String()
		return s.request(http.MethodGet, "/library", "")
	}())
	if resp.StatusCode != http.StatusNotFound || !strings.Contains(body, base+"/") {
		t.Errorf("a proxy that takes the path away is told %d %q", resp.StatusCode, body)
	}
}

// TestScriptsAskNothingAtTheRoot reads the scripts for addresses that do not
// begin with the path the library lives under.
func TestScriptsAskNothingAtTheRoot(t *testing.T) {
	t.Parallel()
	a, err := loadAssets()
	if err != nil {
		t.Fatal(err)
	}
	rooted := regexp.MustCompile("(^|[^+ ]|[^+] )['\"`]/[a-z?]")
	scripts := 0
	for name, file := range a {
		switch path.Ext(name) {
		case ".js":
			scripts++
			for i, line := range strings.Split(string(file.data), "\n") {
				if !strings.HasPrefix(strings.TrimSpace(line), "//") && rooted.MatchString(line) {
					t.Errorf("%s:%d names an address at the root: %s", name, i+1, strings.TrimSpace(line))
				}
			}
		case ".css":
			if strings.Contains(string(file.data), "url(/") {
				t.Errorf("%s names an address at the root", name)
			}
		}
	}
	if scripts < 3 {
		t.Errorf("%d scripts were read", scripts)
	}
}

func (s *site) signInFrom(name, pass string, headers ...string) *http.Response {
	s.t.Helper()
	h := append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)
	resp, _ := s.do(browser(s.t), s.request(http.MethodPost, "/sign-in", url.Values{"name": {name}, "password": {pass}}.Encode(), h...))
	return resp
}

// TestForwardedProto is the table of S-078.
func TestForwardedProto(t *testing.T) {
	t.Parallel()
	trusting, strict := newSiteWith(t, Options{TrustedProxies: loopback}), newSite(t)
	trusting.claim()
	strict.claim()
	for _, tt := range []struct {
		name   string
		site   *site
		proto  string
		secure bool
	}{
		{"https", trusting, "https", true}, {"http", trusting, "http", false}, {"a chain", trusting, "https,http", true}, {"nothing", trusting, "", false},
		{"not named", strict, "https", false},
	} {
		var headers []string
		if tt.proto != "" {
			headers = []string{forwarded.ProtoHeader, tt.proto}
		}
		resp := tt.site.signInFrom("mo", password, headers...)
		if resp.StatusCode != http.StatusSeeOther || len(resp.Cookies()) != 1 {
			t.Fatalf("%s: got %d with %d cookies", tt.name, resp.StatusCode, len(resp.Cookies()))
		}
		c := resp.Cookies()[0]
		if c.Secure != tt.secure || strings.HasPrefix(c.Name, "__Host-") != tt.secure || (resp.Header.Get("Strict-Transport-Security") != "") != tt.secure {
			t.Errorf("%s: cookie %s, Secure %v, HSTS %q; want secure %v", tt.name, c.Name, c.Secure, resp.Header.Get("Strict-Transport-Security"), tt.secure)
		}
		// The next request comes the same way, and is signed in.
		again, _ := tt.site.do(tt.site.anyone, tt.site.request(http.MethodGet, "/library", "", append(headers, "Cookie", c.Name+"="+c.Value)...))
		if again.StatusCode != http.StatusOK {
			t.Errorf("%s: after signing in the library answers %d", tt.name, again.StatusCode)
		}
	}
}

func TestTheBrowsersOwnNameDecidesCrossOrigin(t *testing.T) {
	t.Parallel()
	s := newSiteWith(t, Options{TrustedProxies: loopback})
	s.claim()
	origin := []string{"Origin", "https://manga.example", forwarded.ProtoHeader, "https"}
	for _, tt := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"the proxy says the name", append(slices.Clone(origin), forwarded.HostHeader, "manga.example"), http.StatusSeeOther},
		{"the proxy keeps the name", append(slices.Clone(origin), "Host", "manga.example"), http.StatusSeeOther},
		{"another name", append(slices.Clone(origin), forwarded.HostHeader, "evil.example"), http.StatusForbidden},
		{"a name that is not ours", []string{forwarded.HostHeader, "evil.example"}, http.StatusMisdirectedRequest},
	} {
		if resp := s.signInFrom("mo", password, tt.headers...); resp.StatusCode != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, resp.StatusCode, tt.want)
		}
	}
}

// TestALockKeepsToItsAddress is S-080: wrong passwords of one client behind the
// proxy slow neither the others nor hide from those who run the library.
func TestALockKeepsToItsAddress(t *testing.T) {
	t.Parallel()
	s := newSiteWith(t, Options{TrustedProxies: loopback})
	mo := s.claim()
	s.person("Ada", account.Member)
	from := func(address string) []string { return []string{forwarded.ForHeader, address} }
	var last int
	for range 10 {
		last = s.signInFrom("ada", "wrong", from("198.51.100.7")...).StatusCode
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the tenth wrong password is answered with %d", last)
	}
	if resp := s.signInFrom("mo", password, from("198.51.100.8")...); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("another person from another address: %d", resp.StatusCode)
	}
	_, body := s.get(mo, "/settings/people")
	has(t, body, "Slowed: too many wrong passwords")
	// Many names from one address use that address up, whatever it claims to be.
	for i := range 30 {
		last = s.signInFrom(fmt.Sprint("somebody ", i), "wrong", from(fmt.Sprintf("10.0.0.%d, 203.0.113.9", i))...).StatusCode
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("thirty names from one address: %d", last)
	}
	if resp := s.signInFrom("mo", password, from("198.51.100.8")...); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("an address beside it: %d", resp.StatusCode)
	}
}

// TestUnclaimedAnswersThisMachine is C7: nobody on the network finds a library
// that is there for the taking.
func TestUnclaimedAnswersThisMachine(t *testing.T) {
	t.Parallel()
	named := []netip.Prefix{netip.MustParsePrefix("192.168.1.0/24")}
	behind := newSiteWith(t, Options{TrustedProxies: loopback, ClaimFrom: named})
	direct := newSiteWith(t, Options{ClaimFrom: named})
	for _, tt := range []struct {
		name string
		site *site
		from string
		want int
	}{
		{"this machine", behind, "127.0.0.1", http.StatusOK}, {"this machine, newer protocol", behind, "::1", http.StatusOK}, {"named", behind, "192.168.1.7", http.StatusOK},
		{"the network", behind, "192.168.2.7", http.StatusForbidden}, {"the internet", behind, "203.0.113.9", http.StatusForbidden},
		{"directly", direct, "", http.StatusOK}, {"through a proxy that is not named", direct, "127.0.0.1", http.StatusForbidden},
	} {
		var headers []string
		if tt.from != "" {
			headers = []string{forwarded.ForHeader, tt.from}
		}
		resp, body := tt.site.do(tt.site.anyone, tt.site.request(http.MethodGet, "/claim", "", headers...))
		if resp.StatusCode != tt.want || strings.Contains(body, "MANGROVE_CLAIM_FROM") != (tt.want == http.StatusForbidden) {
			t.Errorf("%s: got %d, want %d", tt.name, resp.StatusCode, tt.want)
		}
		form := url.Values{"code": {"wrong"}, "name": {"x"}, "password": {"y"}}.Encode()
		resp, _ = tt.site.do(tt.site.anyone, tt.site.request(http.MethodPost, "/claim", form, append(headers, "Content-Type", "application/x-www-form-urlencoded")...))
		if (resp.StatusCode == http.StatusForbidden) != (tt.want == http.StatusForbidden) {
			t.Errorf("%s: a claim is answered with %d", tt.name, resp.StatusCode)
		}
	}
	// The style of the page that says so is there, and once claimed all is.
	if resp, _ := behind.do(behind.anyone, behind.request(http.MethodGet, behind.web.assets["app.css"].address, "", forwarded.ForHeader, "203.0.113.9")); resp.StatusCode != http.StatusOK {
		t.Errorf("the style answers %d", resp.StatusCode)
	}
	behind.claim()
	if resp, _ := behind.do(behind.anyone, behind.request(http.MethodGet, "/sign-in", "", forwarded.ForHeader, "203.0.113.9")); resp.StatusCode != http.StatusOK {
		t.Errorf("once claimed the network is answered with %d", resp.StatusCode)
	}
}

// TestPlainHTTPIsSaid is C4.
func TestPlainHTTPIsSaid(t *testing.T) {
	t.Parallel()
	s, meant := newSiteWith(t, Options{TrustedProxies: loopback}), newSiteWith(t, Options{TrustedProxies: loopback, PlainHTTP: true})
	mo, too := s.claim(), meant.claim()
	for _, tt := range []struct {
		name    string
		site    *site
		browser *http.Client
		headers []string
		want    bool
	}{
		{"over the network", s, mo, []string{forwarded.ForHeader, "192.168.1.9"}, true},
		{"encrypted", s, mo, []string{forwarded.ForHeader, "192.168.1.9", forwarded.ProtoHeader, "https"}, false},
		{"on this machine", s, mo, nil, false},
		{"meant", meant, too, []string{forwarded.ForHeader, "192.168.1.9"}, false},
	} {
		for _, at := range []string{"/sign-in", "/me"} {
			b := tt.browser
			if at == "/sign-in" {
				b = tt.site.anyone
			}
			resp, body := tt.site.do(b, tt.site.request(http.MethodGet, at, "", tt.headers...))
			if at == "/me" && resp.StatusCode != http.StatusOK {
				continue // the cookie of plain HTTP is not the one of TLS
			}
			if got := strings.Contains(body, "plain-http"); got != tt.want {
				t.Errorf("%s, %s: said %v, want %v", tt.name, at, got, tt.want)
			}
		}
	}
}

// TestLiveGetsThroughABufferingProxy: the first bytes fill a buffer, and each
// turn sends some.
func TestLiveGetsThroughABufferingProxy(t *testing.T) {
	t.Parallel()
	s := newSiteWith(t, Options{BasePath: "/books"})
	mo := s.claim()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	resp, err := mo.Do(s.request(http.MethodGet, "/books/events?view=library", "").WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.Header.Get("X-Accel-Buffering") != "no" || !strings.Contains(resp.Header.Get("Cache-Control"), "no-transform") {
		t.Errorf("got %v", resp.Header)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() || len(lines.Text()) < 2048 || !strings.HasPrefix(lines.Text(), ":") {
		t.Errorf("the stream begins with %d bytes", len(lines.Text()))
	}
	beats, data := 0, ""
	for beats < 1 || !strings.Contains(data, `\"/books/`) {
		if !lines.Scan() {
			t.Fatalf("the stream ended: %v after %.300s", lines.Err(), data)
		}
		if lines.Text() == ": here" {
			beats++
		}
		if strings.HasPrefix(lines.Text(), "data: ") {
			data += lines.Text()
		}
	}
	if strings.Contains(data, `href=\"/static`) || strings.Contains(data, `=\"/library`) {
		t.Errorf("a live piece forgets the path: %.500s", data)
	}
}

// block is the example of one kind in docs/proxy.md.
func block(t *testing.T, kind string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/proxy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```"+kind+"\n")
	if !ok {
		t.Fatalf("docs/proxy.md has no example of kind %s", kind)
	}
	example, _, _ := strings.Cut(rest, "```")
	return example
}

// TestTheDocumentSaysWhatIsRead compares docs/proxy.md with what is read of a
// proxy and of the environment.
func TestTheDocumentSaysWhatIsRead(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/proxy.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range []string{forwarded.ForHeader, forwarded.ProtoHeader, forwarded.HostHeader} {
		for _, kind := range []string{"nginx", "caddyfile"} {
			if !strings.Contains(block(t, kind), header+" ") {
				t.Errorf("the example for %s does not set %s", kind, header)
			}
		}
		if !strings.Contains(string(text), "| `"+header+"` |") {
			t.Errorf("the table of headers lacks %s", header)
		}
	}
	for _, m := range regexp.MustCompile(`X-[A-Za-z-]+`).FindAllString(string(text), -1) {
		if !slices.Contains([]string{forwarded.ForHeader, forwarded.ProtoHeader, forwarded.HostHeader, "X-Accel-Buffering"}, m) {
			t.Errorf("docs/proxy.md names %s, which nothing reads or sends", m)
		}
	}
	for _, setting := range regexp.MustCompile(`MANGROVE_[A-Z_]+`).FindAllString(string(text), -1) {
		if !slices.Contains(config.Names(), setting) {
			t.Errorf("docs/proxy.md names %s, which is no setting", setting)
		}
	}
	if !strings.Contains(block(t, "yaml"), "passHostHeader: true") {
		t.Error("the example for Traefik does not pass Host on")
	}
}

// TestBehindNginx runs the very example of docs/proxy.md, where nginx is
// installed, on a port of this machine and without its TLS.
func TestBehindNginx(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("nginx")
	if err != nil {
		t.Skip("nginx is not installed")
	}
	s := newSiteWith(t, Options{BasePath: "/books", TrustedProxies: loopback})
	dir := t.TempDir()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().String()
	_ = free.Close()
	example := strings.NewReplacer("443 ssl", port, "http://127.0.0.1:8484", s.url, "proxy_set_header X-Forwarded-Proto $scheme", "proxy_set_header X-Forwarded-Proto https").Replace(block(t, "nginx"))
	example = regexp.MustCompile(`(?m)^\s*ssl_certificate.*$`).ReplaceAllString(example, "")
	temporary := ""
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temporary += kind + "_temp_path " + filepath.Join(dir, kind) + ";\n"
	}
	file := filepath.Join(dir, "nginx.conf")
	text := "daemon off; pid " + dir + "/pid; error_log " + dir + "/error.log;\nevents {}\nhttp {\naccess_log off;\n" + temporary + example + "}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	nginx := exec.CommandContext(t.Context(), program, "-c", file, "-p", dir, "-e", filepath.Join(dir, "error.log"))
	if err := nginx.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nginx.Wait() })
	upstream := s.url
	s.url = "http://" + port
	for deadline := time.Now().Add(10 * time.Second); ; {
		conn, err := net.Dial("tcp", port)
		if err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(dir, "error.log"))
			t.Fatalf("nginx did not start: %v\n%s", err, log)
		}
	}
	form := url.Values{"code": {code}, "name": {"Mo"}, "password": {password}}.Encode()
	post := []string{"Content-Type", "application/x-www-form-urlencoded", "Host", "manga.example", "Origin", "https://manga.example"}
	resp, body := s.do(s.anyone, s.request(http.MethodPost, "/books/claim", form, post...))
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/books/library" || len(resp.Cookies()) != 1 {
		t.Fatalf("the claim: %d to %q, %.200q", resp.StatusCode, resp.Header.Get("Location"), body)
	}
	c := resp.Cookies()[0]
	if !c.Secure || c.Name != "__Secure-mangrove" || c.Path != "/books" {
		t.Errorf("the cookie: %+v", c)
	}
	// Live pages come through at once, not when a buffer is full.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	live, err := http.DefaultClient.Do(s.request(http.MethodGet, "/books/events?view=library", "", "Host", "manga.example", "Cookie", c.Name+"="+c.Value).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = live.Body.Close() }()
	lines := bufio.NewScanner(live.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: ") {
		continue
	}
	if !strings.HasPrefix(lines.Text(), "data: ") {
		t.Errorf("nothing live came through nginx: %v", lines.Err())
	}
	s.url = upstream
}
