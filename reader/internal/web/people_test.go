package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"mangrove/reader/internal/account"
)

var (
	shownCodes  = regexp.MustCompile(`<code>([A-Z2-7]{4}(?:-[A-Z2-7]{4}){3})</code>`)
	shownLinks  = regexp.MustCompile(`<code>(https?://[^<]*/join#[^<]*)</code>`)
	shownKeys   = regexp.MustCompile(`<code>(mgv_[A-Za-z0-9_-]{43})</code>`)
	shownAppKey = regexp.MustCompile(`<code>([a-z2-7]{5}(?:-[a-z2-7]{5}){4})</code>`)
)

func found(t *testing.T, re *regexp.Regexp, body string) string {
	t.Helper()
	m := re.FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("the page shows nothing like %v", re)
	}
	return m[1]
}

// id is a person's number.
func (s *site) id(name string) string {
	s.t.Helper()
	var id string
	if err := s.pool.QueryRow(context.Background(), "SELECT id::text FROM users WHERE name = $1", name).Scan(&id); err != nil {
		s.t.Fatal(err)
	}
	return id
}

func TestInvitingSomebody(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	_, body := s.get(mo, "/settings/people")
	has(t, body, "1 person", "Mo <span", "Administrator")
	resp, body := s.post(mo, "/settings/people", url.Values{"name": {"Ada <b>"}, "role": {"member"}})
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("got %d", resp.StatusCode)
	}
	code, link := found(t, shownCodes, body), found(t, shownLinks, body)
	if !strings.HasPrefix(link, s.url+"/join#") || !strings.Contains(link, "code="+code) {
		t.Errorf("the link is %s", link)
	}
	has(t, body, "Invite Ada &lt;b&gt; with this", "Invited")
	// It is shown this once.
	_, body = s.get(mo, "/settings/people")
	hasNot(t, body, code)
	for _, tt := range []struct {
		name string
		form url.Values
		want int
		says string
	}{
		{"taken", url.Values{"name": {"ADA  <b>"}, "role": {"guest"}}, 422, "has this name already"},
		{"no name", url.Values{"name": {" "}, "role": {"guest"}}, 422, "1 to 40 letters"},
		{"no role", url.Values{"name": {"Kim"}, "role": {"owner"}}, 400, ""},
	} {
		resp, body := s.post(mo, "/settings/people", tt.form)
		if resp.StatusCode != tt.want || !strings.Contains(body, tt.says) {
			t.Errorf("%s: got %d", tt.name, resp.StatusCode)
		}
	}
	ada := browser(t)
	for _, tt := range []struct {
		name, person, code, password, says string
	}{
		{"wrong code", "Ada <b>", "AAAA-AAAA-AAAA-AAAA", password, "do not belong together"},
		{"wrong name", "Mo", code, password, "do not belong together"},
		{"weak", "Ada <b>", code, "mangrove2026", "follows a pattern"},
		{"short", "Ada <b>", code, "short", "too short"},
	} {
		resp, body := s.post(ada, "/join", url.Values{"name": {tt.person}, "code": {tt.code}, "password": {tt.password}})
		if resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, tt.says) {
			t.Errorf("%s: got %d", tt.name, resp.StatusCode)
		}
	}
	resp, _ = s.post(ada, "/join", url.Values{"name": {"ada <b>"}, "code": {strings.ToLower(code)}, "password": {"otters hold hands"}})
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/" {
		t.Fatalf("joining: %d to %q", resp.StatusCode, resp.Header.Get("Location"))
	}
	if resp, _ := s.get(ada, "/library"); resp.StatusCode != http.StatusOK {
		t.Errorf("the library answers %d", resp.StatusCode)
	}
	if resp, _ := s.post(browser(t), "/join", url.Values{"name": {"ada <b>"}, "code": {code}, "password": {"otters hold hands"}}); resp.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a used code: %d", resp.StatusCode)
	}
}

func TestChangingPeople(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	mo, ada := s.claim(), s.person("Ada", account.Member)
	s.publish("c1", "1", 2)
	moID, adaID := s.id("Mo"), s.id("Ada")
	if resp, _ := s.post(ada, "/sites/sample/s/follow", nil); resp.StatusCode != http.StatusSeeOther {
		t.Fatalf("a member's follow: %d", resp.StatusCode)
	}
	_, body := s.get(mo, "/settings/people")
	has(t, body, "This takes Ada’s follows (1 Series), places (0 chapters)")
	act := func(person, what string, form url.Values, want int, says string) {
		t.Helper()
		resp, body := s.post(mo, "/settings/people/"+person+"/"+what, form)
		if resp.StatusCode != want || !strings.Contains(body, says) {
			t.Errorf("%s %s: got %d, want %d and %q", what, person, resp.StatusCode, want, says)
		}
	}
	// The last administrator stays.
	act(moID, "role", url.Values{"from": {"administrator"}, "to": {"member"}}, 409, "last administrator")
	act(moID, "disable", nil, 409, "last administrator")
	act(moID, "remove", nil, 409, "last administrator")
	// A form that is older than the person does nothing.
	act(adaID, "role", url.Values{"from": {"guest"}, "to": {"administrator"}}, 409, "Somebody else has changed")
	act("99", "code", nil, 409, "not here any more")
	// A guest reads, and that is all that is offered.
	act(adaID, "role", url.Values{"from": {"member"}, "to": {"guest"}}, 303, "")
	for _, path := range []string{"/", "/library", "/series/1", "/search?q=pepper", "/me", "/read/1"} {
		resp, body := s.get(ada, path)
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s answers a guest with %d", path, resp.StatusCode)
		}
		// Which chapters are read is theirs to say; what the library holds is not.
		hasNot(t, body, `/follow"`, `/unfollow"`, `/poll"`, `/groups"`, `action="/me/`, `action="/add"`, `href="/settings`, "Search the Sites")
	}
	if resp, _ := s.post(ada, "/sites/sample/s/unfollow", nil); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a guest's unfollow: %d", resp.StatusCode)
	}
	if resp, body := s.do(ada, s.request(http.MethodPost, "/read/1/progress", `{"page":1}`, "Content-Type", "application/json")); resp.StatusCode != http.StatusOK {
		t.Errorf("a guest's place is not kept: %d %s", resp.StatusCode, body)
	}
	act(adaID, "role", url.Values{"from": {"guest"}, "to": {"member"}}, 303, "")
	// Disabled, every sign-in and key is nobody's at once.
	key := s.key("Ada", account.ReadScope)
	act(adaID, "disable", nil, 303, "")
	if resp, _ := s.get(ada, "/library"); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("a disabled person's library: %d", resp.StatusCode)
	}
	if resp, _ := s.do(s.anyone, s.request(http.MethodGet, "/library", "", account.KeyHeader, key)); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a disabled person's key: %d", resp.StatusCode)
	}
	if resp := s.signInFrom("ada", password); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a disabled person signs in: %d", resp.StatusCode)
	}
	act(adaID, "code", nil, 409, "is disabled")
	act(adaID, "disable", nil, 409, "Somebody else")
	act(adaID, "enable", nil, 303, "")
	if resp, _ := s.do(s.anyone, s.request(http.MethodGet, "/library", "", account.KeyHeader, key)); resp.StatusCode != http.StatusOK {
		t.Errorf("a key of somebody let in again: %d", resp.StatusCode)
	}
	// A reset leaves the password until it is used, and then ends every sign-in.
	signedIn := browser(t)
	s.post(signedIn, "/sign-in", url.Values{"name": {"ada"}, "password": {password}})
	_, body = s.post(mo, "/settings/people/"+adaID+"/code", nil)
	has(t, body, "A new password for Ada", "password of before works")
	code := found(t, shownCodes, body)
	if resp, _ := s.get(signedIn, "/library"); resp.StatusCode != http.StatusOK {
		t.Errorf("a reset that is not used signs out: %d", resp.StatusCode)
	}
	if resp, _ := s.post(browser(t), "/join", url.Values{"name": {"ada"}, "code": {code}, "password": {"another good one"}}); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("the reset: %d", resp.StatusCode)
	}
	if resp, _ := s.get(signedIn, "/library"); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("the sign-in of before the reset: %d", resp.StatusCode)
	}
	// Removed, the scraper hears of the follows, and the rest is gone.
	act(adaID, "remove", nil, 303, "")
	_, body = s.get(mo, "/settings/people?said=removed")
	hasNot(t, body, "Ada")
	has(t, body, "1 person", "leave the list of what is polled")
}

func TestMyOwnAccount(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.person("Ada", account.Member)
	phone := browser(t)
	s.do(phone, s.request(http.MethodPost, "/sign-in", url.Values{"name": {"mo"}, "password": {password}}.Encode(),
		"Content-Type", "application/x-www-form-urlencoded", "User-Agent", "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36"))
	_, body := s.get(mo, "/me")
	has(t, body, "Chrome on Android", "Another program", "This one", "Sign out the other one", `href="/settings/people"`)
	if n := strings.Count(body, "This one"); n != 1 {
		t.Errorf("%d sign-ins are marked as this one", n)
	}
	// Signing out one.
	one := regexp.MustCompile(`name="one" value="(\d+)"`).FindStringSubmatch(body)
	if resp, _ := s.post(s.signedIn("ada"), "/me/sign-ins", url.Values{"one": {one[1]}}); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("ending somebody else's: %d", resp.StatusCode)
	}
	if resp, _ := s.get(phone, "/library"); resp.StatusCode != http.StatusOK {
		t.Errorf("somebody else ended it: %d", resp.StatusCode)
	}
	if resp, _ := s.post(mo, "/me/sign-ins", url.Values{"one": {one[1]}}); resp.Header.Get("Location") != "/me?said=one" {
		t.Errorf("ending one leads to %q", resp.Header.Get("Location"))
	}
	if resp, _ := s.get(phone, "/library"); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("an ended sign-in: %d", resp.StatusCode)
	}
	// The password: the old one is asked, and the others are signed out.
	second := s.signedIn("mo")
	for _, tt := range []struct{ old, fresh, says string }{
		{"wrong", "a better sentence", "not your password"}, {password, "short", "too short"}, {password, "Mo12345678", "follows a pattern"},
	} {
		if resp, body := s.post(mo, "/me/password", url.Values{"old": {tt.old}, "new": {tt.fresh}}); resp.StatusCode != 422 || !strings.Contains(body, tt.says) {
			t.Errorf("%s: got %d", tt.says, resp.StatusCode)
		}
	}
	if resp, _ := s.post(mo, "/me/password", url.Values{"old": {password}, "new": {"a better sentence"}}); resp.Header.Get("Location") != "/me?said=password" {
		t.Errorf("changing the password: %d to %q", resp.StatusCode, resp.Header.Get("Location"))
	}
	if resp, _ := s.get(mo, "/me?said=password"); resp.StatusCode != http.StatusOK {
		t.Errorf("this browser was signed out: %d", resp.StatusCode)
	}
	if resp, _ := s.get(second, "/library"); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("another browser was not signed out: %d", resp.StatusCode)
	}
	if resp := s.signInFrom("mo", password); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the old password: %d", resp.StatusCode)
	}
	// The name.
	if resp, body := s.post(mo, "/me/name", url.Values{"name": {"ADA"}}); resp.StatusCode != 422 || !strings.Contains(body, "has this name already") {
		t.Errorf("a taken name: %d", resp.StatusCode)
	}
	if resp, _ := s.post(mo, "/me/name", url.Values{"name": {"Mo the Otter"}}); resp.Header.Get("Location") != "/me?said=name" {
		t.Errorf("a free name: %d", resp.StatusCode)
	}
	if resp := s.signInFrom("mo the otter", "a better sentence"); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("signing in by the new name: %d", resp.StatusCode)
	}
	if resp, _ := s.post(mo, "/me/sign-ins", url.Values{"others": {"1"}}); resp.Header.Get("Location") != "/me?said=others" {
		t.Errorf("ending the others leads to %q", resp.Header.Get("Location"))
	}
}

// signedIn is a browser of somebody with the usual password.
func (s *site) signedIn(name string) *http.Client {
	s.t.Helper()
	b := browser(s.t)
	if resp, _ := s.post(b, "/sign-in", url.Values{"name": {name}, "password": {password}}); resp.StatusCode != http.StatusSeeOther {
		s.t.Fatalf("%s signs in: %d", name, resp.StatusCode)
	}
	return b
}

func TestMyKeys(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	mo := s.claim()
	s.publish("c1", "1", 2)
	resp, body := s.post(mo, "/me/keys", url.Values{"name": {"Backup script"}, "scope": {"read"}})
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("got %d, %q", resp.StatusCode, resp.Header.Get("Cache-Control"))
	}
	key := found(t, shownKeys, body)
	has(t, body, "copy it now", "never used", "…"+key[len(key)-4:])
	_, body = s.post(mo, "/me/keys", url.Values{"name": {"Tablet"}, "scope": {"opds"}})
	app := found(t, shownAppKey, body)
	_, body = s.get(mo, "/me")
	hasNot(t, body, key, app)
	with := func(headers ...string) int {
		resp, _ := s.do(s.anyone, s.request(http.MethodGet, "/read/1/pages/1", "", headers...))
		return resp.StatusCode
	}
	if with(account.KeyHeader, key) != 200 || with("Authorization", "Bearer "+key) != 200 {
		t.Error("the key does not open a page's picture")
	}
	r := s.request(http.MethodGet, "/covers/title/1", "")
	r.SetBasicAuth("mo", app)
	if resp, _ := s.do(s.anyone, r); resp.StatusCode != http.StatusOK || len(resp.Cookies()) != 0 {
		t.Errorf("the app password: %d, %d cookies", resp.StatusCode, len(resp.Cookies()))
	}
	r.SetBasicAuth("mo", "wrong")
	if resp, _ := s.do(s.anyone, r); resp.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(resp.Header.Get("WWW-Authenticate"), "Basic ") {
		t.Errorf("a wrong one: %d, %q", resp.StatusCode, resp.Header.Get("WWW-Authenticate"))
	}
	// A page asks no browser for a password that the form is there for.
	if resp, _ := s.get(s.anyone, "/read/1/pages/1"); resp.Header.Get("WWW-Authenticate") != "" {
		t.Error("a picture makes a browser ask for a password")
	}
	_, body = s.get(mo, "/me")
	has(t, body, "used just now")
	for _, tt := range []struct {
		form url.Values
		want int
	}{{url.Values{"name": {" "}, "scope": {"read"}}, 422}, {url.Values{"name": {strings.Repeat("x", 61)}, "scope": {"opds"}}, 422}, {url.Values{"name": {"x"}, "scope": {"sign-in"}}, 400}} {
		if resp, _ := s.post(mo, "/me/keys", tt.form); resp.StatusCode != tt.want {
			t.Errorf("%v: got %d, want %d", tt.form, resp.StatusCode, tt.want)
		}
	}
	// Revoking ends it at once; somebody else's is none of one's own.
	ada := s.person("Ada", account.Member)
	if resp, _ := s.post(ada, "/me/keys/1/revoke", nil); resp.StatusCode != http.StatusSeeOther || with(account.KeyHeader, key) != 200 {
		t.Error("somebody else revoked it")
	}
	if resp, _ := s.post(mo, "/me/keys/1/revoke", nil); resp.Header.Get("Location") != "/me?said=revoked" || with(account.KeyHeader, key) != http.StatusUnauthorized {
		t.Errorf("revoked: to %q, then %d", resp.Header.Get("Location"), with(account.KeyHeader, key))
	}
}

// TestAFeedAsksForAPassword holds for what reading apps will be served.
func TestAFeedAsksForAPassword(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.claim()
	app := s.key("Mo", account.OPDSScope)
	rt := route{"GET /opds", feed, func(w http.ResponseWriter, r *http.Request) error {
		s.web.plain(w, http.StatusOK, who(r).Name)
		return nil
	}}
	mux := http.NewServeMux()
	mux.HandleFunc(rt.pattern, s.web.serve(rt))
	for _, tt := range []struct {
		name, user, pass string
		want             int
	}{{"nothing", "", "", 401}, {"app password", "Mo", app, 200}, {"password", "Mo", password, 401}} {
		r := s.request(http.MethodGet, "/opds", "")
		if tt.user != "" {
			r.SetBasicAuth(tt.user, tt.pass)
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if w.Code != tt.want || (w.Header().Get("WWW-Authenticate") != "") != (tt.want == 401) {
			t.Errorf("%s: got %d, %q", tt.name, w.Code, w.Header().Get("WWW-Authenticate"))
		}
	}
}
