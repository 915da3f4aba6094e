// Package metrics is what a program counts for Prometheus and how it tells it: a
// registry a program, the durations of calls and of requests, and an answer on a unix
// socket that only its own user may use, where the supervisor asks for it. What a
// label may be is bounded: a method, a route, a Site, a word of ours; never a title, an
// address, or a person. It listens on no port and decides nothing.
package metrics

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"

	"mangrove/internal/grpcserver"
)

// Namespace begins every name of ours.
const Namespace = "mangrove"

// Path is where the metrics are told.
const Path = "/metrics"

// Time bounds of one answer on the socket.
const (
	readLimit  = 2 * time.Second
	writeLimit = 5 * time.Second
)

// New makes the registry of a program, with its process, its Go and its version.
func New(version string) *prometheus.Registry {
	reg := prometheus.NewRegistry()
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: Namespace, Name: "build_info", Help: "1, with the version of the program.",
	}, []string{"version"})
	build.WithLabelValues(version).Set(1)
	reg.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg
}

// Seconds are the buckets of every duration here: from what nobody notices to what
// everybody does.
func Seconds() []float64 { return []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10} }

// Server tells a program's metrics on a unix socket.
type Server struct {
	http *http.Server
	done chan error
}

// Listen begins to tell what from gathers on the socket at path.
func Listen(path string, from prometheus.Gatherer, log *zap.Logger) (*Server, error) {
	socket, err := grpcserver.ListenUnix(path)
	if err != nil {
		return nil, fmt.Errorf("open the socket for metrics: %w", err)
	}
	lines := zap.NewStdLog(log.With(zap.String("part", "metrics")))
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, promhttp.HandlerFor(from, promhttp.HandlerOpts{ErrorLog: lines, ErrorHandling: promhttp.ContinueOnError}))
	s := &Server{
		http: &http.Server{Handler: mux, ReadTimeout: readLimit, WriteTimeout: writeLimit, MaxHeaderBytes: 8 << 10, ErrorLog: lines},
		done: make(chan error, 1),
	}
	go func() { s.done <- s.http.Serve(socket) }()
	return s, nil
}

// Stop ends it within grace.
func (s *Server) Stop(grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
	}
	if err := <-s.done; err != nil && !errors.Is(err, http.ErrServerClosed) {
		s.http.ErrorLog.Print(err)
	}
}
