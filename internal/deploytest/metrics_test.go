package deploytest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"mangrove/internal/metrics/metricstest"
)

// shipped reads a file of the repository.
func shipped(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var (
	metric = regexp.MustCompile(`mangrove_\w+`)
	part   = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// asksFor fails unless every metric that an expression names is one that is exported.
func asksFor(t *testing.T, where, expr string) {
	t.Helper()
	documented := metricstest.Documented(t)
	names := metric.FindAllString(expr, -1)
	if len(names) == 0 && !strings.Contains(expr, "process_") {
		t.Errorf("%s asks for nothing of ours: %s", where, expr)
	}
	for _, name := range names {
		_, ok := documented[name]
		if base := part.ReplaceAllString(name, ""); !ok && strings.HasSuffix(base, "_seconds") {
			_, ok = documented[base]
		}
		if !ok {
			t.Errorf("%s asks for %s, which no program exports", where, name)
		}
	}
	if strings.Count(expr, "(") != strings.Count(expr, ")") || strings.Count(expr, "{") != strings.Count(expr, "}") {
		t.Errorf("%s does not close what it opens: %s", where, expr)
	}
}

type rules struct {
	Groups []struct {
		Name  string `yaml:"name"`
		Rules []struct {
			Alert       string            `yaml:"alert"`
			Expr        string            `yaml:"expr"`
			For         string            `yaml:"for"`
			Labels      map[string]string `yaml:"labels"`
			Annotations map[string]string `yaml:"annotations"`
		} `yaml:"rules"`
	} `yaml:"groups"`
}

// TestEveryAlertAsksForWhatThereIsAndHasItsRunbook shows OBS-3, features H16.
func TestEveryAlertAsksForWhatThereIsAndHasItsRunbook(t *testing.T) {
	var r rules
	if err := yaml.UnmarshalWithOptions(shipped(t, "deploy/prometheus/alerts.yml"), &r, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	index := string(shipped(t, "docs/runbooks/README.md"))
	var alerts []string
	for _, g := range r.Groups {
		for _, a := range g.Rules {
			if slices.Contains(alerts, a.Alert) || a.Alert == "" {
				t.Errorf("%q is there twice, or nothing", a.Alert)
			}
			alerts = append(alerts, a.Alert)
			asksFor(t, a.Alert, a.Expr)
			if !slices.Contains([]string{"warning", "critical"}, a.Labels["severity"]) || a.Annotations["summary"] == "" || a.Annotations["description"] == "" {
				t.Errorf("%s says too little: %v %v", a.Alert, a.Labels, a.Annotations)
			}
			runbook := "docs/runbooks/" + a.Alert + ".md"
			if a.Annotations["runbook"] != runbook {
				t.Errorf("%s leads to %q, want %s", a.Alert, a.Annotations["runbook"], runbook)
			}
			if text := string(shipped(t, runbook)); !strings.HasPrefix(text, "# "+a.Alert+"\n") || len(text) < 200 {
				t.Errorf("%s says too little, or of another", runbook)
			}
			if !strings.Contains(index, "("+a.Alert+".md)") {
				t.Errorf("the list of the runbooks does not lead to %s", a.Alert)
			}
		}
	}
	if len(alerts) < 10 {
		t.Errorf("only %v", alerts)
	}
	files, err := filepath.Glob("../../docs/runbooks/Mangrove*.md")
	if err != nil || len(files) != len(alerts) {
		t.Errorf("%d runbooks of alerts for %d alerts (%v)", len(files), len(alerts), err)
	}
}

func TestTheDashboardAsksForWhatThereIs(t *testing.T) {
	var board struct {
		Title      string `json:"title"`
		Templating struct {
			List []struct {
				Name       string `json:"name"`
				Definition string `json:"definition"`
			} `json:"list"`
		} `json:"templating"`
		Panels []struct {
			ID      int    `json:"id"`
			Title   string `json:"title"`
			GridPos struct {
				H int `json:"h"`
				W int `json:"w"`
				X int `json:"x"`
				Y int `json:"y"`
			} `json:"gridPos"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(shipped(t, "deploy/grafana/mangrove.json"), &board); err != nil {
		t.Fatal(err)
	}
	asked := ""
	ids := map[int]bool{}
	for _, p := range board.Panels {
		if ids[p.ID] || p.Title == "" || len(p.Targets) == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d %q cannot be drawn", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			asksFor(t, p.Title, target.Expr)
			asked += target.Expr + "\n"
		}
	}
	for _, v := range board.Templating.List {
		if v.Definition != "" {
			asksFor(t, v.Name, v.Definition)
		}
	}
	// What stands for the state of the whole is to be seen.
	for _, name := range []string{
		"mangrove_passes_total", "mangrove_series_failing", "mangrove_circuit", "mangrove_jobs", "mangrove_pages_total", "mangrove_publications_total",
		"mangrove_stalls_total", "mangrove_service_budget_left", "mangrove_rpc_duration_seconds", "mangrove_http_request_duration_seconds",
	} {
		if !strings.Contains(asked, name) {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}
