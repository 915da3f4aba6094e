package gather

import (
	"github.com/prometheus/client_golang/prometheus"

	"mangrove/internal/metrics"
	"mangrove/supervisor/internal/budget"
	"mangrove/supervisor/internal/service"
)

// services tells how the services stand.
type services struct {
	statuses                   func() []service.Status
	state, since, left, failed *prometheus.Desc
}

// Services collects how the services stand when it is asked.
func Services(statuses func() []service.Status) prometheus.Collector {
	desc := func(name, help string, more ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(metrics.Namespace, "service", name), help, append([]string{"service"}, more...), nil)
	}
	return &services{
		statuses: statuses,
		state:    desc("state", "1 for the state in which the supervisor holds the service, 0 for each other.", "state"),
		since:    desc("state_since_timestamp_seconds", "When that state began."),
		left:     desc("budget_left", "How many failures the service may still have before it is parked."),
		failed:   desc("failures_total", "Failures of the service since the supervisor began."),
	}
}

// Describe names what is told.
func (s *services) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{s.state, s.since, s.left, s.failed} {
		ch <- d
	}
}

// Collect tells it.
func (s *services) Collect(ch chan<- prometheus.Metric) {
	for _, now := range s.statuses() {
		for _, state := range service.States() {
			is := 0.0
			if now.State == state {
				is = 1
			}
			ch <- prometheus.MustNewConstMetric(s.state, prometheus.GaugeValue, is, now.Name, string(state))
		}
		// Time frees a budget without any change of the service.
		left := budget.Ledger{Failures: now.Exits}.Left(budget.Now())
		ch <- prometheus.MustNewConstMetric(s.since, prometheus.GaugeValue, float64(now.Since.UnixMilli())/1e3, now.Name)
		ch <- prometheus.MustNewConstMetric(s.left, prometheus.GaugeValue, float64(left), now.Name)
		ch <- prometheus.MustNewConstMetric(s.failed, prometheus.CounterValue, float64(now.Failures), now.Name)
	}
}
