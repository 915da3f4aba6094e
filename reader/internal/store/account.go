package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/reader/internal/account"
)

// Claim answers the state of the claim.
func (s *Store) Claim(ctx context.Context) (account.Claim, error) {
	var c account.Claim
	err := s.pool.QueryRow(ctx, s.sql.Get("ClaimState")).Scan(&c.Claimed, &c.ExpiresAt)
	return c, wrap("read", "the claim", err)
}

// SetClaimCode stores the digest of a new code; false once claimed.
func (s *Store) SetClaimCode(ctx context.Context, hash []byte, expires time.Time) (bool, error) {
	tag, err := s.pool.Exec(ctx, s.sql.Get("SetClaimCode"), hash, expires)
	return tag.RowsAffected() == 1, wrap("store", "the claim", err)
}

// ClaimCodeMatches reports whether hash is the current code.
func (s *Store) ClaimCodeMatches(ctx context.Context, hash []byte) (bool, error) {
	var ok bool
	err := s.pool.QueryRow(ctx, s.sql.Get("ClaimCodeMatches"), hash).Scan(&ok)
	return ok, wrap("read", "the claim", err)
}

// errLost rolls a claim back that was not the first.
var errLost = errors.New("another claim was first")

// TakeClaim makes the administrator; false when another was first.
func (s *Store) TakeClaim(ctx context.Context, hash []byte, name, nameKey, passwordHash string) (account.User, bool, error) {
	u := account.User{Name: name, Role: account.Administrator}
	err := s.tx(ctx, "claim", "the library", func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, s.sql.Get("InsertUser"), name, nameKey, passwordHash, account.Administrator).Scan(&u.ID, &u.CreatedAt)
		if errors.Is(err, pgx.ErrNoRows) {
			return errLost
		}
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, s.sql.Get("TakeClaim"), u.ID, hash)
		if err == nil && tag.RowsAffected() != 1 {
			return errLost
		}
		return err
	})
	if errors.Is(err, errLost) {
		return account.User{}, false, nil
	}
	return u, err == nil, err
}

// UserByName answers a user and the password hash.
func (s *Store) UserByName(ctx context.Context, nameKey string) (account.User, string, error) {
	var u account.User
	var hash string
	err := s.pool.QueryRow(ctx, s.sql.Get("UserByName"), nameKey).Scan(&u.ID, &u.Name, &u.Role, &u.CreatedAt, &hash)
	return u, hash, wrap("find", "a user", err)
}
