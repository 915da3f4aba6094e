package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/inventory"
)

// inventoryBatch bounds the changes of one transaction, in which nothing else is
// published.
const inventoryBatch = 1000

// FilesIn lists the rows of files in folders; nil lists all.
func (s *Store) FilesIn(ctx context.Context, folders []string) ([]inventory.Row, error) {
	return s.inventoryRows(ctx, "FilesIn", folders)
}

// FilesLike lists rows, removed ones left out, with one of the fingerprints or of
// the chapters of found.
func (s *Store) FilesLike(ctx context.Context, found []inventory.Found) ([]inventory.Row, error) {
	n := len(found)
	prints, sites, series, chapters := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	for i, f := range found {
		prints[i], sites[i], series[i], chapters[i] = f.Fingerprint, f.Key.Site, f.Key.SeriesID, f.Chapter.ID
	}
	return s.inventoryRows(ctx, "FilesLike", prints, sites, series, chapters)
}

func (s *Store) inventoryRows(ctx context.Context, name string, args ...any) ([]inventory.Row, error) {
	rows, err := s.db.Query(ctx, s.sql.Get(name), args...)
	if err != nil {
		return nil, classify(name, err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r inventory.Row, err error) {
		err = row.Scan(&r.Path, &r.Stamp.Size, &r.Stamp.Mod, &r.State, &r.Revision, &r.Key.Site, &r.Key.SeriesID, &r.ChapterID, &r.Fingerprint, &r.Unreadable)
		return r, err
	})
	return out, classify(name, err)
}

// LibraryCounts counts the files that are there and those that are missing.
func (s *Store) LibraryCounts(ctx context.Context) (c inventory.Counts, err error) {
	err = s.db.QueryRow(ctx, s.sql.Get("LibraryCounts")).Scan(&c.Files, &c.Missing, &c.Bytes)
	return c, classify("LibraryCounts", err)
}

// ApplyInventory stores what a look at the library found, each change with a
// revision of its own, and returns how many there were. Files that another writer
// has changed meanwhile are left to the next look.
func (s *Store) ApplyInventory(ctx context.Context, c inventory.Changes) (changed int, err error) {
	apply := func(name string, counts bool, args ...any) {
		if err != nil {
			return
		}
		err = s.inTx(ctx, name, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, s.sql.Get("LockLibrary")); err != nil {
				return err
			}
			tag, err := tx.Exec(ctx, s.sql.Get(name), args...)
			if err == nil && counts {
				changed += int(tag.RowsAffected())
			}
			return err
		})
	}
	// Renamed files first: what is marked missing then is.
	for old := range slices.Chunk(slices.Sorted(maps.Keys(c.Moved)), inventoryBatch) {
		to := make([]inventory.Found, len(old))
		for i, p := range old {
			to[i] = c.Moved[p]
		}
		apply("RereadFiles", true, rereadColumns(old, to)...)
	}
	for gone := range slices.Chunk(c.Gone, inventoryBatch) {
		apply("MarkMissing", true, gone, c.Head)
	}
	for back := range slices.Chunk(c.Back, inventoryBatch) {
		apply("MarkBack", true, stampColumns(back)...)
	}
	for read := range slices.Chunk(c.Reread, inventoryBatch) {
		paths := make([]string, len(read))
		for i, f := range read {
			paths[i] = f.Path
		}
		apply("RereadFiles", true, rereadColumns(paths, read)...)
	}
	for fresh := range slices.Chunk(c.New, inventoryBatch) {
		apply("AdoptFiles", true, adoptColumns(fresh)...)
	}
	for touched := range slices.Chunk(c.Touched, inventoryBatch) {
		apply("TouchFiles", false, stampColumns(touched)...)
	}
	return changed, err
}

func stampColumns(list []inventory.Stamped) []any {
	n := len(list)
	paths, sizes, mods := make([]string, n), make([]int64, n), make([]int64, n)
	for i, f := range list {
		paths[i], sizes[i], mods[i] = f.Path, f.Stamp.Size, f.Stamp.Mod
	}
	return []any{paths, sizes, mods}
}

func rereadColumns(old []string, list []inventory.Found) []any {
	n := len(list)
	paths, sizes, mods := make([]string, n), make([]int64, n), make([]int64, n)
	pages, prints := make([]int32, n), make([]string, n)
	kinds, reasons := make([]string, n), make([]string, n)
	for i, f := range list {
		paths[i], sizes[i], mods[i], pages[i], prints[i] = f.Path, f.Stamp.Size, f.Stamp.Mod, int32(f.Pages), f.Fingerprint
		kinds[i], reasons[i] = string(f.Kind), string(f.Unreadable)
	}
	return []any{old, paths, sizes, mods, pages, prints, kinds, reasons}
}

// adoptColumns are the columns of new files: sizes and times, then texts, in the
// order of the statement.
func adoptColumns(list []inventory.Found) []any {
	n := len(list)
	sizes, mods, pages := make([]int64, n), make([]int64, n), make([]int32, n)
	texts := make([][]string, 14)
	for i := range texts {
		texts[i] = make([]string, n)
	}
	for i, f := range list {
		sizes[i], mods[i], pages[i] = f.Stamp.Size, f.Stamp.Mod, int32(f.Pages)
		c := f.Chapter
		missing := make([]string, len(f.Missing))
		for k, p := range f.Missing {
			missing[k] = fmt.Sprint(p)
		}
		for k, text := range []string{
			f.Path, f.Key.Site, f.Key.SeriesID, c.ID, f.SeriesTitle, c.Number, c.Volume, c.Title, c.Language,
			strings.Join(c.Groups, "\n"), f.Fingerprint, strings.Join(missing, ","), string(f.Kind), string(f.Unreadable),
		} {
			texts[k][i] = text
		}
	}
	return []any{
		texts[0], sizes, mods, texts[1], texts[2], texts[3], texts[4], texts[5], texts[6], texts[7], texts[8], texts[9], pages, texts[10], texts[11],
		texts[12], texts[13],
	}
}

// needSnapshot refuses a decision that must not duplicate and was not preceded by
// a look at the library (INV-3).
func needSnapshot(at inventory.Snapshot) error {
	if !at.Made() {
		return fault.Newf(fault.Unknown, "decide", "what the library lacks", "the library was not looked at before")
	}
	return nil
}
