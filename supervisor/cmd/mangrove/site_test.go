package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mangrove/supervisor/internal/child"
)

// What a person types reaches the scraper's program, and what it prints the
// person, byte for byte; its exit code is ours.
func TestSiteLabelHandsOver(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script, in, out, said string
		code                        int
	}{
		{"read", "", "{\"label\": \"第1話\"}\n", "{\"label\": \"第1話\"}\n", "", 0},
		{"a bad line", "1 line 1: no JSON", "x\n", "", "line 1: no JSON", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if tt.script != "" {
				w.script("site.exit", tt.script)
			}
			out, err := os.Create(filepath.Join(t.TempDir(), "out"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = out.Close() }()
			var log buffer
			spec := w.spec(&log, "site", "label")
			spec.Stdin, spec.Stdout = strings.NewReader(tt.in), out
			exit, _, err := child.Run(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(out.Name())
			if err != nil {
				t.Fatal(err)
			}
			if exit.Code != tt.code || string(got) != tt.out || strings.TrimSpace(log.String()) != tt.said {
				t.Errorf("exit code %d, out %q, said %q; want %d, %q, %q", exit.Code, got, log.String(), tt.code, tt.out, tt.said)
			}
		})
	}
}
