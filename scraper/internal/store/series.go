package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/source"
)

// SeriesRow is a Series as the scraper knows it.
type SeriesRow struct {
	Key          source.Key
	Series       source.Series
	CoverSHA256  string
	Origin       string
	Download     bool
	Languages    []string
	Folder       string
	LastGoodRead time.Time
	NextPoll     time.Time
	NextReason   lane.NextReason
	ForcedPoll   time.Time
	Polled       time.Time
	// Moved is set from a move until the first good read at the new place.
	Moved time.Time
}

// EnsureListed makes a Series its Site offers from the start known, and keeps
// its address current. wholly is true when it was not known before.
func (s *Store) EnsureListed(ctx context.Context, site string, sr source.Series) error {
	n, err := s.exec(ctx, "EnsureListed", site, sr.ID, sr.Title, sr.URL)
	if err != nil || n > 0 {
		return err
	}
	_, err = s.exec(ctx, "RetargetListed", site, sr.ID, sr.URL)
	return err
}

// DueSeries lists Series whose time has come, Forced Polls first.
func (s *Store) DueSeries(ctx context.Context, site string, now time.Time, limit int) ([]lane.Due, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("DueSeries"), site, now, limit)
	if err != nil {
		return nil, classify("DueSeries", err)
	}
	due, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d lane.Due, err error) {
		err = row.Scan(&d.Key.Site, &d.Key.SeriesID, &d.URL, &d.Validators.ETag, &d.Validators.LastModified, &d.Forced, &d.Download,
			&d.Known, &d.CoverURL, &d.CoverSHA256, &d.Moved, &d.Title)
		return d, err
	})
	return due, classify("DueSeries", err)
}

// NextDue is when the next Series of a Site is due; zero if it has none.
func (s *Store) NextDue(ctx context.Context, site string) (time.Time, error) {
	var at *time.Time
	err := s.db.QueryRow(ctx, s.sql.Get("NextDue"), site).Scan(&at)
	return orZero(at), classify("NextDue", err)
}

// Witness is the Series of a Site last read ok and not failing, other than except.
func (s *Store) Witness(ctx context.Context, site string, except []string) (d lane.Due, ok bool, err error) {
	if except == nil {
		except = []string{}
	}
	err = s.db.QueryRow(ctx, s.sql.Get("Witness"), site, except).Scan(&d.Key.Site, &d.Key.SeriesID, &d.URL)
	if errors.Is(err, pgx.ErrNoRows) {
		return d, false, nil
	}
	return d, err == nil, classify("Witness", err)
}

// Advance sets when a Series is due again; a Forced Poll has had its turn.
func (s *Store) Advance(ctx context.Context, key source.Key, next time.Time) error {
	_, err := s.exec(ctx, "Advance", key.Site, key.SeriesID, next)
	return err
}

// SaveCover records the cover kept for a Series.
func (s *Store) SaveCover(ctx context.Context, key source.Key, url, sha256 string) error {
	_, err := s.exec(ctx, "SaveCover", key.Site, key.SeriesID, url, sha256)
	return err
}

// ForcePoll stamps a Forced Poll and nothing else (POLL-6). An earlier stamp stays.
func (s *Store) ForcePoll(ctx context.Context, key source.Key, now time.Time) (time.Time, error) {
	var at time.Time
	err := s.db.QueryRow(ctx, s.sql.Get("ForcePoll"), key.Site, key.SeriesID, now).Scan(&at)
	if errors.Is(err, pgx.ErrNoRows) {
		return at, unknownSeries(key)
	}
	return at, classify("ForcePoll", err)
}

// ForcePolls stamps a Forced Poll for many Series and returns how many are known.
func (s *Store) ForcePolls(ctx context.Context, keys []source.Key, now time.Time) (int64, error) {
	sites, ids := keyColumns(keys)
	return s.exec(ctx, "ForcePolls", sites, ids, now)
}

// Releases are when the chapters of a Series appeared: on the Site's word, or
// else when they were first seen.
func (s *Store) Releases(ctx context.Context, key source.Key) ([]time.Time, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("Releases"), key.Site, key.SeriesID)
	if err != nil {
		return nil, classify("Releases", err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
	return out, classify("Releases", err)
}

func unknownSeries(key source.Key) error {
	return fault.Newf(fault.NotFound, "find Series", key.String(), "it is not known here")
}

// Series reads one Series; class not-found if it is not known.
func (s *Store) Series(ctx context.Context, key source.Key) (SeriesRow, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("GetSeries"), key.Site, key.SeriesID)
	if err != nil {
		return SeriesRow{}, classify("GetSeries", err)
	}
	row, err := pgx.CollectExactlyOneRow(rows, scanSeries)
	if errors.Is(err, pgx.ErrNoRows) {
		return SeriesRow{}, unknownSeries(key)
	}
	return row, classify("GetSeries", err)
}

// ListSeries lists the known Series by title; origin "" lists all.
func (s *Store) ListSeries(ctx context.Context, origin string) ([]SeriesRow, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("ListSeries"), origin)
	if err != nil {
		return nil, classify("ListSeries", err)
	}
	list, err := pgx.CollectRows(rows, scanSeries)
	return list, classify("ListSeries", err)
}

func scanSeries(row pgx.CollectableRow) (r SeriesRow, err error) {
	var good, forced, polled, moved *time.Time
	err = row.Scan(&r.Key.Site, &r.Key.SeriesID, &r.Series.Title, &r.Series.NativeTitle, &r.Series.Authors, &r.Series.Description,
		&r.Series.URL, &r.Series.Status, &r.Series.Tags, &r.Series.License, &r.Series.Direction, &r.CoverSHA256,
		&r.Origin, &r.Download, &r.Languages, &r.Folder, &good, &r.NextPoll, &r.NextReason, &forced, &polled, &moved, &r.Series.AltTitles)
	r.Series.ID = r.Key.SeriesID
	r.LastGoodRead, r.ForcedPoll, r.Polled = orZero(good), orZero(forced), orZero(polled)
	r.Moved = orZero(moved)
	return r, err
}

// Target reads the Series of a Job.
func (s *Store) Target(ctx context.Context, key source.Key) (job.Target, error) {
	r, err := s.Series(ctx, key)
	return job.Target{Key: key, Series: r.Series, Languages: r.Languages, Folder: r.Folder, LastGoodRead: r.LastGoodRead}, err
}

// NameFolder gives the Series its folder if it has none and returns the one it has.
func (s *Store) NameFolder(ctx context.Context, key source.Key, folder string) (string, error) {
	var got string
	err := s.db.QueryRow(ctx, s.sql.Get("NameFolder"), key.Site, key.SeriesID, folder).Scan(&got)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", unknownSeries(key)
	}
	return got, classify("NameFolder", err)
}
