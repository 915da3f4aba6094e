package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

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

// RecordFailure is the one upsert of POLL-3.
func (s *Store) RecordFailure(ctx context.Context, key source.Key, o poll.Outcome, now time.Time) error {
	if o.Effect() != poll.Write {
		panic("store: outcome " + string(o) + " writes no failure row")
	}
	_, err := s.exec(ctx, "RecordFailure", key.Site, key.SeriesID, o, now)
	return err
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
	good.CoverURL = d.CoverURL
	err = s.inTx(ctx, "RecordGood", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, s.sql.Get("DeleteFailure"), d.Key.Site, d.Key.SeriesID); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, s.sql.Get("MarkGood"), d.Key.Site, d.Key.SeriesID, next, now, why); err != nil {
			return err
		}
		if r.NotModified {
			return nil
		}
		good.CoverURL = r.Series.CoverURL
		if r.MovedTo != "" && r.MovedTo != d.URL {
			if _, err := tx.Exec(ctx, s.sql.Get("MoveAddress"), d.Key.Site, d.Key.SeriesID, r.MovedTo); err != nil {
				return err
			}
		}
		fresh, err := s.saveReading(ctx, tx, d.Key, r, now)
		if err != nil || !d.Known || len(fresh) == 0 {
			return err
		}
		good.New = fresh
		ids := make([]string, len(fresh))
		for i, c := range fresh {
			ids[i] = c.ID
		}
		_, err = tx.Exec(ctx, s.sql.Get("Announce"), d.Key.Site, d.Key.SeriesID, ids, now)
		return err
	})
	return good, err
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
		if _, err := tx.Exec(ctx, s.sql.Get("MarkRead"), key.Site, key.SeriesID, now); err != nil {
			return err
		}
		_, err := s.saveReading(ctx, tx, key, r, now)
		return err
	})
}

// saveReading compares the list with what is known, in memory, and writes only
// what differs. It returns the chapters never seen before.
func (s *Store) saveReading(ctx context.Context, tx pgx.Tx, key source.Key, r source.Reading, now time.Time) ([]source.Chapter, error) {
	sr := r.Series
	if _, err := tx.Exec(ctx, s.sql.Get("SaveSeries"), key.Site, key.SeriesID, sr.Title, sr.NativeTitle, list(sr.Authors), sr.Description,
		sr.Status, list(sr.Tags), sr.License, sr.Direction, r.Validators.ETag, r.Validators.LastModified); err != nil {
		return nil, err
	}
	known, err := s.chapters(ctx, tx, key)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]KnownChapter, len(known))
	for _, k := range known {
		byID[k.ID] = k
	}
	listed := make(map[string]bool, len(r.Chapters))
	for _, c := range r.Chapters {
		listed[c.ID] = true
	}
	for i, k := range known {
		if listed[k.ID] {
			continue
		}
		for _, c := range r.Chapters {
			if _, seen := byID[c.ID]; seen || !sameRelease(k.Chapter, c) {
				continue
			}
			if err := s.repoint(ctx, tx, key, k.ID, c.ID); err != nil {
				return nil, err
			}
			delete(byID, k.ID)
			k.ID = c.ID
			known[i], byID[c.ID] = k, k
			break
		}
	}
	var fresh, write []source.Chapter
	for _, c := range r.Chapters {
		k, seen := byID[c.ID]
		if !seen {
			fresh = append(fresh, c)
		}
		if !seen || !k.GoneSince.IsZero() || !same(k.Chapter, c) {
			write = append(write, c)
		}
	}
	var gone []string
	for _, k := range known {
		if !listed[k.ID] && k.GoneSince.IsZero() {
			gone = append(gone, k.ID)
		}
	}
	if len(write) > 0 {
		if _, err := tx.Exec(ctx, s.sql.Get("SaveChapters"), columns(key, write, now)...); err != nil {
			return nil, err
		}
	}
	if len(gone) > 0 {
		if _, err := tx.Exec(ctx, s.sql.Get("MarkGone"), key.Site, key.SeriesID, gone, now); err != nil {
			return nil, err
		}
	}
	return fresh, nil
}

// sameRelease reports whether a chapter that is absent from a list and one with a
// new id are one release under two ids (POLL-12). Without a number only the title
// tells one-shots apart.
func sameRelease(a, b source.Chapter) bool {
	return a.Number == b.Number && a.Volume == b.Volume && a.Language == b.Language && slices.Equal(a.Groups, b.Groups) &&
		(a.Number != "" || (a.Title != "" && a.Title == b.Title))
}

// repoint gives a known chapter its new id everywhere: its row, the Jobs that
// want it, and its file, which becomes a change of the library.
func (s *Store) repoint(ctx context.Context, tx pgx.Tx, key source.Key, from, to string) error {
	if _, err := tx.Exec(ctx, s.sql.Get("RepointChapter"), key.Site, key.SeriesID, from, to); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, s.sql.Get("RepointJobChapters"), key.Site, key.SeriesID, from, to); err != nil {
		return err
	}
	var path string
	err := tx.QueryRow(ctx, s.sql.Get("FileOfChapter"), key.Site, key.SeriesID, from).Scan(&path)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	var revision int64
	if err := tx.QueryRow(ctx, s.sql.Get("NextRevision")).Scan(&revision); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, s.sql.Get("RepointFile"), path, to, revision)
	return err
}

func same(a, b source.Chapter) bool {
	return a.Number == b.Number && a.Volume == b.Volume && a.Title == b.Title && a.Language == b.Language && a.URL == b.URL &&
		a.Order == b.Order && a.External == b.External && a.Published.Equal(b.Published) && slices.Equal(a.Groups, b.Groups)
}

// columns turns chapters into the arrays SaveChapters unnests.
func columns(key source.Key, chapters []source.Chapter, now time.Time) []any {
	n := len(chapters)
	ids, numbers, volumes, titles := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	languages, groups, urls := make([]string, n), make([]string, n), make([]string, n)
	orders, external, published := make([]int32, n), make([]bool, n), make([]*time.Time, n)
	for i, c := range chapters {
		ids[i], numbers[i], volumes[i], titles[i] = c.ID, c.Number, c.Volume, c.Title
		languages[i], groups[i], urls[i] = c.Language, strings.Join(c.Groups, "\n"), c.URL
		orders[i], external[i], published[i] = int32(c.Order), c.External, orNull(c.Published)
	}
	return []any{key.Site, key.SeriesID, now, ids, numbers, volumes, titles, languages, groups, urls, orders, external, published}
}

// list never is nil: the columns are not null.
func list(s []string) []string {
	if s == nil {
		return []string{}
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

// Lacking lists the chapters a Series has and the library lacks, in reading order.
func (s *Store) Lacking(ctx context.Context, key source.Key) ([]source.Chapter, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("LackingChapters"), key.Site, key.SeriesID)
	if err != nil {
		return nil, classify("LackingChapters", err)
	}
	out, err := pgx.CollectRows(rows, scanChapter)
	return out, classify("LackingChapters", err)
}

func scanChapter(row pgx.CollectableRow) (c source.Chapter, err error) {
	var published *time.Time
	err = row.Scan(&c.ID, &c.Number, &c.Volume, &c.Title, &c.Language, &c.Groups, &c.URL, &c.Order, &c.External, &published)
	c.Published = orZero(published)
	return c, err
}

// CountFailures counts failure rows.
func (s *Store) CountFailures(ctx context.Context) (n int, err error) {
	err = s.db.QueryRow(ctx, s.sql.Get("CountFailures")).Scan(&n)
	return n, classify("CountFailures", err)
}
