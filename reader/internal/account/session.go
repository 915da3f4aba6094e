package account

import (
	"context"
	"net/http"
	"time"

	"github.com/alexedwards/scs/v2"
)

// The lives of a sign-in: idle, and in all.
const (
	idleLife     = 7 * 24 * time.Hour
	absoluteLife = 30 * 24 * time.Hour
	// touchEvery is how often use of a sign-in is written down. Not each time:
	// a page turned would be a row written.
	touchEvery = time.Hour
)

// Sessions are the sign-ins of browsers. A cookie holds the id; the store holds
// only its digest. There is no middleware on purpose: the usual one wraps the
// ResponseWriter, which turns sendfile off, and writes a row for every request.
type Sessions struct{ scs *scs.SessionManager }

// NewSessions makes sign-ins kept in store.
func NewSessions(store scs.CtxStore) *Sessions {
	m := scs.New()
	m.Store, m.HashTokenInStore = store, true
	m.IdleTimeout, m.Lifetime = idleLife, absoluteLife
	return &Sessions{m}
}

const (
	plainCookie  = "mangrove"
	secureCookie = "__Host-mangrove"
)

// cookieName: a browser takes the __Host- prefix only together with Secure,
// which plain HTTP cannot have.
func cookieName(r *http.Request) string {
	if r.TLS != nil {
		return secureCookie
	}
	return plainCookie
}

func (s *Sessions) load(r *http.Request) (context.Context, bool, error) {
	c, err := r.Cookie(cookieName(r))
	// Ids are 43 characters; anything long is not worth hashing.
	if err != nil || c.Value == "" || len(c.Value) > 128 {
		return nil, false, nil
	}
	ctx, err := s.scs.Load(r.Context(), c.Value)
	if err != nil {
		return nil, false, err
	}
	return ctx, s.scs.GetInt64(ctx, "user") != 0, nil
}

// UserID answers who is signed in by this request's cookie; 0 is nobody.
func (s *Sessions) UserID(w http.ResponseWriter, r *http.Request) (int64, error) {
	ctx, ok, err := s.load(r)
	if err != nil || !ok {
		return 0, err
	}
	id := s.scs.GetInt64(ctx, "user")
	if time.Since(time.Unix(s.scs.GetInt64(ctx, "touched"), 0)) > touchEvery {
		s.scs.Put(ctx, "touched", time.Now().Unix())
		if err := s.commit(ctx, w, r, s.scs.GetBool(ctx, "stay")); err != nil {
			return 0, err
		}
	}
	return id, nil
}

// SignIn begins a sign-in under a new id, ending the one the request came with.
// With stay the cookie outlives the browser.
func (s *Sessions) SignIn(w http.ResponseWriter, r *http.Request, userID int64, stay bool) error {
	if old, ok, err := s.load(r); err == nil && ok {
		if err := s.scs.Destroy(old); err != nil {
			return err
		}
	}
	ctx, err := s.scs.Load(r.Context(), "")
	if err != nil {
		return err
	}
	s.scs.Put(ctx, "user", userID)
	s.scs.Put(ctx, "stay", stay)
	s.scs.Put(ctx, "touched", time.Now().Unix())
	return s.commit(ctx, w, r, stay)
}

// SignOut deletes the sign-in and its cookie.
func (s *Sessions) SignOut(w http.ResponseWriter, r *http.Request) error {
	if ctx, ok, err := s.load(r); err != nil {
		return err
	} else if ok {
		if err := s.scs.Destroy(ctx); err != nil {
			return err
		}
	}
	http.SetCookie(w, s.cookie(r, "", -1))
	return nil
}

func (s *Sessions) commit(ctx context.Context, w http.ResponseWriter, r *http.Request, stay bool) error {
	token, expires, err := s.scs.Commit(ctx)
	if err != nil {
		return err
	}
	age := 0
	if stay {
		age = int(time.Until(expires).Seconds())
	}
	http.SetCookie(w, s.cookie(r, token, age))
	return nil
}

func (s *Sessions) cookie(r *http.Request, value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: cookieName(r), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode,
	}
}
