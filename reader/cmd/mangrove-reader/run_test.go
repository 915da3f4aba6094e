package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc/health/grpc_health_v1"

	"mangrove/internal/config"
	"mangrove/internal/grpcserver"
	"mangrove/internal/pgtest"
	"mangrove/migrations"
)

// reader is one running reader.
type reader struct {
	http   string
	data   string
	health grpc_health_v1.HealthClient
	stop   context.CancelFunc
	ended  chan error
}

// start runs the reader on a database address. Its data folder has a short
// name, because a unix address holds 107 bytes.
func start(t *testing.T, database string) *reader {
	t.Helper()
	data, err := os.MkdirTemp("", "reader")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(data) })
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{http: free.Addr().String(), data: data, ended: make(chan error, 1)}
	_ = free.Close()
	for name, value := range map[string]string{
		config.Data: data, config.HTTP: r.http, config.DatabaseURLReader: database, config.LogLevel: "error",
	} {
		t.Setenv(name, value)
	}
	// A setting that no program knows is refused, and the tests' own is one.
	t.Setenv(pgtest.Env, "")
	_ = os.Unsetenv(pgtest.Env)
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	go func() { r.ended <- run(ctx, io.Discard) }()
	conn, err := grpcserver.DialUnix(filepath.Join(data, "run", "reader.sock"))
	if err != nil {
		t.Fatal(err)
	}
	r.health = grpc_health_v1.NewHealthClient(conn)
	t.Cleanup(func() { _ = conn.Close(); cancel() })
	return r
}

func (r *reader) serving(name string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	resp, err := r.health.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: name})
	return err == nil && resp.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVING
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); {
		if ok() {
			return
		}
		<-time.After(20 * time.Millisecond)
	}
	t.Fatalf("not in 15 seconds: %s", what)
}

func (r *reader) page(path string) (int, string) {
	resp, err := http.Get("http://" + r.http + path)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

func TestServesAndStops(t *testing.T) {
	r := start(t, pgtest.New(t).Reader)
	eventually(t, "ready", func() bool { return r.serving(grpcserver.Readiness) && r.serving(grpcserver.Liveness) && r.serving("") })
	if code, body := r.page("/"); code != http.StatusOK || !strings.Contains(body, "Make this library yours") {
		t.Errorf("the first page answers %d", code)
	}
	file := filepath.Join(r.data, "reader", "claim-code")
	eventually(t, "a claim code", func() bool { _, err := os.Stat(file); return err == nil })
	if info, _ := os.Stat(filepath.Join(r.data, "run", "reader.sock")); info.Mode().Perm() != 0o600 {
		t.Errorf("the socket has mode %v", info.Mode())
	}
	r.stop()
	select {
	case err := <-r.ended:
		if err != nil {
			t.Errorf("a stop that was asked for ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it did not stop")
	}
}

func TestWaitsForTheDatabase(t *testing.T) {
	admin := pgtest.Empty(t)
	address, err := migrations.RoleURL(admin, migrations.Reader, "pgtest")
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, address)
	eventually(t, "live", func() bool { return r.serving(grpcserver.Liveness) })
	if r.serving(grpcserver.Readiness) {
		t.Error("ready without a database")
	}
	eventually(t, "the page that says so", func() bool {
		code, body := r.page("/library")
		return code == http.StatusServiceUnavailable && strings.Contains(body, "mangrove status")
	})
	d := migrations.Database{AdminURL: admin, ReaderPassword: "pgtest", ScraperPassword: "pgtest"}
	if err := migrations.Apply(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	eventually(t, "ready after the migration", func() bool { return r.serving(grpcserver.Readiness) })
	r.stop()
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
}

func TestANewerDatabaseIsLeftAlone(t *testing.T) {
	urls := pgtest.New(t)
	conn, err := pgx.Connect(context.Background(), urls.Admin)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(context.Background(), "INSERT INTO mangrove.migrations (version_id, is_applied) VALUES ($1, true)", migrations.Latest()+1)
	_ = conn.Close(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, urls.Reader)
	select {
	case err := <-r.ended:
		if !errors.Is(err, migrations.ErrNewer) || exitCode(err) != config.ExitConfig {
			t.Errorf("got %v (exit code %d), want exit code %d", err, exitCode(err), config.ExitConfig)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it went on")
	}
}

// TestASecondReaderIsRefused with the code that costs nothing, and names the one that
// serves (F42); what a dead one left is no obstacle (S-093).
func TestASecondReaderIsRefused(t *testing.T) {
	r := start(t, pgtest.New(t).Reader)
	eventually(t, "ready", func() bool { return r.serving(grpcserver.Readiness) })
	err := run(context.Background(), io.Discard)
	if exitCode(err) != config.ExitLock || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("a second one: %v (exit code %d)", err, exitCode(err))
	}
	r.stop()
	if err := <-r.ended; err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.data, "reader", "reader.lock")); err != nil {
		t.Errorf("the lock file: %v; it stays, and is no obstacle", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	again := make(chan error, 1)
	go func() { again <- run(ctx, io.Discard) }()
	eventually(t, "the next one is ready", func() bool { return r.serving(grpcserver.Readiness) })
	cancel()
	if err := <-again; err != nil {
		t.Errorf("the next one: %v", err)
	}
}
