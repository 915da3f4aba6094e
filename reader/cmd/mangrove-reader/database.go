package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/zap"

	"mangrove/migrations"
)

// lookEvery is how often the database is looked at: often enough that a page is
// back soon after it, and nothing beside what pages ask.
const lookEvery = 2 * time.Second

// database knows whether the database answers and is migrated. It starts as
// down, so that nothing is served before the first look.
type database struct {
	pool *pgxpool.Pool
	log  *zap.Logger

	mu    sync.Mutex
	since time.Time
	down  bool
}

func newDatabase(pool *pgxpool.Pool, log *zap.Logger) *database {
	return &database{pool: pool, log: log, since: time.Now(), down: true}
}

// Down answers since when the database has not answered, if it does not.
func (d *database) Down() (since time.Time, down bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.since, d.down
}

// watch looks until ctx ends and calls ready at each turn from down to up and
// back. It ends early only when the schema is newer than this program.
func (d *database) watch(ctx context.Context, ready func(bool)) error {
	for {
		limited, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := migrations.Check(limited, d.pool)
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, migrations.ErrNewer) {
			return err
		}
		d.turn(err, ready)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookEvery):
		}
	}
}

func (d *database) turn(err error, ready func(bool)) {
	d.mu.Lock()
	was := d.down
	d.down = err != nil
	if d.down && !was {
		d.since = time.Now()
	}
	d.mu.Unlock()
	switch {
	case was && err == nil:
		d.log.Info("the database answers")
		ready(true)
	case !was && err != nil:
		d.log.Warn("the database does not answer", zap.Error(err))
		ready(false)
	case was:
		d.log.Debug("waiting for the database", zap.Error(err))
	}
}
