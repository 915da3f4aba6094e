package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"

	"mangrove/internal/fault"
)

// The bounds of a password, in bytes. It is taken verbatim: never trimmed,
// folded or normalised.
const (
	MinPassword = 8
	MaxPassword = 1024
)

// The cost of one hash (OWASP's minimum for argon2id): about 40 ms and 19 MiB.
const (
	argonMemory  = 19456 // KiB
	argonTime    = 2
	argonThreads = 1
	argonSalt    = 16
	argonKey     = 32
)

// Argon is the Hasher in use: argon2id, at most two at a time so that a flood
// of sign-ins cannot take the machine's memory.
type Argon struct{ slots chan struct{} }

// NewArgon makes one.
func NewArgon() *Argon { return &Argon{slots: make(chan struct{}, 2)} }

func (a *Argon) slot(ctx context.Context) (release func(), err error) {
	select {
	case a.slots <- struct{}{}:
		return func() { <-a.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Hash returns a PHC string with a fresh salt.
func (a *Argon) Hash(ctx context.Context, password string) (string, error) {
	release, err := a.slot(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	salt := make([]byte, argonSalt)
	_, _ = rand.Read(salt)
	key := argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, argonKey)
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
		b64.EncodeToString(salt), b64.EncodeToString(key)), nil
}

// Verify hashes password with the salt and cost that encoded names and compares
// in constant time. A string it cannot read is an error, never a match.
func (a *Argon) Verify(ctx context.Context, encoded, password string) (bool, error) {
	var version, memory, time, threads uint32
	parts := strings.Split(encoded, "$")
	bad := fault.Newf(fault.Unknown, "read", "a stored password hash", "not an argon2id string")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, bad
	}
	if _, err := fmt.Sscanf(parts[2], "v=%d", &version); err != nil || version != argon2.Version {
		return false, bad
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &time, &threads); err != nil ||
		memory == 0 || memory > 1<<20 || time == 0 || time > 16 || threads == 0 || threads > 16 {
		return false, bad
	}
	b64 := base64.RawStdEncoding
	salt, err1 := b64.DecodeString(parts[4])
	key, err2 := b64.DecodeString(parts[5])
	if err1 != nil || err2 != nil || len(key) == 0 {
		return false, bad
	}
	release, err := a.slot(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	got := argon2.IDKey([]byte(password), salt, time, memory, uint8(threads), uint32(len(key)))
	return subtle.ConstantTimeCompare(got, key) == 1, nil
}
