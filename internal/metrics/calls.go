package metrics

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
)

// unknownMethod stands for every method that there is not: their names are the
// caller's.
const unknownMethod = "unknown"

// Calls measures the calls of a gRPC server from outside of everything that turns an
// error into a code. Streams are counted when they end and not timed: how long one
// lasts is the watcher's choice.
func Calls(reg prometheus.Registerer) grpc.ServerOption {
	c := &calls{
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: Namespace, Subsystem: "rpc", Name: "duration_seconds", Help: "How long calls of the private API took.", Buckets: Seconds(),
		}, []string{"method", "code"}),
		streams: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: Namespace, Subsystem: "rpc", Name: "streams_total", Help: "Streams of the private API that have ended.",
		}, []string{"method", "code"}),
	}
	reg.MustRegister(c.durations, c.streams)
	return grpc.StatsHandler(c)
}

type calls struct {
	durations *prometheus.HistogramVec
	streams   *prometheus.CounterVec
}

// call is what is remembered of a call until it ends.
type call struct {
	method string
	stream bool
}

type callKey struct{}

// TagRPC remembers the method for the end of the call.
func (c *calls) TagRPC(ctx context.Context, info *stats.RPCTagInfo) context.Context {
	return context.WithValue(ctx, callKey{}, &call{method: strings.TrimPrefix(info.FullMethodName, "/")})
}

// HandleRPC measures a call when it ends.
func (c *calls) HandleRPC(ctx context.Context, s stats.RPCStats) {
	of, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return
	}
	switch s := s.(type) {
	case *stats.Begin:
		of.stream = s.IsClientStream || s.IsServerStream
	case *stats.End:
		code, method := status.Code(s.Error), of.method
		if code == codes.Unimplemented {
			method = unknownMethod
		}
		if of.stream {
			c.streams.WithLabelValues(method, code.String()).Inc()
			return
		}
		c.durations.WithLabelValues(method, code.String()).Observe(s.EndTime.Sub(s.BeginTime).Truncate(time.Microsecond).Seconds())
	}
}

// TagConn remembers nothing.
func (c *calls) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn measures nothing.
func (c *calls) HandleConn(context.Context, stats.ConnStats) {}
