package gather

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"mangrove/internal/metrics"
	"mangrove/internal/metrics/metricstest"
	"mangrove/supervisor/internal/budget"
	"mangrove/supervisor/internal/service"
)

// tells serves a registry with one count at a socket and returns its path.
func tells(t *testing.T) string {
	t.Helper()
	reg := metrics.New("1.2")
	pages := prometheus.NewCounter(prometheus.CounterOpts{Name: "mangrove_pages_total"})
	pages.Add(7)
	reg.MustRegister(pages)
	path := filepath.Join(t.TempDir(), "m.sock")
	s, err := metrics.Listen(path, reg, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(time.Second) })
	return path
}

// answers serves h at a socket and returns its path.
func answers(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return path
}

// asked is what a Prometheus is told, and how long that took.
func asked(t *testing.T, g Gatherer) (string, time.Duration) {
	t.Helper()
	began := time.Now()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8486/metrics", nil)
	NewServer(g, "", zap.NewNop()).http.Handler.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.String(), time.Since(began)
}

// TestWhoIsAwayCostsTheOthersNothing: one tells, one is not there, one hangs, one talks
// nonsense, one says no, one never ends.
func TestWhoIsAwayCostsTheOthersNothing(t *testing.T) {
	t.Parallel()
	g := Gatherer{Name: "supervisor", Own: metrics.New("1.2"), Sources: []Source{
		{"scraper", tells(t)},
		{"gone", filepath.Join(t.TempDir(), "none.sock")},
		{"hung", answers(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })},
		{"mad", answers(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{{{ 1\n") })},
		{"refusing", answers(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) })},
		{"endless", answers(t, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, "# "+strings.Repeat("x", 1<<16)+"\n"); err != nil {
					return
				}
			}
		})},
	}}
	text, took := asked(t, g)
	for _, want := range []string{
		`mangrove_up{service="supervisor"} 1`, `mangrove_up{service="scraper"} 1`, `mangrove_up{service="gone"} 0`, `mangrove_up{service="hung"} 0`,
		`mangrove_up{service="mad"} 0`, `mangrove_up{service="refusing"} 0`, `mangrove_up{service="endless"} 0`,
		`mangrove_pages_total{service="scraper"} 7`,
		`mangrove_build_info{service="scraper",version="1.2"} 1`, `mangrove_build_info{service="supervisor",version="1.2"} 1`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("%s is not told", want)
		}
	}
	if took > Patience+2*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestHowTheServicesStand: a parked service is told, and a budget that time has freed.
func TestHowTheServicesStand(t *testing.T) {
	t.Parallel()
	at := func(ago time.Duration) budget.Failure {
		return budget.Failure{Moment: budget.Moment{Wall: time.Now().Add(-ago)}}
	}
	own := metrics.New("1.2")
	services := Services(func() []service.Status {
		return []service.Status{
			{Name: "scraper", State: service.RepairRequired, Failures: 3, Since: time.Unix(100, 0), Exits: []budget.Failure{at(time.Minute), at(time.Minute), at(time.Minute)}},
			// What the status says of the budget is as old as its last change.
			{Name: "reader", State: service.Serving, Left: 1, Exits: []budget.Failure{at(2 * time.Hour), at(time.Minute)}},
		}
	})
	own.MustRegister(services)
	text, _ := asked(t, Gatherer{Name: "supervisor", Own: own})
	for _, want := range []string{
		`mangrove_service_state{service="scraper",state="repair-required"} 1`, `mangrove_service_state{service="scraper",state="serving"} 0`,
		`mangrove_service_state{service="reader",state="serving"} 1`,
		`mangrove_service_budget_left{service="scraper"} 0`, `mangrove_service_budget_left{service="reader"} 2`,
		`mangrove_service_failures_total{service="scraper"} 3`, `mangrove_service_state_since_timestamp_seconds{service="scraper"} 100`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("%s is not told:\n%s", want, text)
		}
	}
	up := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "mangrove_up"}, []string{"service"})
	metricstest.Matches(t, "supervisor", own, up)
}

func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdef"
	tests := []struct {
		name, token, host, header string
		want                      int
	}{
		{"this machine", "", "127.0.0.1:8486", "", http.StatusOK},
		{"this machine by name", "", "localhost:8486", "", http.StatusOK},
		{"this machine, IPv6", "", "[::1]:8486", "", http.StatusOK},
		{"a page from elsewhere", "", "evil.example:8486", "", http.StatusForbidden},
		{"without the token", token, "mangrove.lan:8486", "", http.StatusUnauthorized},
		{"with another", token, "mangrove.lan:8486", "Bearer 0123456789abcdeF", http.StatusUnauthorized},
		{"without the word", token, "mangrove.lan:8486", token, http.StatusUnauthorized},
		{"with nothing", token, "127.0.0.1:8486", "Bearer ", http.StatusUnauthorized},
		{"with the token", token, "mangrove.lan:8486", "Bearer " + token, http.StatusOK},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "http://"+tt.host+"/metrics", nil)
			if tt.header != "" {
				r.Header.Set("Authorization", tt.header)
			}
			w := httptest.NewRecorder()
			NewServer(Gatherer{Name: "supervisor", Own: metrics.New("1.2")}, tt.token, zap.NewNop()).http.Handler.ServeHTTP(w, r)
			if w.Code != tt.want || (w.Code != http.StatusOK) == strings.Contains(w.Body.String(), "mangrove_up") {
				t.Errorf("%d %.80s, want %d", w.Code, w.Body, tt.want)
			}
		})
	}
}
