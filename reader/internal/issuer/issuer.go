// Package issuer asks an issuer of OpenID Connect who somebody is: by
// authorization code with PKCE, state and nonce. It knows nothing of users here.
// It refuses a token that is not signed for this very question, to believe
// anything of a token but the subject, a name to propose and the groups, to
// follow redirects, and to dial private addresses that the operator has not
// named. The issuer is asked when somebody wants to sign in and never before, so
// that one that is away stops nothing else.
package issuer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"go.uber.org/zap"
	"golang.org/x/oauth2"
)

const (
	// patience is how long the issuer has for one answer.
	patience = 8 * time.Second
	// pause is how long an issuer that did not answer is left alone: whoever comes
	// meanwhile is told at once.
	pause = 5 * time.Second
	// refresh is how long what the issuer says of itself is believed.
	refresh = time.Hour
)

// Why nobody was vouched for.
var (
	// ErrAway is an issuer that does not answer.
	ErrAway = errors.New("the issuer does not answer")
	// ErrDenied is an issuer that says no, or a person who changed their mind.
	ErrDenied = errors.New("the issuer did not let this person in")
	// ErrUnconfirmed is an answer that proves nothing.
	ErrUnconfirmed = errors.New("the issuer's answer proves nothing")
	// ErrGroup is a person who is not in the group that is asked for.
	ErrGroup = errors.New("the person is not in the group")
)

// Settings are what an operator says of the issuer.
type Settings struct {
	// Address is exactly what the issuer calls itself.
	Address, ClientID, Secret string
	// Name is what people know it by.
	Name string
	// Group is the group everybody needs, "" for none.
	Group string
}

// Issuer is one issuer. It is safe for use by many at once.
type Issuer struct {
	Settings
	http *http.Client
	log  *zap.Logger
	// mu lets one look-up of what the issuer says of itself run at a time.
	mu    sync.Mutex
	known *known
	until time.Time
	// lock guards failed, which is since when the issuer does not answer, and
	// failedAt, the last time.
	lock             sync.Mutex
	failed, failedAt time.Time
	failure          error
}

// known is what the issuer says of itself.
type known struct {
	provider *oidc.Provider
	keys     oidc.KeySet
	oauth    oauth2.Config
	algs     []string
}

// New makes an issuer. It dials nothing.
func New(s Settings, log *zap.Logger) (*Issuer, error) {
	home, err := url.Parse(s.Address)
	if err != nil {
		return nil, err
	}
	return &Issuer{Settings: s, http: client(home), log: log}, nil
}

// Question is what somebody is sent to the issuer with. Its parts are kept here
// until the answer, and its address goes to the browser.
type Question struct {
	Address                          string
	State, Nonce, Verifier, Redirect string
}

// Vouched is who the issuer says somebody is. Name is a proposal and proves
// nothing.
type Vouched struct{ Subject, Name string }

// AwaySince is since when the issuer does not answer; false when it did the last
// time, or was not asked yet.
func (i *Issuer) AwaySince() (time.Time, bool) {
	i.lock.Lock()
	defer i.lock.Unlock()
	return i.failed, !i.failed.IsZero()
}

// answered notes whether the issuer answers, and answers the error.
func (i *Issuer) answered(err error) error {
	i.lock.Lock()
	defer i.lock.Unlock()
	i.failure = err
	if err == nil {
		i.failed, i.failedAt = time.Time{}, time.Time{}
		return nil
	}
	i.failedAt = time.Now()
	if i.failed.IsZero() {
		i.failed = i.failedAt
	}
	return err
}

// recent is the failure of a moment ago, if there was one.
func (i *Issuer) recent() error {
	i.lock.Lock()
	defer i.lock.Unlock()
	if time.Since(i.failedAt) < pause {
		return i.failure
	}
	return nil
}

// Ask makes the question to send somebody to the issuer with. redirect is where
// the answer comes back to.
func (i *Issuer) Ask(ctx context.Context, redirect string) (Question, error) {
	k, err := i.look(ctx)
	if err != nil {
		return Question{}, err
	}
	q := Question{State: oauth2.GenerateVerifier(), Nonce: oauth2.GenerateVerifier(), Verifier: oauth2.GenerateVerifier(), Redirect: redirect}
	c := k.oauth
	c.RedirectURL = redirect
	q.Address = c.AuthCodeURL(q.State, oidc.Nonce(q.Nonce), oauth2.S256ChallengeOption(q.Verifier))
	return q, nil
}

// look answers what the issuer says of itself, asked at most once an hour. When
// it does not answer, what it said before still counts.
func (i *Issuer) look(ctx context.Context) (*known, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.known != nil && time.Now().Before(i.until) {
		return i.known, nil
	}
	if err := i.recent(); err != nil {
		return i.or(err)
	}
	// Whoever leaves meanwhile does not take the look away from the others.
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	k, err := i.discover(limited)
	if err != nil {
		i.log.Warn("the issuer does not say of itself what is needed", zap.String("issuer", i.Address), why(err))
		return i.or(i.answered(unreachable(err)))
	}
	i.known, i.until = k, time.Now().Add(refresh)
	return k, i.answered(nil)
}

func (i *Issuer) or(err error) (*known, error) {
	if i.known != nil {
		return i.known, nil
	}
	return nil, err
}

// unreachable tells an issuer that does not answer from one that answers wrongly.
func unreachable(err error) error {
	var dial *url.Error
	if errors.As(err, &dial) {
		return fmt.Errorf("%w: %w", ErrAway, err)
	}
	return fmt.Errorf("%w: %w", ErrUnconfirmed, err)
}

// why is an error for the log. Some hold a whole answer.
func why(err error) zap.Field { return zap.String("why", fmt.Sprintf("%.300s", err)) }

// discover reads what the issuer says of itself.
func (i *Issuer) discover(ctx context.Context) (*known, error) {
	ctx = oidc.ClientContext(ctx, i.http)
	p, err := oidc.NewProvider(ctx, i.Address)
	if err != nil {
		return nil, err
	}
	var says struct {
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
		Scopes     []string `json:"scopes_supported"`
		Methods    []string `json:"token_endpoint_auth_methods_supported"`
		Keys       string   `json:"jwks_uri"`
	}
	if err := p.Claims(&says); err != nil {
		return nil, err
	}
	k := &known{provider: p, oauth: oauth2.Config{ClientID: i.ClientID, ClientSecret: i.Secret, Endpoint: p.Endpoint(), Scopes: []string{oidc.ScopeOpenID, "profile"}}}
	addresses := []string{k.oauth.Endpoint.AuthURL, k.oauth.Endpoint.TokenURL, says.Keys}
	if u := p.UserInfoEndpoint(); u != "" {
		addresses = append(addresses, u)
	}
	for _, a := range addresses {
		if err := i.fit(a); err != nil {
			return nil, err
		}
	}
	// One way to say who Mangrove is, and not one after the other: a code that was
	// sent is spent.
	k.oauth.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	if i.Secret == "" || len(says.Methods) > 0 && !slices.Contains(says.Methods, "client_secret_basic") {
		k.oauth.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	// Some issuers refuse to be asked for what they do not know.
	if i.Group != "" && slices.Contains(says.Scopes, "groups") {
		k.oauth.Scopes = append(k.oauth.Scopes, "groups")
	}
	for _, a := range says.Algorithms {
		if slices.Contains(signatures, a) {
			k.algs = append(k.algs, a)
		}
	}
	if len(k.algs) == 0 {
		k.algs = []string{oidc.RS256}
	}
	k.keys = oidc.NewRemoteKeySet(oidc.ClientContext(context.WithoutCancel(ctx), i.http), says.Keys)
	return k, nil
}

// signatures are those with a key that the issuer keeps to itself. None and
// shared secrets are not among them.
var signatures = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA}

// fit refuses an address that is less private than the issuer's own.
func (i *Issuer) fit(address string) error {
	u, err := url.Parse(address)
	home, herr := url.Parse(i.Address)
	if err != nil || herr != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || home.Scheme != "http") {
		return fmt.Errorf("the issuer names %.200q, which is no address to ask or to send people to", address)
	}
	return nil
}
