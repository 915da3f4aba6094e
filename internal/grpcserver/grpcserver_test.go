package grpcserver

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"mangrove/internal/fault"
)

func serve(t *testing.T, s *Server) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.sock")
	l, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { _ = s.Serve(l); close(done) }()
	t.Cleanup(func() { s.Stop(time.Second); <-done })
	return path
}

func check(t *testing.T, path, name string) (grpc_health_v1.HealthCheckResponse_ServingStatus, error) {
	t.Helper()
	conn, err := DialUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: name})
	return r.GetStatus(), err
}

func TestHealthStartsNotServing(t *testing.T) {
	s := New(zap.NewNop(), grpc.Creds(PeerCredentials(os.Geteuid())))
	path := serve(t, s)
	for _, name := range []string{"", Liveness, Readiness} {
		if got, err := check(t, path, name); err != nil || got != grpc_health_v1.HealthCheckResponse_NOT_SERVING {
			t.Errorf("%q at the start: %v, %v; want NOT_SERVING", name, got, err)
		}
	}
	s.Set(Readiness, true)
	if got, err := check(t, path, ""); err != nil || got != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("ready: %v, %v; want SERVING", got, err)
	}
}

func TestWrongPeerIsRefusedBeforeAnyCall(t *testing.T) {
	s := New(zap.NewNop(), grpc.Creds(PeerCredentials(os.Geteuid()+1)))
	path := serve(t, s)
	if _, err := check(t, path, ""); status.Code(err) != codes.Unavailable {
		t.Errorf("a peer of another user got %v", err)
	}
}

func TestSocketModeAndStaleSocket(t *testing.T) {
	s := New(zap.NewNop(), grpc.Creds(PeerCredentials(os.Geteuid())))
	path := serve(t, s)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode().Perm(), err)
	}
	if _, err := ListenUnix(path); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a live socket was taken over: %v", err)
	}
	stale := filepath.Join(t.TempDir(), "stale.sock")
	l, err := ListenUnix(stale)
	if err != nil {
		t.Fatal(err)
	}
	// As kill -9 leaves it: the name stays, nobody listens.
	l.(interface{ SetUnlinkOnClose(bool) }).SetUnlinkOnClose(false)
	_ = l.Close()
	again, err := ListenUnix(stale)
	if err != nil {
		t.Fatalf("a stale socket is an obstacle: %v", err)
	}
	_ = again.Close()
	if _, err := ListenUnix("/tmp/" + strings.Repeat("x", 120)); err == nil || !strings.Contains(err.Error(), "107") {
		t.Errorf("a path too long for a socket: %v", err)
	}
}

func TestOnlyOpAndSubjectTravel(t *testing.T) {
	err := toStatus(zap.NewNop(), "/m", fault.Newf(fault.NotFound, "find Series", "sample/x", "SELECT secret"))
	if status.Code(err) != codes.NotFound || strings.Contains(err.Error(), "SELECT") {
		t.Errorf("got %v, want NOT_FOUND without the cause", err)
	}
}
