package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/poll"
)

// Figures are how things stand, counted.
type Figures struct {
	Failing  []FailingFigure
	Jobs     []JobFigure
	Circuits []CircuitFigure
	Holds    []Hold
	Canaries []CanaryRow
	// Floor is how many bytes must stay free where the library lies.
	Floor int64
}

// FailingFigure is how many Series of a Site fail with a word for about as long.
type FailingFigure struct {
	Site    string
	Outcome poll.Outcome
	// Age is one of FailingAges.
	Age   string
	Muted bool
	N     int
}

// FailingAges are the ages that are told apart, youngest first.
func FailingAges() []string {
	return []string{"under_1h", "1h_to_1d", "1d_to_7d", "7d_to_30d", "over_30d"}
}

// JobFigure is how many Jobs of a Site are in a state that has not ended well.
type JobFigure struct {
	Site  string
	State job.State
	N     int
}

// CircuitFigure is how a Site's circuit and Lane stand.
type CircuitFigure struct {
	Site         string
	State        circuit.State
	Reason       circuit.Reason
	Since        time.Time
	Trouble      lane.Trouble
	TroubleSince *time.Time
}

// Figures counts how things stand at now.
func (s *Store) Figures(ctx context.Context, now time.Time) (f Figures, err error) {
	if f.Failing, err = figures[FailingFigure](ctx, s, "FailingFigures", now); err != nil {
		return f, err
	}
	if f.Jobs, err = figures[JobFigure](ctx, s, "JobFigures"); err != nil {
		return f, err
	}
	if f.Circuits, err = figures[CircuitFigure](ctx, s, "CircuitFigures"); err != nil {
		return f, err
	}
	if f.Holds, err = s.Holds(ctx); err != nil {
		return f, err
	}
	if f.Canaries, err = s.Canaries(ctx); err != nil {
		return f, err
	}
	f.Floor, err = s.FreeSpaceFloor(ctx)
	return f, err
}

// figures runs a statement whose columns are the fields of T in their order.
func figures[T any](ctx context.Context, s *Store, name string, args ...any) ([]T, error) {
	rows, err := s.db.Query(ctx, s.sql.Get(name), args...)
	if err != nil {
		return nil, classify(name, err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	return out, classify(name, err)
}
