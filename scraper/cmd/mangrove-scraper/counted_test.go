package main

import (
	"testing"

	"go.uber.org/zap"

	"mangrove/internal/config"
	"mangrove/internal/metrics/metricstest"
	"mangrove/scraper/internal/store"
)

func TestTheMetricsAreDocumented(t *testing.T) {
	figures, _, _ := newFigures(config.Config{}, &store.Store{}, zap.NewNop())
	metricstest.Matches(t, "scraper", figures)
}
