package account

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"mangrove/internal/fault"
)

// Caller is who a request is made by, and how much of what they may do it may do.
type Caller struct {
	User
	// Scope is Whole for a sign-in, else the scope of the key.
	Scope string
	// SignIn is the id of the sign-in, 0 for a key.
	SignIn int64
}

// KeyHeader carries a key. "Authorization: Bearer" does as well, and Basic with
// the person's name for reading apps that know nothing else.
const KeyHeader = "X-API-Key"

// ErrWrongKey is a key that is unknown or revoked, or whose person is disabled
// or has another name.
var ErrWrongKey = errors.New("the key is not known")

// Authenticate answers who a request is made by; ok is false for a stranger. It
// is the only way from a request to a user. A request that carries a key is
// judged by the key alone, cookie or not: a wrong key is ErrWrongKey, or a
// TooManyError once an address has sent many. A right one is never slowed.
func (s *Service) Authenticate(r *http.Request) (c Caller, ok bool, err error) {
	name, secret, given := credentials(r)
	if !given {
		return s.fromCookie(r)
	}
	c, err = s.fromKey(r, name, secret)
	if errors.Is(err, ErrWrongKey) {
		if slow := s.limits.WrongKey(Peer(r.RemoteAddr)); slow != nil {
			return Caller{}, false, slow
		}
	}
	return c, err == nil, err
}

// PresentsKey reports whether a request carries a key, right or wrong.
func PresentsKey(r *http.Request) bool {
	_, _, given := credentials(r)
	return given
}

// credentials reads the key of a request, and the name it came with, which only
// Basic has.
func credentials(r *http.Request) (name, secret string, given bool) {
	if values := r.Header.Values(KeyHeader); len(values) > 0 {
		return "", values[0], true
	}
	header := r.Header.Get("Authorization")
	if header == "" {
		return "", "", false
	}
	if name, secret, ok := r.BasicAuth(); ok {
		return name, secret, true
	}
	scheme, rest, _ := strings.Cut(header, " ")
	if strings.EqualFold(scheme, "Bearer") {
		return "", strings.TrimSpace(rest), true
	}
	// A scheme that is not ours is a wrong key, not a stranger: whoever sent it
	// meant to be somebody.
	return "", "", true
}

func (s *Service) fromKey(r *http.Request, name, secret string) (Caller, error) {
	if secret == "" || len(secret) > 256 {
		return Caller{}, ErrWrongKey
	}
	k, u, err := s.store.KeyUser(r.Context(), hashKey(secret))
	if fault.Is(err, fault.NotFound) {
		return Caller{}, ErrWrongKey
	}
	if err != nil {
		return Caller{}, err
	}
	if name != "" {
		_, given, err := FoldName(name)
		if _, own, _ := FoldName(u.Name); err != nil || given != own {
			return Caller{}, ErrWrongKey
		}
	}
	if time.Since(k.UsedAt) >= touchEvery {
		if err := s.store.TouchKey(r.Context(), k.ID, touchEvery); err != nil {
			return Caller{}, err
		}
	}
	return Caller{User: u, Scope: k.Scope}, nil
}
