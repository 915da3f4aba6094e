package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mangrove/internal/fault"
	"mangrove/reader/internal/account"
)

func identity(subject string) account.Identity {
	return account.Identity{Issuer: "https://auth.example.com", Subject: subject}
}

// atOnce runs many at once and counts those that report true.
func atOnce(n int, one func(n int) bool) int {
	var all sync.WaitGroup
	var won atomic.Int32
	for i := range n {
		all.Go(func() {
			if one(i) {
				won.Add(1)
			}
		})
	}
	all.Wait()
	return int(won.Load())
}

func TestOnePersonForAnIdentity(t *testing.T) {
	t.Parallel()
	s, ctx := open(t), context.Background()
	mo, ada := claimed(t, s, "mo"), invited(t, s, "ada", account.Member)
	// Both link the same at once: one has it, the other is told.
	people := []account.User{mo, ada}
	if n := atOnce(8, func(n int) bool {
		err := s.Link(ctx, people[n%2].ID, identity("a"))
		if err != nil && !errors.Is(err, account.ErrIdentityTaken) {
			t.Error(err)
		}
		return err == nil
	}); n != 4 {
		t.Errorf("%d of 8 were linked, want the four of one person", n)
	}
	u, disabled, err := s.UserByIdentity(ctx, identity("a"))
	if err != nil || disabled {
		t.Fatal(u, disabled, err)
	}
	if err := s.Link(ctx, u.ID, identity("b")); !errors.Is(err, account.ErrLinked) {
		t.Errorf("a second of the same issuer: %v", err)
	}
	// The same subject of another issuer is somebody else.
	if _, _, err := s.UserByIdentity(ctx, account.Identity{Issuer: "https://other.example.com", Subject: "a"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("another issuer's: %v", err)
	}
	for _, subject := range []string{"", string(make([]byte, 256))} {
		if err := s.Link(ctx, ada.ID, identity(subject)); err == nil {
			t.Errorf("a subject of %d bytes is taken", len(subject))
		}
	}
	if err := s.Remove(ctx, ada.ID); err != nil {
		t.Fatal(err)
	}
	if u.ID == ada.ID {
		if _, _, err := s.UserByIdentity(ctx, identity("a")); !fault.Is(err, fault.NotFound) {
			t.Errorf("the identity of somebody who was removed: %v", err)
		}
	}
}

func TestOneMemberHoweverManyCome(t *testing.T) {
	t.Parallel()
	s, ctx := open(t), context.Background()
	claimed(t, s, "mo")
	accounts, err := account.New(ctx, s, plainHasher{}, "")
	if err != nil {
		t.Fatal(err)
	}
	if n := atOnce(8, func(int) bool {
		_, err := accounts.SignInOrAdmit(ctx, identity("a"), "Mo")
		if err != nil {
			t.Error(err)
		}
		return err == nil
	}); n != 8 {
		t.Errorf("%d of 8 came in", n)
	}
	if n := atOnce(8, func(n int) bool {
		_, err := accounts.SignInOrAdmit(ctx, identity(string(rune('b'+n))), "mo")
		return err == nil
	}); n != 8 {
		t.Errorf("%d of 8 of one name came in", n)
	}
	people, err := s.People(ctx)
	if err != nil || len(people) != 10 {
		t.Errorf("%d people, %v; want Mo and nine members", len(people), err)
	}
	// Who is kept out is not made somebody new.
	u, _, err := s.UserByIdentity(ctx, identity("a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Disable(ctx, u.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := accounts.SignInOrAdmit(ctx, identity("a"), "Mo"); !errors.Is(err, account.ErrDisabled) {
		t.Errorf("a disabled member: %v", err)
	}
	for _, p := range people[1:] {
		if p.Role != account.Member || !p.IssuerOnly || p.Invited {
			t.Errorf("%+v", p)
		}
	}
}

func TestAnInvitationIsSpentOnce(t *testing.T) {
	t.Parallel()
	s, ctx := open(t), context.Background()
	claimed(t, s, "mo")
	hash := account.HashCode("x")
	if _, ok, err := s.Invite(ctx, "Ada", "ada", account.Guest, hash, time.Now().Add(time.Hour)); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if n := atOnce(8, func(n int) bool {
		_, ok, err := s.JoinByIdentity(ctx, "ada", hash, identity(string(rune('a'+n))))
		if err != nil {
			t.Error(err)
		}
		return ok
	}); n != 1 {
		t.Errorf("%d of 8 joined", n)
	}
	// The sign-ins by the issuer end with the link, those by a password stay.
	people, err := s.People(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ada := people[1].User
	for name, method := range map[string]string{"a": account.ByIssuer, "b": account.ByIssuer, "c": account.ByPassword} {
		if err := s.AddSignIn(ctx, account.HashCode(name), ada.ID, name, method, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	keep, _, err := s.SignedIn(ctx, account.HashCode("a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Unlink(ctx, ada.ID, identity("").Issuer, keep.ID); !errors.Is(err, account.ErrOnlyWay) {
		t.Errorf("without a password: %v", err)
	}
	if ins, err := s.SignIns(ctx, ada.ID); err != nil || len(ins) != 3 {
		t.Errorf("a refused unlinking left %d sign-ins, %v", len(ins), err)
	}
	if _, purpose, err := s.SetCode(ctx, ada.ID, hash, time.Now().Add(time.Hour), time.Now().Add(time.Hour)); purpose != account.Reset || err != nil {
		t.Errorf("a code for somebody who came by an issuer is for %q, %v", purpose, err)
	}
	if _, ok, err := s.JoinByIdentity(ctx, "ada", hash, identity("z")); ok || err != nil {
		t.Errorf("a reset is taken for an invitation: %v, %v", ok, err)
	}
	if _, ok, err := s.Redeem(ctx, "ada", hash, "hash"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	for name, method := range map[string]string{"d": account.ByIssuer, "e": account.ByIssuer, "f": account.ByPassword} {
		if err := s.AddSignIn(ctx, account.HashCode(name), ada.ID, name, method, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if keep, _, err = s.SignedIn(ctx, account.HashCode("d")); err != nil || keep.Method != account.ByIssuer {
		t.Fatal(keep, err)
	}
	for range 2 {
		if err := s.Unlink(ctx, ada.ID, identity("").Issuer, keep.ID); err != nil {
			t.Errorf("unlinking: %v", err)
		}
	}
	if ins, err := s.SignIns(ctx, ada.ID); err != nil || len(ins) != 2 {
		t.Errorf("unlinking left %d sign-ins, %v; want this one and the one by password", len(ins), err)
	}
}
