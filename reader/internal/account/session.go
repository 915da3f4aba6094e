package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"time"

	"mangrove/internal/fault"
	"mangrove/reader/internal/forwarded"
)

// The lives of a sign-in: idle, and in all.
const (
	idleLife     = 7 * 24 * time.Hour
	absoluteLife = 30 * 24 * time.Hour
	// touchEvery is how often use of a sign-in or a key is written down. Not each
	// time: a page turned would be a row written.
	touchEvery = time.Minute
)

// SignIn is one browser that is signed in.
type SignIn struct {
	ID     int64
	Device string
	// Method is ByPassword or ByIssuer.
	Method    string
	CreatedAt time.Time
	// UsedAt is exact to a minute.
	UsedAt time.Time
	// ExpiresAt is when it ends unless it is used before.
	ExpiresAt time.Time
}

// SignInStore keeps sign-ins. It sees digests of their ids only.
type SignInStore interface {
	AddSignIn(ctx context.Context, hash []byte, userID int64, device, method string, expires time.Time) error
	// SignedIn answers a sign-in that has not ended and its user, who is not
	// disabled; fault.NotFound otherwise.
	SignedIn(ctx context.Context, hash []byte) (SignIn, User, error)
	// TouchSignIn writes that it is used now, unless its last use lies within
	// the time given, and moves its end.
	TouchSignIn(ctx context.Context, id int64, unless time.Duration, expires time.Time) error
	DropSignIn(ctx context.Context, hash []byte) error
	// SignIns are those of one person, last used first.
	SignIns(ctx context.Context, userID int64) ([]SignIn, error)
	// EndSignIn ends one of a person's own; false when there is none.
	EndSignIn(ctx context.Context, userID, id int64) (bool, error)
	// EndOtherSignIns ends all of a person's but one.
	EndOtherSignIns(ctx context.Context, userID, keep int64) error
}

// How a sign-in was begun, as the database checks it.
const (
	ByPassword = "password"
	ByIssuer   = "issuer"
)

const (
	plainCookie = "mangrove"
	// A browser takes the __Host- prefix only together with Secure and the path
	// "/", and __Secure- with Secure alone.
	hostPrefix   = "__Host-"
	securePrefix = "__Secure-"
)

// cookiePath is the path attribute for a library under basePath.
func cookiePath(basePath string) string {
	if basePath == "" {
		return "/"
	}
	return basePath
}

func (s *Service) cookieName(r *http.Request, plain string) string {
	switch {
	case !forwarded.Secure(r):
		return plain
	case s.cookiePath == "/":
		return hostPrefix + plain
	}
	return securePrefix + plain
}

// carried is what a request carries in a cookie of ours, "" for nothing. Ids are
// 52 characters; anything long is not worth hashing.
func (s *Service) carried(r *http.Request, plain string) string {
	c, err := r.Cookie(s.cookieName(r, plain))
	if err != nil || len(c.Value) > 128 {
		return ""
	}
	return c.Value
}

// digest is what is stored of a secret that is random enough to need no salt.
func digest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// fromCookie answers whose sign-in the request's cookie is; ok is false for nobody.
func (s *Service) fromCookie(r *http.Request) (c Caller, ok bool, err error) {
	id := s.carried(r, plainCookie)
	if id == "" {
		return Caller{}, false, nil
	}
	in, u, err := s.store.SignedIn(r.Context(), digest(id))
	if fault.Is(err, fault.NotFound) {
		return Caller{}, false, nil
	}
	if err != nil {
		return Caller{}, false, err
	}
	if now := time.Now(); now.Sub(in.UsedAt) >= touchEvery {
		expires := now.Add(idleLife)
		if last := in.CreatedAt.Add(absoluteLife); expires.After(last) {
			expires = last
		}
		if err := s.store.TouchSignIn(r.Context(), in.ID, touchEvery, expires); err != nil {
			return Caller{}, false, err
		}
	}
	return Caller{User: u, Scope: Whole, SignIn: in.ID}, true, nil
}

// Begin begins a sign-in under a new id, ending the one the request came with.
// With stay the cookie outlives the browser; the sign-in itself ends by idleness
// or age all the same.
func (s *Service) Begin(w http.ResponseWriter, r *http.Request, userID int64, stay bool) error {
	return s.begin(w, r, userID, stay, ByPassword)
}

// BeginByIssuer is Begin for somebody whom an issuer vouches for.
func (s *Service) BeginByIssuer(w http.ResponseWriter, r *http.Request, userID int64, stay bool) error {
	return s.begin(w, r, userID, stay, ByIssuer)
}

func (s *Service) begin(w http.ResponseWriter, r *http.Request, userID int64, stay bool, method string) error {
	if err := s.drop(r); err != nil {
		return err
	}
	id := rand.Text() + rand.Text()
	if err := s.store.AddSignIn(r.Context(), digest(id), userID, Device(r.UserAgent()), method, time.Now().Add(idleLife)); err != nil {
		return err
	}
	age := 0
	if stay {
		age = int(absoluteLife / time.Second)
	}
	http.SetCookie(w, s.cookie(r, plainCookie, id, age))
	return nil
}

// End ends the request's sign-in and takes its cookie back.
func (s *Service) End(w http.ResponseWriter, r *http.Request) error {
	if err := s.drop(r); err != nil {
		return err
	}
	http.SetCookie(w, s.cookie(r, plainCookie, "", -1))
	return nil
}

func (s *Service) drop(r *http.Request) error {
	id := s.carried(r, plainCookie)
	if id == "" {
		return nil
	}
	return s.store.DropSignIn(r.Context(), digest(id))
}

func (s *Service) cookie(r *http.Request, plain, value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: s.cookieName(r, plain), Value: value, Path: s.cookiePath, MaxAge: maxAge,
		HttpOnly: true, Secure: forwarded.Secure(r), SameSite: http.SameSiteLaxMode,
	}
}

// SignIns are the browsers where a person is signed in, last used first.
func (s *Service) SignIns(ctx context.Context, userID int64) ([]SignIn, error) {
	return s.store.SignIns(ctx, userID)
}

// EndSignIn signs a person out of one of their browsers; one that is signed out
// already is no error.
func (s *Service) EndSignIn(ctx context.Context, userID, id int64) error {
	_, err := s.store.EndSignIn(ctx, userID, id)
	return err
}

// EndOtherSignIns signs a person out everywhere but here.
func (s *Service) EndOtherSignIns(ctx context.Context, userID, keep int64) error {
	return s.store.EndOtherSignIns(ctx, userID, keep)
}
