package main

import (
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"mangrove/internal/metrics"
)

// newFigures makes all that Prometheus is told by the reader, what measures its
// requests, and what measures the calls of its server.
func newFigures(db *database) (*prometheus.Registry, *metrics.Requests, grpc.ServerOption) {
	figures := metrics.New(version)
	figures.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: metrics.Namespace, Name: "database_up", Help: "Whether the database answered when it was last asked.",
	}, func() float64 {
		if _, down := db.Down(); down {
			return 0
		}
		return 1
	}))
	return figures, metrics.NewRequests(figures), metrics.Calls(figures)
}
