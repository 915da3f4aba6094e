package store

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// theUpsert is the one statement that writes a failure row, word for word (B8).
const theUpsert = `INSERT INTO poll_failures (site, series_id, outcome, failing_since)
VALUES ($1, $2, $3, $4)
ON CONFLICT (site, series_id) DO UPDATE SET outcome = excluded.outcome
WHERE poll_failures.outcome <> excluded.outcome`

// wrongs plays two failing reads through an upsert and says what it does that
// POLL-3 forbids.
func wrongs(t *testing.T, conn *pgx.Conn, upsert string) (out []string) {
	t.Helper()
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	read := func(word string, at time.Time) int64 {
		tag, err := conn.Exec(t.Context(), upsert, key.Site, key.SeriesID, word, at)
		if err != nil {
			t.Fatal(err)
		}
		return tag.RowsAffected()
	}
	if _, err := conn.Exec(t.Context(), "SET search_path = scraper; DELETE FROM poll_failures"); err != nil {
		t.Fatal(err)
	}
	read("errors", first)
	if n := read("errors", first.Add(time.Hour)); n != 0 {
		out = append(out, "writes an unchanged word")
	}
	if n := read("not_found", first.Add(2*time.Hour)); n != 1 {
		out = append(out, "keeps an old word")
	}
	var since time.Time
	if err := conn.QueryRow(t.Context(), "SELECT failing_since FROM poll_failures").Scan(&since); err != nil {
		t.Fatal(err)
	}
	if !since.Equal(first) {
		out = append(out, "moves the stamp")
	}
	return out
}

// The upsert is pinned, and the check that guards it notices each way in which it
// could be changed for the worse (B8, B9).
func TestTheUpsertIsPinned(t *testing.T) {
	t.Parallel()
	s := setup(t)
	conn := s.admin(t)
	var code []string
	for _, line := range strings.Split(s.Statements().Get("RecordFailure"), "\n") {
		if !strings.HasPrefix(line, "--") && strings.TrimSpace(line) != "" {
			code = append(code, line)
		}
	}
	got := strings.TrimSuffix(strings.Join(code, "\n"), ";")
	if d := cmp.Diff(theUpsert, got); d != "" {
		t.Errorf("the upsert is another than POLL-3 gives (-want +got):\n%s", d)
	}
	if w := wrongs(t, conn, got); w != nil {
		t.Errorf("the upsert %v", w)
	}
	for _, m := range []struct{ from, to, want string }{
		{"SET outcome = excluded.outcome", "SET outcome = excluded.outcome, failing_since = excluded.failing_since", "moves the stamp"},
		{"WHERE poll_failures.outcome <> excluded.outcome", "", "writes an unchanged word"},
		{"<>", "=", "keeps an old word"},
		{"DO UPDATE SET outcome = excluded.outcome\nWHERE poll_failures.outcome <> excluded.outcome", "DO NOTHING", "keeps an old word"},
	} {
		mutant := strings.Replace(got, m.from, m.to, 1)
		if w := wrongs(t, conn, mutant); mutant == got || !slices.Contains(w, m.want) {
			t.Errorf("with %q for %q nobody notices that it %s (noticed: %v)", m.to, m.from, m.want, w)
		}
	}
}
