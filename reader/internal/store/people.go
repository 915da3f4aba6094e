package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"mangrove/reader/internal/account"
)

// People are all users with what belongs to them.
func (s *Store) People(ctx context.Context) ([]account.Person, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("People"))
	if err != nil {
		return nil, wrap("read", "the people", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p account.Person, err error) {
		err = row.Scan(&p.ID, &p.Name, &p.Role, &p.CreatedAt, &p.Invited, &p.IssuerOnly, &p.DisabledAt, &p.UsedAt, &p.CodeFor, &p.CodeExpires, &p.Follows, &p.Read)
		for _, t := range []*time.Time{&p.DisabledAt, &p.UsedAt, &p.CodeExpires} {
			*t = never(*t)
		}
		return p, err
	})
	return out, wrap("read", "the people", err)
}

// never turns the epoch, which stands for NULL in a row, into the zero time.
func never(t time.Time) time.Time {
	if t.Unix() == 0 {
		return time.Time{}
	}
	return t
}

// Invite adds a user without a password, and the code to choose one.
func (s *Store) Invite(ctx context.Context, name, nameKey, role string, hash []byte, expires time.Time) (account.User, bool, error) {
	u := account.User{Name: name, Role: role}
	err := s.tx(ctx, "invite", "a person", func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, s.sql.Get("InsertUser"), name, nameKey, nil, role).Scan(&u.ID, &u.CreatedAt)
		if errors.Is(err, pgx.ErrNoRows) {
			return errLost
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, s.sql.Get("SaveCode"), u.ID, account.Invitation, hash, expires)
		return err
	})
	if errors.Is(err, errLost) {
		return account.User{}, false, nil
	}
	return u, err == nil, err
}

// SetCode replaces a person's code; what it is for is decided by whether they
// have come yet.
func (s *Store) SetCode(ctx context.Context, userID int64, hash []byte, invitation, reset time.Time) (account.User, string, error) {
	var u account.User
	purpose := account.Reset
	err := s.tx(ctx, "make", "a code", func(tx pgx.Tx) error {
		var invited bool
		if err := tx.QueryRow(ctx, s.sql.Get("UserForCode"), userID).Scan(&u.ID, &u.Name, &u.Role, &u.CreatedAt, &invited); err != nil {
			return err
		}
		expires := reset
		if invited {
			purpose, expires = account.Invitation, invitation
		}
		_, err := tx.Exec(ctx, s.sql.Get("SaveCode"), userID, purpose, hash, expires)
		return err
	})
	return u, purpose, err
}

// CodeMatches reports whether this is the current code of that name.
func (s *Store) CodeMatches(ctx context.Context, nameKey string, hash []byte) (bool, error) {
	var ok bool
	err := s.pool.QueryRow(ctx, s.sql.Get("CodeMatches"), nameKey, hash).Scan(&ok)
	return ok, wrap("read", "a code", err)
}

// Redeem spends a code: the password is set, and every sign-in of before ends.
func (s *Store) Redeem(ctx context.Context, nameKey string, hash []byte, passwordHash string) (account.User, bool, error) {
	var u account.User
	err := s.tx(ctx, "redeem", "a code", func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, s.sql.Get("TakeCode"), nameKey, hash).Scan(&u.ID, &u.Name, &u.Role, &u.CreatedAt)
		if errors.Is(err, pgx.ErrNoRows) {
			return errLost
		}
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, s.sql.Get("RedeemPassword"), u.ID, passwordHash)
		if err == nil && tag.RowsAffected() != 1 {
			return errLost
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, s.sql.Get("EndOtherSignIns"), u.ID, 0)
		return err
	})
	if errors.Is(err, errLost) {
		return account.User{}, false, nil
	}
	return u, err == nil, err
}

// SetRole changes a role from what the caller saw.
func (s *Store) SetRole(ctx context.Context, userID int64, from, to string) error {
	return s.unlessLast(ctx, s.pool, "SetRole", from == account.Administrator, userID, from, to)
}

// Disable keeps a person out and ends their sign-ins.
func (s *Store) Disable(ctx context.Context, userID int64) error {
	return s.unlessLast(ctx, s.pool, "Disable", true, userID)
}

// Remove removes a person. Their follows go with them, so the removal takes the
// next revision of the follows (OWN-3).
func (s *Store) Remove(ctx context.Context, userID int64) error {
	var refused error
	err := s.tx(ctx, "remove", "a person", func(tx pgx.Tx) error {
		var revision int64
		if err := tx.QueryRow(ctx, s.sql.Get("NextFollowRevision")).Scan(&revision); err != nil {
			return err
		}
		refused = s.unlessLast(ctx, tx, "RemoveUser", true, userID)
		return refused
	})
	if refused != nil {
		return refused
	}
	return err
}

// unlessLast runs one of the statements that keep the last administrator, and
// words what it found. lowers is false for a change that cannot be about the last.
func (s *Store) unlessLast(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, name string, lowers bool, args ...any) error {
	var changed, others bool
	if err := q.QueryRow(ctx, s.sql.Get(name), args...).Scan(&changed, &others); err != nil {
		return wrap("change", "a person", err)
	}
	switch {
	case changed:
		return nil
	case lowers && !others:
		return account.ErrLast
	}
	return account.ErrChanged
}

// Enable lets a person in again; false when they were not kept out.
func (s *Store) Enable(ctx context.Context, userID int64) (bool, error) {
	tag, err := s.pool.Exec(ctx, s.sql.Get("Enable"), userID)
	return tag.RowsAffected() == 1, wrap("change", "a person", err)
}

// PasswordHash is a user's own.
func (s *Store) PasswordHash(ctx context.Context, userID int64) (string, error) {
	var hash string
	err := s.pool.QueryRow(ctx, s.sql.Get("PasswordHash"), userID).Scan(&hash)
	return hash, wrap("find", "a user", err)
}

// SetPassword replaces the hash old, ends every sign-in but keep, and with them
// a code that somebody else may hold.
func (s *Store) SetPassword(ctx context.Context, userID int64, old, hash string, keep int64) (bool, error) {
	err := s.tx(ctx, "change", "a password", func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, s.sql.Get("SetPassword"), userID, old, hash)
		if err == nil && tag.RowsAffected() != 1 {
			return errLost
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, s.sql.Get("EndOtherSignIns"), userID, keep); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, s.sql.Get("DropCode"), userID)
		return err
	})
	if errors.Is(err, errLost) {
		return false, nil
	}
	return err == nil, err
}

// Rename reports false when another has the name.
func (s *Store) Rename(ctx context.Context, userID int64, name, nameKey string) (bool, error) {
	tag, err := s.pool.Exec(ctx, s.sql.Get("Rename"), userID, name, nameKey)
	var taken *pgconn.PgError
	if errors.As(err, &taken) && taken.Code == "23505" {
		return false, nil
	}
	if err == nil && tag.RowsAffected() == 0 {
		return false, nil
	}
	return err == nil, wrap("change", "a name", err)
}
