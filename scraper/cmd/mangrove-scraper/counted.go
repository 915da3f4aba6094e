package main

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"mangrove/internal/config"
	"mangrove/internal/durable"
	"mangrove/internal/metrics"
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

// newFigures makes all that Prometheus is told by the scraper, what counts, and what
// measures the calls of its server.
func newFigures(cfg config.Config, db *store.Store, log *zap.Logger) (*prometheus.Registry, *tally.Tally, grpc.ServerOption) {
	figures := metrics.New(version)
	figures.MustRegister(&tally.Standing{
		Figures: db.Figures, Room: durable.Room, Folders: map[string]string{"data": cfg.DataDir, "library": cfg.LibraryDir}, Log: log,
	})
	return figures, tally.New(figures), metrics.Calls(figures)
}
