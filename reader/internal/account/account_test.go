package account

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
)

// memory is a Store without a database, for the rules that need none: the claim
// and names. What else a store does is tested on the real one.
type memory struct {
	PeopleStore
	SignInStore
	KeyStore
	IdentityStore
	mu    sync.Mutex
	claim Claim
	code  []byte
	users map[string]User
	hash  map[string]string
}

func newMemory() *memory { return &memory{users: map[string]User{}, hash: map[string]string{}} }

func (m *memory) Claim(context.Context) (Claim, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.claim, nil
}

func (m *memory) SetClaimCode(_ context.Context, hash []byte, expires time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.code, m.claim.ExpiresAt = hash, expires
	return !m.claim.Claimed, nil
}

func (m *memory) ClaimCodeMatches(_ context.Context, hash []byte) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.claim.Claimed && string(hash) == string(m.code), nil
}

func (m *memory) TakeClaim(_ context.Context, hash []byte, name, key, password string) (User, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.claim.Claimed || string(hash) != string(m.code) {
		return User{}, false, nil
	}
	m.claim.Claimed = true
	u := User{ID: 1, Name: name, Role: Administrator}
	m.users[key], m.hash[key] = u, password
	return u, true, nil
}

func (m *memory) UserByName(_ context.Context, key string) (User, string, error) {
	u, ok := m.users[key]
	if !ok {
		return u, "", fault.New(fault.NotFound, "find", "a user", nil)
	}
	return u, m.hash[key], nil
}

// counting is the real hasher with a count of what it was asked.
type counting struct {
	Hasher
	verified []string
}

func (c *counting) Verify(ctx context.Context, encoded, password string) (bool, error) {
	c.verified = append(c.verified, encoded)
	return c.Hasher.Verify(ctx, encoded, password)
}

func claimed(t *testing.T) (*Service, *counting) {
	t.Helper()
	m, h := newMemory(), &counting{Hasher: NewArgon()}
	s, err := New(context.Background(), m, h, "")
	if err != nil {
		t.Fatal(err)
	}
	m.code = HashCode("ABCD-EFGH-JKLM")
	if _, err := s.Claim(context.Background(), "p", " abcd efgh jklm", "Mo", "a good sentence"); err != nil {
		t.Fatal(err)
	}
	return s, h
}

func TestUnknownNamesCostAsMuch(t *testing.T) {
	t.Parallel()
	s, h := claimed(t)
	for _, tt := range []struct {
		name, user, password string
		dummy                bool
		want                 error
	}{
		{"right", "mo", "a good sentence", false, nil},
		{"another case", "  MO ", "a good sentence", false, nil},
		{"wrong password", "mo", "another sentence", false, ErrWrong},
		{"unknown name", "ada", "a good sentence", true, ErrWrong},
		{"no name", "", "a good sentence", true, ErrWrong},
		{"huge password", "mo", strings.Repeat("x", 64<<10), false, ErrWrong},
	} {
		h.verified = nil
		_, err := s.SignIn(context.Background(), "p", tt.user, tt.password)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
		if len(h.verified) != 1 || (h.verified[0] == s.dummy) != tt.dummy {
			t.Errorf("%s: hashed %d times, against the dummy: %v", tt.name, len(h.verified), len(h.verified) == 1 && h.verified[0] == s.dummy)
		}
	}
}

func TestClaimRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, code, user, password string
		want                       error
	}{
		{"wrong code", "AAAA-AAAA-AAAA", "mo", "a good sentence", ErrWrongCode},
		{"no code", "", "mo", "a good sentence", ErrWrongCode},
		{"no name", "ABCD-EFGH-JKLM", "  ", "a good sentence", ErrName},
		{"invisible name", "ABCD-EFGH-JKLM", "mo\u202e", "a good sentence", ErrName},
		{"7 bytes", "ABCD-EFGH-JKLM", "mo", "1234567", ErrShort},
		{"1,025 bytes", "ABCD-EFGH-JKLM", "mo", strings.Repeat("ab", 512) + "c", ErrLong},
		{"common", "ABCD-EFGH-JKLM", "mo", "Password123", ErrCommon},
		{"own name", "ABCD-EFGH-JKLM", "Mangrove Mo", "mangrove mo", ErrCommon},
		{"1,024 bytes", "ABCD-EFGH-JKLM", "mo", strings.Repeat("a good sentence ", 64), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newMemory()
			m.code = HashCode("ABCD-EFGH-JKLM")
			s, err := New(context.Background(), m, NewArgon(), "")
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Claim(context.Background(), "p", tt.code, tt.user, tt.password)
			if !errors.Is(err, tt.want) || (err == nil) != m.claim.Claimed {
				t.Errorf("got %v, claimed %v; want %v", err, m.claim.Claimed, tt.want)
			}
		})
	}
}

func TestFoldName(t *testing.T) {
	t.Parallel()
	for a, b := range map[string]string{
		"Mo": "mo", " Mo ": "MO", "Ｍｏ": "mo", "re\u0301my": "Rémy", "two  words": "Two Words", "ﬁn": "FIN", "Straße": "STRAßE",
	} {
		_, ka, err := FoldName(a)
		if err != nil {
			t.Errorf("%q: %v", a, err)
		}
		if _, kb, _ := FoldName(b); ka != kb {
			t.Errorf("%q has key %q, %q has %q", a, ka, b, kb)
		}
		if _, again, _ := FoldName(ka); again != ka {
			t.Errorf("the key %q of %q folds on to %q", ka, a, again)
		}
	}
	for _, name := range []string{"", " ", "\x00", "a\u200bb", strings.Repeat("x", 41), "\xff"} {
		if _, _, err := FoldName(name); !errors.Is(err, ErrName) {
			t.Errorf("%q: got %v, want %v", name, err, ErrName)
		}
	}
}

func TestHashIsReadBackStrictly(t *testing.T) {
	t.Parallel()
	a, ctx := NewArgon(), context.Background()
	encoded, err := a.Hash(ctx, "пароль é")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(encoded, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("got %s", encoded)
	}
	if ok, err := a.Verify(ctx, encoded, "пароль é"); !ok || err != nil {
		t.Errorf("its own password: %v, %v", ok, err)
	}
	if ok, _ := a.Verify(ctx, encoded, "пароль e\u0301"); ok {
		t.Error("a password is taken verbatim, and here another spelling matched")
	}
	for _, bad := range []string{"", "x", "$2a$10$abc", "$argon2id$v=19$m=0,t=2,p=1$YQ$YQ", "$argon2id$v=19$m=99999999,t=2,p=1$YQ$YQ", "$argon2id$v=19$m=19456,t=2,p=1$YQ$"} {
		if ok, err := a.Verify(ctx, bad, "x"); ok || err == nil {
			t.Errorf("%q: got %v, %v, want an error", bad, ok, err)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLimits()
		tries := 0
		for start := time.Now(); time.Since(start) < time.Hour; time.Sleep(time.Second) {
			// A thousand addresses against one account.
			if l.SignIn(fmt.Sprint("peer ", tries), "mo") == nil {
				tries++
			}
		}
		if tries > 20 {
			t.Errorf("%d tries of one account in an hour, want at most 20", tries)
		}
		var tooMany *TooManyError
		_ = l.SignIn("another", "mo") // the hour's last, if it has come back just now
		if err := l.SignIn("another", "mo"); !errors.As(err, &tooMany) || tooMany.Wait <= 0 || tooMany.Wait > accountEvery {
			t.Errorf("got %v, want a wait of at most %v", err, accountEvery)
		}
		if err := l.SignIn("another", "ada"); err != nil {
			t.Errorf("another account is slowed too: %v", err)
		}
		// A person who knows the password is never slowed.
		for range 100 {
			if err := l.SignIn("home", "kim"); err != nil {
				t.Fatal(err)
			}
			l.SignInDone("home", "kim")
		}
	})
}

func TestPeer(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"192.0.2.7:1": "192.0.2.7", "[::ffff:192.0.2.7]:1": "192.0.2.7", "[2001:db8:1:2:3::4]:9": "2001:db8:1:2::/64", "[fe80::1%eth0]:9": "fe80::/64", "pipe": "?",
	} {
		if got := Peer(remote); got != want {
			t.Errorf("Peer(%q) = %q, want %q", remote, got, want)
		}
	}
}

func TestKeepCode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, file := newMemory(), filepath.Join(t.TempDir(), "reader", "claim-code")
		done := make(chan struct{})
		go func() { KeepCode(t.Context(), m, file, zap.NewNop()); close(done) }()
		synctest.Wait()
		first, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
			t.Errorf("the file has mode %v", info.Mode())
		}
		if info, _ := os.Stat(filepath.Dir(file)); info.Mode().Perm() != 0o700 {
			t.Errorf("its folder has mode %v", info.Mode())
		}
		if ok, _ := m.ClaimCodeMatches(t.Context(), HashCode(string(first))); !ok {
			t.Error("the file holds another code than the store")
		}
		time.Sleep(codeLife + 3*time.Second)
		synctest.Wait()
		second, _ := os.ReadFile(file)
		if string(second) == string(first) {
			t.Error("the code was not renewed when it expired")
		}
		m.mu.Lock()
		m.claim.Claimed = true
		m.mu.Unlock()
		time.Sleep(3 * time.Second)
		<-done
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after the claim the file is still there: %v", err)
		}
	})
}
