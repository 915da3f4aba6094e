package store

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/canary"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/source"
)

// canaryHours is how far apart the trials of each Lane lie, a number of hours; 0 is
// never. GetCanary spells it too.
const canaryHours = "canary_hours"

// CanaryEvery is how far apart the trials by known Series lie; 0 is never.
func (s *Store) CanaryEvery(ctx context.Context) (time.Duration, error) {
	value, _, err := s.setting(ctx, canaryHours)
	return canaryEvery(value), err
}

// SetCanaryEvery chooses it, in whole hours; 0 is never.
func (s *Store) SetCanaryEvery(ctx context.Context, d time.Duration) error {
	if d != 0 && (d < canary.Least || d > canary.Most) {
		return fault.Newf(fault.Invalid, "set", "how often known Series are read", "%s is not between %s and %s, and not never", d, canary.Least, canary.Most)
	}
	_, err := s.exec(ctx, "SetSetting", canaryHours, strconv.Itoa(int(d/time.Hour)))
	return err
}

// canaryEvery reads a stored choice. What is none counts as no choice.
func canaryEvery(value string) time.Duration {
	hours, err := strconv.ParseUint(value, 10, 16)
	d := time.Duration(hours) * time.Hour
	if err != nil || d != 0 && (d < canary.Least || d > canary.Most) {
		return canary.Every
	}
	return d
}

// Canary reads a Lane's canary and whether it is tried at all.
func (s *Store) Canary(ctx context.Context, site string) (p lane.CanaryPlan, err error) {
	var ran, good, failing, next *time.Time
	var hours string
	c := canary.Canary{Site: site}
	err = s.db.QueryRow(ctx, s.sql.Get("GetCanary"), site).Scan(&c.State, &c.Outcome, &c.SeriesID, &c.ChapterID, &c.Chapters, &ran, &good, &failing, &next, &c.Evidence, &hours, &p.Followed)
	c.Ran, c.Good, c.FailingSince, c.Next = orZero(ran), orZero(good), orZero(failing), orZero(next)
	p.Canary, p.Every = c, canaryEvery(hours)
	return p, classify("GetCanary", err)
}

// CanaryRow is a Lane's canary as it is shown.
type CanaryRow struct {
	canary.Canary
	// Title is that of the Series it was tried by, "" where nobody follows it.
	Title string
	// IncidentID is that of the incident that waits, 0 without one.
	IncidentID int64
}

// Canaries lists those of the Lanes that are tried.
func (s *Store) Canaries(ctx context.Context) ([]CanaryRow, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("Canaries"))
	if err != nil {
		return nil, classify("Canaries", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c CanaryRow, err error) {
		var ran, good, failing, next *time.Time
		err = row.Scan(&c.Site, &c.State, &c.Outcome, &c.SeriesID, &ran, &good, &failing, &next, &c.Evidence, &c.Title, &c.IncidentID)
		c.Ran, c.Good, c.FailingSince, c.Next = orZero(ran), orZero(good), orZero(failing), orZero(next)
		return c, err
	})
	return out, classify("Canaries", err)
}

// MoveCanary is compare-and-set on from's state and next trial.
func (s *Store) MoveCanary(ctx context.Context, from, to canary.Canary) (bool, error) {
	n, err := s.exec(ctx, "MoveCanary", from.Site, from.State, orNull(from.Next), to.State, to.Outcome, to.SeriesID, to.ChapterID, to.Chapters,
		orNull(to.Ran), orNull(to.Good), orNull(to.FailingSince), orNull(to.Next), to.Evidence)
	if n > 0 && err == nil && from.State != to.State {
		s.events.Tell(incident.Event{Event: "canary", Site: from.Site, Series: to.SeriesID, From: string(from.State), To: string(to.State), Class: string(to.Outcome), Reason: to.Evidence})
	}
	return n > 0, err
}

// HastenCanary makes a trial that is awaited with doubt due at now.
func (s *Store) HastenCanary(ctx context.Context, site string, now time.Time) error {
	_, err := s.exec(ctx, "HastenCanary", site, now)
	return err
}

// KnownSeries is the Series by which a Lane's adapter is tried: the declared one, ""
// for none, else the followed one that was read well last. The address of a declared
// one that nobody follows is left to its adapter.
func (s *Store) KnownSeries(ctx context.Context, site, declared string) (k canary.Known, ok bool, err error) {
	k.Key, k.Declared = source.Key{Site: site, SeriesID: declared}, declared != ""
	statement, args, into := "DeclaredSeries", []any{site, declared}, []any{&k.URL, &k.Chapters, &k.Published}
	if !k.Declared {
		statement, args, into = "FollowedSeries", []any{site}, append([]any{&k.Key.SeriesID}, into...)
	}
	err = s.db.QueryRow(ctx, s.sql.Get(statement), args...).Scan(into...)
	if errors.Is(err, pgx.ErrNoRows) {
		return k, k.Declared, nil
	}
	return k, err == nil, classify(statement, err)
}
