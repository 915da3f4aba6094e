package store

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// row is the model of a failure row: absent, or a word and since when.
type row struct {
	Outcome poll.Outcome
	Since   time.Time
}

// after is what the rules make of a row, written without looking at the code:
// four words write and never move the stamp, ok deletes, two do nothing (POLL-3).
func (r *row) after(o poll.Outcome, now time.Time) *row {
	switch o {
	case poll.OK:
		return nil
	case poll.Refused, poll.Unreachable:
		return r
	}
	if r == nil {
		return &row{o, now}
	}
	return &row{o, r.Since}
}

// A thousand random lives of a Series, each step compared with the model; `make
// nightly` runs a hundred thousand.
func TestTheFailureRowFollowsItsModel(t *testing.T) {
	checks(t, "1000")
	s := setup(t)
	ctx := context.Background()
	life := 0
	rapid.Check(t, func(t *rapid.T) {
		life++
		k := source.Key{Site: key.Site, SeriesID: fmt.Sprint("life-", life)}
		if err := s.EnsureListed(ctx, k.Site, source.Series{ID: k.SeriesID, Title: "x", URL: "http://x"}); err != nil {
			t.Fatal(err)
		}
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		var want *row
		for _, o := range rapid.SliceOfN(rapid.SampledFrom(poll.Outcomes()), 1, 12).Draw(t, "outcomes") {
			now = now.Add(time.Duration(rapid.IntRange(1, 400*24).Draw(t, "hours")) * time.Hour)
			switch o.Effect() {
			case poll.Write:
				if _, err := s.RecordFailure(ctx, k, o, now); err != nil {
					t.Fatal(err)
				}
			case poll.Delete:
				if _, err := s.RecordGood(ctx, lane.Due{Key: k}, source.Reading{NotModified: true}, now, now, lane.ByInterval); err != nil {
					t.Fatal(err)
				}
			}
			if rapid.Bool().Draw(t, "a Forced Poll is requested") {
				if _, err := s.ForcePoll(ctx, k, now); err != nil {
					t.Fatal(err)
				}
			}
			want = want.after(o, now)
			f, failing, err := s.Failure(ctx, k)
			if err != nil {
				t.Fatal(err)
			}
			if failing != (want != nil) || (failing && (f.Outcome != want.Outcome || !f.Since.Equal(want.Since))) {
				t.Fatalf("after %s: %+v (failing %v), the model says %+v", o, f, failing, want)
			}
		}
	})
}

// checks sets how many cases rapid tries, unless the command line did.
func checks(t *testing.T, n string) {
	t.Helper()
	if f := flag.Lookup("rapid.checks"); f != nil && f.Value.String() == f.DefValue {
		if err := f.Value.Set(n); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Value.Set(f.DefValue) })
	}
}

func columnsOf(t *testing.T, conn *pgx.Conn, table string) (out []string) {
	t.Helper()
	rows, err := conn.Query(t.Context(), "SELECT column_name::text FROM information_schema.columns WHERE table_schema = 'scraper' AND table_name = $1 ORDER BY ordinal_position", table)
	if err != nil {
		t.Fatal(err)
	}
	if out, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheRowIsTheState(t *testing.T) {
	s := setup(t)
	conn := s.admin(t)
	if d := cmp.Diff([]string{"site", "series_id", "outcome", "failing_since"}, columnsOf(t, conn, "poll_failures")); d != "" {
		t.Errorf("poll_failures has other columns than POLL-2 gives it:\n%s", d)
	}
	for _, c := range columnsOf(t, conn, "series") {
		for _, word := range []string{"fail", "error", "outcome", "broken", "attempt", "retries"} {
			if strings.Contains(c, word) {
				t.Errorf("series has a column %q: failure is a row of its own", c)
			}
		}
	}
	if d := cmp.Diff([]string{
		"site", "series_id", "title", "native_title", "authors", "description", "url", "status", "tags", "license", "reading_direction", "cover_url",
		"cover_sha256", "origin", "download", "languages", "follow_revision", "absent_since", "folder", "etag", "last_modified", "added_at",
		"next_poll_at", "next_poll_reason", "forced_poll_at", "last_good_read_at", "polled_at", "shrunk_at", "moved_at", "alt_titles",
	}, columnsOf(t, conn, "series")); d != "" {
		t.Errorf("series is read by every due query and has to stay narrow (A17); its columns differ:\n%s", d)
	}
}

// Whether a Series fails never moves its turn: the due query answers the same with
// any failure rows and without (A6).
func TestFailureRowsMoveNoTurn(t *testing.T) {
	checks(t, "60")
	s := setup(t)
	conn := s.admin(t)
	ctx := context.Background()
	now := time.Now()
	rapid.Check(t, func(t *rapid.T) {
		if _, err := conn.Exec(ctx, "DELETE FROM scraper.series"); err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(1, 8).Draw(t, "series")
		for i := range n {
			next := now.Add(time.Duration(rapid.IntRange(-30, 30).Draw(t, "minutes")) * time.Minute)
			var forced *time.Time
			if rapid.Bool().Draw(t, "forced") {
				at := now.Add(-time.Duration(i) * time.Second)
				forced = &at
			}
			if _, err := conn.Exec(ctx, `INSERT INTO scraper.series (site, series_id, title, url, origin, next_poll_at, forced_poll_at)
				VALUES ('sample', $1, 't', 'u', 'followed', $2, $3)`, fmt.Sprint(i), next, forced); err != nil {
				t.Fatal(err)
			}
		}
		turns := func() (due []lane.Due, next time.Time) {
			due, err := s.DueSeries(ctx, "sample", now, 100)
			if err != nil {
				t.Fatal(err)
			}
			if next, err = s.NextDue(ctx, "sample"); err != nil {
				t.Fatal(err)
			}
			return due, next
		}
		due, next := turns()
		for i := range n {
			if o := rapid.SampledFrom(append(poll.Outcomes(), "")).Draw(t, "outcome"); o != "" && o.Effect() == poll.Write {
				if _, err := s.RecordFailure(ctx, source.Key{Site: "sample", SeriesID: fmt.Sprint(i)}, o, now); err != nil {
					t.Fatal(err)
				}
			}
		}
		after, nextAfter := turns()
		if d := cmp.Diff(due, after); d != "" || !next.Equal(nextAfter) {
			t.Fatalf("failure rows moved a turn (next %v, then %v):\n%s", next, nextAfter, d)
		}
	})
}

// A request for a Forced Poll leaves the failure rows bit for bit as they are; the
// read that comes of it, a 304 included, deletes the row by the ordinary way (A8,
// A9, B5).
func TestAForcedPollClearsNothingUntilItIsRead(t *testing.T) {
	t.Parallel()
	s := setup(t)
	conn := s.admin(t)
	ctx := t.Context()
	other := source.Key{Site: key.Site, SeriesID: "other"}
	if err := s.EnsureListed(ctx, other.Site, source.Series{ID: other.SeriesID, Title: "O", URL: "http://x/o"}); err != nil {
		t.Fatal(err)
	}
	for _, k := range []source.Key{key, other} {
		if _, err := s.RecordFailure(ctx, k, poll.Errors, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	rows := func() (out []string) {
		t.Helper()
		r, err := conn.Query(ctx, "SELECT format('%s %s %s %s %s %s', site, series_id, outcome, failing_since, xmin, ctid) FROM scraper.poll_failures ORDER BY 1")
		if err != nil {
			t.Fatal(err)
		}
		if out, err = pgx.CollectRows(r, pgx.RowTo[string]); err != nil {
			t.Fatal(err)
		}
		return out
	}
	before, sent := rows(), s.seen.mentions("poll_failures")
	if _, err := s.ForcePoll(ctx, key, time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ForcePolls(ctx, []source.Key{key, other}, time.Now()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, rows()); d != "" || len(before) != 2 || s.seen.mentions("poll_failures") != sent {
		t.Errorf("asking for a Poll touched the failure rows:\n%s", d)
	}
	for k, r := range map[source.Key]source.Reading{key: reading("1"), other: {NotModified: true}} {
		due, err := s.DueSeries(ctx, k.Site, time.Now(), 10)
		if err != nil || !slices.ContainsFunc(due, func(d lane.Due) bool { return d.Key == k && d.Forced }) {
			t.Fatalf("%s is not due as a Forced Poll: %+v, %v", k, due, err)
		}
		if _, err := s.RecordGood(ctx, lane.Due{Key: k, Known: true, Forced: true}, r, time.Now(), time.Now().Add(time.Hour), lane.ByInterval); err != nil {
			t.Fatal(err)
		}
		row, err := s.Series(ctx, k)
		if _, failing, ferr := s.Failure(ctx, k); failing || err != nil || ferr != nil || !row.ForcedPoll.IsZero() {
			t.Errorf("%s: failing %v, Forced Poll %v (%v, %v) after a good read", k, failing, row.ForcedPoll, err, ferr)
		}
	}
	if n := s.seen.mentions("INSERT INTO poll_failures"); n != 2 {
		t.Errorf("%d upserts, want the two of the beginning", n)
	}
}

func plan(t *testing.T, conn *pgx.Conn, sql string, args ...any) string {
	t.Helper()
	rows, err := conn.Query(t.Context(), "EXPLAIN "+sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

func TestPlans(t *testing.T) {
	s := setup(t)
	conn := s.admin(t)
	for _, sql := range []string{
		"SET search_path = scraper",
		"INSERT INTO series (site, series_id, title, url, origin) SELECT 'sample', 's' || i, 't', 'u', 'followed' FROM generate_series(1, 20000) i",
		"INSERT INTO poll_failures SELECT 'sample', 's' || i, 'errors', now() FROM generate_series(1, 2000) i",
		"UPDATE series SET next_poll_at = now() + random() * interval '12 hours'",
		"ANALYZE series", "ANALYZE poll_failures",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	due := plan(t, conn, s.Statements().Get("DueSeries"), "sample", time.Now(), 100)
	if strings.Contains(due, "poll_failures") || strings.Contains(due, "Seq Scan") {
		t.Errorf("the due query looks at poll_failures or reads the whole table (POLL-5):\n%s", due)
	}
	failing := plan(t, conn, s.Statements().Get("GetFailure"), "sample", "s77")
	if !strings.Contains(failing, "Index") || strings.Contains(failing, "Seq Scan") {
		t.Errorf("is it failing? is not one look-up by key:\n%s", failing)
	}
	upsert := plan(t, conn, s.Statements().Get("RecordFailure"), "sample", "s1", "errors", time.Now())
	if strings.Count(upsert, "Insert on") != 1 {
		t.Errorf("the upsert is not one modification:\n%s", upsert)
	}
}

func TestWhatNeverChangesAnAge(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := s.RecordFailure(ctx, key, poll.NoChapter, first); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		at := first.AddDate(0, 0, i)
		if err := s.RecordPass(ctx, lane.Pass{Site: key.Site, Started: at, Ended: at, EndReason: lane.EndComplete}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.PrunePasses(ctx, first.AddDate(0, 0, 20)); err != nil {
		t.Fatal(err)
	}
	var passes int
	if err := s.admin(t).QueryRow(ctx, "SELECT count(*) FROM scraper.poll_passes").Scan(&passes); err != nil || passes != 10 {
		t.Errorf("%d Passes left (%v), want 10", passes, err)
	}
	// Nor does it when nothing is left of the log: the list is no sum of Passes (B25).
	if err := s.PrunePasses(ctx, first.AddDate(10, 0, 0)); err != nil {
		t.Fatal(err)
	}
	if rows, err := s.Worklist(ctx, WorklistQuery{Sort: "oldest", Limit: 10}); err != nil || len(rows) != 1 || !rows[0].Failure.Since.Equal(first) || rows[0].Failure.Outcome != poll.NoChapter {
		t.Errorf("without any Pass the Worklist is %+v (%v)", rows, err)
	}
	if err := s.SetTrouble(ctx, key.Site, lane.TroubleRefused, first.AddDate(0, 1, 0)); err != nil {
		t.Fatal(err)
	}
	if f, failing, err := s.Failure(ctx, key); err != nil || !failing || !f.Since.Equal(first) {
		t.Errorf("the row is %+v (failing %v, %v), want it since %v", f, failing, err, first)
	}
	// A year later it fails anew: a new stamp.
	if _, err := s.RecordGood(ctx, lane.Due{Key: key}, reading("1"), first.AddDate(0, 2, 0), first, lane.ByInterval); err != nil {
		t.Fatal(err)
	}
	again := first.AddDate(1, 0, 0)
	if _, err := s.RecordFailure(ctx, key, poll.NoChapter, again); err != nil {
		t.Fatal(err)
	}
	if f, _, err := s.Failure(ctx, key); err != nil || !f.Since.Equal(again) {
		t.Errorf("failing anew since %v (%v), want %v", f.Since, err, again)
	}
}

func TestOrphansLeaveInOneStatement(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	conn := s.admin(t)
	for _, sql := range []string{
		"INSERT INTO scraper.series (site, series_id, title, url, origin, absent_since) SELECT 'sample', 's' || i, 't', 'u', 'followed', now() - interval '2 days' FROM generate_series(1, 1000) i",
		"INSERT INTO scraper.poll_failures SELECT 'sample', 's' || i, 'errors', now() FROM generate_series(1, 1000) i",
		"INSERT INTO scraper.worklist_mutes SELECT 'sample', 's' || i, now() FROM generate_series(1, 1000) i",
		"INSERT INTO scraper.chapters (site, series_id, chapter_id, url, source_order, first_seen_at) SELECT 'sample', 's' || i, '1', 'u', 0, now() FROM generate_series(1, 1000) i",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	before := s.seen.mentions("DELETE FROM")
	n, err := s.exec(ctx, "RemoveOrphans", time.Now().Add(-24*time.Hour))
	if err != nil || n != 1000 {
		t.Fatalf("%d orphans left (%v), want 1000", n, err)
	}
	if got := s.seen.mentions("DELETE FROM") - before; got != 1 {
		t.Errorf("%d statements, want one", got)
	}
	var left int
	if err := conn.QueryRow(ctx, "SELECT (SELECT count(*) FROM scraper.poll_failures) + (SELECT count(*) FROM scraper.chapters) + (SELECT count(*) FROM scraper.worklist_mutes)").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d rows stayed behind (%v)", left, err)
	}
}
