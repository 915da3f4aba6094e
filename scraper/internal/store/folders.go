package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/source"
)

// AdoptFolder makes the files of another program chapters of a Series, where they
// lie, and notes what they were. A file whose number the Site lists takes that
// chapter's id, so that it is not downloaded again; any other keeps its own. It
// returns how many there were, and how many the Site lists. It is class conflict while
// a download of the Series is under way: that has decided already what is lacking.
func (s *Store) AdoptFolder(ctx context.Context, folder string, to source.Key, now time.Time) (files, listed int, err error) {
	err = s.inTx(ctx, "AdoptFolder", func(tx pgx.Tx) error {
		files, listed = 0, 0
		if _, err := tx.Exec(ctx, s.sql.Get("LockLibrary")); err != nil {
			return err
		}
		var busy bool
		if err := tx.QueryRow(ctx, s.sql.Get("SeriesBusy"), to.Site, to.SeriesID).Scan(&busy); err != nil {
			return err
		}
		if busy {
			return fault.Newf(fault.Conflict, "adopt", folder, "a download of %s is under way", to)
		}
		rows, err := tx.Query(ctx, s.sql.Get("FolderFiles"), folder, to.Site, to.SeriesID)
		if err != nil {
			return err
		}
		type file struct{ path, own, chapter string }
		all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f file, err error) {
			err = row.Scan(&f.path, &f.own, &f.chapter)
			return f, err
		})
		if err != nil {
			return err
		}
		taken := map[string]bool{}
		for _, f := range all {
			// A second copy of a chapter stays what it is, beside the first.
			chapter := f.own
			if f.chapter != "" && !taken[f.chapter] {
				chapter, taken[f.chapter] = f.chapter, true
				listed++
			}
			if err := s.rename(ctx, tx, f.path, to, chapter); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, s.sql.Get("NoteAdopted"), f.path, folder, f.own, now); err != nil {
				return err
			}
		}
		files = len(all)
		return nil
	})
	return files, listed, err
}

// ReturnFolder takes that back.
func (s *Store) ReturnFolder(ctx context.Context, folder string) (files int, err error) {
	err = s.inTx(ctx, "ReturnFolder", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, s.sql.Get("LockLibrary")); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, s.sql.Get("AdoptedFiles"), folder)
		if err != nil {
			return err
		}
		type file struct{ Path, Chapter string }
		all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[file])
		if err != nil {
			return err
		}
		for _, f := range all {
			if err := s.rename(ctx, tx, f.Path, source.Key{Site: inventory.LocalSite, SeriesID: folder}, f.Chapter); err != nil {
				return err
			}
		}
		files = len(all)
		return nil
	})
	return files, err
}

// rename gives one file another Series and chapter, with the next revision.
func (s *Store) rename(ctx context.Context, tx pgx.Tx, path string, to source.Key, chapterID string) error {
	var revision int64
	if err := tx.QueryRow(ctx, s.sql.Get("NextRevision")).Scan(&revision); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, s.sql.Get("AdoptFile"), path, to.Site, to.SeriesID, chapterID, revision)
	return err
}
