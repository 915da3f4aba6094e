package account

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"strings"
	"time"

	"mangrove/internal/fault"
)

// Identity is who an issuer says somebody is. Nothing else of what it says
// decides anything here: an address of mail changes hands.
type Identity struct{ Issuer, Subject string }

// Ways are how a person can sign in.
type Ways struct {
	Password bool
	// LinkedAt is zero for a person who is not linked with the issuer.
	LinkedAt time.Time
}

// IdentityStore keeps whom issuers vouch for.
type IdentityStore interface {
	// UserByIdentity answers whose it is and whether they are kept out;
	// fault.NotFound for nobody's.
	UserByIdentity(ctx context.Context, id Identity) (u User, disabled bool, err error)
	Ways(ctx context.Context, userID int64, issuer string) (Ways, error)
	// Link answers ErrIdentityTaken when it is somebody else's, and ErrLinked when
	// the person has another of that issuer.
	Link(ctx context.Context, userID int64, id Identity) error
	// Unlink ends every sign-in by the issuer but keep; ErrOnlyWay when the person
	// has no password.
	Unlink(ctx context.Context, userID int64, issuer string, keep int64) error
	// InvitationMatches reports whether this is the current invitation of that name.
	InvitationMatches(ctx context.Context, nameKey string, hash []byte) (bool, error)
	// JoinByIdentity spends an invitation and links; false when it does not match.
	JoinByIdentity(ctx context.Context, nameKey string, hash []byte, id Identity) (User, bool, error)
	// Admit adds a member with this identity; false when the name is taken,
	// ErrIdentityTaken when the identity is.
	Admit(ctx context.Context, name, nameKey string, id Identity) (User, bool, error)
}

// SignInByIdentity answers the user whom an issuer vouches for, ErrStranger if
// there is none.
func (s *Service) SignInByIdentity(ctx context.Context, id Identity) (User, error) {
	u, disabled, err := s.store.UserByIdentity(ctx, id)
	switch {
	case fault.Is(err, fault.NotFound):
		return User{}, ErrStranger
	case err != nil:
		return User{}, err
	case disabled:
		return User{}, ErrDisabled
	}
	return u, nil
}

// SignInOrAdmit is SignInByIdentity, and makes a member of a stranger. proposed
// is a name that the issuer gave; it is nobody's but the new member's.
func (s *Service) SignInOrAdmit(ctx context.Context, id Identity, proposed string) (User, error) {
	u, err := s.SignInByIdentity(ctx, id)
	if !errors.Is(err, ErrStranger) {
		return u, err
	}
	for _, name := range proposals(proposed) {
		display, key, err := FoldName(name)
		if err != nil {
			continue
		}
		u, free, err := s.store.Admit(ctx, display, key, id)
		if errors.Is(err, ErrIdentityTaken) {
			// The same person came twice at once.
			return s.SignInByIdentity(ctx, id)
		}
		if err != nil || free {
			return u, err
		}
	}
	return User{}, ErrTaken
}

// maxSame is how many of one name are told apart by a number.
const maxSame = 20

// proposals are the names to try for somebody new, the last of them free.
func proposals(proposed string) []string {
	// Where the name is an address of mail, its owner need not be told to everybody.
	proposed, _, _ = strings.Cut(proposed, "@")
	base := []rune(strings.Join(strings.Fields(proposed), " "))
	base = base[:min(len(base), maxName-3)]
	if _, _, err := FoldName(string(base)); err != nil {
		base = []rune("Reader")
	}
	out := []string{string(base)}
	for n := 2; n <= maxSame; n++ {
		out = append(out, string(base)+" "+strconv.Itoa(n))
	}
	return append(out, "Reader "+rand.Text()[:8])
}

// CheckInvitation answers whether a name and an invitation belong together,
// before somebody is sent to an issuer with them. peer is who asks, for the rate
// limit alone.
func (s *Service) CheckInvitation(ctx context.Context, peer, code, name string) (Invitee, error) {
	if err := s.limits.Claim(peer); err != nil {
		return Invitee{}, err
	}
	_, key, err := FoldName(name)
	if err != nil {
		return Invitee{}, ErrWrongCode
	}
	in := Invitee{key, HashCode(code)}
	ok, err := s.store.InvitationMatches(ctx, in.nameKey, in.codeHash)
	if err != nil {
		return Invitee{}, err
	}
	if !ok {
		return Invitee{}, ErrWrongCode
	}
	s.limits.ClaimDone(peer)
	return in, nil
}

// JoinByIdentity lets an invited person in whom an issuer vouches for.
func (s *Service) JoinByIdentity(ctx context.Context, in Invitee, id Identity) (User, error) {
	u, ok, err := s.store.JoinByIdentity(ctx, in.nameKey, in.codeHash, id)
	if err == nil && !ok {
		return User{}, ErrWrongCode
	}
	return u, err
}

// Ways are how a person can sign in; issuer is the one that is set, or "".
func (s *Service) Ways(ctx context.Context, userID int64, issuer string) (Ways, error) {
	return s.store.Ways(ctx, userID, issuer)
}

// Link links a person with an identity.
func (s *Service) Link(ctx context.Context, userID int64, id Identity) error {
	return s.store.Link(ctx, userID, id)
}

// Unlink takes the link with an issuer away, and ends what was signed in by it
// but here.
func (s *Service) Unlink(ctx context.Context, c Caller, issuer string) error {
	return s.store.Unlink(ctx, c.ID, issuer, c.SignIn)
}
