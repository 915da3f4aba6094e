package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/reader/internal/account"
)

// UserByIdentity answers whose an identity is, and whether they are kept out.
func (s *Store) UserByIdentity(ctx context.Context, id account.Identity) (u account.User, disabled bool, err error) {
	err = s.pool.QueryRow(ctx, s.sql.Get("UserByIdentity"), id.Issuer, id.Subject).Scan(&u.ID, &u.Name, &u.Role, &u.CreatedAt, &disabled)
	return u, disabled, wrap("find", "a user", err)
}

// Ways are how a person can sign in.
func (s *Store) Ways(ctx context.Context, userID int64, issuer string) (w account.Ways, err error) {
	err = s.pool.QueryRow(ctx, s.sql.Get("Ways"), userID, issuer).Scan(&w.Password, &w.LinkedAt)
	w.LinkedAt = never(w.LinkedAt)
	return w, wrap("find", "a user", err)
}

// Link links a person with an identity; that it is linked already is no error.
func (s *Store) Link(ctx context.Context, userID int64, id account.Identity) error {
	tag, err := s.pool.Exec(ctx, s.sql.Get("Link"), id.Issuer, id.Subject, userID)
	if err != nil || tag.RowsAffected() == 1 {
		return wrap("link", "an identity", err)
	}
	u, _, err := s.UserByIdentity(ctx, id)
	switch {
	case err == nil && u.ID == userID:
		return nil
	case err == nil:
		return account.ErrIdentityTaken
	case fault.Is(err, fault.NotFound):
		return account.ErrLinked
	}
	return err
}

// Unlink takes the identity of an issuer away from a person with a password, and
// ends the sign-ins by it but keep.
func (s *Store) Unlink(ctx context.Context, userID int64, issuer string, keep int64) error {
	err := s.tx(ctx, "unlink", "an identity", func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, s.sql.Get("Unlink"), userID, issuer)
		if err == nil && tag.RowsAffected() != 1 {
			return errLost
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, s.sql.Get("EndIssuerSignIns"), userID, keep)
		return err
	})
	if !errors.Is(err, errLost) {
		return err
	}
	w, err := s.Ways(ctx, userID, issuer)
	if err == nil && !w.LinkedAt.IsZero() {
		return account.ErrOnlyWay
	}
	return err
}

// InvitationMatches reports whether this is the current invitation of that name.
func (s *Store) InvitationMatches(ctx context.Context, nameKey string, hash []byte) (bool, error) {
	var ok bool
	err := s.pool.QueryRow(ctx, s.sql.Get("InvitationMatches"), nameKey, hash).Scan(&ok)
	return ok, wrap("read", "a code", err)
}

// JoinByIdentity spends an invitation and links the person with an identity.
func (s *Store) JoinByIdentity(ctx context.Context, nameKey string, hash []byte, id account.Identity) (account.User, bool, error) {
	var u account.User
	ok, err := s.withIdentity(ctx, id, func(tx pgx.Tx) (int64, error) {
		err := tx.QueryRow(ctx, s.sql.Get("TakeInvitation"), nameKey, hash).Scan(&u.ID, &u.Name, &u.Role, &u.CreatedAt)
		return u.ID, err
	})
	return u, ok, err
}

// Admit adds a member without a password who has an identity.
func (s *Store) Admit(ctx context.Context, name, nameKey string, id account.Identity) (account.User, bool, error) {
	u := account.User{Name: name, Role: account.Member}
	ok, err := s.withIdentity(ctx, id, func(tx pgx.Tx) (int64, error) {
		err := tx.QueryRow(ctx, s.sql.Get("InsertUser"), name, nameKey, nil, account.Member).Scan(&u.ID, &u.CreatedAt)
		return u.ID, err
	})
	return u, ok, err
}

// withIdentity links the user that who answers, in its transaction: ErrIdentityTaken
// when the identity is somebody's, false when who finds nobody.
func (s *Store) withIdentity(ctx context.Context, id account.Identity, who func(pgx.Tx) (int64, error)) (bool, error) {
	taken := false
	err := s.tx(ctx, "link", "an identity", func(tx pgx.Tx) error {
		userID, err := who(tx)
		if errors.Is(err, pgx.ErrNoRows) {
			return errLost
		}
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, s.sql.Get("Link"), id.Issuer, id.Subject, userID)
		if err == nil && tag.RowsAffected() != 1 {
			taken = true
			return errLost
		}
		return err
	})
	switch {
	case taken:
		return false, account.ErrIdentityTaken
	case errors.Is(err, errLost):
		return false, nil
	}
	return err == nil, err
}
