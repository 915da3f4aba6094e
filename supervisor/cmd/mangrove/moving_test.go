package main

import (
	"strings"
	"testing"
)

// What moves in and out is asked of the reader's own program, with the name of a file
// that means the same there (commands run in / here).
func TestMovingHandsOver(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args, command, want string
		exit                string
		code                int
	}{
		{"import x.tachibk --user mo", "import", "import /x.tachibk mo", "0 done", 0},
		{"import x.tachibk --user mo --adopt", "import", "import /x.tachibk mo adopt", "1 nobody here is called mo", 1},
		{"import x/../y.json --everybody", "import", "import /y.json", "3 the database does not answer", 3},
		{"export --user mo", "export", "export mo", "0 done", 0},
		{"export", "export", "export", "0 done", 0},
	} {
		w := newWorld(t)
		w.script(tt.command+".exit", tt.exit)
		code, said := w.run(strings.Fields(tt.args)...)
		_, words, _ := strings.Cut(tt.exit, " ")
		if got := strings.TrimSpace(w.read("script/" + tt.command + ".args")); got != tt.want || code != tt.code || !strings.Contains(said, words) {
			t.Errorf("%s asks %q, ends in %d and says %q; want %q, %d, %q", tt.args, got, code, said, tt.want, tt.code, words)
		}
	}
	w := newWorld(t)
	for _, args := range [][]string{{"import"}, {"import", "x"}, {"import", "x", "--user", "mo", "--everybody"}, {"export", "x"}} {
		if code, said := w.run(args...); code != 2 {
			t.Errorf("%v ends in %d: %s", args, code, said)
		}
	}
}
