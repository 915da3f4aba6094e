package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/reader/internal/account"
)

// AddKey stores a key's digest; false when the person has limit keys already.
func (s *Store) AddKey(ctx context.Context, userID int64, name, scope string, hash []byte, lastSigns string, limit int) (account.Key, bool, error) {
	k := account.Key{Name: name, Scope: scope, LastSigns: lastSigns}
	err := s.pool.QueryRow(ctx, s.sql.Get("AddKey"), userID, name, scope, hash, lastSigns, limit).Scan(&k.ID, &k.CreatedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return account.Key{}, false, nil
	}
	return k, err == nil, wrap("store", "a key", err)
}

// Keys are one person's, newest first.
func (s *Store) Keys(ctx context.Context, userID int64) ([]account.Key, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("Keys"), userID)
	if err != nil {
		return nil, wrap("read", "the keys", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (k account.Key, err error) {
		err = row.Scan(&k.ID, &k.Name, &k.Scope, &k.LastSigns, &k.CreatedAt, &k.UsedAt)
		k.UsedAt = never(k.UsedAt)
		return k, err
	})
	return out, wrap("read", "the keys", err)
}

// RevokeKey removes one of a person's own; false when there is none.
func (s *Store) RevokeKey(ctx context.Context, userID, id int64) (bool, error) {
	tag, err := s.pool.Exec(ctx, s.sql.Get("RevokeKey"), userID, id)
	return tag.RowsAffected() == 1, wrap("remove", "a key", err)
}

// KeyUser answers the key with this digest, and its user.
func (s *Store) KeyUser(ctx context.Context, hash []byte) (account.Key, account.User, error) {
	var k account.Key
	var u account.User
	err := s.pool.QueryRow(ctx, s.sql.Get("KeyUser"), hash).Scan(&k.ID, &k.Name, &k.Scope, &k.LastSigns, &k.CreatedAt, &k.UsedAt, &u.ID, &u.Name, &u.Role, &u.CreatedAt, &u.Language)
	k.UsedAt = never(k.UsedAt)
	return k, u, wrap("find", "a key", err)
}

// TouchKey writes the use of a key down, unless that was done just now.
func (s *Store) TouchKey(ctx context.Context, id int64, unless time.Duration) error {
	_, err := s.pool.Exec(ctx, s.sql.Get("TouchKey"), id, unless.Seconds())
	return wrap("store", "a key", err)
}
