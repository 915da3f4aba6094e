package account

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"sync"
	"time"

	"mangrove/reader/internal/issuer"
)

// What somebody was sent to an issuer for.
const (
	ToSignIn = "sign in"
	ToJoin   = "join"
	ToLink   = "link"
)

const (
	// attemptLife is how long an answer is waited for: as long as it takes to find
	// a telephone.
	attemptLife = 10 * time.Minute
	// maxAttempts bounds how many wait; the oldest is forgotten for a new one.
	maxAttempts = 10_000
	// attemptCookie binds an attempt to the browser it was begun in.
	attemptCookie = "mangrove-asked"
)

// Invitee is an invitation that was matched and not spent yet.
type Invitee struct {
	nameKey  string
	codeHash []byte
}

// Attempt is somebody who was sent to an issuer and has not come back.
type Attempt struct {
	Question issuer.Question
	// For is ToSignIn, ToJoin or ToLink.
	For string
	// Next is where to go afterwards, Stay whether the cookie outlives the browser.
	Next string
	Stay bool
	// User is who links, Invitee who joins.
	User    int64
	Invitee Invitee
	until   time.Time
}

// attempts wait in memory: with the reader they end, and one begins again.
type attempts struct {
	mu sync.Mutex
	by map[string]Attempt
}

func (as *attempts) add(key string, a Attempt) {
	as.mu.Lock()
	defer as.mu.Unlock()
	if as.by == nil {
		as.by = map[string]Attempt{}
	}
	now := time.Now()
	if len(as.by) >= maxAttempts {
		as.forget(now)
	}
	a.until = now.Add(attemptLife)
	as.by[key] = a
}

// forget removes those that are over, and the oldest if none is.
func (as *attempts) forget(now time.Time) {
	oldest := ""
	for key, a := range as.by {
		if now.After(a.until) {
			delete(as.by, key)
		} else if oldest == "" || a.until.Before(as.by[oldest].until) {
			oldest = key
		}
	}
	if len(as.by) >= maxAttempts {
		delete(as.by, oldest)
	}
}

// take answers an attempt once. A state that is wrong spends nothing: anybody can
// send a browser here with one.
func (as *attempts) take(key, state string) (Attempt, bool) {
	as.mu.Lock()
	defer as.mu.Unlock()
	a, ok := as.by[key]
	if !ok || subtle.ConstantTimeCompare([]byte(a.Question.State), []byte(state)) != 1 {
		return Attempt{}, false
	}
	delete(as.by, key)
	return a, time.Now().Before(a.until)
}

// Await remembers an attempt and binds it to the browser; one that the browser
// began before is over.
func (s *Service) Await(w http.ResponseWriter, r *http.Request, a Attempt) error {
	if err := s.limits.Issuer(Peer(r.RemoteAddr)); err != nil {
		return err
	}
	id := rand.Text() + rand.Text()
	s.attempts.add(string(digest(id)), a)
	http.SetCookie(w, s.cookie(r, attemptCookie, id, int(attemptLife/time.Second)))
	return nil
}

// Awaited answers the attempt that an answer belongs to, this once: ErrOver when
// this browser began none, or another, or too long ago.
func (s *Service) Awaited(w http.ResponseWriter, r *http.Request, state string) (Attempt, error) {
	id := s.carried(r, attemptCookie)
	if id == "" {
		return Attempt{}, ErrOver
	}
	a, ok := s.attempts.take(string(digest(id)), state)
	if !ok {
		return Attempt{}, ErrOver
	}
	http.SetCookie(w, s.cookie(r, attemptCookie, "", -1))
	return a, nil
}

// IssuerDone gives a try back to somebody who was vouched for.
func (s *Service) IssuerDone(r *http.Request) { s.limits.IssuerDone(Peer(r.RemoteAddr)) }
