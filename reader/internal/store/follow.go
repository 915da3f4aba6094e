package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/reader/internal/follow"
	"mangrove/reader/internal/scraperclient"
)

// Follow stores a wish and takes the next revision with it.
func (s *Store) Follow(ctx context.Context, w follow.Wish) (scraperclient.FollowChange, error) {
	return s.changeFollows(ctx, w.Key, func(tx pgx.Tx) (int64, error) {
		languages := w.Languages
		if languages == nil {
			languages = []string{}
		}
		tag, err := tx.Exec(ctx, s.sql.Get("SaveBookmark"), w.UserID, w.Key.Site, w.Key.SeriesID, w.Title, w.Download, languages, w.URL)
		return tag.RowsAffected(), err
	})
}

// Unfollow removes a wish and takes the next revision with it.
func (s *Store) Unfollow(ctx context.Context, userID int64, key scraperclient.Key) (scraperclient.FollowChange, error) {
	return s.changeFollows(ctx, key, func(tx pgx.Tx) (int64, error) {
		tag, err := tx.Exec(ctx, s.sql.Get("DeleteBookmark"), userID, key.Site, key.SeriesID)
		return tag.RowsAffected(), err
	})
}

// Rekey gives every user's follow of a Series the name it has now, and its title
// in the catalog too, and takes the next revision with it.
func (s *Store) Rekey(ctx context.Context, from, to scraperclient.Key) (scraperclient.FollowChange, error) {
	return s.changeFollows(ctx, to, func(tx pgx.Tx) (int64, error) {
		dropped, err := tx.Exec(ctx, s.sql.Get("DropRekeyed"), from.Site, from.SeriesID, to.Site, to.SeriesID)
		if err != nil {
			return 0, err
		}
		moved, err := tx.Exec(ctx, s.sql.Get("RekeyBookmarks"), from.Site, from.SeriesID, to.Site, to.SeriesID)
		if err != nil {
			return 0, err
		}
		if _, err := tx.Exec(ctx, s.sql.Get("RekeyImported"), from.Site, from.SeriesID, to.Site, to.SeriesID); err != nil {
			return 0, err
		}
		title, err := tx.Exec(ctx, s.sql.Get("RekeyTitle"), from.Site, from.SeriesID, to.Site, to.SeriesID)
		return dropped.RowsAffected() + moved.RowsAffected() + title.RowsAffected(), err
	})
}

// RaiseRevision makes the counter at least revision.
func (s *Store) RaiseRevision(ctx context.Context, revision int64) error {
	_, err := s.pool.Exec(ctx, s.sql.Get("RaiseFollowRevision"), revision)
	return wrap("raise", "the follows' revision", err)
}

// changeFollows runs one change under the counter row's lock, so that the
// revision's order is the order of the commits.
func (s *Store) changeFollows(ctx context.Context, key scraperclient.Key, change func(pgx.Tx) (int64, error)) (scraperclient.FollowChange, error) {
	var out scraperclient.FollowChange
	errNothing := errors.New("nothing changed")
	err := s.tx(ctx, "change", "the follows", func(tx pgx.Tx) error {
		out = scraperclient.FollowChange{}
		if err := tx.QueryRow(ctx, s.sql.Get("NextFollowRevision")).Scan(&out.Revision); err != nil {
			return err
		}
		n, err := change(tx)
		if err != nil {
			return err
		}
		if n == 0 {
			return errNothing
		}
		f := scraperclient.Follow{Key: key}
		err = tx.QueryRow(ctx, s.sql.Get("WantedSeries"), key.Site, key.SeriesID).Scan(&f.Download, &f.Languages, &f.URL, &f.Title)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			out.Unfollowed = []scraperclient.Key{key}
			return nil
		case err != nil:
			return err
		}
		out.Follows = []scraperclient.Follow{f}
		return nil
	})
	if errors.Is(err, errNothing) {
		return scraperclient.FollowChange{}, nil
	}
	return out, err
}

// Wanted answers the whole desired set and the revision it stands at, from one snapshot.
func (s *Store) Wanted(ctx context.Context) (scraperclient.FollowChange, error) {
	out := scraperclient.FollowChange{Whole: true}
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return out, wrap("read", "the follows", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if err := tx.QueryRow(ctx, s.sql.Get("FollowRevision")).Scan(&out.Revision); err != nil {
		return out, wrap("read", "the follows", err)
	}
	rows, err := tx.Query(ctx, s.sql.Get("WantedAll"))
	if err != nil {
		return out, wrap("read", "the follows", err)
	}
	out.Follows, err = pgx.CollectRows(rows, scanFollow)
	return out, wrap("read", "the follows", err)
}

// Wish answers one user's follow; ok is false when there is none.
func (s *Store) Wish(ctx context.Context, userID int64, key scraperclient.Key) (w follow.Wish, ok bool, err error) {
	w = follow.Wish{UserID: userID, Key: key}
	err = s.pool.QueryRow(ctx, s.sql.Get("Bookmark"), userID, key.Site, key.SeriesID).Scan(&w.Title, &w.Download, &w.Languages, &w.URL)
	if err = wrap("find", "a follow", err); fault.Is(err, fault.NotFound) {
		return w, false, nil
	}
	return w, err == nil, err
}
