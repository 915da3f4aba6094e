package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/scraper/internal/queue"
)

// discoveriesKept is how many rows of discoveries are kept.
const discoveriesKept = 30

// DefaultDiscovery is when the discovery begins where nothing else is set, in the
// machine's own time.
const DefaultDiscovery = "03:00"

// Candidates lists Series marked for download that lack a chapter.
func (s *Store) Candidates(ctx context.Context) ([]queue.Candidate, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("Candidates"))
	if err != nil {
		return nil, classify("Candidates", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c queue.Candidate, err error) {
		err = row.Scan(&c.Key.Site, &c.Key.SeriesID, &c.Languages, &c.Latest.ID, &c.Latest.State, &c.Latest.Reason)
		c.Latest.Key = c.Key
		return c, err
	})
	return out, classify("Candidates", err)
}

// SaveDiscovery keeps the row of a discovery and of what it passed over.
func (s *Store) SaveDiscovery(ctx context.Context, d queue.Discovered) error {
	var sites, ids, whys []string
	var jobs []int64
	for _, k := range d.Skipped {
		sites, ids, whys, jobs = append(sites, k.Key.Site), append(ids, k.Key.SeriesID), append(whys, string(k.Why)), append(jobs, k.JobID)
	}
	return s.inTx(ctx, "SaveDiscovery", func(tx pgx.Tx) error {
		var id int64
		if err := tx.QueryRow(ctx, s.sql.Get("InsertDiscovery"), d.Started, d.Ended, d.End, d.LookedAt, d.Requested).Scan(&id); err != nil {
			return err
		}
		if len(sites) > 0 {
			if _, err := tx.Exec(ctx, s.sql.Get("InsertSkips"), id, sites, ids, whys, jobs); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, s.sql.Get("PruneDiscoveries"), discoveriesKept)
		return err
	})
}

// LastDiscovery is when the newest discovery began; zero before the first.
func (s *Store) LastDiscovery(ctx context.Context) (time.Time, error) {
	var at *time.Time
	err := s.db.QueryRow(ctx, s.sql.Get("LastDiscovery")).Scan(&at)
	return orZero(at), classify("LastDiscovery", err)
}

// NewestDiscovery is the newest discovery with what it passed over; ok is false
// before the first.
func (s *Store) NewestDiscovery(ctx context.Context) (d queue.Discovered, ok bool, err error) {
	var id int64
	err = s.db.QueryRow(ctx, s.sql.Get("NewestDiscovery")).Scan(&id, &d.Started, &d.Ended, &d.End, &d.LookedAt, &d.Requested)
	if errors.Is(err, pgx.ErrNoRows) {
		return d, false, nil
	}
	if err != nil {
		return d, false, classify("NewestDiscovery", err)
	}
	rows, err := s.db.Query(ctx, s.sql.Get("DiscoverySkips"), id)
	if err != nil {
		return d, false, classify("DiscoverySkips", err)
	}
	d.Skipped, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (k queue.Skip, err error) {
		err = row.Scan(&k.Key.Site, &k.Key.SeriesID, &k.Why, &k.JobID)
		return k, err
	})
	return d, err == nil, classify("DiscoverySkips", err)
}
