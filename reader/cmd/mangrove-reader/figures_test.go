package main

import (
	"testing"

	"go.uber.org/zap"

	"mangrove/internal/metrics/metricstest"
)

func TestTheMetricsAreDocumented(t *testing.T) {
	figures, _, _ := newFigures(newDatabase(nil, zap.NewNop()))
	metricstest.Matches(t, "reader", figures)
}
