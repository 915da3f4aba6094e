package store

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// adaptiveInterval is the setting's key; its value is "on" or "off".
const adaptiveInterval = "adaptive_interval"

// intervalPrefix and a Site are the key of the Site's interval; its value is a
// number of hours. LaneFigures spells it too.
const intervalPrefix = "interval/"

func (s *Store) setting(ctx context.Context, key string) (string, error) {
	var value string
	err := s.db.QueryRow(ctx, s.sql.Get("GetSetting"), key).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return value, classify("GetSetting", err)
}

// AdaptiveInterval reports whether quiet Series are read less often; off by default.
func (s *Store) AdaptiveInterval(ctx context.Context) (bool, error) {
	value, err := s.setting(ctx, adaptiveInterval)
	return value == "on", err
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

// PollInterval is the operator's choice of how far apart the Polls of one Series
// of a Site lie (A7); 0 when there is none.
func (s *Store) PollInterval(ctx context.Context, site string) (time.Duration, error) {
	value, err := s.setting(ctx, intervalPrefix+site)
	return intervalOf(value), err
}

// SetPollInterval chooses it, in whole hours; 0 takes the choice back.
func (s *Store) SetPollInterval(ctx context.Context, site string, d time.Duration) error {
	if d == 0 {
		_, err := s.exec(ctx, "ForgetSetting", intervalPrefix+site)
		return err
	}
	_, err := s.exec(ctx, "SetSetting", intervalPrefix+site, strconv.Itoa(int(d/time.Hour)))
	return err
}

// intervalOf reads a stored interval. What is none counts as no choice: a Lane
// goes on with its Site's own.
func intervalOf(value string) time.Duration {
	hours, err := strconv.ParseUint(value, 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(hours) * time.Hour
}
