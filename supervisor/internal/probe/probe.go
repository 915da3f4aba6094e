// Package probe asks a service over its unix socket whether it serves, by the
// standard gRPC health call. A connection is kept while it answers well, because
// making one wakes the machine up more often than asking does; after the first
// trouble it is closed and the next question makes a new one: a kept one would sit
// out its own back-off while the service already answers. It draws no conclusions;
// the keeper counts misses.
package probe

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	"mangrove/internal/grpcserver"
)

// Line leads to one socket. Its methods may be called from several goroutines, and
// the zero value with a Socket is ready.
type Line struct {
	Socket string

	mu   sync.Mutex
	kept *grpc.ClientConn
}

// Check returns nil when the service answers SERVING for name, such as
// grpcserver.Liveness, before ctx ends.
func (l *Line) Check(ctx context.Context, name string) error {
	conn, err := l.take()
	if err != nil {
		return fmt.Errorf("probe %s: %w", l.Socket, err)
	}
	answer, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: name})
	if err == nil && answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		err = fmt.Errorf("%s is %s", name, answer.GetStatus())
	}
	if err != nil {
		_ = conn.Close()
		return fmt.Errorf("probe %s: %w", l.Socket, err)
	}
	l.put(conn)
	return nil
}

// Close ends the connection that is kept; asking again makes a new one.
func (l *Line) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept != nil {
		_ = l.kept.Close()
		l.kept = nil
	}
}

// take is the connection that is kept, or a new one; it belongs to the caller.
func (l *Line) take() (*grpc.ClientConn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if conn := l.kept; conn != nil {
		l.kept = nil
		return conn, nil
	}
	return grpcserver.DialUnix(l.Socket)
}

// put keeps a connection, unless another is kept meanwhile.
func (l *Line) put(conn *grpc.ClientConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept != nil {
		_ = conn.Close()
		return
	}
	l.kept = conn
}
