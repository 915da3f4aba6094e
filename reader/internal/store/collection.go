package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"mangrove/internal/fault"
	"mangrove/reader/internal/collection"
	"mangrove/reader/internal/scraperclient"
)

// ErrNameTaken means that the person has a collection of this name.
var ErrNameTaken = errors.New("there is a collection of this name")

// Collections are those a person sees.
func (s *Store) Collections(ctx context.Context, userID int64) ([]collection.Collection, error) {
	return s.collections(ctx, userID, 0)
}

// Collection answers one that a person sees.
func (s *Store) Collection(ctx context.Context, userID, id int64) (collection.Collection, error) {
	list, err := s.collections(ctx, userID, id)
	if err == nil && len(list) == 0 {
		err = fault.Newf(fault.NotFound, "find", "a collection", "%d", id)
	}
	if err != nil {
		return collection.Collection{}, err
	}
	return list[0], nil
}

func (s *Store) collections(ctx context.Context, userID, id int64) ([]collection.Collection, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("Collections"), userID, id)
	if err != nil {
		return nil, wrap("list", "the collections", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c collection.Collection, err error) {
		var titles []int64
		var versions []string
		err = row.Scan(&c.ID, &c.Name, &c.By, &c.Mine, &c.Shared, &c.Cover, &c.Titles, &c.Unread, &titles, &versions)
		for i := range min(len(titles), len(versions)) {
			c.First = append(c.First, collection.Face{TitleID: titles[i], Version: versions[i]})
		}
		return c, err
	})
	return list, wrap("list", "the collections", err)
}

// EnsureCollection answers a person's collection of this name, made within tx if
// there is none.
func (s *Store) EnsureCollection(ctx context.Context, tx pgx.Tx, userID int64, name string) (id int64, err error) {
	if name, err = collection.Name(name); err != nil {
		return 0, err
	}
	err = tx.QueryRow(ctx, s.sql.Get("EnsureCollection"), userID, name).Scan(&id)
	return id, wrap("make", "a collection", err)
}

// AddToCollection puts Series at the end of a collection, within tx; those in it
// stay where they are.
func (s *Store) AddToCollection(ctx context.Context, tx pgx.Tx, id int64, series ...scraperclient.Key) error {
	sites, ids := keyLists(series)
	if _, err := tx.Exec(ctx, s.sql.Get("AddToCollection"), id, sites, ids); err != nil {
		return wrap("fill", "a collection", err)
	}
	return s.bounded(ctx, tx, id)
}

// bounded refuses a collection that holds too many Series.
func (s *Store) bounded(ctx context.Context, tx pgx.Tx, id int64) error {
	var n int
	if err := tx.QueryRow(ctx, s.sql.Get("CountCollection"), id).Scan(&n); err != nil {
		return wrap("fill", "a collection", err)
	}
	if n > collection.MaxSeries {
		return fault.Newf(fault.Invalid, "fill", "a collection", "it would hold more than %d Series", collection.MaxSeries)
	}
	return nil
}

func keyLists(keys []scraperclient.Key) (sites, ids []string) {
	sites, ids = make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		sites[i], ids[i] = k.Site, k.SeriesID
	}
	return sites, ids
}

// NewCollection makes a person's collection, or answers the one of this name, and
// puts Series into it.
func (s *Store) NewCollection(ctx context.Context, userID int64, name string, series ...scraperclient.Key) (id int64, err error) {
	err = s.tx(ctx, "make", "a collection", func(tx pgx.Tx) error {
		if id, err = s.EnsureCollection(ctx, tx, userID, name); err != nil {
			return err
		}
		return s.AddToCollection(ctx, tx, id, series...)
	})
	return id, err
}

// changing runs a change of a collection that a person may change; runs says that
// the person runs Mangrove and may change the shared ones too.
func (s *Store) changing(ctx context.Context, userID int64, runs bool, id int64, change func(tx pgx.Tx) error) error {
	return s.tx(ctx, "change", "a collection", func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, s.sql.Get("ChangeableCollection"), id, userID, runs).Scan(&id); err != nil {
			return err
		}
		return change(tx)
	})
}

// FillCollection adds Series to a collection.
func (s *Store) FillCollection(ctx context.Context, userID int64, runs bool, id int64, series ...scraperclient.Key) error {
	return s.changing(ctx, userID, runs, id, func(tx pgx.Tx) error { return s.AddToCollection(ctx, tx, id, series...) })
}

// TakeFromCollection removes Series from a collection and answers where they stood; they
// stay in the library.
func (s *Store) TakeFromCollection(ctx context.Context, userID int64, runs bool, id int64, series ...scraperclient.Key) (stood []collection.Spot, err error) {
	sites, ids := keyLists(series)
	err = s.changing(ctx, userID, runs, id, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, s.sql.Get("RemoveFromCollection"), id, sites, ids)
		if err != nil {
			return err
		}
		stood, err = pgx.CollectRows(rows, pgx.RowToStructByPos[collection.Spot])
		return err
	})
	return stood, err
}

// PutBackIntoCollection puts Series where they stood before they were taken out.
func (s *Store) PutBackIntoCollection(ctx context.Context, userID int64, runs bool, id int64, stood []collection.Spot) error {
	sites, ids, positions := make([]string, len(stood)), make([]string, len(stood)), make([]int, len(stood))
	for i, spot := range stood {
		if spot.Position < 0 || spot.Position > collection.MaxPosition {
			return fault.Newf(fault.Invalid, "fill", "a collection", "%d is no place in it", spot.Position)
		}
		sites[i], ids[i], positions[i] = spot.Site, spot.SeriesID, spot.Position
	}
	return s.changing(ctx, userID, runs, id, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, s.sql.Get("PutBackIntoCollection"), id, sites, ids, positions); err != nil {
			return err
		}
		return s.bounded(ctx, tx, id)
	})
}

// MoveInCollection moves a Series one place up, or down.
func (s *Store) MoveInCollection(ctx context.Context, userID int64, runs bool, id int64, series scraperclient.Key, up bool) error {
	by := 3
	if up {
		by = -3
	}
	return s.collectionExec(ctx, userID, runs, id, "MoveInCollection", series.Site, series.SeriesID, by)
}

// RenameCollection gives a collection another name; ErrNameTaken is in the chain
// when the person has one of this name.
func (s *Store) RenameCollection(ctx context.Context, userID int64, runs bool, id int64, name string) error {
	name, err := collection.Name(name)
	if err != nil {
		return err
	}
	err = s.collectionExec(ctx, userID, runs, id, "RenameCollection", name)
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && pgErr.Code == "23505" {
		return fault.New(fault.Invalid, "name", "a collection", ErrNameTaken)
	}
	return err
}

// ShareCollection shows a collection to everybody, or to its maker alone.
func (s *Store) ShareCollection(ctx context.Context, userID int64, runs bool, id int64, shared bool) error {
	return s.collectionExec(ctx, userID, runs, id, "ShareCollection", shared)
}

// CoverCollection gives a collection a cover by its digest; "" takes it away.
func (s *Store) CoverCollection(ctx context.Context, userID int64, runs bool, id int64, digest string) error {
	return s.collectionExec(ctx, userID, runs, id, "CoverCollection", digest)
}

// DeleteCollection removes a collection; no Series goes with it.
func (s *Store) DeleteCollection(ctx context.Context, userID int64, runs bool, id int64) error {
	return s.collectionExec(ctx, userID, runs, id, "DeleteCollection")
}

func (s *Store) collectionExec(ctx context.Context, userID int64, runs bool, id int64, statement string, args ...any) error {
	return s.changing(ctx, userID, runs, id, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, s.sql.Get(statement), append([]any{id}, args...)...)
		return err
	})
}

// CollectionCovers are the digests of all uploaded covers that are in use.
func (s *Store) CollectionCovers(ctx context.Context) ([]string, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("CollectionCovers"))
	if err != nil {
		return nil, wrap("list", "the covers of collections", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return list, wrap("list", "the covers of collections", err)
}

// InCollections answers the collections that a person may change, and which of them
// a Series is in.
func (s *Store) InCollections(ctx context.Context, userID int64, runs bool, series scraperclient.Key) ([]collection.Membership, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("InCollections"), userID, runs, series.Site, series.SeriesID)
	if err != nil {
		return nil, wrap("list", "the collections", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[collection.Membership])
	return list, wrap("list", "the collections", err)
}

// SetTitlesFinished marks all chapters of titles read, or unread, for one person.
func (s *Store) SetTitlesFinished(ctx context.Context, userID int64, series []scraperclient.Key, finished bool) error {
	statement := "SetTitlesUnread"
	if finished {
		statement = "SetTitlesRead"
	}
	sites, ids := keyLists(series)
	_, err := s.pool.Exec(ctx, s.sql.Get(statement), userID, sites, ids)
	return wrap("mark", "titles", err)
}

// LimitGuest keeps a guest to some shared collections, or to none; nil lets the
// guest see everything.
func (s *Store) LimitGuest(ctx context.Context, userID int64, collections []int64) error {
	return s.tx(ctx, "limit", "a guest", func(tx pgx.Tx) error {
		sees := "everything"
		if collections != nil {
			sees = "collections"
		}
		tag, err := tx.Exec(ctx, s.sql.Get("LimitGuest"), userID, sees)
		if err != nil {
			return err
		}
		if tag.RowsAffected() != 1 {
			return pgx.ErrNoRows
		}
		if _, err := tx.Exec(ctx, s.sql.Get("ForgetGuestCollections"), userID); err != nil || collections == nil {
			return err
		}
		_, err = tx.Exec(ctx, s.sql.Get("KeepGuestCollections"), userID, collections)
		return err
	})
}

// GuestLimits answers for each guest the collections they are kept to; one that sees
// everything is not in it.
func (s *Store) GuestLimits(ctx context.Context) (map[int64][]int64, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("GuestLimits"))
	if err != nil {
		return nil, wrap("list", "the guests' limits", err)
	}
	out := map[int64][]int64{}
	var id int64
	var sees string
	var list []int64
	_, err = pgx.ForEachRow(rows, []any{&id, &sees, &list}, func() error {
		if sees == "collections" {
			out[id] = append([]int64{}, list...)
		}
		return nil
	})
	return out, wrap("list", "the guests' limits", err)
}
