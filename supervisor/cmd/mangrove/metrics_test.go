package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mangrove/internal/config"
)

// metrics asks for the metrics as a Prometheus does.
func (w *world) metrics(token string) (int, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://"+w.env[config.Metrics]+"/metrics", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// TestTheMetricsOfAParkedService: the others' are told, and so is how it stands.
func TestTheMetricsOfAParkedService(t *testing.T) {
	t.Parallel()
	w, _ := parked(t)
	want := []string{
		`mangrove_up{service="supervisor"} 1`, `mangrove_up{service="reader"} 1`, `mangrove_up{service="scraper"} 0`,
		`mangrove_service_state{service="scraper",state="repair-required"} 1`, `mangrove_service_budget_left{service="scraper"} 0`,
		`mangrove_service_state{service="postgres",state="serving"} 1`, `mangrove_service_budget_left{service="reader"} 3`,
		`mangrove_build_info{service="reader",version="stand-in"} 1`,
	}
	w.eventually("they are told", func() bool {
		_, text := w.metrics("")
		for _, line := range want {
			if !strings.Contains(text, "\n"+line+"\n") {
				return false
			}
		}
		return true
	})
}

func TestTheMetricsWithATokenAndWithoutAnAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const token = "a token of the operator's"
	w.env[config.MetricsTokenFile] = filepath.Join(w.data, "script", "token")
	if err := os.WriteFile(w.env[config.MetricsTokenFile], []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := w.up().serving()
	if code, text := w.metrics("another token of somebody's"); code != http.StatusUnauthorized || strings.Contains(text, "mangrove_") {
		t.Errorf("with another token: %d %s", code, text)
	}
	if code, text := w.metrics(token); code != http.StatusOK || !strings.Contains(text, `mangrove_up{service="scraper"} 1`) {
		t.Errorf("with the token: %d %s", code, text)
	}
	if strings.Contains(w.read("script/scraper.env")+w.read("script/reader.env"), config.MetricsTokenFile) {
		t.Error("the services are told where the token lies")
	}
	if _, out := w.run("status"); !strings.Contains(out, "metrics: http://"+w.env[config.Metrics]+"/metrics\n") {
		t.Errorf("the status says:\n%s", out)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("the stop ended with %d", code)
	}
	address := w.env[config.Metrics]
	w.env[config.Metrics] = ""
	w.up().serving()
	w.env[config.Metrics] = address
	if code, text := w.metrics(token); code != 0 {
		t.Errorf("turned off, it answers %d %s", code, text)
	}
	if _, out := w.run("status"); !strings.Contains(out, "metrics: nowhere\n") {
		t.Errorf("turned off, the status says:\n%s", out)
	}
}
