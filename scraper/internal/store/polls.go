package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// KnownChapter is a chapter some correct read listed.
type KnownChapter struct {
	source.Chapter
	FirstSeen time.Time
	// GoneSince is set while the Site no longer lists it.
	GoneSince time.Time
}

// Failure is a failure row.
type Failure struct {
	Outcome poll.Outcome
	Since   time.Time
}

// RecordFailure is the one upsert of POLL-3. It reports whether anything was
// written: an unchanged word writes nothing.
func (s *Store) RecordFailure(ctx context.Context, key source.Key, o poll.Outcome, now time.Time) (written bool, err error) {
	if o.Effect() != poll.Write {
		panic("store: outcome " + string(o) + " writes no failure row")
	}
	n, err := s.exec(ctx, "RecordFailure", key.Site, key.SeriesID, o, now)
	return n > 0, err
}

// Failure reads the failure row of a Series by its primary key.
func (s *Store) Failure(ctx context.Context, key source.Key) (f Failure, failing bool, err error) {
	err = s.db.QueryRow(ctx, s.sql.Get("GetFailure"), key.Site, key.SeriesID).Scan(&f.Outcome, &f.Since)
	if errors.Is(err, pgx.ErrNoRows) {
		return f, false, nil
	}
	return f, err == nil, classify("GetFailure", err)
}

// RecordGood deletes the failure row, stores what was read, and sets when the
// Series is due again, in one transaction. A chapter counts as new once, and
// none does when the Series is read for the first time (POLL-12).
func (s *Store) RecordGood(ctx context.Context, d lane.Due, r source.Reading, now, next time.Time, why lane.NextReason) (good lane.Good, err error) {
	if r.NotModified {
		good.CoverURL = d.CoverURL
		return good, s.RecordUnchanged(ctx, []lane.Unchanged{{Key: d.Key, At: now, Next: next, Why: why}})
	}
	good.CoverURL = r.Series.CoverURL
	err = s.inTx(ctx, "RecordGood", func(tx pgx.Tx) error {
		known, err := s.chapters(ctx, tx, d.Key)
		if err != nil {
			return err
		}
		diff := compare(known, r.Chapters, d.Moved)
		var confirmed bool
		args := append([]any{d.Key.Site, d.Key.SeriesID, next, now, why, r.MovedTo, diff.shrunk}, about(r)...)
		if err := tx.QueryRow(ctx, s.sql.Get("MarkGood"), args...).Scan(&confirmed); err != nil {
			return err
		}
		announced := time.Time{}
		if d.Known {
			announced, good.New = now, diff.fresh
		}
		return s.saveDifference(ctx, tx, d.Key, diff, confirmed, now, announced)
	})
	return good, err
}

// about are the columns that hold what a page says of its Series.
func about(r source.Reading) []any {
	s := r.Series
	return []any{s.Title, s.NativeTitle, list(s.Authors), s.Description, s.Status, list(s.Tags), s.License, s.Direction, r.Validators.ETag, r.Validators.LastModified, list(s.AltTitles)}
}

// RecordUnchanged records many reads that changed nothing, in one statement.
func (s *Store) RecordUnchanged(ctx context.Context, reads []lane.Unchanged) error {
	n := len(reads)
	sites, ids, whys := make([]string, n), make([]string, n), make([]string, n)
	nexts, ats := make([]time.Time, n), make([]time.Time, n)
	for i, r := range reads {
		sites[i], ids[i], nexts[i], ats[i], whys[i] = r.Key.Site, r.Key.SeriesID, r.Next, r.At, string(r.Why)
	}
	_, err := s.exec(ctx, "MarkUnchanged", sites, ids, nexts, ats, whys)
	return err
}

// SaveReading stores a correct read that was not a Poll.
func (s *Store) SaveReading(ctx context.Context, key source.Key, r source.Reading, now time.Time) error {
	return s.inTx(ctx, "SaveReading", func(tx pgx.Tx) error {
		known, err := s.chapters(ctx, tx, key)
		if err != nil {
			return err
		}
		diff := compare(known, r.Chapters, false)
		var confirmed bool
		args := append([]any{key.Site, key.SeriesID, now, diff.shrunk}, about(r)...)
		if err := tx.QueryRow(ctx, s.sql.Get("MarkRead"), args...).Scan(&confirmed); err != nil {
			return err
		}
		return s.saveDifference(ctx, tx, key, diff, confirmed, now, time.Time{})
	})
}

// list never is nil: the columns are not null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Chapters lists the known chapters of a Series in the Site's order.
func (s *Store) Chapters(ctx context.Context, key source.Key) ([]KnownChapter, error) {
	out, err := s.chapters(ctx, s.db, key)
	return out, classify("KnownChapters", err)
}

func (s *Store) chapters(ctx context.Context, q interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, key source.Key) ([]KnownChapter, error) {
	rows, err := q.Query(ctx, s.sql.Get("KnownChapters"), key.Site, key.SeriesID)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (k KnownChapter, err error) {
		var published, gone *time.Time
		err = row.Scan(&k.ID, &k.Number, &k.Volume, &k.Title, &k.Language, &k.Groups, &k.URL, &k.Order, &k.External, &published, &k.FirstSeen, &gone)
		k.Published, k.GoneSince = orZero(published), orZero(gone)
		return k, err
	})
}

// Lacking lists the chapters a Series has and the library, as it was looked at for
// this, lacks, in reading order.
func (s *Store) Lacking(ctx context.Context, at inventory.Snapshot, key source.Key) ([]source.Chapter, error) {
	if err := needSnapshot(at); err != nil {
		return nil, err
	}
	rows, err := s.db.Query(ctx, s.sql.Get("LackingChapters"), key.Site, key.SeriesID)
	if err != nil {
		return nil, classify("LackingChapters", err)
	}
	out, err := pgx.CollectRows(rows, scanChapter)
	return out, classify("LackingChapters", err)
}

// Languages lists those of the chapters the Site lists now, external ones left out.
func (s *Store) Languages(ctx context.Context, key source.Key) ([]string, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("ListedLanguages"), key.Site, key.SeriesID)
	if err != nil {
		return nil, classify("ListedLanguages", err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return out, classify("ListedLanguages", err)
}

func scanChapter(row pgx.CollectableRow) (c source.Chapter, err error) {
	var published *time.Time
	err = row.Scan(&c.ID, &c.Number, &c.Volume, &c.Title, &c.Language, &c.Groups, &c.URL, &c.Order, &c.External, &published)
	c.Published = orZero(published)
	return c, err
}
