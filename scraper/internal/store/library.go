package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/failpoint"
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
	// Missing are the numbers of the Site's pages that the file is without.
	Missing []int
	// ReplacedBy is the path of the file that took the place of a removed one, or "".
	ReplacedBy string
	// Kind is what holds the pages; Unreadable why they cannot be read, or "".
	Kind, Unreadable string
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
// chapter's place in its Job, in one statement. Repeating it after a crash in
// between is no second publication: the file's path is its key. A file whose place
// it takes becomes a tombstone in the same transaction, with the revision before.
func (s *Store) Commit(ctx context.Context, j job.Job, p job.Publication) error {
	c := p.Chapter
	args := []any{p.File.Path, j.Key.Site, j.Key.SeriesID, c.ID, p.SeriesTitle, c.Number, c.Volume, c.Title, c.Language,
		list(c.Groups), c.Order, p.File.Pages, p.File.Size, p.Fingerprint, time.Now(), j.ID, list(p.Missing)}
	err := s.commit(ctx, p, args)
	if err == nil {
		s.events.Tell(incident.Event{Event: "publication", Site: j.Key.Site, Series: j.Key.SeriesID, Job: j.ID, Chapter: p.Chapter.ID})
	}
	return err
}

func (s *Store) commit(ctx context.Context, p job.Publication, args []any) error {
	if p.Replaces == "" || p.Replaces == p.File.Path {
		_, err := s.exec(ctx, "Commit", args...)
		return err
	}
	return s.inTx(ctx, "Commit", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, s.sql.Get("ReplaceFile"), p.Replaces, p.File.Path); err != nil {
			return err
		}
		failpoint.Reach(failpoint.CommitHalf)
		_, err := tx.Exec(ctx, s.sql.Get("Commit"), args...)
		return err
	})
}

// FileGone records that a replaced file is no longer in the folder.
func (s *Store) FileGone(ctx context.Context, path string) error {
	_, err := s.exec(ctx, "FileGone", path)
	return err
}

// ReplacedFiles lists replaced files that may still be in the folder: a process was
// killed between the commit and their removal.
func (s *Store) ReplacedFiles(ctx context.Context) ([]string, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("ReplacedFiles"))
	if err != nil {
		return nil, classify("ReplacedFiles", err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return out, classify("ReplacedFiles", err)
}

// InLibrary lists the releases of a Series that the library has. When each appeared is
// what the Site says of it now.
func (s *Store) InLibrary(ctx context.Context, key source.Key) ([]job.Held, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("InLibrary"), key.Site, key.SeriesID)
	if err != nil {
		return nil, classify("InLibrary", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h job.Held, err error) {
		var published *time.Time
		err = row.Scan(&h.ID, &h.Number, &h.Volume, &h.Language, &h.Groups, &published, &h.Path)
		h.Published = orZero(published)
		return h, err
	})
	return out, classify("InLibrary", err)
}

// ChangesAfter lists changes in revision order.
func (s *Store) ChangesAfter(ctx context.Context, revision int64, limit int) ([]LibraryChange, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("ChangesAfter"), revision, limit)
	if err != nil {
		return nil, classify("ChangesAfter", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c LibraryChange, err error) {
		err = row.Scan(&c.Path, &c.Revision, &c.State, &c.Key.Site, &c.Key.SeriesID, &c.Chapter.ID, &c.SeriesTitle, &c.Chapter.Number,
			&c.Chapter.Volume, &c.Chapter.Title, &c.Chapter.Language, &c.Chapter.Groups, &c.Chapter.Order, &c.Pages, &c.Size, &c.Fingerprint, &c.Published,
			&c.Missing, &c.ReplacedBy, &c.Kind, &c.Unreadable)
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
