package main

import (
	"strings"
	"testing"
)

// What is asked of incidents is asked of the program that owns the data, with
// names of files that mean the same there (commands run in / here); its exit
// code is ours.
func TestIncidentHandsOver(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args, want string
		exit       string
		code       int
	}{
		{"incident list", "incident list", "0 none", 0},
		{"incident show 12", "incident show 12", "1 there is no incident 12", 1},
		{"incident save 12", "incident save 12 /incident-12.zip", "0 saved", 0},
		{"incident save 12 x/../y.zip", "incident save 12 /y.zip", "3 the database does not answer", 3},
	} {
		w := newWorld(t)
		w.script("incident.exit", tt.exit)
		code, said := w.run(strings.Fields(tt.args)...)
		_, words, _ := strings.Cut(tt.exit, " ")
		if got := strings.TrimSpace(w.read("script/incident.args")); got != tt.want || code != tt.code || !strings.Contains(said, words) {
			t.Errorf("%s asks %q, ends in %d and says %q; want %q, %d, %q", tt.args, got, code, said, tt.want, tt.code, words)
		}
	}
	w := newWorld(t)
	for _, args := range [][]string{{"incident"}, {"incident", "show"}, {"incident", "show", "x"}, {"incident", "burn", "1"}} {
		if code, said := w.run(args...); code != 2 {
			t.Errorf("%v ends in %d: %s", args, code, said)
		}
	}
}
