// Package account says who a person is: claiming the library with a one-time
// code (READ-3), invitations, signing in, keys, and the rules for names and
// passwords. Authenticate is the one way from a request to a user. It refuses to
// keep a password, a code or a key in any readable form, to tell an unknown name
// from a wrong password, to lock anyone out for good, and to leave a library
// without an administrator. It knows no SQL, and of HTTP only cookies and the
// headers that say who asks.
package account

import (
	"context"
	"errors"
	"time"

	"mangrove/internal/fault"
)

// The roles, as the database checks them.
const (
	Administrator = "administrator"
	Member        = "member"
	Guest         = "guest"
)

// User is a person who may sign in.
type User struct {
	ID        int64
	Name      string
	Role      string
	CreatedAt time.Time
}

// Why an account's work was refused. They are told apart only where telling
// gives nothing away.
var (
	// ErrWrong is a wrong name or password, and nothing says which.
	ErrWrong = errors.New("the name or the password is wrong")
	// ErrWrongCode is a code that is wrong, spent or expired.
	ErrWrongCode = errors.New("the code is wrong or expired")
	// ErrClaimed is a claim of a library that has its administrator.
	ErrClaimed = errors.New("the library is claimed")
	// ErrName is a name that cannot be used.
	ErrName = errors.New("the name is empty, too long or holds invisible characters")
	// ErrShort, ErrLong, ErrCommon and ErrGuessable are passwords that are refused.
	ErrShort     = errors.New("the password is shorter than 8 bytes")
	ErrLong      = errors.New("the password is longer than 1,024 bytes")
	ErrCommon    = errors.New("the password is one of the most common")
	ErrGuessable = errors.New("the password follows a rule that guessers know")
	// ErrTaken is a name that somebody else has.
	ErrTaken = errors.New("the name is taken")
	// ErrLast is a change that would leave nobody to run the library.
	ErrLast = errors.New("the last administrator stays one")
	// ErrChanged is a change of what somebody else has changed meanwhile.
	ErrChanged = errors.New("somebody else has changed this meanwhile")
	// ErrRole and ErrScope are words that are no role and no scope.
	ErrRole  = errors.New("there is no such role")
	ErrScope = errors.New("there is no such scope")
	// ErrLabel is a key's name that cannot be used.
	ErrLabel = errors.New("the name is empty or too long")
	// ErrStranger is somebody whom an issuer vouches for and nobody here knows.
	ErrStranger = errors.New("nobody here is linked with this identity")
	// ErrDisabled is a person who is kept out, told to that person alone.
	ErrDisabled = errors.New("the person is disabled")
	// ErrIdentityTaken is an identity that somebody else here is linked with.
	ErrIdentityTaken = errors.New("somebody else is linked with this identity")
	// ErrLinked is a person who is linked with another identity of the issuer.
	ErrLinked = errors.New("the person is linked with another identity")
	// ErrOnlyWay is an identity that is the only way to sign in.
	ErrOnlyWay = errors.New("there is no password to sign in with instead")
	// ErrOver is an answer of an issuer that nothing here waits for.
	ErrOver = errors.New("nothing waits for this answer in this browser")
	// ErrEnough is one more key than a person may have.
	ErrEnough = errors.New("there are enough keys")
)

// TooManyError says how long to wait before the next try.
type TooManyError struct{ Wait time.Duration }

func (e *TooManyError) Error() string { return "too many tries; wait " + e.Wait.String() }

// Claim is the state of the one row that decides who is first.
type Claim struct {
	Claimed   bool
	ExpiresAt time.Time
}

// Store keeps what this package knows.
type Store interface {
	ClaimStore
	PeopleStore
	SignInStore
	KeyStore
	IdentityStore
}

// ClaimStore keeps the claim and finds users.
type ClaimStore interface {
	Claim(ctx context.Context) (Claim, error)
	// SetClaimCode stores the digest of a new code; it reports false once claimed.
	SetClaimCode(ctx context.Context, hash []byte, expires time.Time) (bool, error)
	// ClaimCodeMatches reports whether hash is the current, unexpired code.
	ClaimCodeMatches(ctx context.Context, hash []byte) (bool, error)
	// TakeClaim makes the administrator in one transaction whose one UPDATE
	// decides; it reports false when another was first.
	TakeClaim(ctx context.Context, hash []byte, name, nameKey, passwordHash string) (User, bool, error)
	// UserByName answers the user and the password hash; fault.NotFound if none
	// who may sign in.
	UserByName(ctx context.Context, nameKey string) (User, string, error)
}

// Hasher hashes and compares passwords, slowly on purpose.
type Hasher interface {
	Hash(ctx context.Context, password string) (string, error)
	// Verify reports whether password belongs to the encoded hash.
	Verify(ctx context.Context, encoded, password string) (bool, error)
}

// Service is the accounts of one library.
type Service struct {
	store  Store
	hasher Hasher
	limits *Limits
	// dummy is verified against for unknown names, so that they cost as much
	// time as known ones.
	dummy string
	// attempts wait for the answer of an issuer.
	attempts attempts
	// cookiePath is where cookies are sent: the path the library lives under.
	cookiePath string
}

// New makes the service for a library that lives under basePath, "" for the
// root. It hashes once, for the dummy.
func New(ctx context.Context, store Store, hasher Hasher, basePath string) (*Service, error) {
	dummy, err := hasher.Hash(ctx, "a password that nobody has")
	if err != nil {
		return nil, err
	}
	return &Service{store: store, hasher: hasher, limits: NewLimits(), dummy: dummy, cookiePath: cookiePath(basePath)}, nil
}

// Claimed reports whether the library has its administrator.
func (s *Service) Claimed(ctx context.Context) (bool, error) {
	c, err := s.store.Claim(ctx)
	return c.Claimed, err
}

// Claim makes the first person the administrator. peer is who asks, for the
// rate limit alone.
func (s *Service) Claim(ctx context.Context, peer, code, name, password string) (User, error) {
	if err := s.limits.Claim(peer); err != nil {
		return User{}, err
	}
	c, err := s.store.Claim(ctx)
	if err != nil {
		return User{}, err
	}
	if c.Claimed {
		return User{}, ErrClaimed
	}
	hash := HashCode(code)
	ok, err := s.store.ClaimCodeMatches(ctx, hash)
	if err != nil {
		return User{}, err
	}
	if !ok {
		return User{}, ErrWrongCode
	}
	display, key, err := FoldName(name)
	if err != nil {
		return User{}, err
	}
	if err := CheckPassword(password, key); err != nil {
		return User{}, err
	}
	encoded, err := s.hasher.Hash(ctx, password)
	if err != nil {
		return User{}, err
	}
	user, won, err := s.store.TakeClaim(ctx, hash, display, key, encoded)
	if err != nil {
		return User{}, err
	}
	if !won {
		return User{}, ErrClaimed
	}
	s.limits.ClaimDone(peer)
	return user, nil
}

// SignIn answers the user whose name and password these are.
func (s *Service) SignIn(ctx context.Context, peer, name, password string) (User, error) {
	_, key, err := FoldName(name)
	if err != nil {
		key = "?"
	}
	if err := s.limits.SignIn(peer, key); err != nil {
		return User{}, err
	}
	user, encoded, err := s.store.UserByName(ctx, key)
	known := err == nil
	if fault.Is(err, fault.NotFound) {
		encoded = s.dummy
	} else if err != nil {
		return User{}, err
	}
	if len(password) > MaxPassword {
		password = password[:MaxPassword]
		known = false
	}
	match, err := s.hasher.Verify(ctx, encoded, password)
	if err != nil {
		return User{}, err
	}
	if !known || !match {
		return User{}, ErrWrong
	}
	s.limits.SignInDone(peer, key)
	return user, nil
}
