package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"mangrove/internal/config"
)

// tellsPrometheus asks for the metrics after an evening in which the chapters came and
// some were read: what happened is counted, and no title is told.
func (m *mangrove) tellsPrometheus(chapters []chapter) {
	m.t.Helper()
	resp, err := http.Get("http://" + m.env[config.Metrics] + "/metrics")
	if err != nil {
		m.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		m.t.Fatalf("the metrics: %s, %v", resp.Status, err)
	}
	text, pages := string(body), 0
	for _, c := range chapters {
		pages += len(c.files)
	}
	for _, want := range []string{
		`mangrove_up{service="scraper"} 1`, `mangrove_up{service="reader"} 1`, `mangrove_up{service="supervisor"} 1`,
		`mangrove_service_state{service="postgres",state="serving"} 1`, `mangrove_service_budget_left{service="scraper"} 3`,
		fmt.Sprintf(`mangrove_publications_total{service="scraper",site="sample"} %d`, len(chapters)),
		fmt.Sprintf(`mangrove_pages_total{service="scraper",site="sample"} %d`, pages),
		`mangrove_circuit{reason="",service="scraper",site="sample",state="closed"} 1`,
		`mangrove_hold{kind="storage",service="scraper"} 0`,
		`mangrove_http_request_duration_seconds_count{code="200",method="get",route="/read/{book}/pages/{page}",service="reader"} `,
		`mangrove_rpc_duration_seconds_count{code="OK",method="mangrove.scraper.v1.ScraperService/ApplyFollows",service="scraper"} `,
	} {
		if !strings.Contains(text, "\n"+want) {
			m.t.Errorf("%s is not told", want)
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "mangrove_passes_total") && strings.Contains(line, `outcome="complete",service="scraper",site="sample"`) && strings.HasSuffix(line, " 0\n") {
			m.t.Errorf("no Pass was counted: %s", line)
		}
		if strings.Contains(line, "Pepper") || strings.Contains(line, "pepper-and-carrot") {
			m.t.Errorf("a Series is named: %s", line)
		}
	}
}
