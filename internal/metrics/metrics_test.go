package metrics

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/emptypb"

	"mangrove/internal/grpcserver"
)

// told are the lines that reg tells on a socket, once.
func told(t *testing.T, reg *prometheus.Registry) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.sock")
	s, err := Listen(path, reg, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop(time.Second)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket's mode is %v, %v; want 0600", info.Mode(), err)
	}
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", path) },
	}}
	resp, err := client.Get("http://socket" + Path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", resp.Status, err)
	}
	return strings.Split(string(text), "\n")
}

func tells(t *testing.T, lines []string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !slices.Contains(lines, w) {
			t.Errorf("%q is not told:\n%s", w, strings.Join(slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !strings.HasPrefix(l, "mangrove_") }), "\n"))
		}
	}
}

func TestAProgramTellsItsVersion(t *testing.T) {
	t.Parallel()
	tells(t, told(t, New("1.2")), `mangrove_build_info{version="1.2"} 1`)
}

// TestCallsAreMeasuredWithTheCodeThatTravels: from outside of what turns an error into
// one, with no name of the caller's choice.
func TestCallsAreMeasuredWithTheCodeThatTravels(t *testing.T) {
	t.Parallel()
	reg := New("test")
	s := grpcserver.New(zap.NewNop(), grpc.Creds(grpcserver.PeerCredentials(os.Geteuid())), Calls(reg))
	path := filepath.Join(t.TempDir(), "s.sock")
	l, err := grpcserver.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { _ = s.Serve(l); close(done) }()
	conn, err := grpcserver.DialUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	health := grpc_health_v1.NewHealthClient(conn)
	if _, err := health.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := health.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: "nobody"}); err == nil {
		t.Fatal("a service that is none is healthy")
	}
	for _, name := range []string{"/a.b/C", "/d.e/F"} {
		_ = conn.Invoke(t.Context(), name, &emptypb.Empty{}, &emptypb.Empty{})
	}
	watching, enough := context.WithCancel(t.Context())
	watch, err := health.Watch(watching, &grpc_health_v1.HealthCheckRequest{})
	if err == nil {
		_, err = watch.Recv()
	}
	if err != nil {
		t.Fatal(err)
	}
	enough()
	_ = conn.Close()
	s.Stop(5 * time.Second)
	<-done
	lines := told(t, reg)
	tells(t, lines,
		`mangrove_rpc_duration_seconds_count{code="OK",method="grpc.health.v1.Health/Check"} 1`,
		`mangrove_rpc_duration_seconds_count{code="NotFound",method="grpc.health.v1.Health/Check"} 1`,
		`mangrove_rpc_streams_total{code="Canceled",method="grpc.health.v1.Health/Watch"} 1`,
	)
	for _, line := range lines {
		if strings.Contains(line, "a.b") || strings.Contains(line, "d.e") {
			t.Errorf("a caller chose a label: %s", line)
		}
	}
}

// bodyReader is an answer that can take a file without copying it.
type bodyReader struct {
	http.ResponseWriter
	took bool
}

// ReadFrom is what sendfile goes through.
func (b *bodyReader) ReadFrom(r io.Reader) (int64, error) {
	b.took = true
	return io.Copy(b.ResponseWriter, r)
}

func TestRequestsAreMeasuredByRouteAndKeepSendfile(t *testing.T) {
	t.Parallel()
	reg := New("test")
	file := filepath.Join(t.TempDir(), "page")
	if err := os.WriteFile(file, []byte("page"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := NewRequests(reg).Measure("/read/{book}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/read/none" {
			http.NotFound(w, r)
			return
		}
		f, err := os.Open(file)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = f.Close() }()
		http.ServeContent(w, r, "page.jpg", time.Time{}, f)
	}))
	w := &bodyReader{ResponseWriter: httptest.NewRecorder()}
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/read/12", nil))
	if !w.took {
		t.Error("the file was copied: io.ReaderFrom is hidden")
	}
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("NONSENSE", "/read/none", nil))
	lines := told(t, reg)
	tells(t, lines,
		`mangrove_http_request_duration_seconds_count{code="200",method="get",route="/read/{book}"} 1`,
		`mangrove_http_request_duration_seconds_count{code="404",method="unknown",route="/read/{book}"} 1`,
	)
}
