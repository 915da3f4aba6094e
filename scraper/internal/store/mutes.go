package store

import (
	"context"
	"time"

	"mangrove/scraper/internal/source"
)

// SetMuted mutes the failures of Series, or shows them again, and returns how
// many that changed. A Series that does not fail has nothing to mute and is
// passed over; an earlier mute keeps its time.
func (s *Store) SetMuted(ctx context.Context, keys []source.Key, muted bool, now time.Time) (int64, error) {
	sites, ids := keyColumns(keys)
	if !muted {
		return s.exec(ctx, "Unmute", sites, ids)
	}
	return s.exec(ctx, "Mute", sites, ids, now)
}

// keyColumns are keys as the arrays that statements about many Series take.
func keyColumns(keys []source.Key) (sites, ids []string) {
	sites, ids = make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		sites[i], ids[i] = k.Site, k.SeriesID
	}
	return sites, ids
}
