package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/poll"
)

// EnsureLane makes the rows of a Lane if they are not there. What an earlier process
// was doing stays until it has been looked at (JOB-12).
func (s *Store) EnsureLane(ctx context.Context, site string) error {
	if _, err := s.exec(ctx, "EnsureLane", site); err != nil {
		return err
	}
	if _, err := s.exec(ctx, "EnsureCircuit", site); err != nil {
		return err
	}
	_, err := s.exec(ctx, "EnsureCanary", site)
	return err
}

// SetActivity records what a Lane is doing now.
func (s *Store) SetActivity(ctx context.Context, site string, a lane.Activity, seriesID string) error {
	_, err := s.exec(ctx, "SetActivity", site, a, seriesID)
	return err
}

// SetTrouble records a Lane's trouble; since stays while the word does.
func (s *Store) SetTrouble(ctx context.Context, site string, t lane.Trouble, now time.Time) error {
	_, err := s.exec(ctx, "SetTrouble", site, t, now)
	return err
}

// RecordPass writes the row of a Pass, and notes the Lane's first full cycle.
func (s *Store) RecordPass(ctx context.Context, p lane.Pass) error {
	_, err := s.exec(ctx, "RecordPass", p.Site, p.Started, p.Ended, p.EndReason, p.Counts[poll.OK], p.Counts[poll.NotFound],
		p.Counts[poll.NoChapter], p.Counts[poll.Unfetchable], p.Counts[poll.Errors], p.Counts[poll.Refused], p.Counts[poll.Unreachable], p.NewChapters)
	if err != nil || p.EndReason != lane.EndComplete {
		return err
	}
	_, err = s.exec(ctx, "MarkCycled", p.Site, p.Ended)
	return err
}

// PrunePasses deletes Passes that started before t (POLL-7). It changes no age.
func (s *Store) PrunePasses(ctx context.Context, t time.Time) error {
	_, err := s.exec(ctx, "PrunePasses", t)
	return err
}

// Circuit reads a Site's circuit.
func (s *Store) Circuit(ctx context.Context, site string) (c circuit.Circuit, err error) {
	var until, after *time.Time
	err = s.db.QueryRow(ctx, s.sql.Get("GetCircuit"), site).Scan(&c.Site, &c.State, &c.Reason, &c.Detail, &c.Since, &until, &after)
	c.Until, c.RetryAfter = orZero(until), orZero(after)
	return c, classify("GetCircuit", err)
}

// MoveCircuit is compare-and-set on from's state and since.
func (s *Store) MoveCircuit(ctx context.Context, from, to circuit.Circuit) (bool, error) {
	n, err := s.exec(ctx, "MoveCircuit", from.Site, from.State, from.Since, to.State, to.Reason, to.Detail, to.Since, orNull(to.Until), orNull(to.RetryAfter))
	if n > 0 && err == nil {
		s.events.Tell(incident.Event{Event: "circuit", Site: from.Site, From: string(from.State), To: string(to.State), Class: string(to.Reason), Reason: to.Detail})
	}
	return n > 0, err
}

// SetHold stops all downloads; an earlier Hold of that kind keeps its time.
func (s *Store) SetHold(ctx context.Context, kind, detail string, now time.Time) error {
	var fresh bool
	err := s.db.QueryRow(ctx, s.sql.Get("SetHold"), kind, now, detail).Scan(&fresh)
	if err == nil && fresh {
		s.events.Tell(incident.Event{Event: "hold", To: kind, Reason: detail})
	}
	return classify("SetHold", err)
}

// ReleaseHold ends a Hold and reports whether there was one.
func (s *Store) ReleaseHold(ctx context.Context, kind string) (bool, error) {
	n, err := s.exec(ctx, "ReleaseHold", kind)
	if n > 0 && err == nil {
		s.events.Tell(incident.Event{Event: "hold", From: kind})
	}
	return n > 0, err
}

// Hold is a stop on all downloads.
type Hold struct {
	// Kind is "queue" or "storage".
	Kind   string
	Since  time.Time
	Detail string
}

// Holds lists those that are set.
func (s *Store) Holds(ctx context.Context) ([]Hold, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("ListHolds"))
	if err != nil {
		return nil, classify("ListHolds", err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Hold])
	return out, classify("ListHolds", err)
}
