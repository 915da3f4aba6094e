package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// adaptiveInterval is the setting's key; its value is "on" or "off".
const adaptiveInterval = "adaptive_interval"

// AdaptiveInterval reports whether quiet Series are read less often; off by default.
func (s *Store) AdaptiveInterval(ctx context.Context) (bool, error) {
	var value string
	err := s.db.QueryRow(ctx, s.sql.Get("GetSetting"), adaptiveInterval).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return value == "on", classify("GetSetting", err)
}

// SetAdaptiveInterval switches it.
func (s *Store) SetAdaptiveInterval(ctx context.Context, on bool) error {
	value := "off"
	if on {
		value = "on"
	}
	_, err := s.exec(ctx, "SetSetting", adaptiveInterval, value)
	return err
}
