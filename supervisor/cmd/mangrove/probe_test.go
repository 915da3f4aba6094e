package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mangrove/internal/config"
	"mangrove/supervisor/internal/child"
)

// publicProbe is the health client that people point at such a service. The test is
// skipped where it was not built, but not in CI.
func publicProbe(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../../.bin/grpc-health-probe")
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		if os.Getenv("CI") == "" {
			t.Skip("run make tools first: ", err)
		}
		t.Fatal(err)
	}
	return path
}

// TestThePublicProbe asks in each state that a service can stand in, as somebody's
// monitor would: 0 is well, 4 is not serving (SUP-6, S-091). The others stay well.
// It shows features D25, D27 and H17.
func TestThePublicProbe(t *testing.T) {
	t.Parallel()
	probe := publicProbe(t)
	ask := func(w *world, name string) (int, string) {
		t.Helper()
		exit, lines, err := child.Run(context.Background(), child.Spec{Path: probe, Args: []string{"-addr=" + w.env[config.Health], "-service=" + name}})
		if err != nil {
			t.Fatal(err)
		}
		return exit.Code, strings.Join(lines, " ")
	}
	const well, notServing = 0, 4
	tests := []struct {
		state   string
		prepare func(w *world) // before the supervisor starts
		then    func(w *world) // once everything else serves
		want    int
	}{
		{"serving", nil, nil, well},
		{"starting", func(w *world) { w.script("scraper.mute", "") }, nil, notServing},
		{"backing-off", func(w *world) { w.script("scraper.exit", "1 it fails") }, nil, notServing},
		{"repair-required", func(w *world) { w.script("scraper.exit", "1 it fails") }, nil, notServing},
		{"blocked", func(w *world) { w.script("scraper.exit", "78 the schema is newer") }, nil, notServing},
		{"stopping", func(w *world) { w.script("scraper.deaf", "") }, func(w *world) { w.run("stop", "scraper") }, notServing},
		{"stopped", nil, func(w *world) { w.run("stop", "scraper") }, notServing},
	}
	for _, tt := range tests {
		t.Run(tt.state, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if tt.prepare != nil {
				tt.prepare(w)
			}
			s := w.up()
			if tt.then != nil {
				s.serving()
				tt.then(w)
			}
			// The state may pass while it is asked about: it has to be the same after.
			w.eventually("the probe is right while the scraper is "+tt.state, func() bool {
				if w.status("scraper").GetState() != tt.state || w.status("reader").GetState() != "serving" {
					return false
				}
				code, said := ask(w, "scraper")
				whole, _ := ask(w, "")
				reader, _ := ask(w, "reader")
				if w.status("scraper").GetState() != tt.state {
					return false
				}
				if code != tt.want || whole != tt.want || reader != well {
					t.Fatalf("the probe ends with %d (%s), for the whole with %d, for the reader with %d", code, said, whole, reader)
				}
				return true
			})
			if tt.state == "starting" {
				_ = os.Remove(filepath.Join(w.data, "script", "scraper.mute"))
			}
			if tt.state == "stopping" {
				s.interrupt()
				s.interrupt() // spares the test its grace
			}
		})
	}
}
