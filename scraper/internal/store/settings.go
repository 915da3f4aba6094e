package store

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/queue"
)

// The settings' keys.
const (
	// adaptiveInterval is "on" or "off".
	adaptiveInterval = "adaptive_interval"
	// discoveryAt is "HH:MM", local time, or "" for never.
	discoveryAt = "discovery_at"
	// freeSpaceFloor is a number of bytes.
	freeSpaceFloor = "free_space_floor"
	// languages are BCP 47 tags with commas between.
	languages = "languages"
	// pacing is followed by a Site's key; its value is a Go duration.
	pacing = "pacing/"
)

// What holds until somebody says otherwise, and what nobody may say.
const (
	// slowest is the longest pacing: beyond an hour a Site is not read but forgotten.
	slowest = time.Hour
)

// intervalPrefix and a Site are the key of the Site's interval; its value is a
// number of hours. LaneFigures spells it too.
const intervalPrefix = "interval/"

// AdaptiveInterval reports whether quiet Series are read less often; off by default.
func (s *Store) AdaptiveInterval(ctx context.Context) (bool, error) {
	value, _, err := s.setting(ctx, adaptiveInterval)
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
	value, _, err := s.setting(ctx, intervalPrefix+site)
	return intervalOf(value), err
}

// SetPollInterval chooses it, in whole hours; 0 takes the choice back.
func (s *Store) SetPollInterval(ctx context.Context, site string, d time.Duration) error {
	if d == 0 {
		_, err := s.exec(ctx, "DropSetting", intervalPrefix+site)
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

// DefaultLanguages are those a Follow wants when it names none (POLL-13); none
// takes each Site's own.
func (s *Store) DefaultLanguages(ctx context.Context) ([]string, error) {
	value, _, err := s.setting(ctx, languages)
	if err != nil || value == "" {
		return nil, err
	}
	return strings.Split(value, ","), nil
}

// SetDefaultLanguages chooses them; none takes the choice back.
func (s *Store) SetDefaultLanguages(ctx context.Context, tags []string) error {
	if len(tags) == 0 {
		_, err := s.exec(ctx, "DropSetting", languages)
		return err
	}
	_, err := s.exec(ctx, "SetSetting", languages, strings.Join(tags, ","))
	return err
}

// Pacing is the least time between two requests to a Site that the operator
// chose; ok is false without a choice. It is never used below the adapter's own.
func (s *Store) Pacing(ctx context.Context, site string) (d time.Duration, ok bool, err error) {
	value, ok, err := s.setting(ctx, pacing+site)
	if err != nil || !ok {
		return 0, false, err
	}
	if d, err = time.ParseDuration(value); err != nil || d <= 0 || d > slowest {
		return 0, false, fault.Newf(fault.Unknown, "read setting", pacing+site, "%q is no pacing", value)
	}
	return d, true, nil
}

// SetPacing chooses it; zero takes the choice back.
func (s *Store) SetPacing(ctx context.Context, site string, d time.Duration) error {
	if d == 0 {
		_, err := s.exec(ctx, "DropSetting", pacing+site)
		return err
	}
	if d < 0 || d > slowest {
		return fault.Newf(fault.Invalid, "set", "the pacing of "+site, "%s is not between zero and %s", d, slowest)
	}
	_, err := s.exec(ctx, "SetSetting", pacing+site, d.String())
	return err
}

// DiscoveryAt is when new chapters are looked for each night (JOB-9): "HH:MM" in
// local time, or "" for never.
func (s *Store) DiscoveryAt(ctx context.Context) (string, error) {
	value, ok, err := s.setting(ctx, discoveryAt)
	if err != nil || !ok {
		return DefaultDiscovery, err
	}
	return value, nil
}

// SetDiscoveryAt sets it.
func (s *Store) SetDiscoveryAt(ctx context.Context, at string) error {
	if err := queue.CheckTime(at); err != nil {
		return err
	}
	_, err := s.exec(ctx, "SetSetting", discoveryAt, at)
	return err
}

// FreeSpaceFloor is how many bytes must stay free where the library lies;
// downloads stop before less is left.
func (s *Store) FreeSpaceFloor(ctx context.Context) (int64, error) {
	value, ok, err := s.setting(ctx, freeSpaceFloor)
	if err != nil || !ok {
		return job.DefaultFloor, err
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return job.DefaultFloor, fault.Newf(fault.Unknown, "read setting", freeSpaceFloor, "%q is no number of bytes", value)
	}
	return n, nil
}

// SetFreeSpaceFloor sets it.
func (s *Store) SetFreeSpaceFloor(ctx context.Context, bytes int64) error {
	if bytes < 0 {
		return fault.Newf(fault.Invalid, "set", "the free space floor", "%d is below zero", bytes)
	}
	_, err := s.exec(ctx, "SetSetting", freeSpaceFloor, strconv.FormatInt(bytes, 10))
	return err
}

func (s *Store) setting(ctx context.Context, key string) (value string, ok bool, err error) {
	err = s.db.QueryRow(ctx, s.sql.Get("GetSetting"), key).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", false, nil
	}
	return value, err == nil, classify("GetSetting", err)
}
