package account

import (
	"context"
	"crypto/rand"
	"time"
)

// What a code of a person is for, as the database checks it.
const (
	Invitation = "invitation"
	Reset      = "reset"
)

// How long the codes are good for: an invitation waits for somebody to read a
// message, a reset for somebody who asked for it.
const (
	invitationLife = 7 * 24 * time.Hour
	resetLife      = 24 * time.Hour
)

// Person is a user as those who run the library see them.
type Person struct {
	User
	// Invited is a person who has not come yet.
	Invited bool
	// IssuerOnly is one who came through an issuer and has no password.
	IssuerOnly bool
	// DisabledAt is zero for a person who may sign in.
	DisabledAt time.Time
	// UsedAt is the last use of a sign-in that has not ended; zero when none has.
	UsedAt time.Time
	// CodeFor is Invitation or Reset while a code waits, "" otherwise.
	CodeFor     string
	CodeExpires time.Time
	// Follows and Read are what goes with the person: Series followed, chapters
	// with a place in them.
	Follows, Read int
	// Slowed is how long the next sign-in has to wait after too many tries.
	Slowed time.Duration
}

// PeopleStore keeps users. Every change names the state it expects and reports
// false when that is not what it found.
type PeopleStore interface {
	People(ctx context.Context) ([]Person, error)
	// Invite adds a user without a password and the code to choose one; false
	// when the name is taken.
	Invite(ctx context.Context, name, nameKey, role string, hash []byte, expires time.Time) (User, bool, error)
	// SetCode replaces a person's code: an invitation for those who
	// have not come yet, a reset for the others. It answers which, fault.NotFound for
	// nobody who is not disabled.
	SetCode(ctx context.Context, userID int64, hash []byte, invitation, reset time.Time) (User, string, error)
	// CodeMatches reports whether this is the current code of that name.
	CodeMatches(ctx context.Context, nameKey string, hash []byte) (bool, error)
	// Redeem spends a code: the password is set and every sign-in ends.
	Redeem(ctx context.Context, nameKey string, hash []byte, passwordHash string) (User, bool, error)
	// SetRole, Disable and Remove answer ErrLast for the last administrator and
	// ErrChanged when the person is not what the caller saw.
	SetRole(ctx context.Context, userID int64, from, to string) error
	Disable(ctx context.Context, userID int64) error
	Remove(ctx context.Context, userID int64) error
	Enable(ctx context.Context, userID int64) (bool, error)
	// PasswordHash is a user's own; fault.NotFound if none.
	PasswordHash(ctx context.Context, userID int64) (string, error)
	// SetPassword replaces the hash old and ends every sign-in but keep.
	SetPassword(ctx context.Context, userID int64, old, hash string, keep int64) (bool, error)
	// Rename reports false when another has the name.
	Rename(ctx context.Context, userID int64, name, nameKey string) (bool, error)
}

// Invited is a code that was just made. It is shown once; only its digest is kept.
type Invited struct {
	User
	// For is Invitation or Reset.
	For, Code string
	Expires   time.Time
}

// personalCodeLength is in characters of base 32: eighty bits, because these
// wait longer than a claim.
const personalCodeLength = 16

// newPersonalCode makes a code of a person, in groups of four.
func newPersonalCode() string {
	text := rand.Text()[:personalCodeLength]
	return text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:]
}

// People are all users, administrators first.
func (s *Service) People(ctx context.Context) ([]Person, error) {
	people, err := s.store.People(ctx)
	for i := range people {
		if _, key, err := FoldName(people[i].Name); err == nil {
			people[i].Slowed = s.limits.Slowed(key)
		}
	}
	return people, err
}

// Roles are the roles a person can be given, from most to least.
func Roles() []string { return []string{Administrator, Member, Guest} }

func checkRole(role string) error {
	for _, r := range Roles() {
		if r == role {
			return nil
		}
	}
	return ErrRole
}

// Invite adds a person who chooses their own password with the code answered.
func (s *Service) Invite(ctx context.Context, name, role string) (Invited, error) {
	if err := checkRole(role); err != nil {
		return Invited{}, err
	}
	display, key, err := FoldName(name)
	if err != nil {
		return Invited{}, err
	}
	code, expires := newPersonalCode(), time.Now().Add(invitationLife)
	u, free, err := s.store.Invite(ctx, display, key, role, HashCode(code), expires)
	if err != nil {
		return Invited{}, err
	}
	if !free {
		return Invited{}, ErrTaken
	}
	return Invited{u, Invitation, code, expires}, nil
}

// NewCode makes a new code for a person, which replaces the one before. The
// password of before works until the code is used.
func (s *Service) NewCode(ctx context.Context, userID int64) (Invited, error) {
	code, now := newPersonalCode(), time.Now()
	invitation, reset := now.Add(invitationLife), now.Add(resetLife)
	u, purpose, err := s.store.SetCode(ctx, userID, HashCode(code), invitation, reset)
	if err != nil {
		return Invited{}, err
	}
	out := Invited{u, purpose, code, reset}
	if purpose == Invitation {
		out.Expires = invitation
	}
	return out, nil
}

// Redeem lets a person choose their password with a code. peer is who asks, for
// the rate limit alone.
func (s *Service) Redeem(ctx context.Context, peer, code, name, password string) (User, error) {
	if err := s.limits.Claim(peer); err != nil {
		return User{}, err
	}
	_, key, err := FoldName(name)
	if err != nil {
		return User{}, ErrWrongCode
	}
	hash := HashCode(code)
	ok, err := s.store.CodeMatches(ctx, key, hash)
	if err != nil {
		return User{}, err
	}
	if !ok {
		return User{}, ErrWrongCode
	}
	if err := CheckPassword(password, key); err != nil {
		return User{}, err
	}
	encoded, err := s.hasher.Hash(ctx, password)
	if err != nil {
		return User{}, err
	}
	u, ok, err := s.store.Redeem(ctx, key, hash, encoded)
	if err != nil {
		return User{}, err
	}
	if !ok {
		return User{}, ErrWrongCode
	}
	s.limits.ClaimDone(peer)
	return u, nil
}

// SetRole changes what a person may do, from what the caller saw.
func (s *Service) SetRole(ctx context.Context, userID int64, from, to string) error {
	if err := checkRole(to); err != nil {
		return err
	}
	return s.store.SetRole(ctx, userID, from, to)
}

// Disable keeps a person out and ends every sign-in; what is theirs stays.
func (s *Service) Disable(ctx context.Context, userID int64) error {
	return s.store.Disable(ctx, userID)
}

// Enable lets a person in again.
func (s *Service) Enable(ctx context.Context, userID int64) error {
	ok, err := s.store.Enable(ctx, userID)
	if err == nil && !ok {
		return ErrChanged
	}
	return err
}

// Remove removes a person with their follows, places and keys. The caller sees
// to it that the scraper hears of the follows.
func (s *Service) Remove(ctx context.Context, userID int64) error {
	return s.store.Remove(ctx, userID)
}

// ChangePassword sets a new password for a person who knows the old one, and
// signs them out everywhere but here.
func (s *Service) ChangePassword(ctx context.Context, c Caller, peer, old, password string) error {
	_, key, err := FoldName(c.Name)
	if err != nil {
		return err
	}
	// The old password is a guess like any other.
	if err := s.limits.SignIn(peer, key); err != nil {
		return err
	}
	encoded, err := s.store.PasswordHash(ctx, c.ID)
	if err != nil {
		return err
	}
	if len(old) > MaxPassword {
		return ErrWrong
	}
	match, err := s.hasher.Verify(ctx, encoded, old)
	if err != nil {
		return err
	}
	if !match {
		return ErrWrong
	}
	s.limits.SignInDone(peer, key)
	if err := CheckPassword(password, key); err != nil {
		return err
	}
	hash, err := s.hasher.Hash(ctx, password)
	if err != nil {
		return err
	}
	ok, err := s.store.SetPassword(ctx, c.ID, encoded, hash, c.SignIn)
	if err == nil && !ok {
		return ErrChanged
	}
	return err
}

// Rename changes the name a person is shown and signs in by.
func (s *Service) Rename(ctx context.Context, userID int64, name string) error {
	display, key, err := FoldName(name)
	if err != nil {
		return err
	}
	ok, err := s.store.Rename(ctx, userID, display, key)
	if err == nil && !ok {
		return ErrTaken
	}
	return err
}
