package web

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fakeissuer"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/forwarded"
	"mangrove/reader/internal/issuer"
)

// vouched is a site with an issuer to sign in with.
func vouched(t *testing.T, o Options, group string) (*site, *fakeissuer.Issuer) {
	t.Helper()
	f := fakeissuer.New()
	t.Cleanup(f.Close)
	i, err := issuer.New(issuer.Settings{Address: f.Address(), ClientID: fakeissuer.ClientID, Secret: fakeissuer.Secret, Name: "Harbour", Group: group}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	o.Issuer = i
	return newSiteWith(t, o), f
}

var leads = regexp.MustCompile(`http-equiv="refresh" content="0;url=([^"]+)"`)

// sent begins at one of the forms and answers where the page leads.
func (s *site) sent(b *http.Client, path string, form url.Values) string {
	s.t.Helper()
	resp, body := s.post(b, path, form)
	m := leads.FindStringSubmatch(body)
	if resp.StatusCode != http.StatusOK || m == nil {
		s.t.Fatalf("%s: %d, leads nowhere", path, resp.StatusCode)
	}
	return html.UnescapeString(m[1])
}

// atIssuer goes there as the browser does and answers the path it is sent back to.
func (s *site) atIssuer(b *http.Client, address string) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, body := s.do(b, r)
	if resp.StatusCode != http.StatusFound {
		s.t.Fatalf("the issuer answers %d: %s", resp.StatusCode, body)
	}
	back, err := resp.Location()
	if err != nil {
		s.t.Fatal(err)
	}
	return back.RequestURI()
}

// through goes to the issuer and back.
func (s *site) through(b *http.Client, path string, form url.Values) (*http.Response, string) {
	s.t.Helper()
	return s.get(b, s.atIssuer(b, s.sent(b, path, form)))
}

func (s *site) leadsTo(what string, resp *http.Response, want string) {
	s.t.Helper()
	if got := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || got != want {
		s.t.Errorf("%s: %d to %q, want %q", what, resp.StatusCode, got, want)
	}
}

func (s *site) saysNo(what string, resp *http.Response, body string, code int, says string) {
	s.t.Helper()
	if resp.StatusCode != code || !strings.Contains(body, says) {
		s.t.Errorf("%s: %d, want %d and %q", what, resp.StatusCode, code, says)
	}
	for _, c := range resp.Cookies() {
		if c.Name == "mangrove" && c.Value != "" {
			s.t.Errorf("%s: and yet signed in", what)
		}
	}
}

func TestLinkingAndSigningInByIssuer(t *testing.T) {
	t.Parallel()
	s, f := vouched(t, Options{}, "")
	mo := s.claim()
	_, body := s.get(s.anyone, "/sign-in")
	has(t, body, "Sign in with Harbour")
	if n := f.Asked("/.well-known/openid-configuration"); n != 0 {
		t.Errorf("the issuer was asked %d times before anybody wanted it", n)
	}
	// Nobody knows sub-1 yet.
	resp, body := s.through(browser(t), "/sign-in/issuer", nil)
	s.saysNo("a stranger", resp, body, http.StatusForbidden, "Nobody here is linked")
	_, body = s.get(mo, "/me")
	has(t, body, "Link with Harbour")
	resp, _ = s.through(mo, "/me/link", nil)
	s.leadsTo("linking", resp, "/me?said=linked")
	_, body = s.get(mo, "/me?said=linked")
	has(t, body, "Linked since", "Unlink", "Change password")

	b := browser(t)
	resp, _ = s.through(b, "/sign-in/issuer", url.Values{"next": {"/library"}, "stay": {"1"}})
	s.leadsTo("signing in", resp, "/library")
	for _, c := range resp.Cookies() {
		if c.Name == "mangrove" && (c.MaxAge == 0 || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode) {
			t.Errorf("the cookie: %+v", c)
		}
	}
	if resp, body := s.get(b, "/me"); resp.StatusCode != http.StatusOK || !strings.Contains(body, "Mo") || !strings.Contains(body, "with Harbour") {
		t.Errorf("signed in by the issuer, Me answers %d", resp.StatusCode)
	}
	// A password works all the same.
	s.signedIn("mo")
	// Somebody else cannot be linked with the same, nor with a second.
	ada := s.person("Ada", account.Member)
	resp, body = s.through(ada, "/me/link", nil)
	s.saysNo("taken", resp, body, http.StatusConflict, "Somebody else here is linked")
	f.Change(func(say *fakeissuer.Say) { say.Subject = "sub-2" })
	resp, body = s.through(mo, "/me/link", nil)
	s.saysNo("a second", resp, body, http.StatusConflict, "linked with another account")
	resp, _ = s.through(ada, "/me/link", nil)
	s.leadsTo("hers", resp, "/me?said=linked")
	// Unlinking ends what was signed in by it, and leaves the password.
	resp, _ = s.post(mo, "/me/unlink", nil)
	s.leadsTo("unlinking", resp, "/me?said=unlinked")
	if resp, _ := s.get(b, "/library"); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("a sign-in by what was unlinked: %d", resp.StatusCode)
	}
	if resp, _ := s.get(mo, "/library"); resp.StatusCode != http.StatusOK {
		t.Errorf("the sign-in that unlinked: %d", resp.StatusCode)
	}
	f.Change(func(say *fakeissuer.Say) { say.Subject = "sub-1" })
	resp, body = s.through(browser(t), "/sign-in/issuer", nil)
	s.saysNo("unlinked", resp, body, http.StatusForbidden, "Nobody here is linked")
	// Kept out is kept out.
	f.Change(func(say *fakeissuer.Say) { say.Subject = "sub-2" })
	s.post(mo, "/settings/people/"+s.id("Ada")+"/disable", nil)
	resp, body = s.through(browser(t), "/sign-in/issuer", nil)
	s.saysNo("disabled", resp, body, http.StatusForbidden, "kept out")
}

func TestAnAnswerCountsOnceAndInItsBrowser(t *testing.T) {
	t.Parallel()
	s, f := vouched(t, Options{}, "")
	mo := s.claim()
	resp, _ := s.through(mo, "/me/link", nil)
	s.leadsTo("linking", resp, "/me?said=linked")
	b := browser(t)
	back := s.atIssuer(b, s.sent(b, "/sign-in/issuer", nil))
	const over = "not begun in this browser"
	// Another browser, with the same address.
	resp, body := s.get(browser(t), back)
	s.saysNo("another browser", resp, body, http.StatusBadRequest, over)
	// Another browser that has begun something of its own.
	c := browser(t)
	s.sent(c, "/sign-in/issuer", nil)
	resp, body = s.get(c, back)
	s.saysNo("another's answer", resp, body, http.StatusBadRequest, over)
	// A state that is wrong spends nothing.
	u, _ := url.Parse(back)
	q := u.Query()
	q.Set("state", "x")
	resp, body = s.get(b, "/sign-in/answer?"+q.Encode())
	s.saysNo("wrong state", resp, body, http.StatusBadRequest, over)
	q.Del("state")
	resp, body = s.get(b, "/sign-in/answer?"+q.Encode())
	s.saysNo("no state", resp, body, http.StatusBadRequest, over)
	resp, _ = s.get(b, back)
	s.leadsTo("the right one", resp, "/")
	resp, body = s.get(b, back)
	s.saysNo("again", resp, body, http.StatusBadRequest, over)
	// An answer that says it comes from elsewhere.
	d := browser(t)
	back = s.atIssuer(d, s.sent(d, "/sign-in/issuer", nil))
	resp, body = s.get(d, strings.Replace(back, "iss=", "iss=https%3A%2F%2Fevil.example%2F&x=", 1))
	s.saysNo("another issuer", resp, body, http.StatusBadGateway, "does not prove")
	f.Change(func(say *fakeissuer.Say) { say.Deny = "access_denied" })
	resp, body = s.through(browser(t), "/sign-in/issuer", nil)
	s.saysNo("denied", resp, body, http.StatusForbidden, "did not let you in")
	f.Change(func(say *fakeissuer.Say) { say.Deny = "" })
	// What was begun by one who is signed in is nobody else's to end.
	ada := s.person("Ada", account.Member)
	f.Change(func(say *fakeissuer.Say) { say.Subject = "sub-2" })
	back = s.atIssuer(ada, s.sent(ada, "/me/link", nil))
	s.post(ada, "/sign-out", nil)
	s.post(ada, "/sign-in", url.Values{"name": {"mo"}, "password": {password}})
	resp, body = s.get(ada, back)
	s.saysNo("linking somebody else", resp, body, http.StatusBadRequest, over)
	// The cookie that binds them is the server's own, and short-lived.
	resp, _ = s.post(browser(t), "/sign-in/issuer", nil)
	cookie := resp.Cookies()[0]
	if cookie.Name != "mangrove-asked" || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.MaxAge != 600 || cookie.Path != "/" {
		t.Errorf("the cookie: %+v", cookie)
	}
}

func TestNextStaysHere(t *testing.T) {
	t.Parallel()
	s, _ := vouched(t, Options{}, "")
	mo := s.claim()
	s.through(mo, "/me/link", nil)
	for next, want := range map[string]string{"//evil.example": "/", "/\\evil.example": "/", "https://evil.example": "/", "/read/1?page=2": "/read/1?page=2"} {
		resp, _ := s.through(browser(t), "/sign-in/issuer", url.Values{"next": {next}})
		s.leadsTo("next "+next, resp, want)
	}
}

func TestJoiningByIssuer(t *testing.T) {
	t.Parallel()
	s, f := vouched(t, Options{}, "")
	mo := s.claim()
	in, err := s.web.Accounts.Invite(t.Context(), "Ada", account.Administrator)
	if err != nil {
		t.Fatal(err)
	}
	ada := browser(t)
	_, body := s.get(ada, "/join")
	has(t, body, "Come in with Harbour")
	resp, body := s.post(ada, "/join/issuer", url.Values{"name": {"Ada"}, "code": {"AAAA-AAAA-AAAA-AAAA"}})
	s.saysNo("wrong code", resp, body, http.StatusUnprocessableEntity, "do not belong together")
	form := url.Values{"name": {"ada"}, "code": {strings.ToLower(in.Code)}}
	resp, _ = s.through(ada, "/join/issuer", form)
	s.leadsTo("joining", resp, "/")
	if resp, _ := s.get(ada, "/settings/people"); resp.StatusCode != http.StatusOK {
		t.Errorf("she was invited to be an administrator, and People answers %d", resp.StatusCode)
	}
	resp, body = s.post(browser(t), "/join/issuer", form)
	s.saysNo("a used invitation", resp, body, http.StatusUnprocessableEntity, "do not belong together")
	// She has no password, so that the issuer stays her way in.
	_, body = s.get(ada, "/me")
	has(t, body, "only way in")
	hasNot(t, body, "Change password", "/me/unlink")
	resp, body = s.post(ada, "/me/unlink", nil)
	s.saysNo("the only way", resp, body, http.StatusConflict, "only way in")
	_, body = s.get(mo, "/settings/people")
	has(t, body, "Has no password", "Reset password")
	// And so she is not who could run the library if the issuer were away: Mo stays.
	moID := s.id("Mo")
	for what, form := range map[string]url.Values{"role": {"from": {"administrator"}, "to": {"member"}}, "disable": nil, "remove": nil} {
		resp, body := s.post(ada, "/settings/people/"+moID+"/"+what, form)
		s.saysNo(what, resp, body, http.StatusConflict, "last administrator")
	}
	// With a code she chooses a password, and then may unlink.
	_, body = s.post(mo, "/settings/people/"+s.id("Ada")+"/code", nil)
	has(t, body, "A new password for Ada")
	code := found(t, shownCodes, body)
	resp, body = s.post(browser(t), "/join/issuer", url.Values{"name": {"ada"}, "code": {code}})
	s.saysNo("a reset is no invitation", resp, body, http.StatusUnprocessableEntity, "do not belong together")
	ada = browser(t)
	s.post(ada, "/join", url.Values{"name": {"ada"}, "code": {code}, "password": {password}})
	resp, _ = s.post(ada, "/me/unlink", nil)
	s.leadsTo("unlinking", resp, "/me?said=unlinked")
	// An identity that is somebody's spends no invitation.
	s.through(mo, "/me/link", nil)
	in, err = s.web.Accounts.Invite(t.Context(), "Kim", account.Guest)
	if err != nil {
		t.Fatal(err)
	}
	form = url.Values{"name": {"Kim"}, "code": {in.Code}}
	resp, body = s.through(browser(t), "/join/issuer", form)
	s.saysNo("taken", resp, body, http.StatusConflict, "Somebody else here is linked")
	f.Change(func(say *fakeissuer.Say) { say.Subject = "sub-3" })
	kim := browser(t)
	resp, _ = s.through(kim, "/join/issuer", form)
	s.leadsTo("a guest", resp, "/")
	if resp, _ := s.post(kim, "/me/link", nil); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a guest links: %d", resp.StatusCode)
	}
}

func TestAdmittingMembers(t *testing.T) {
	t.Parallel()
	s, f := vouched(t, Options{AdmitMembers: true}, "readers")
	s.claim()
	resp, body := s.through(browser(t), "/sign-in/issuer", nil)
	s.saysNo("no group", resp, body, http.StatusForbidden, "not in the group")
	f.Change(func(say *fakeissuer.Say) { say.Claims["groups"] = []string{"cooks", "reader"} })
	resp, body = s.through(browser(t), "/sign-in/issuer", nil)
	s.saysNo("other groups", resp, body, http.StatusForbidden, "not in the group")
	// A name that is somebody's makes nobody that person, whatever else is claimed.
	f.Change(func(say *fakeissuer.Say) {
		say.Claims = map[string]any{"groups": []string{"readers"}, "preferred_username": "MO", "email": "mo@manga.example", "role": "administrator"}
	})
	b := browser(t)
	resp, _ = s.through(b, "/sign-in/issuer", nil)
	s.leadsTo("a new member", resp, "/")
	_, body = s.get(b, "/me")
	has(t, body, "MO 2", "Member", "only way in")
	if resp, _ := s.get(b, "/settings/people"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a member's People: %d", resp.StatusCode)
	}
	// The same comes back as the same, by whatever name.
	f.Change(func(say *fakeissuer.Say) { say.Claims["preferred_username"] = "Somebody" })
	s.through(browser(t), "/sign-in/issuer", nil)
	// Groups and name may be told at the other address, an address of mail is none.
	f.Change(func(say *fakeissuer.Say) {
		say.Subject, say.Claims = "sub-2", nil
		say.UserInfo = map[string]any{"groups": "readers", "preferred_username": "ada@manga.example"}
	})
	s.through(browser(t), "/sign-in/issuer", nil)
	f.Change(func(say *fakeissuer.Say) { say.Subject, say.UserInfo["sub"] = "sub-3", "sub-2" })
	resp, body = s.through(browser(t), "/sign-in/issuer", nil)
	s.saysNo("told of somebody else", resp, body, http.StatusBadGateway, "does not prove")
	people, err := s.web.Accounts.People(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range people {
		names = append(names, p.Name+" "+p.Role)
	}
	if got := strings.Join(names, ", "); got != "Mo administrator, ada member, MO 2 member" {
		t.Errorf("the people are %s", got)
	}
}

func TestTheIssuerAway(t *testing.T) {
	t.Parallel()
	s, f := vouched(t, Options{}, "")
	mo := s.claim()
	f.Change(func(say *fakeissuer.Say) { say.Down = true })
	b := browser(t)
	resp, body := s.post(b, "/sign-in/issuer", url.Values{"next": {"/library"}})
	s.saysNo("away", resp, body, http.StatusServiceUnavailable, "Harbour does not answer")
	has(t, body, `name="next" value="/library"`)
	_, body = s.get(b, "/sign-in")
	has(t, body, "has not answered since", "Sign in with Harbour", `id="pw"`)
	resp, body = s.post(mo, "/me/link", nil)
	s.saysNo("linking", resp, body, http.StatusServiceUnavailable, "Harbour does not answer")
	has(t, body, "Change password")
	s.signedIn("mo")
	if n := f.Asked("/.well-known/openid-configuration"); n != 1 {
		t.Errorf("an issuer that did not answer a moment ago was asked %d times", n)
	}
}

func TestTriesWithTheIssuerAreCounted(t *testing.T) {
	t.Parallel()
	s, _ := vouched(t, Options{TrustedProxies: loopback}, "")
	s.claim()
	ask := func() *http.Response {
		resp, _ := s.do(browser(t), s.request(http.MethodPost, "/sign-in/issuer", "", "Content-Type", "application/x-www-form-urlencoded", forwarded.ForHeader, "198.51.100.7"))
		return resp
	}
	for n := range 20 {
		if resp := ask(); resp.StatusCode != http.StatusOK {
			t.Fatalf("try %d: %d", n, resp.StatusCode)
		}
	}
	if resp := ask(); resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" {
		t.Errorf("the next: %d", resp.StatusCode)
	}
	resp, _ := s.do(browser(t), s.request(http.MethodPost, "/sign-in", url.Values{"name": {"mo"}, "password": {password}}.Encode(),
		"Content-Type", "application/x-www-form-urlencoded", forwarded.ForHeader, "198.51.100.7"))
	s.leadsTo("a password from there", resp, "/")
}

func TestTheIssuerBehindAProxyUnderAPath(t *testing.T) {
	t.Parallel()
	s, _ := vouched(t, Options{BasePath: "/books", TrustedProxies: loopback, AdmitMembers: true}, "")
	s.claim()
	proxied := []string{"Content-Type", "application/x-www-form-urlencoded", forwarded.ProtoHeader, "https", forwarded.HostHeader, "manga.example"}
	_, body := s.do(s.anyone, s.request(http.MethodGet, "/books/sign-in", "", proxied...))
	has(t, body, `formaction="/books/sign-in/issuer"`)
	resp, body := s.do(s.anyone, s.request(http.MethodPost, "/books/sign-in/issuer", "next=%2Flibrary", proxied...))
	address := html.UnescapeString(found(t, leads, body))
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if got := u.Query().Get("redirect_uri"); got != "https://manga.example/books/sign-in/answer" {
		t.Errorf("people are sent back to %q", got)
	}
	c := resp.Cookies()[0]
	if c.Name != "__Secure-mangrove-asked" || !c.Secure || c.Path != "/books" {
		t.Errorf("the cookie: %+v", c)
	}
	back := s.atIssuer(s.anyone, address)
	resp, _ = s.do(s.anyone, s.request(http.MethodGet, back, "", append(proxied, "Cookie", c.Name+"="+c.Value)...))
	s.leadsTo("back", resp, "/books/library")
	var in *http.Cookie
	for _, c := range resp.Cookies() {
		if c.Name == "__Secure-mangrove" {
			in = c
		}
	}
	if in == nil {
		t.Fatal("nobody was signed in")
	}
	// Another site cannot begin it in somebody's browser.
	resp, _ = s.do(s.anyone, s.request(http.MethodPost, "/books/sign-in/issuer", "", append(proxied, "Sec-Fetch-Site", "cross-site")...))
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("another site begins a sign-in: %d", resp.StatusCode)
	}
}

// Why an issuer signed nobody in is said in the language of whoever stands there.
func TestWhyAnIssuerSaysNoInOtherLanguages(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		&account.TooManyError{Wait: 40 * time.Second}, issuer.ErrAway, issuer.ErrDenied, issuer.ErrGroup, issuer.ErrUnconfirmed, account.ErrOver, account.ErrStranger, account.ErrDisabled,
		account.ErrIdentityTaken, account.ErrLinked, account.ErrOnlyWay, account.ErrWrongCode,
	} {
		code, said := english.issuerProblem("Harbour", err)
		if said == "" || code == 0 {
			t.Errorf("%v is not worded", err)
		}
		for _, tag := range []string{"de", "ar"} {
			if other, text := spoken(t, tag).issuerProblem("Harbour", err); text == said || text == "" || other != code || strings.Contains(said, "Harbour") != strings.Contains(text, "Harbour") {
				t.Errorf("%v in %s is %d %q", err, tag, other, text)
			}
		}
	}
	if code, text := spoken(t, "de").issuerProblem("Harbour", errors.New("something else")); code != 0 || text != "" {
		t.Errorf("what is no word of an issuer reads %d %q", code, text)
	}
	s, f := vouched(t, Options{}, "")
	s.claim()
	f.Close()
	_, body := s.do(browser(t), s.request(http.MethodPost, "/sign-in/issuer", "next=/", "Content-Type", "application/x-www-form-urlencoded", "Accept-Language", "de"))
	has(t, body, "Harbour antwortet nicht. Versuche es gleich noch einmal. Ein Passwort geht trotzdem.")
}
