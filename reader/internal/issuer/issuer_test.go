package issuer

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"mangrove/internal/fakeissuer"
)

func open(t *testing.T, group string) (*Issuer, *fakeissuer.Issuer) {
	t.Helper()
	f := fakeissuer.New()
	t.Cleanup(f.Close)
	i, err := New(Settings{Address: f.Address(), ClientID: fakeissuer.ClientID, Secret: fakeissuer.Secret, Name: "Harbour", Group: group}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	return i, f
}

const back = "http://manga.example/sign-in/answer"

// ask asks the question and answers what the browser brings back.
func ask(t *testing.T, i *Issuer) (Question, url.Values) {
	t.Helper()
	q, err := i.Ask(t.Context(), back)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, q.Address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		t.Fatal(err, resp.Status)
	}
	return q, to.Query()
}

func TestTokens(t *testing.T) {
	t.Parallel()
	now := time.Now()
	bend := func(name string, value any) fakeissuer.Say {
		return fakeissuer.Say{Bend: func(c map[string]any) {
			c[name] = value
			if value == nil {
				delete(c, name)
			}
		}}
	}
	for _, tt := range []struct {
		name string
		say  fakeissuer.Say
		want error
	}{
		{"right", fakeissuer.Say{}, nil},
		{"elliptic", fakeissuer.Say{Algorithm: "ES256"}, nil},
		{"alg none", fakeissuer.Say{Algorithm: "none"}, ErrUnconfirmed},
		{"a shared secret", fakeissuer.Say{Algorithm: "HS256"}, ErrUnconfirmed},
		{"another's key", fakeissuer.Say{Forged: true}, ErrUnconfirmed},
		{"wrong nonce", bend("nonce", "x"), ErrUnconfirmed},
		{"no nonce", bend("nonce", nil), ErrUnconfirmed},
		{"wrong audience", bend("aud", "somebody else"), ErrUnconfirmed},
		{"two audiences", bend("aud", []string{fakeissuer.ClientID, "somebody else"}), ErrUnconfirmed},
		{"made for another", bend("azp", "somebody else"), ErrUnconfirmed},
		{"made for us", bend("azp", fakeissuer.ClientID), nil},
		{"wrong issuer", bend("iss", "https://evil.example"), ErrUnconfirmed},
		{"expired", bend("exp", now.Add(-2*time.Minute).Unix()), ErrUnconfirmed},
		{"expired within the skew", bend("exp", now.Add(-30*time.Second).Unix()), nil},
		{"never expires", bend("exp", nil), ErrUnconfirmed},
		{"of the future", bend("iat", now.Add(3*time.Minute).Unix()), ErrUnconfirmed},
		{"of the future within the skew", bend("iat", now.Add(30*time.Second).Unix()), nil},
		{"old", bend("iat", now.Add(-time.Hour).Unix()), ErrUnconfirmed},
		{"not yet", bend("nbf", now.Add(time.Hour).Unix()), ErrUnconfirmed},
		{"nobody", bend("sub", ""), ErrUnconfirmed},
		{"a long subject", bend("sub", strings.Repeat("x", 256)), ErrUnconfirmed},
		{"another access token", bend("at_hash", "AAAAAAAAAAAAAAAAAAAAAA"), ErrUnconfirmed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			i, f := open(t, "")
			tt.say.Subject = "sub-1"
			f.Change(func(s *fakeissuer.Say) { *s = tt.say })
			q, answer := ask(t, i)
			v, err := i.Answer(t.Context(), q, answer)
			if !errors.Is(err, tt.want) || tt.want == nil && err != nil || (err == nil) != (v.Subject == "sub-1") {
				t.Errorf("got %+v, %v; want %v", v, err, tt.want)
			}
		})
	}
}

func TestACodeNeedsItsQuestion(t *testing.T) {
	t.Parallel()
	i, _ := open(t, "")
	q, answer := ask(t, i)
	other, _ := ask(t, i)
	q.Verifier = other.Verifier
	if _, err := i.Answer(t.Context(), q, answer); !errors.Is(err, ErrUnconfirmed) {
		t.Errorf("a verifier that does not fit: %v", err)
	}
	q, answer = ask(t, i)
	if _, err := i.Answer(t.Context(), q, answer); err != nil {
		t.Fatal(err)
	}
	if _, err := i.Answer(t.Context(), q, answer); !errors.Is(err, ErrUnconfirmed) {
		t.Errorf("a code that was used: %v", err)
	}
	for _, answer := range []url.Values{{}, {"code": {strings.Repeat("x", 5000)}}} {
		if _, err := i.Answer(t.Context(), q, answer); !errors.Is(err, ErrUnconfirmed) {
			t.Errorf("%.30v: %v", answer, err)
		}
	}
}

func TestTheIssuerChangesItsKeys(t *testing.T) {
	t.Parallel()
	i, f := open(t, "")
	for n := range 3 {
		q, answer := ask(t, i)
		if _, err := i.Answer(t.Context(), q, answer); err != nil {
			t.Errorf("after %d changes: %v", n, err)
		}
		f.Rotate()
	}
	if n := f.Asked("/.well-known/openid-configuration"); n != 1 {
		t.Errorf("what it says of itself was asked %d times", n)
	}
	// Keys that cannot be fetched are no forgery.
	q, answer := ask(t, i)
	f.Change(func(s *fakeissuer.Say) {
		s.Instead = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/keys" {
				w.WriteHeader(http.StatusBadGateway)
			}
			return r.URL.Path == "/keys"
		}
	})
	if _, err := i.Answer(t.Context(), q, answer); !errors.Is(err, ErrAway) {
		t.Errorf("keys that are away: %v", err)
	}
}

func TestWhatAnIssuerSaysOfItself(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, key string
		value     any
		want      error
	}{
		{"another issuer", "issuer", "https://evil.example", ErrUnconfirmed},
		{"a script", "authorization_endpoint", "javascript:alert(1)", ErrUnconfirmed},
		{"a file", "token_endpoint", "file:///etc/passwd", ErrUnconfirmed},
		{"no keys", "jwks_uri", "", ErrUnconfirmed},
		{"a name and a password", "userinfo_endpoint", "http://a:b@127.0.0.1/", ErrUnconfirmed},
		{"too much", "more", strings.Repeat("x", maxAnswer), ErrUnconfirmed},
	} {
		i, f := open(t, "")
		f.Change(func(s *fakeissuer.Say) { s.Describe = func(says map[string]any) { says[tt.key] = tt.value } })
		if _, err := i.Ask(t.Context(), back); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestWhereAnIssuerLeads: this test's own machine is private, so that whatever
// leads to another port of it must not be dialled.
func TestWhereAnIssuerLeads(t *testing.T) {
	t.Parallel()
	trap, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = trap.Close() }()
	go func() {
		if c, err := trap.Accept(); err == nil {
			_ = c.Close()
			t.Error("the trap was dialled")
		}
	}()
	trapped := "http://" + trap.Addr().String()
	i, f := open(t, "")
	f.Change(func(s *fakeissuer.Say) {
		s.Describe = func(says map[string]any) { says["token_endpoint"] = trapped + "/token" }
	})
	q, answer := ask(t, i)
	if _, err := i.Answer(t.Context(), q, answer); !errors.Is(err, errGuarded) {
		t.Errorf("a token at a private address: %v", err)
	}
	// Nor is a redirect followed, to there or anywhere.
	for _, path := range []string{"/.well-known/openid-configuration", "/token", "/keys"} {
		i, f := open(t, "")
		f.Change(func(s *fakeissuer.Say) {
			s.Instead = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == path {
					http.Redirect(w, r, trapped, http.StatusTemporaryRedirect)
				}
				return r.URL.Path == path
			}
		})
		q, err := i.Ask(t.Context(), back)
		if err == nil {
			q, answer := ask(t, i)
			_, err = i.Answer(t.Context(), q, answer)
		}
		if !errors.Is(err, ErrUnconfirmed) {
			t.Errorf("%s leads elsewhere: %+v, %v", path, q, err)
		}
	}
	for _, address := range []string{"10.0.0.1:443", "[::ffff:192.168.1.1]:443", "[fe80::1%eth0]:443", "169.254.169.254:443", "8.8.8.8:22", "x"} {
		if err := global(address); !errors.Is(err, errGuarded) {
			t.Errorf("%s may be dialled: %v", address, err)
		}
	}
	if err := global("8.8.8.8:443"); err != nil {
		t.Error(err)
	}
}

func TestAnIssuerThatComesBack(t *testing.T) {
	t.Parallel()
	i, f := open(t, "")
	f.Change(func(s *fakeissuer.Say) { s.Down = true })
	if _, err := i.Ask(t.Context(), back); !errors.Is(err, ErrAway) {
		t.Fatal(err)
	}
	if _, away := i.AwaySince(); !away {
		t.Error("nobody is told that it does not answer")
	}
	f.Change(func(s *fakeissuer.Say) { s.Down = false })
	// As if the pause were over.
	i.lock.Lock()
	i.failedAt = i.failedAt.Add(-pause)
	i.lock.Unlock()
	ask(t, i)
	if since, away := i.AwaySince(); away {
		t.Errorf("it is still said to be away since %v", since)
	}
	// What it said before counts when it does not answer later.
	f.Change(func(s *fakeissuer.Say) { s.Down = true })
	i.mu.Lock()
	i.until = time.Now()
	i.mu.Unlock()
	if _, err := i.Ask(t.Context(), back); err != nil {
		t.Errorf("what it said before does not count: %v", err)
	}
	// The one who asks goes; the look is for the others, too.
	i, _ = open(t, "")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := i.Ask(gone, back); err != nil {
		t.Errorf("whoever goes takes the look away: %v", err)
	}
}

func TestTheLogHoldsNoSecret(t *testing.T) {
	t.Parallel()
	core, seen := observer.New(zap.DebugLevel)
	f := fakeissuer.New()
	t.Cleanup(f.Close)
	i, err := New(Settings{Address: f.Address(), ClientID: fakeissuer.ClientID, Secret: "wrong secret", Name: "Harbour"}, zap.New(core))
	if err != nil {
		t.Fatal(err)
	}
	q, answer := ask(t, i)
	if _, err := i.Answer(t.Context(), q, answer); !errors.Is(err, ErrUnconfirmed) {
		t.Errorf("a wrong secret: %v", err)
	}
	lines := seen.All()
	if len(lines) != 1 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, secret := range []string{"wrong secret", answer.Get("code"), q.Verifier, q.Nonce, q.State} {
		if strings.Contains(lines[0].ContextMap()["why"].(string), secret) {
			t.Errorf("the log says %v", lines[0].ContextMap())
		}
	}
	if !strings.Contains(lines[0].ContextMap()["why"].(string), "invalid_client") {
		t.Errorf("the log does not say why: %v", lines[0].ContextMap())
	}
}
