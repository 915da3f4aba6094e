package store

import (
	"context"

	"mangrove/internal/fault"
	"mangrove/reader/internal/reading"
)

// ReadingSettings answers how a person wants a title shown.
func (s *Store) ReadingSettings(ctx context.Context, userID, titleID int64) (set reading.Settings, every, ok bool, err error) {
	err = wrap("read", "reading settings", s.pool.QueryRow(ctx, s.sql.Get("ReadingSettings"), userID, titleID).
		Scan(&set.Mode, &set.Direction, &set.Fit, &set.Background, &set.Gap, &set.Cover, &set.ChangedAt, &every))
	if fault.Is(err, fault.NotFound) {
		return reading.Settings{}, false, false, nil
	}
	return set, every, err == nil, err
}

// SaveReadingSettings keeps how a person wants a title shown, or every title.
func (s *Store) SaveReadingSettings(ctx context.Context, userID, titleID int64, set reading.Settings) (reading.Settings, error) {
	if err := set.Check(); err != nil {
		return set, err
	}
	words := []any{set.Mode, set.Direction, set.Fit, set.Background, set.Gap, set.Cover}
	name, args := "SaveReadingSettings", append([]any{userID, titleID}, words...)
	if titleID == reading.EveryTitle {
		name, args = "SaveReadingSettingsForEvery", append([]any{userID}, words...)
	}
	err := s.pool.QueryRow(ctx, s.sql.Get(name), args...).Scan(&set.ChangedAt)
	return set, wrap("save", "reading settings", err)
}
