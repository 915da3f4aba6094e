package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/durable"
)

// codeLife is how long a one-time code is good for.
const codeLife = time.Hour

// codeLength is in characters of base 32, five bits each: sixty bits behind a
// rate limit, and still something a person types.
const codeLength = 12

// NewCode makes a one-time code in groups of four, for a person to type.
func NewCode() string {
	text := rand.Text()[:codeLength]
	return text[:4] + "-" + text[4:8] + "-" + text[8:]
}

// HashCode is what is stored of a code. Case, dashes and spaces do not matter.
func HashCode(code string) []byte {
	folded := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, code)
	sum := sha256.Sum256([]byte(folded))
	return sum[:]
}

// KeepCode sees to it that an unclaimed library has a code: a new one at start
// and whenever the last has expired, its digest in the store and the code itself
// in file, for the supervisor to print. It returns when the library is claimed,
// with the file removed, or when ctx ends. The code never reaches a log.
func KeepCode(ctx context.Context, store Store, file string, log *zap.Logger) {
	for {
		wait, done, err := renewCode(ctx, store, file)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.Warn("the claim code could not be renewed", zap.Error(err))
			wait = 5 * time.Second
		case done:
			return
		}
		// A claim is noticed soon, so that a spent code does not lie around.
		for until := time.Now().Add(wait); time.Now().Before(until); {
			select {
			case <-ctx.Done():
				return
			case <-time.After(min(2*time.Second, wait)):
			}
			if c, err := store.Claim(ctx); err == nil && c.Claimed {
				break
			}
		}
	}
}

// renewCode makes a new code, or removes the file of a claimed library.
func renewCode(ctx context.Context, store Store, file string) (wait time.Duration, done bool, err error) {
	c, err := store.Claim(ctx)
	if err != nil {
		return 0, false, err
	}
	if c.Claimed {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, false, durable.Classify("remove", file, err)
		}
		return 0, true, nil
	}
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, false, durable.Classify("create", dir, err)
	}
	code := NewCode()
	// The digest first: a file never names a code that would be refused.
	kept, err := store.SetClaimCode(ctx, HashCode(code), time.Now().Add(codeLife))
	if err != nil {
		return 0, false, err
	}
	if !kept {
		return 0, false, nil
	}
	if err := durable.WriteFile(file, []byte(code+"\n"), 0o600); err != nil {
		return 0, false, err
	}
	return codeLife, false, nil
}
