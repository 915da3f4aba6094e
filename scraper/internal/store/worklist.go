package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/poll"
)

// LaneRow is the live state of a Lane with its figures.
type LaneRow struct {
	Site         string
	Activity     lane.Activity
	Trouble      lane.Trouble
	TroubleSince time.Time
	Circuit      circuit.Circuit
	// CountingSince is set until the Lane has had a full cycle (POLL-11).
	CountingSince time.Time
	Series        int
	// Failing counts failure rows, Muted those of them that are muted.
	Failing, Muted int
	NextDue        time.Time
	LastGoodRead   time.Time
	Jobs           int
	// Current is the title being worked on, "" when idle.
	Current string
	// Interval is the operator's choice of how far apart Polls lie, 0 for none.
	Interval time.Duration
}

// Lanes lists all Lanes: those that need a person first, then resting, then well.
func (s *Store) Lanes(ctx context.Context) ([]LaneRow, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("LaneFigures"))
	if err != nil {
		return nil, classify("LaneFigures", err)
	}
	out, err := pgx.CollectRows(rows, laneRow)
	return out, classify("LaneFigures", err)
}

// laneRow is a Lane of the statement LaneFigures.
func laneRow(row pgx.CollectableRow) (l LaneRow, err error) {
	var since, until, after, counting, due, good *time.Time
	var interval string
	err = row.Scan(&l.Site, &l.Activity, &l.Trouble, &since, &l.Circuit.State, &l.Circuit.Reason, &l.Circuit.Detail, &l.Circuit.Since, &until, &after,
		&counting, &l.Series, &l.Failing, &l.Muted, &due, &good, &l.Jobs, &l.Current, &interval)
	l.Circuit.Site, l.TroubleSince, l.Circuit.Until, l.Circuit.RetryAfter = l.Site, orZero(since), orZero(until), orZero(after)
	l.CountingSince, l.NextDue, l.LastGoodRead = orZero(counting), orZero(due), orZero(good)
	l.Interval = intervalOf(interval)
	return l, err
}

// PassesSince lists the Passes that started at or after t, by Site and start.
func (s *Store) PassesSince(ctx context.Context, t time.Time) ([]lane.Pass, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("PassesSince"), t)
	if err != nil {
		return nil, classify("PassesSince", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p lane.Pass, err error) {
		n := make([]int, len(poll.Outcomes()))
		err = row.Scan(&p.Site, &p.Started, &p.Ended, &p.EndReason, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &p.NewChapters)
		p.Counts = make(map[poll.Outcome]int, len(n))
		for i, o := range poll.Outcomes() {
			p.Counts[o] = n[i]
		}
		return p, err
	})
	return out, classify("PassesSince", err)
}

// FailingSeries is one row of the Worklist.
type FailingSeries struct {
	SeriesRow
	Failure Failure
	// Proposal is where it may have moved to; its URL is "" for nowhere.
	Proposal lane.Proposal
	// Muted is when a person muted the failure; zero while it is shown.
	Muted time.Time
}

// WorklistQuery says which failing Series are wanted. Empty words filter
// nothing, and neither does a zero time.
type WorklistQuery struct {
	Site    string
	Outcome poll.Outcome
	// Before keeps failures that began before then.
	Before time.Time
	// Muted asks for the muted failures instead of the others.
	Muted bool
	// Sort is "oldest", "newest" or "title".
	Sort          string
	Offset, Limit int
}

// worklists maps the orders a Worklist can have to their statements: an order of
// its own each, so that the oldest hundred of many are found by index.
func worklists() map[string]string {
	return map[string]string{"oldest": "WorklistOldest", "newest": "WorklistNewest", "title": "WorklistTitle"}
}

// Worklist lists failing Series.
func (s *Store) Worklist(ctx context.Context, q WorklistQuery) ([]FailingSeries, error) {
	statement, ok := worklists()[q.Sort]
	if !ok {
		return nil, fault.Newf(fault.Invalid, "sort", "the Worklist", "%q is no order", q.Sort)
	}
	rows, err := s.db.Query(ctx, s.sql.Get(statement), q.Site, q.Outcome, orNull(q.Before), q.Muted, q.Offset, q.Limit)
	if err != nil {
		return nil, classify(statement, err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f FailingSeries, err error) {
		var muted *time.Time
		f.SeriesRow, err = scanSeries(with{row, []any{&f.Failure.Outcome, &f.Failure.Since, &f.Proposal.URL, &f.Proposal.Because, &muted}})
		f.Muted = orZero(muted)
		return f, err
	})
	return out, classify(statement, err)
}

// with is a row whose last columns go elsewhere.
type with struct {
	pgx.CollectableRow
	last []any
}

// Scan scans the first columns into dest and the last where they belong.
func (w with) Scan(dest ...any) error { return w.CollectableRow.Scan(append(dest, w.last...)...) }

// WorklistCount is how many failing Series have a word: those shown and those muted.
type WorklistCount struct{ Shown, Muted int }

// WorklistCounts counts failing Series by word, of one Site or of all (""), those
// that began to fail before a time or all (zero).
func (s *Store) WorklistCounts(ctx context.Context, site string, before time.Time) (map[poll.Outcome]WorklistCount, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("WorklistCounts"), site, orNull(before))
	if err != nil {
		return nil, classify("WorklistCounts", err)
	}
	out := map[poll.Outcome]WorklistCount{}
	var o poll.Outcome
	var n WorklistCount
	_, err = pgx.ForEachRow(rows, []any{&o, &n.Shown, &n.Muted}, func() error {
		out[o] = n
		return nil
	})
	return out, classify("WorklistCounts", err)
}

// CountingSince is set while some Lane has not had a full cycle (POLL-11).
func (s *Store) CountingSince(ctx context.Context) (time.Time, error) {
	var at *time.Time
	err := s.db.QueryRow(ctx, s.sql.Get("CountingSince")).Scan(&at)
	return orZero(at), classify("CountingSince", err)
}

// NewChapter is a chapter announced as new.
type NewChapter struct {
	KnownChapter
	Series    SeriesRow
	Announced time.Time
	// LibraryState is "absent", "published" or "missing".
	LibraryState string
}

// NewChapters lists announced chapters of followed Series, newest first.
func (s *Store) NewChapters(ctx context.Context, limit int) ([]NewChapter, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("NewChapters"), limit)
	if err != nil {
		return nil, classify("NewChapters", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (n NewChapter, err error) {
		var published *time.Time
		err = row.Scan(&n.Series.Key.Site, &n.Series.Key.SeriesID, &n.ID, &n.Number, &n.Volume, &n.Title, &n.Language, &n.Groups,
			&n.URL, &n.Order, &n.External, &published, &n.Announced, &n.LibraryState)
		n.Published, n.FirstSeen = orZero(published), n.Announced
		return n, err
	})
	if err != nil {
		return nil, classify("NewChapters", err)
	}
	for i := range out {
		if out[i].Series, err = s.Series(ctx, out[i].Series.Key); err != nil {
			return nil, err
		}
	}
	return out, nil
}
