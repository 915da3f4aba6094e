package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/scraper/internal/sidecar"
)

// Adopted lists the files of other programs that were adopted and are known.
func (s *Store) Adopted(ctx context.Context) ([]sidecar.AdoptedFile, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("Adopted"))
	if err != nil {
		return nil, classify("Adopted", err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[sidecar.AdoptedFile])
	return out, classify("Adopted", err)
}

// AdoptAgain makes a file of another program once more the chapter that it was, in a
// database that does not know of it. One that is something else by now, or whose place
// another file holds, stays what it is; did is then false.
func (s *Store) AdoptAgain(ctx context.Context, f sidecar.AdoptedFile, now time.Time) (did bool, err error) {
	err = s.inTx(ctx, "AdoptAgain", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, s.sql.Get("LockLibrary")); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, s.sql.Get("MayAdoptAgain"), f.Path, f.Folder, f.Own, f.Site, f.SeriesID, f.Chapter).Scan(&did); err != nil || !did {
			return err
		}
		if err := s.rename(ctx, tx, f.Path, f.Key(), f.Chapter); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, s.sql.Get("NoteAdopted"), f.Path, f.Folder, f.Own, now)
		return err
	})
	return did, err
}
