package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/reader/internal/account"
)

// AddSignIn stores a sign-in under the digest of its id.
func (s *Store) AddSignIn(ctx context.Context, hash []byte, userID int64, device, method string, expires time.Time) error {
	_, err := s.pool.Exec(ctx, s.sql.Get("AddSignIn"), hash, userID, device, method, expires)
	return wrap("store", "a sign-in", err)
}

// SignedIn answers a sign-in that has not ended, and its user.
func (s *Store) SignedIn(ctx context.Context, hash []byte) (account.SignIn, account.User, error) {
	var in account.SignIn
	var u account.User
	err := s.pool.QueryRow(ctx, s.sql.Get("SignedIn"), hash).Scan(&in.ID, &in.Device, &in.Method, &in.CreatedAt, &in.UsedAt, &in.ExpiresAt, &u.ID, &u.Name, &u.Role, &u.CreatedAt)
	return in, u, wrap("read", "a sign-in", err)
}

// TouchSignIn writes the use of a sign-in down, unless that was done just now.
func (s *Store) TouchSignIn(ctx context.Context, id int64, unless time.Duration, expires time.Time) error {
	_, err := s.pool.Exec(ctx, s.sql.Get("TouchSignIn"), id, unless.Seconds(), expires)
	return wrap("store", "a sign-in", err)
}

// DropSignIn removes a sign-in; none is no error.
func (s *Store) DropSignIn(ctx context.Context, hash []byte) error {
	_, err := s.pool.Exec(ctx, s.sql.Get("DropSignIn"), hash)
	return wrap("remove", "a sign-in", err)
}

// SignIns are one person's, last used first.
func (s *Store) SignIns(ctx context.Context, userID int64) ([]account.SignIn, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("SignIns"), userID)
	if err != nil {
		return nil, wrap("read", "the sign-ins", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (in account.SignIn, err error) {
		err = row.Scan(&in.ID, &in.Device, &in.Method, &in.CreatedAt, &in.UsedAt, &in.ExpiresAt)
		return in, err
	})
	return out, wrap("read", "the sign-ins", err)
}

// EndSignIn ends one of a person's own; false when there is none.
func (s *Store) EndSignIn(ctx context.Context, userID, id int64) (bool, error) {
	tag, err := s.pool.Exec(ctx, s.sql.Get("EndSignIn"), userID, id)
	return tag.RowsAffected() == 1, wrap("remove", "a sign-in", err)
}

// EndOtherSignIns ends all of a person's but one.
func (s *Store) EndOtherSignIns(ctx context.Context, userID, keep int64) error {
	_, err := s.pool.Exec(ctx, s.sql.Get("EndOtherSignIns"), userID, keep)
	return wrap("remove", "the sign-ins", err)
}

// PruneAccounts removes sign-ins and codes that have ended.
func (s *Store) PruneAccounts(ctx context.Context) error {
	for _, name := range []string{"PruneSignIns", "PruneCodes"} {
		if _, err := s.pool.Exec(ctx, s.sql.Get(name)); err != nil {
			return wrap("prune", "the sign-ins", err)
		}
	}
	return nil
}
