// Package metricstest holds a program's registry against docs/metrics.md, for the tests
// of all three: what is exported stands there, what stands there is exported, and what
// the dashboard and the alerts ask for is held against the same table. It is imported
// by tests alone.
package metricstest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"mangrove/internal/metrics"
)

// Documented are the metrics of ours by name, each with the services that export it,
// as the table of docs/metrics.md says.
func Documented(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	row := regexp.MustCompile("^\\| `(" + metrics.Namespace + "_\\w+)` \\| ([a-z, ]+) \\|")
	for line := range strings.Lines(string(text)) {
		if m := row.FindStringSubmatch(line); m != nil {
			out[m[1]] = strings.Split(m[2], ", ")
		}
	}
	if len(out) < 10 {
		t.Fatalf("docs/metrics.md lists %d metrics", len(out))
	}
	return out
}

// Matches fails unless what a service's collectors describe is what is documented of it.
func Matches(t *testing.T, service string, described ...prometheus.Collector) {
	t.Helper()
	var want []string
	for name, services := range Documented(t) {
		if slices.Contains(services, service) {
			want = append(want, name)
		}
	}
	got := names(t, described)
	slices.Sort(want)
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("docs/metrics.md says that the %s exports %s, which it does not", service, name)
		}
	}
	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("the %s exports %s, of which docs/metrics.md does not know", service, name)
		}
	}
}

// names are the names of ours that the collectors describe.
func names(t *testing.T, described []prometheus.Collector) (out []string) {
	t.Helper()
	name := regexp.MustCompile(`fqName: "(` + metrics.Namespace + `_\w+)"`)
	descs := make(chan *prometheus.Desc)
	go func() {
		defer close(descs)
		for _, c := range described {
			c.Describe(descs)
		}
	}()
	for d := range descs {
		if m := name.FindStringSubmatch(d.String()); m != nil {
			out = append(out, m[1])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// root is the folder of the workspace.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir
		}
	}
	t.Fatal("there is no go.work above the test")
	return ""
}
