package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/reader/internal/progress"
)

// SaveMark stores a mark by the rules of progress.
func (s *Store) SaveMark(ctx context.Context, m progress.Mark) (progress.Place, error) {
	p := progress.Place{Begun: true}
	if m.Page < 0 {
		return p, fault.Newf(fault.NotFound, "save", "progress", "page %d", m.Page)
	}
	err := s.pool.QueryRow(ctx, s.sql.Get("SaveMark"), m.UserID, m.BookID, m.Page, m.Asked, m.Device, m.Known).Scan(&p.Page, &p.Finished, &p.Device, &p.ChangedAt)
	return p, wrap("save", "progress", err)
}

// SetFinished marks books of one title read or unread.
func (s *Store) SetFinished(ctx context.Context, userID, titleID int64, bookIDs []int64, finished bool) error {
	name := "SetUnread"
	if finished {
		name = "SetRead"
	}
	_, err := s.pool.Exec(ctx, s.sql.Get(name), userID, titleID, bookIDs)
	return wrap("save", "progress", err)
}

// Shelved answers the books of a title with one person's places, in reading order.
func (s *Store) Shelved(ctx context.Context, titleID, userID int64) ([]progress.Shelved, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("Shelved"), titleID, userID)
	if err != nil {
		return nil, wrap("list", "the books of a title", err)
	}
	books, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (b progress.Shelved, err error) {
		err = row.Scan(append(bookFields(&b.Book), &b.Place.Begun, &b.Place.Page, &b.Place.Finished, &b.Place.Device, &b.Place.ChangedAt)...)
		if !b.Place.Begun {
			b.Place.ChangedAt = time.Time{}
		}
		return b, err
	})
	progress.Sort(books)
	return books, wrap("list", "the books of a title", err)
}

// RecentTitles answers the titles a person read last, newest first.
func (s *Store) RecentTitles(ctx context.Context, userID int64, limit int) ([]int64, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("RecentTitles"), userID, limit)
	if err != nil {
		return nil, wrap("list", "the titles read last", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	return ids, wrap("list", "the titles read last", err)
}
