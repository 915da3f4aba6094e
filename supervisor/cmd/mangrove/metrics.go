package main

import (
	"net"
	"time"

	"mangrove/internal/metrics"
	"mangrove/supervisor/internal/gather"
)

// figures answers Prometheus, or nobody.
type figures struct{ server *gather.Server }

// metrics makes what answers Prometheus: what the supervisor knows itself, and what
// the services tell it at that moment.
func (s *system) metrics() (figures, error) {
	if s.bound.Metrics == nil {
		return figures{}, nil
	}
	token, err := s.config.MetricsToken()
	if err != nil {
		return figures{}, err
	}
	own := metrics.New(version)
	own.MustRegister(gather.Services(s.group.statuses))
	from := gather.Gatherer{Name: "supervisor", Own: own, Sources: []gather.Source{
		{Name: "scraper", Socket: s.config.ScraperMetricsSocket()},
		{Name: "reader", Socket: s.config.ReaderMetricsSocket()},
	}}
	return figures{gather.NewServer(from, token.Reveal(), s.log)}, nil
}

// Serve answers on l until Stop.
func (f figures) Serve(l net.Listener) error {
	if f.server == nil {
		return nil
	}
	return f.server.Serve(l)
}

// Stop ends it within grace.
func (f figures) Stop(grace time.Duration) {
	if f.server != nil {
		f.server.Stop(grace)
	}
}
