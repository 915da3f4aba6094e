package account

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The scopes of keys, as the database checks them. Whole is a sign-in's and is
// no key's: only a person at a browser changes passwords, keys and people.
const (
	ReadScope  = "read"
	OPDSScope  = "opds"
	AdminScope = "admin"
	Whole      = "sign-in"
)

// Scopes are the scopes a key can have.
func Scopes() []string { return []string{ReadScope, OPDSScope, AdminScope} }

const (
	maxKeys  = 50
	maxLabel = 60
	// keyMark makes a key that lies around recognisable, for people and for the
	// programs that look for secrets in what others publish.
	keyMark = "mgv_"
)

// Key is a secret of a script or a reading app.
type Key struct {
	ID    int64
	Name  string
	Scope string
	// LastSigns are the last four signs, to recognise it by.
	LastSigns string
	CreatedAt time.Time
	// UsedAt is exact to a minute, zero for never.
	UsedAt time.Time
}

// KeyStore keeps keys. It sees digests only.
type KeyStore interface {
	// AddKey reports false when the person has limit keys already.
	AddKey(ctx context.Context, userID int64, name, scope string, hash []byte, lastSigns string, limit int) (Key, bool, error)
	Keys(ctx context.Context, userID int64) ([]Key, error)
	// RevokeKey removes one of a person's own; false when there is none.
	RevokeKey(ctx context.Context, userID, id int64) (bool, error)
	// KeyUser answers a key and its user, who is not disabled; fault.NotFound
	// otherwise.
	KeyUser(ctx context.Context, hash []byte) (Key, User, error)
	// TouchKey writes that it is used now, unless its last use lies within the
	// time given.
	TouchKey(ctx context.Context, id int64, unless time.Duration) error
}

// newSecret makes a key of 256 random bits. One for a reading app is 125 bits
// (no machine counts that far, either) because people type it into such apps: 25
// letters and digits in groups of five.
func newSecret(scope string) string {
	if scope == OPDSScope {
		text := strings.ToLower(rand.Text())
		return text[:5] + "-" + text[5:10] + "-" + text[10:15] + "-" + text[15:20] + "-" + text[20:25]
	}
	var raw [32]byte
	_, _ = rand.Read(raw[:])
	return keyMark + base64.RawURLEncoding.EncodeToString(raw[:])
}

// hashKey is what is stored of a key. Those that people type may be typed in
// capitals and without dashes.
func hashKey(secret string) []byte {
	if !strings.HasPrefix(secret, keyMark) {
		secret = strings.ToLower(strings.NewReplacer("-", "", " ", "").Replace(secret))
	}
	return digest(secret)
}

// NewKey makes a key of a person. The secret is answered this once and kept
// nowhere.
func (s *Service) NewKey(ctx context.Context, userID int64, name, scope string) (k Key, secret string, err error) {
	known := false
	for _, one := range Scopes() {
		known = known || one == scope
	}
	if !known {
		return Key{}, "", ErrScope
	}
	name = strings.Join(strings.Fields(name), " ")
	if name == "" || !utf8.ValidString(name) || utf8.RuneCountInString(name) > maxLabel || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return Key{}, "", ErrLabel
	}
	secret = newSecret(scope)
	k, ok, err := s.store.AddKey(ctx, userID, name, scope, hashKey(secret), secret[len(secret)-4:], maxKeys)
	if err != nil {
		return Key{}, "", err
	}
	if !ok {
		return Key{}, "", ErrEnough
	}
	return k, secret, nil
}

// Keys are a person's own, newest first.
func (s *Service) Keys(ctx context.Context, userID int64) ([]Key, error) {
	return s.store.Keys(ctx, userID)
}

// RevokeKey ends one of a person's keys at once; one that is gone is no error.
func (s *Service) RevokeKey(ctx context.Context, userID, id int64) error {
	_, err := s.store.RevokeKey(ctx, userID, id)
	return err
}
