package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/job"
)

// JobStanding is how one Job and its Site stand.
type JobStanding struct {
	job.Job
	// Circuit is its Site's, "" for one without a Lane.
	Circuit circuit.State
}

// Progress lists the Jobs that are under way or wait, and those with an id of also
// whatever became of them, at most limit.
func (s *Store) Progress(ctx context.Context, also []int64, limit int) ([]JobStanding, error) {
	if also == nil {
		also = []int64{}
	}
	rows, err := s.db.Query(ctx, s.sql.Get("Progress"), also, limit)
	if err != nil {
		return nil, classify("Progress", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (g JobStanding, err error) {
		err = row.Scan(&g.ID, &g.Key.Site, &g.Key.SeriesID, &g.State, &g.Class, &g.Reason, &g.Circuit)
		return g, err
	})
	return out, classify("Progress", err)
}
