package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/verify"
)

// Unverified implements verify.Store.
func (s *Store) Unverified(ctx context.Context, before time.Time, limit int) ([]verify.File, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("Unverified"), before, limit)
	if err != nil {
		return nil, classify("Unverified", err)
	}
	out, err := pgx.CollectRows(rows, verifiable)
	return out, classify("Unverified", err)
}

// verifiable is a file of Unverified and KnownFile.
func verifiable(row pgx.CollectableRow) (f verify.File, err error) {
	err = row.Scan(&f.Path, &f.Key.Site, &f.Key.SeriesID, &f.ChapterID, &f.Fingerprint, &f.Kind)
	return f, err
}

// KnownFile implements verify.Store.
func (s *Store) KnownFile(ctx context.Context, path string) (verify.File, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("KnownFile"), path)
	if err != nil {
		return verify.File{}, classify("KnownFile", err)
	}
	f, err := pgx.CollectExactlyOneRow(rows, verifiable)
	if errors.Is(err, pgx.ErrNoRows) {
		return f, fault.Newf(fault.NotFound, "find", path, "the library has no such file")
	}
	return f, classify("KnownFile", err)
}

// SetVerified implements verify.Store.
func (s *Store) SetVerified(ctx context.Context, path string, at time.Time) error {
	_, err := s.exec(ctx, "SetVerified", path, at)
	return err
}

// WantAgain says that a chapter whose file is rotten or missing is to be fetched
// once more (F81, F89). One that its Site does not list any more is of class
// not-found.
func (s *Store) WantAgain(ctx context.Context, key source.Key, chapterID string) error {
	n, err := s.exec(ctx, "WantAgain", key.Site, key.SeriesID, chapterID)
	if err == nil && n == 0 {
		return fault.Newf(fault.NotFound, "fetch again", key.String()+"/"+chapterID, "the library has no file of it, or its Site does not list it any more")
	}
	return err
}

// SeriesFolder is a folder of the library and the Series whose files it holds.
type SeriesFolder struct {
	Folder string
	Key    source.Key
}

// SeriesFolders lists the folders that hold our own files.
func (s *Store) SeriesFolders(ctx context.Context) ([]SeriesFolder, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("SeriesFolders"))
	if err != nil {
		return nil, classify("SeriesFolders", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f SeriesFolder, err error) {
		err = row.Scan(&f.Folder, &f.Key.Site, &f.Key.SeriesID)
		return f, err
	})
	return out, classify("SeriesFolders", err)
}

// RestoreSeries makes a Series known again as its folder tells of it, and has the
// reader take its files once more. What its Site has said since stays. files are
// the chapters' ids by file name where it has moved since they were published.
// changed is false when nothing was new.
func (s *Store) RestoreSeries(ctx context.Context, key source.Key, sr source.Series, folder string, files map[string]string) (changed bool, err error) {
	err = s.inTx(ctx, "RestoreSeries", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, s.sql.Get("LockLibrary")); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, s.sql.Get("RestoreSeries"), key.Site, key.SeriesID, sr.Title, sr.NativeTitle, list(sr.Authors), sr.Description, sr.URL, sr.Status,
			list(sr.Tags), sr.License, sr.Direction, list(sr.AltTitles), folder)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, s.sql.Get("RestoreFolder"), key.Site, key.SeriesID, folder); err != nil {
			return err
		}
		paths, ids := make([]string, 0, len(files)), make([]string, 0, len(files))
		for name, id := range files {
			paths, ids = append(paths, folder+"/"+name), append(ids, id)
		}
		moved, err := tx.Exec(ctx, s.sql.Get("RekeyFiles"), key.Site, key.SeriesID, paths, ids)
		if err != nil || tag.RowsAffected()+moved.RowsAffected() == 0 {
			return err
		}
		changed = true
		_, err = tx.Exec(ctx, s.sql.Get("RetellFiles"), key.Site, key.SeriesID)
		return err
	})
	return changed, err
}

// FileNames are the chapters' ids by file name, of a Series' files in folder.
func (s *Store) FileNames(ctx context.Context, key source.Key, folder string) (map[string]string, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("FileNames"), key.Site, key.SeriesID, folder)
	if err != nil {
		return nil, classify("FileNames", err)
	}
	out := map[string]string{}
	var name, id string
	_, err = pgx.ForEachRow(rows, []any{&name, &id}, func() error {
		out[name] = id
		return nil
	})
	return out, classify("FileNames", err)
}
