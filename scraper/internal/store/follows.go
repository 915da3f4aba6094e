package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/scraper/internal/follow"
	"mangrove/scraper/internal/source"
)

// ApplyFollows applies a change of the follows under the counter row's lock, so
// that any order, loss or repetition of messages ends in the set of the highest
// revision (OWN-3).
func (s *Store) ApplyFollows(ctx context.Context, c follow.Change, now time.Time) (out follow.Applied, err error) {
	err = s.inTx(ctx, "ApplyFollows", func(tx pgx.Tx) error {
		out = follow.Applied{}
		if err := tx.QueryRow(ctx, s.sql.Get("LockFollows")).Scan(&out.Revision); err != nil {
			return err
		}
		if c.Revision < out.Revision || (c.Revision == out.Revision && !c.Whole) {
			out.Stale = true
			return nil
		}
		var err error
		if out.Wanted, err = s.wish(ctx, tx, c); err != nil {
			return err
		}
		for _, key := range c.Unfollowed {
			name := "RemoveSeries"
			if c.Listed[key] {
				name = "Unlist"
			}
			if _, err := tx.Exec(ctx, s.sql.Get(name), key.Site, key.SeriesID); err != nil {
				return err
			}
		}
		// An empty whole set removes nothing: it is more likely a reader that
		// lost its database than a person who stopped reading.
		if c.Whole && len(c.Follows)+len(c.Kept) > 0 {
			if _, err := tx.Exec(ctx, s.sql.Get("MarkAbsent"), c.Revision, now); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, s.sql.Get("RemoveOrphans"), now.Add(-follow.Grace)); err != nil {
				return err
			}
		}
		out.Revision = c.Revision
		if _, err := tx.Exec(ctx, s.sql.Get("SetFollowsRevision"), c.Revision); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, s.sql.Get("WantingFirstJob"))
		if err != nil {
			return err
		}
		never, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (k source.Key, err error) {
			err = row.Scan(&k.Site, &k.SeriesID)
			return k, err
		})
		asked := map[source.Key]bool{}
		for _, k := range out.Wanted {
			asked[k] = true
		}
		for _, k := range never {
			if !asked[k] {
				out.Wanted = append(out.Wanted, k)
			}
		}
		return err
	})
	return out, err
}

// wish stores the wishes of one message and answers those that want downloads now and
// did not before. They go to the database in one batch: a library that moves in
// brings thousands.
func (s *Store) wish(ctx context.Context, tx pgx.Tx, c follow.Change) (wanted []source.Key, err error) {
	batch := &pgx.Batch{}
	for _, f := range c.Follows {
		title := f.Title
		if title == "" {
			title = f.Key.SeriesID
		}
		batch.Queue(s.sql.Get("UpsertFollow"), f.Key.Site, f.Key.SeriesID, title, f.URL, f.Download, list(f.Languages), c.Revision).QueryRow(func(row pgx.Row) error {
			var want bool
			if err := row.Scan(&want); err != nil {
				return err
			}
			if want {
				wanted = append(wanted, f.Key)
			}
			return nil
		})
	}
	for _, w := range c.Kept {
		batch.Queue(s.sql.Get("KeepFollow"), w.Key.Site, w.Key.SeriesID, w.Download, list(w.Languages), c.Revision)
	}
	if batch.Len() == 0 {
		return nil, nil
	}
	err = tx.SendBatch(ctx, batch).Close()
	return wanted, err
}
