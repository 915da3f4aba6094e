package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Requests measures what routes answer.
type Requests struct{ durations *prometheus.HistogramVec }

// NewRequests registers them.
func NewRequests(reg prometheus.Registerer) *Requests {
	r := &Requests{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: Namespace, Subsystem: "http", Name: "request_duration_seconds", Help: "How long requests took, by route.", Buckets: Seconds(),
	}, []string{"route", "method", "code"})}
	reg.MustRegister(r.durations)
	return r
}

// Measure is h with its answers measured under the name route. What it puts round the
// ResponseWriter keeps io.ReaderFrom, and with it sendfile.
func (r *Requests) Measure(route string, h http.Handler) http.Handler {
	return promhttp.InstrumentHandlerDuration(r.durations.MustCurryWith(prometheus.Labels{"route": route}), h)
}
