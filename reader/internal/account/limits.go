package account

import (
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// The limits of C6. A try takes a token and a success gives it back, so that a
// person who knows the password is never slowed. Waiting always ends.
const (
	// An account has 8 tries, then one each five minutes: 20 in the worst hour.
	accountBurst, accountEvery = 8, 5 * time.Minute
	// A peer has 20, then one each half minute, whatever names it tries.
	peerBurst, peerEvery = 20, 30 * time.Second
	// A code has 8 a peer, and 200 in all, then five a second.
	claimBurst, claimEvery       = 8, time.Minute
	claimAllBurst, claimAllEvery = 200, 200 * time.Millisecond
	// Wrong keys: a peer has 20, then one each half minute. Nobody guesses a key;
	// this keeps a script that has a wrong one from asking all night.
	wrongKeyBurst, wrongKeyEvery = 20, 30 * time.Second
	// maxKept bounds what is remembered; those with a full budget go first.
	maxKept = 10_000
)

// Limits slow down guessing. The zero value is not usable; see NewLimits.
type Limits struct {
	mu       sync.Mutex
	limiters map[string]*rate.Limiter
}

// NewLimits makes limits with every budget full.
func NewLimits() *Limits { return &Limits{limiters: map[string]*rate.Limiter{}} }

// Peer is the part of an address that is limited as one: an IPv4 address or the
// /64 of an IPv6 one, because a machine owns a whole /64.
func Peer(remote string) string {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return "?"
	}
	a := ap.Addr().Unmap().WithZone("")
	if a.Is4() {
		return a.String()
	}
	p, err := a.Prefix(64)
	if err != nil {
		return "?"
	}
	return p.String()
}

// SignIn takes a try from the account and from the peer, or says how long to wait.
func (l *Limits) SignIn(peer, nameKey string) error {
	return l.take(
		budget{"account " + nameKey, accountBurst, accountEvery},
		budget{"peer " + peer, peerBurst, peerEvery})
}

// SignInDone gives the try back.
func (l *Limits) SignInDone(peer, nameKey string) {
	l.give("account " + nameKey)
	l.give("peer " + peer)
}

// Claim takes a try of the one-time code.
func (l *Limits) Claim(peer string) error {
	return l.take(
		budget{"claim " + peer, claimBurst, claimEvery},
		budget{"claims", claimAllBurst, claimAllEvery})
}

// ClaimDone gives the try back.
func (l *Limits) ClaimDone(peer string) { l.give("claim " + peer) }

// Issuer takes a try of signing in with an issuer. It is counted by itself, so
// that whoever changes their mind there keeps their tries of a password here.
func (l *Limits) Issuer(peer string) error {
	return l.take(budget{"issuer " + peer, peerBurst, peerEvery})
}

// IssuerDone gives the try back.
func (l *Limits) IssuerDone(peer string) { l.give("issuer " + peer) }

// WrongKey counts a key that was not known, or says how long to wait before the
// next is looked at. Right keys are not counted: whoever shares an address with
// a broken script is not slowed by it.
func (l *Limits) WrongKey(peer string) error {
	return l.take(budget{"key " + peer, wrongKeyBurst, wrongKeyEvery})
}

// Slowed is how long the next try of an account has to wait; 0 for not at all.
func (l *Limits) Slowed(nameKey string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	lim := l.limiters["account "+nameKey]
	if lim == nil {
		return 0
	}
	missing := 1 - lim.Tokens()
	if missing <= 0 {
		return 0
	}
	return time.Duration(missing * float64(accountEvery))
}

type budget struct {
	name  string
	burst int
	every time.Duration
}

func (l *Limits) take(budgets ...budget) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	var wait time.Duration
	var held []*rate.Reservation
	for _, b := range budgets {
		lim := l.limiters[b.name]
		if lim == nil {
			l.forget(now)
			lim = rate.NewLimiter(rate.Every(b.every), b.burst)
			l.limiters[b.name] = lim
		}
		r := lim.ReserveN(now, 1)
		held = append(held, r)
		wait = max(wait, r.DelayFrom(now))
	}
	if wait == 0 {
		return nil
	}
	for _, r := range held {
		r.CancelAt(now)
	}
	return &TooManyError{wait}
}

// give returns one token: a negative reservation.
func (l *Limits) give(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lim := l.limiters[name]; lim != nil && lim.Tokens() < float64(lim.Burst()) {
		lim.ReserveN(time.Now(), -1)
	}
}

// forget drops limiters whose budget is full again, once there are many. When
// all are in use, the map is full of attackers and the oldest state must go.
func (l *Limits) forget(now time.Time) {
	if len(l.limiters) < maxKept {
		return
	}
	for name, lim := range l.limiters {
		if lim.TokensAt(now) >= float64(lim.Burst()) {
			delete(l.limiters, name)
		}
	}
	for name := range l.limiters {
		if len(l.limiters) < maxKept {
			return
		}
		delete(l.limiters, name)
	}
}

// Costly takes a call of what makes the scraper work (C39): thirty at once, then
// one each two seconds.
func (l *Limits) Costly(userID int64) error {
	return l.take(budget{"costly " + strconv.FormatInt(userID, 10), 30, 2 * time.Second})
}
