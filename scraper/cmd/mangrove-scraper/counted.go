package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"mangrove/internal/config"
	"mangrove/internal/durable"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/store"
	"mangrove/scraper/internal/tally"
)

// counted is a Lane's claim that counts what has been written through it.
type counted struct {
	*store.Claim
	tally *tally.Tally
}

// RecordPass counts the Pass once it is recorded.
func (c counted) RecordPass(ctx context.Context, p lane.Pass) error {
	err := c.Claim.RecordPass(ctx, p)
	if err == nil {
		c.tally.Pass(p)
	}
	return err
}

// Commit counts the publication once it is committed.
func (c counted) Commit(ctx context.Context, j job.Job, p job.Publication) error {
	err := c.Claim.Commit(ctx, j, p)
	if err == nil {
		c.tally.Publication(j.Key.Site)
	}
	return err
}

// standingFigures tell what stands in the database, and the room on the disks.
func standingFigures(cfg config.Config, db *store.Store, log *zap.Logger) prometheus.Collector {
	return &tally.Standing{
		Figures: func(ctx context.Context, now time.Time) (store.Figures, error) { return db.Figures(ctx, now) },
		Room:    durable.Room, Folders: map[string]string{"data": filepath.Clean(cfg.DataDir), "library": cfg.LibraryDir}, Log: log,
	}
}
