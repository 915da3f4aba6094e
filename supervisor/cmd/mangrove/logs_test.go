package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/config"
	"mangrove/supervisor/internal/child"
)

// TestLogs reads with nobody running: one program's, and all in the order of their
// times, older files too.
func TestLogs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if code, out := w.run("logs"); code != config.ExitFailure || !strings.Contains(out, "there are no logs in "+w.data) {
		t.Errorf("no logs: %d %s", code, out)
	}
	for name, text := range map[string]string{
		"scraper-2026-01-01T00-00-00.000.log": `{"time":"2026-01-01T00:00:01Z","msg":"first"}`,
		"scraper.log":                         "{\"time\":\"2026-01-01T00:00:03Z\",\"msg\":\"third\"}\ngoroutine 1 [running]:\x1b[31m",
		"postgres.log":                        "2026-01-01 00:00:02.000 UTC [1] LOG:  second",
		"reader.log":                          `{"time":"2026-01-01T00:00:04Z","msg":"last"}`,
	} {
		if err := os.MkdirAll(filepath.Join(w.data, "logs"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.data, "logs", name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		args []string
		want string
	}{
		{nil, `scraper     {"time":"2026-01-01T00:00:01Z","msg":"first"}
postgres    2026-01-01 00:00:02.000 UTC [1] LOG:  second
scraper     {"time":"2026-01-01T00:00:03Z","msg":"third"}
scraper     goroutine 1 [running]: [31m
reader      {"time":"2026-01-01T00:00:04Z","msg":"last"}
`},
		{[]string{"scraper", "-n", "2"}, "{\"time\":\"2026-01-01T00:00:03Z\",\"msg\":\"third\"}\ngoroutine 1 [running]: [31m\n"},
		{[]string{"-n", "1"}, "reader      {\"time\":\"2026-01-01T00:00:04Z\",\"msg\":\"last\"}\n"},
		{[]string{"-n", "0"}, ""},
	}
	for _, tt := range tests {
		code, out := w.run(append([]string{"logs"}, tt.args...)...)
		if diff := cmp.Diff(tt.want, out); code != 0 || diff != "" {
			t.Errorf("%v: %d (-want +got):\n%s", tt.args, code, diff)
		}
	}
	if code, _ := w.run("logs", "nobody"); code != config.ExitSettings {
		t.Errorf("a program that is none: %d", code)
	}
}

func TestLogsAreFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.up().serving()
	var log buffer
	p, err := child.Start(w.spec(&log, "logs", "supervisor", "--follow", "-n", "1"))
	if err != nil {
		t.Fatal(err)
	}
	w.eventually("it has begun", func() bool { return strings.Count(log.String(), "\n") == 1 })
	w.eventually("a new line comes", func() bool {
		w.run("start", "scraper") // refused, and logged
		return strings.Contains(log.String(), `"act":"start"`)
	})
	_ = p.Signal(2)
	<-p.Done()
	if p.Exit().Code != 0 {
		t.Errorf("it ended with %s", p.Exit())
	}
}
