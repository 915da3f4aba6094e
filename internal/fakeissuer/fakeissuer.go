// Package fakeissuer is an issuer of OpenID Connect for tests: discovery, keys,
// codes with PKCE and tokens that are really signed, over HTTP on this machine.
// It refuses what a real one refuses: an address to go back to that it was not
// told, a secret that is wrong, a verifier that does not fit, a code that was
// used. What it then says can be bent, to see who believes it.
package fakeissuer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"
)

// ClientID and Secret are what the issuer knows its one client by.
const (
	ClientID = "mangrove"
	Secret   = "between us"
)

// Issuer is a running issuer.
type Issuer struct {
	server *httptest.Server
	mu     sync.Mutex
	say    Say
	key    key
	codes  map[string]grant
	asked  map[string]int
}

// Say is what the issuer says when it is asked.
type Say struct {
	// Subject is who is signed in there, Claims what else it tells of them.
	Subject string
	Claims  map[string]any
	// UserInfo, when not nil, is told at that address alone.
	UserInfo map[string]any
	// Bend changes the claims of a token before it is signed.
	Bend func(claims map[string]any)
	// Algorithm is RS256 unless it says ES256, HS256 or none.
	Algorithm string
	// Forged signs with a key that nobody is told.
	Forged bool
	// Deny is the error that people are sent back with.
	Deny string
	// Down answers everything with 503.
	Down bool
	// Describe changes what the issuer says of itself.
	Describe func(says map[string]any)
	// Instead answers in place of the issuer, where it reports true.
	Instead func(w http.ResponseWriter, r *http.Request) bool
}

type grant struct{ redirect, challenge, nonce string }

type key struct {
	id  string
	rsa *rsa.PrivateKey
	ec  *ecdsa.PrivateKey
}

// New starts an issuer that vouches for "sub-1", who prefers to be called kim.
func New() *Issuer {
	i := &Issuer{codes: map[string]grant{}, asked: map[string]int{}, say: Say{Subject: "sub-1", Claims: map[string]any{"preferred_username": "kim"}}}
	i.Rotate()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.describe)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /userinfo", i.userInfo)
	i.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		i.asked[r.URL.Path]++
		say := i.say
		i.mu.Unlock()
		switch {
		case say.Down:
			http.Error(w, "later", http.StatusServiceUnavailable)
		case say.Instead != nil && say.Instead(w, r):
		default:
			mux.ServeHTTP(w, r)
		}
	}))
	return i
}

// Address is what the issuer calls itself.
func (i *Issuer) Address() string { return i.server.URL }

// Close ends it.
func (i *Issuer) Close() { i.server.Close() }

// Change changes what it says from now on.
func (i *Issuer) Change(change func(*Say)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change(&i.say)
}

// Asked is how often an address of it was asked.
func (i *Issuer) Asked(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked[path]
}

// Rotate replaces its keys.
func (i *Issuer) Rotate() {
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	e, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.key = key{rand.Text(), r, e}
}

func (i *Issuer) now() (Say, key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.say, i.key
}

func (i *Issuer) describe(w http.ResponseWriter, _ *http.Request) {
	say, _ := i.now()
	says := map[string]any{
		"issuer": i.Address(), "authorization_endpoint": i.Address() + "/authorize", "token_endpoint": i.Address() + "/token",
		"jwks_uri": i.Address() + "/keys", "userinfo_endpoint": i.Address() + "/userinfo", "scopes_supported": []string{"openid", "profile", "groups"},
		"id_token_signing_alg_values_supported": []string{"RS256", "ES256", "HS256", "none"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"},
	}
	if say.Describe != nil {
		say.Describe(says)
	}
	answer(w, says)
}

func (i *Issuer) keys(w http.ResponseWriter, _ *http.Request) {
	_, k := i.now()
	x, y := k.ec.X.FillBytes(make([]byte, 32)), k.ec.Y.FillBytes(make([]byte, 32))
	answer(w, map[string]any{"keys": []any{
		map[string]string{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": k.id + "-r", "n": encode(k.rsa.N.Bytes()), "e": encode(big.NewInt(int64(k.rsa.E)).Bytes())},
		map[string]string{"kty": "EC", "use": "sig", "alg": "ES256", "kid": k.id + "-e", "crv": "P-256", "x": encode(x), "y": encode(y)},
	}})
}

// authorize lets whoever is signed in there go on at once.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	say, _ := i.now()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || !strings.HasSuffix(back.Path, "/sign-in/answer") || q.Get("client_id") != ClientID || q.Get("response_type") != "code" ||
		q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || !strings.Contains(q.Get("scope"), "openid") {
		http.Error(w, "this client may not ask this", http.StatusBadRequest)
		return
	}
	v := url.Values{"state": {q.Get("state")}, "iss": {i.Address()}}
	if say.Deny != "" {
		v.Set("error", say.Deny)
	} else {
		code := rand.Text()
		i.mu.Lock()
		i.codes[code] = grant{q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("nonce")}
		i.mu.Unlock()
		v.Set("code", code)
	}
	back.RawQuery = v.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	say, k := i.now()
	id, secret, ok := r.BasicAuth()
	if secret, _ = url.QueryUnescape(secret); !ok || id != ClientID || secret != Secret {
		refuse(w, "invalid_client")
		return
	}
	i.mu.Lock()
	g, ok := i.codes[r.PostFormValue("code")]
	delete(i.codes, r.PostFormValue("code"))
	i.mu.Unlock()
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !ok || r.PostFormValue("redirect_uri") != g.redirect || encode(sum[:]) != g.challenge {
		refuse(w, "invalid_grant")
		return
	}
	access := rand.Text()
	hash := sha256.Sum256([]byte(access))
	now := time.Now()
	claims := map[string]any{
		"iss": i.Address(), "aud": ClientID, "sub": say.Subject, "nonce": g.nonce, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(), "at_hash": encode(hash[:16]),
	}
	for name, value := range say.Claims {
		claims[name] = value
	}
	if say.Bend != nil {
		say.Bend(claims)
	}
	answer(w, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 300, "id_token": sign(claims, say, k)})
}

func (i *Issuer) userInfo(w http.ResponseWriter, r *http.Request) {
	say, _ := i.now()
	if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
		http.Error(w, "who asks?", http.StatusUnauthorized)
		return
	}
	says := map[string]any{"sub": say.Subject}
	for name, value := range say.UserInfo {
		says[name] = value
	}
	answer(w, says)
}

func sign(claims map[string]any, say Say, k key) string {
	algorithm := say.Algorithm
	if algorithm == "" {
		algorithm = "RS256"
	}
	header := map[string]string{"alg": algorithm, "typ": "JWT", "kid": k.id + "-r"}
	if algorithm == "ES256" {
		header["kid"] = k.id + "-e"
	}
	if say.Forged {
		other, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		k.rsa = other
	}
	text := encode(asJSON(header)) + "." + encode(asJSON(claims))
	sum := sha256.Sum256([]byte(text))
	var signature []byte
	switch algorithm {
	case "RS256":
		signature, _ = rsa.SignPKCS1v15(rand.Reader, k.rsa, crypto.SHA256, sum[:])
	case "ES256":
		r, s, _ := ecdsa.Sign(rand.Reader, k.ec, sum[:])
		signature = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	case "HS256":
		// What a client would compute that takes the public key for a shared secret.
		signature = sum[:]
	}
	return text + "." + encode(signature)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func asJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(asJSON(v))
}

func refuse(w http.ResponseWriter, word string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = fmt.Fprintf(w, `{"error":%q}`, word)
}
