package lane_test

import (
	"fmt"
	"testing"
	"time"
)

// A page that yields no list takes no chapter away, and keeps the first stamp
// whatever word comes after it (S-045, S-047).
func TestCaseAFailedReadTakesNothingAway(t *testing.T) {
	words := []string{"unfetchable", "no_chapter", "not_found", "errors", "no-landmark"}
	b := setup(t, map[string][]string{"a": append([]string{"ok"}, append(words, "ok")...)})
	chapters := func() (out string) {
		t.Helper()
		if err := b.conn.QueryRow(t.Context(), "SELECT string_agg(concat(chapter_id, ' ', gone_since), ',') FROM scraper.chapters").Scan(&out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	b.turn(t)
	before := chapters()
	var first time.Time
	for i, word := range words {
		b.turn(t)
		if got := chapters(); got != before {
			t.Errorf("after %s the chapters are %q, were %q", word, got, before)
		}
		var since time.Time
		if err := b.conn.QueryRow(t.Context(), "SELECT failing_since FROM scraper.poll_failures").Scan(&since); err != nil {
			t.Fatal(word, err)
		}
		if i == 0 {
			first = since
		}
		if !since.Equal(first) {
			t.Errorf("after %s it fails since %v, began at %v", word, since, first)
		}
	}
	b.turn(t)
	if n := len(b.failures(t)); n != 0 || chapters() != before {
		t.Errorf("after a good read: %d rows, chapters %q", n, chapters())
	}
}

func TestCaseAnOutageOfTwoHundredSeries(t *testing.T) {
	for _, word := range []string{"unreachable", "unfetchable"} {
		t.Run(word, func(t *testing.T) {
			scripts := map[string][]string{}
			for i := range 200 {
				scripts[fmt.Sprintf("s%03d", i)] = []string{"ok", word}
			}
			b := setup(t, scripts)
			b.turn(t)
			b.turn(t)
			if n := len(b.site.asked); n > 4 {
				t.Errorf("%d requests, want at most three reads and a witness", n)
			}
			for range 5 {
				b.turn(t)
				if n := len(b.site.asked); n != 0 {
					t.Errorf("%d requests while the circuit rests", n)
				}
			}
			if n := len(b.failures(t)); n != 0 {
				t.Errorf("%d failure rows, want none", n)
			}
		})
	}
}
