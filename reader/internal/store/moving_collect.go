package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"mangrove/reader/internal/collection"
	"mangrove/reader/internal/scraperclient"
)

// collect puts what was adopted into collections called like the other program's
// categories, and notes what it put there. A category whose name is none for a
// collection stays with the report.
func (s *Store) collect(ctx context.Context, tx pgx.Tx, userID, id int64) error {
	rows, err := tx.Query(ctx, s.sql.Get("Categories"), id)
	if err != nil {
		return err
	}
	type category struct {
		Name          string
		Sites, Series []string
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[category])
	if err != nil {
		return err
	}
	for _, c := range all {
		name, err := collection.Name(c.Name)
		if err != nil {
			continue
		}
		var had bool
		if err := tx.QueryRow(ctx, s.sql.Get("HasCollection"), userID, name).Scan(&had); err != nil {
			return err
		}
		into, err := s.EnsureCollection(ctx, tx, userID, name)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, s.sql.Get("NoteCollected"), id, into, c.Sites, c.Series, !had); err != nil {
			return err
		}
		series := make([]scraperclient.Key, len(c.Sites))
		for n := range series {
			series[n] = scraperclient.Key{Site: c.Sites[n], SeriesID: c.Series[n]}
		}
		if err := s.AddToCollection(ctx, tx, into, series...); err != nil {
			return err
		}
	}
	return nil
}
