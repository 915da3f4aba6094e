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

// User answers one user.
func (s *Store) User(ctx context.Context, id int64) (account.User, error) {
	var u account.User
	err := s.pool.QueryRow(ctx, s.sql.Get("User"), id).Scan(&u.ID, &u.Name, &u.Role, &u.CreatedAt)
	return u, wrap("find", "a user", err)
}

// Sessions is the table of sign-ins, as the session library wants it. The
// library hashes the ids before they come here.
type Sessions struct{ s *Store }

// Sessions answers the table of sign-ins.
func (s *Store) Sessions() Sessions { return Sessions{s} }

// FindCtx answers the data of a live sign-in.
func (t Sessions) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	var data []byte
	err := t.s.pool.QueryRow(ctx, t.s.sql.Get("FindSession"), token).Scan(&data)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	return data, err == nil, wrap("read", "a sign-in", err)
}

// CommitCtx stores a sign-in.
func (t Sessions) CommitCtx(ctx context.Context, token string, data []byte, expires time.Time) error {
	_, err := t.s.pool.Exec(ctx, t.s.sql.Get("SaveSession"), token, data, expires)
	return wrap("store", "a sign-in", err)
}

// DeleteCtx removes a sign-in; none is no error.
func (t Sessions) DeleteCtx(ctx context.Context, token string) error {
	_, err := t.s.pool.Exec(ctx, t.s.sql.Get("DeleteSession"), token)
	return wrap("remove", "a sign-in", err)
}

// Find is FindCtx without a context.
func (t Sessions) Find(token string) ([]byte, bool, error) {
	return t.FindCtx(context.Background(), token)
}

// Commit is CommitCtx without a context.
func (t Sessions) Commit(token string, data []byte, expires time.Time) error {
	return t.CommitCtx(context.Background(), token, data, expires)
}

// Delete is DeleteCtx without a context.
func (t Sessions) Delete(token string) error { return t.DeleteCtx(context.Background(), token) }

// Prune removes sign-ins that have ended.
func (t Sessions) Prune(ctx context.Context) error {
	_, err := t.s.pool.Exec(ctx, t.s.sql.Get("PruneSessions"))
	return wrap("prune", "the sign-ins", err)
}
