package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/reader/internal/notify"
)

// Destinations lists where people are told, oldest first.
func (s *Store) Destinations(ctx context.Context) ([]notify.Destination, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("Destinations"))
	if err != nil {
		return nil, wrap("list", "the destinations", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d notify.Destination, err error) {
		var sent, failed *time.Time
		err = row.Scan(&d.ID, &d.Name, &d.Address, &d.Kinds, &d.FailingDays, &d.CreatedAt, &sent, &failed, &d.Failure, &d.Tries)
		if sent != nil {
			d.SentAt = *sent
		}
		if failed != nil {
			d.FailedAt = *failed
		}
		return d, err
	})
	return out, wrap("list", "the destinations", err)
}

// AddDestination stores one.
func (s *Store) AddDestination(ctx context.Context, d notify.Destination) (id int64, err error) {
	err = s.pool.QueryRow(ctx, s.sql.Get("AddDestination"), d.Name, d.Address, d.Kinds, d.FailingDays).Scan(&id)
	return id, wrap("add", "a destination", err)
}

// RemoveDestination forgets one with all it was told.
func (s *Store) RemoveDestination(ctx context.Context, id int64) error {
	tag, err := s.pool.Exec(ctx, s.sql.Get("RemoveDestination"), id)
	if err == nil && tag.RowsAffected() == 0 {
		return fault.New(fault.NotFound, "remove", "a destination", nil)
	}
	return wrap("remove", "a destination", err)
}

// NoteNotices stores the notices that a destination was not given yet.
func (s *Store) NoteNotices(ctx context.Context, destination int64, notices []notify.Notice, now time.Time) error {
	if len(notices) == 0 {
		return nil
	}
	var kinds, keys, texts []string
	seen := map[[2]string]bool{}
	for _, n := range notices {
		if id := [2]string{string(n.Kind), n.Key}; !seen[id] {
			seen[id] = true
			kinds, keys, texts = append(kinds, string(n.Kind)), append(keys, n.Key), append(texts, n.Text)
		}
	}
	_, err := s.pool.Exec(ctx, s.sql.Get("Note"), destination, kinds, keys, texts, now)
	return wrap("keep", "what is to be told", err)
}

// PendingNotices is what a destination has not been told.
func (s *Store) PendingNotices(ctx context.Context, destination int64, limit int) (p notify.Pending, err error) {
	var urgent, oldest *time.Time
	if err := s.pool.QueryRow(ctx, s.sql.Get("PendingFigures"), destination).Scan(&p.Total, &urgent, &oldest); err != nil || p.Total == 0 {
		return p, wrap("read", "what is to be told", err)
	}
	if urgent != nil {
		p.Urgent = *urgent
	}
	p.Oldest = *oldest
	rows, err := s.pool.Query(ctx, s.sql.Get("Pending"), destination, limit)
	if err != nil {
		return p, wrap("read", "what is to be told", err)
	}
	var id int64
	var n notify.Notice
	_, err = pgx.ForEachRow(rows, []any{&id, &n.Kind, &n.Key, &n.Text}, func() error {
		p.IDs, p.Notices = append(p.IDs, id), append(p.Notices, n)
		return nil
	})
	return p, wrap("read", "what is to be told", err)
}

// ClaimDestination takes the turn of a destination until a time, if it is due.
func (s *Store) ClaimDestination(ctx context.Context, destination int64, now, until time.Time) (bool, error) {
	tag, err := s.pool.Exec(ctx, s.sql.Get("ClaimDestination"), destination, now, until)
	return tag.RowsAffected() == 1, wrap("claim", "a destination", err)
}

// MarkTold marks notices as told.
func (s *Store) MarkTold(ctx context.Context, destination int64, ids []int64, now, next time.Time) error {
	return s.tx(ctx, "mark", "what was told", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, s.sql.Get("MarkTold"), destination, ids, now); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, s.sql.Get("DestinationTold"), destination, now, next)
		return err
	})
}

// MarkFailed keeps why a message was not taken, and when the next may go.
func (s *Store) MarkFailed(ctx context.Context, destination int64, why string, now, next time.Time) error {
	_, err := s.pool.Exec(ctx, s.sql.Get("DestinationFailed"), destination, why, now, next)
	return wrap("keep", "why a message failed", err)
}

// ForgetNotices drops what was told and has been over since before a time.
func (s *Store) ForgetNotices(ctx context.Context, before time.Time) error {
	_, err := s.pool.Exec(ctx, s.sql.Get("ForgetNotifications"), before)
	return wrap("forget", "what was told", err)
}
