// Package probe asks a service over its unix socket whether it serves, by the
// standard gRPC health call. It keeps no connection: after a restart a kept
// one would sit out its own back-off while the service already answers. It
// draws no conclusions; the keeper counts misses.
package probe

import (
	"context"
	"fmt"

	"google.golang.org/grpc/health/grpc_health_v1"

	"mangrove/internal/grpcserver"
)

// Check returns nil when the service on socket answers SERVING for name, such
// as grpcserver.Liveness, before ctx ends.
func Check(ctx context.Context, socket, name string) error {
	conn, err := grpcserver.DialUnix(socket)
	if err != nil {
		return fmt.Errorf("probe %s: %w", socket, err)
	}
	defer func() { _ = conn.Close() }()
	answer, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: name})
	if err != nil {
		return fmt.Errorf("probe %s: %w", socket, err)
	}
	if answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("probe %s: %s is %s", socket, name, answer.GetStatus())
	}
	return nil
}
