package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"mangrove/scraper/internal/source"
)

// PreferredGroups are those whose releases of a Series are wanted, best first;
// none keeps every release.
func (s *Store) PreferredGroups(ctx context.Context, key source.Key) (groups []string, err error) {
	err = s.db.QueryRow(ctx, s.sql.Get("PreferredGroups"), key.Site, key.SeriesID).Scan(&groups)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return groups, classify("PreferredGroups", err)
}

// SetPreferredGroups sets them; class not-found for a Series that is not known.
func (s *Store) SetPreferredGroups(ctx context.Context, key source.Key, groups []string) error {
	if len(groups) == 0 {
		_, err := s.exec(ctx, "PreferNone", key.Site, key.SeriesID)
		return err
	}
	n, err := s.exec(ctx, "PreferGroups", key.Site, key.SeriesID, groups)
	if err == nil && n == 0 {
		return unknownSeries(key)
	}
	return err
}
