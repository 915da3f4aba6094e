package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/source"
)

// IncidentRow is an incident with what is known of its Series and chapter now.
type IncidentRow struct {
	incident.Incident
	// Title and ChapterNumber are "" when they are not known any more.
	Title, ChapterNumber string
}

// RecordIncident adds in, or counts it on the unresolved one that stands for the
// same; fresh says which. More than incident.Kept are never kept.
func (s *Store) RecordIncident(ctx context.Context, in incident.Incident) (id int64, fresh bool, err error) {
	return s.recordIncident(ctx, in, incident.Kept)
}

func (s *Store) recordIncident(ctx context.Context, in incident.Incident, kept int) (id int64, fresh bool, err error) {
	decided, err := json.Marshal(decisions(in.Decided))
	if err != nil {
		return 0, false, fault.New(fault.Unknown, "write", "an incident", err)
	}
	err = s.inTx(ctx, "RecordIncident", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, s.sql.Get("LockIncidents")); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, s.sql.Get("RecordIncident"), in.Kind, in.About, in.Key.Site, in.Key.SeriesID, in.JobID, in.ChapterID, in.Subject, in.Reason,
			decided, in.At, in.Checkpoint, kept).Scan(&id, &fresh)
		if err != nil || !fresh {
			return err
		}
		for i, e := range in.Evidence {
			headers, err := json.Marshal(append([]source.Header{}, e.Headers...))
			if err != nil {
				return err
			}
			body := e.Body
			if body == nil {
				body = []byte{}
			}
			if _, err := tx.Exec(ctx, s.sql.Get("AddEvidence"), id, i+1, e.At, e.Address, e.Status, e.MediaType, headers, e.Size, e.Removed, e.Cut, body); err != nil {
				return err
			}
		}
		return nil
	})
	return id, fresh, err
}

// decisions never is nil: the column is a list.
func decisions(d []incident.Decision) []incident.Decision {
	if d == nil {
		return []incident.Decision{}
	}
	return d
}

// DecideIncident appends to what was decided, as far as there is room.
func (s *Store) DecideIncident(ctx context.Context, id int64, decided []incident.Decision) error {
	data, err := json.Marshal(decisions(decided))
	if err != nil {
		return fault.New(fault.Unknown, "write", "a decision", err)
	}
	_, err = s.exec(ctx, "DecideIncident", id, data, incident.MaxDecisions)
	return err
}

// EndIncidents resolves what waits about something that has ended.
func (s *Store) EndIncidents(ctx context.Context, e incident.End, now time.Time) (int64, error) {
	abouts := make([]string, len(e.About))
	for i, a := range e.About {
		abouts[i] = string(a)
	}
	return s.exec(ctx, "EndIncidents", abouts, e.Key.Site, e.Key.SeriesID, e.ChapterID, e.Resolution, now)
}

// ResolveIncident marks an incident as seen to by an operator, if it still waits.
func (s *Store) ResolveIncident(ctx context.Context, id int64, now time.Time) (bool, error) {
	n, err := s.exec(ctx, "ResolveIncident", id, now)
	return n > 0, err
}

// Incidents lists incidents without their evidence, newest first.
func (s *Store) Incidents(ctx context.Context, unresolved bool, offset, limit int) ([]IncidentRow, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("ListIncidents"), unresolved, offset, limit)
	if err != nil {
		return nil, classify("ListIncidents", err)
	}
	out, err := pgx.CollectRows(rows, scanIncident)
	return out, classify("ListIncidents", err)
}

// CountIncidents counts all of them and those that wait.
func (s *Store) CountIncidents(ctx context.Context) (all, unresolved int, err error) {
	err = s.db.QueryRow(ctx, s.sql.Get("CountIncidents")).Scan(&all, &unresolved)
	return all, unresolved, classify("CountIncidents", err)
}

// Incident reads one incident whole; class not-found once it has been evicted.
func (s *Store) Incident(ctx context.Context, id int64) (IncidentRow, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("GetIncident"), id)
	if err != nil {
		return IncidentRow{}, classify("GetIncident", err)
	}
	in, err := pgx.CollectExactlyOneRow(rows, scanIncident)
	if errors.Is(err, pgx.ErrNoRows) {
		return in, fault.Newf(fault.NotFound, "find", "an incident", "there is no incident %d; the newest %d are kept", id, incident.Kept)
	}
	if err == nil {
		err = s.db.QueryRow(ctx, s.sql.Get("IncidentCheckpoint"), id).Scan(&in.Checkpoint)
	}
	if err != nil {
		return in, classify("GetIncident", err)
	}
	rows, err = s.db.Query(ctx, s.sql.Get("IncidentEvidence"), id)
	if err != nil {
		return in, classify("IncidentEvidence", err)
	}
	in.Evidence, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (e incident.Evidence, err error) {
		var headers []byte
		err = row.Scan(&e.At, &e.Address, &e.Status, &e.MediaType, &headers, &e.Size, &e.Removed, &e.Cut, &e.Body)
		if err == nil {
			err = json.Unmarshal(headers, &e.Headers)
		}
		return e, err
	})
	return in, classify("IncidentEvidence", err)
}

func scanIncident(row pgx.CollectableRow) (r IncidentRow, err error) {
	var decided []byte
	var resolved *time.Time
	err = row.Scan(&r.ID, &r.Kind, &r.About, &r.Key.Site, &r.Key.SeriesID, &r.JobID, &r.ChapterID, &r.Subject, &r.Reason, &decided, &r.At, &r.LastAt, &r.Seen,
		&resolved, &r.Resolution, &r.Title, &r.ChapterNumber)
	if err == nil {
		err = json.Unmarshal(decided, &r.Decided)
	}
	r.ResolvedAt = orZero(resolved)
	return r, err
}

// OpenIncidents are the unresolved incidents of Series that are not understood, by Series.
func (s *Store) OpenIncidents(ctx context.Context) (map[source.Key]int64, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("OpenIncidents"))
	if err != nil {
		return nil, classify("OpenIncidents", err)
	}
	out := map[source.Key]int64{}
	var key source.Key
	var id int64
	_, err = pgx.ForEachRow(rows, []any{&key.Site, &key.SeriesID, &id}, func() error {
		out[key] = id
		return nil
	})
	return out, classify("OpenIncidents", err)
}
