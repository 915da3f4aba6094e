package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/source"
)

// LibraryChange is one entry of the library's change log.
type LibraryChange struct {
	Path        string
	Revision    int64
	State       string // "published", "missing" or "removed"
	Key         source.Key
	SeriesTitle string
	Chapter     source.Chapter
	Pages       int
	Size        int64
	Fingerprint string
	Published   time.Time
}

// LibraryHead returns the change log's epoch and newest revision.
func (s *Store) LibraryHead(ctx context.Context) (epoch string, revision int64, err error) {
	err = s.db.QueryRow(ctx, s.sql.Get("LibraryHead")).Scan(&epoch, &revision)
	return epoch, revision, classify("LibraryHead", err)
}

// LibraryID returns the id of the library's marker, "" before there is one.
func (s *Store) LibraryID(ctx context.Context) (id string, err error) {
	err = s.db.QueryRow(ctx, s.sql.Get("LibraryID")).Scan(&id)
	return id, classify("LibraryID", err)
}

// SetLibraryID stores the first id; class stale if one is stored.
func (s *Store) SetLibraryID(ctx context.Context, id string) error {
	n, err := s.exec(ctx, "SetLibraryID", id)
	if err == nil && n == 0 {
		return fault.Newf(fault.Stale, "name", "the library", "it has an id already")
	}
	return err
}

// Commit records a publication: the next revision of the change log and the
// chapter's place in its Job, in one transaction. Repeating it after a crash in
// between is no second publication: the file's path is its key.
func (s *Store) Commit(ctx context.Context, j job.Job, p job.Publication) error {
	err := s.inTx(ctx, "Commit", func(tx pgx.Tx) error {
		var there string
		err := tx.QueryRow(ctx, s.sql.Get("FileByFingerprint"), p.Fingerprint).Scan(&there)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if there != p.File.Path {
			var revision int64
			if err := tx.QueryRow(ctx, s.sql.Get("NextRevision")).Scan(&revision); err != nil {
				return err
			}
			c := p.Chapter
			if _, err := tx.Exec(ctx, s.sql.Get("PutFile"), p.File.Path, revision, j.Key.Site, j.Key.SeriesID, c.ID, p.SeriesTitle,
				c.Number, c.Volume, c.Title, c.Language, list(c.Groups), c.Order, p.File.Pages, p.File.Size, p.Fingerprint, time.Now()); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, s.sql.Get("GiveRetryBack"), j.ID); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, s.sql.Get("MarkJobChapter"), j.ID, p.Chapter.ID, job.ChapterPublished, "", "", p.File.Pages)
		return err
	})
	if err == nil {
		s.events.Tell(incident.Event{Event: "publication", Site: j.Key.Site, Series: j.Key.SeriesID, Job: j.ID, Chapter: p.Chapter.ID})
	}
	return err
}

// ChangesAfter lists changes in revision order.
func (s *Store) ChangesAfter(ctx context.Context, revision int64, limit int) ([]LibraryChange, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("ChangesAfter"), revision, limit)
	if err != nil {
		return nil, classify("ChangesAfter", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c LibraryChange, err error) {
		err = row.Scan(&c.Path, &c.Revision, &c.State, &c.Key.Site, &c.Key.SeriesID, &c.Chapter.ID, &c.SeriesTitle, &c.Chapter.Number,
			&c.Chapter.Volume, &c.Chapter.Title, &c.Chapter.Language, &c.Chapter.Groups, &c.Chapter.Order, &c.Pages, &c.Size, &c.Fingerprint, &c.Published)
		return c, err
	})
	return out, classify("ChangesAfter", err)
}

// FilesOfSeries maps the chapters of a Series that have a file to its state.
func (s *Store) FilesOfSeries(ctx context.Context, key source.Key) (map[string]string, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("FilesOfSeries"), key.Site, key.SeriesID)
	if err != nil {
		return nil, classify("FilesOfSeries", err)
	}
	out := map[string]string{}
	var chapter, state string
	_, err = pgx.ForEachRow(rows, []any{&chapter, &state}, func() error {
		out[chapter] = state
		return nil
	})
	return out, classify("FilesOfSeries", err)
}

// Committed returns which of the fingerprints belong to published files.
func (s *Store) Committed(ctx context.Context, fingerprints []string) ([]string, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("CommittedFingerprints"), list(fingerprints))
	if err != nil {
		return nil, classify("CommittedFingerprints", err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return out, classify("CommittedFingerprints", err)
}
