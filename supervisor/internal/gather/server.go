package gather

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"

	"mangrove/internal/metrics"
)

// atOnce is how many answers are made at a time; more are told to come again.
const atOnce = 4

// Server answers Prometheus on TCP.
type Server struct{ http *http.Server }

// NewServer makes it. Whoever asks has to know token, unless it is "".
func NewServer(from Gatherer, token string, log *zap.Logger) *Server {
	lines := zap.NewStdLog(log.With(zap.String("part", "metrics")))
	told := promhttp.HandlerFor(from, promhttp.HandlerOpts{ErrorLog: lines, ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: atOnce})
	mux := http.NewServeMux()
	mux.Handle("GET "+metrics.Path, told)
	return &Server{&http.Server{
		Handler: guarded(token, mux), ReadTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: lines,
	}}
}

// guarded lets those in who know the token. Without one only this machine can ask, and
// then not by a name that is somebody else's: a page from elsewhere could have a
// browser here ask for it.
func guarded(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token == "" {
			if !local(r.Host) {
				http.Error(w, "The metrics answer to addresses and to localhost.", http.StatusForbidden)
				return
			}
			next.ServeHTTP(w, r)
			return
		}
		given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(given))
		if !bearer || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="Mangrove metrics"`)
			http.Error(w, "The metrics are told to whoever knows the token.", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// local reports whether host is localhost or an address.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "localhost" {
		return true
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}

// Serve answers on l until Stop.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Stop ends it within grace.
func (s *Server) Stop(grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
	}
}
