package store

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"mangrove/internal/fault"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/canary"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/follow"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
)

var key = source.Key{Site: "sample", SeriesID: "pepper"}

type env struct {
	*Store
	urls pgtest.URLs
	seen *tracer
}

// tracer counts statements by the table they write, as the server is sent them.
type tracer struct {
	mu  sync.Mutex
	sql []string
}

func (t *tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sql = append(t.sql, d.SQL)
	return ctx
}

func (t *tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (t *tracer) mentions(word string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, s := range t.sql {
		if strings.Contains(s, word) {
			n++
		}
	}
	return n
}

func setup(t *testing.T) env {
	t.Helper()
	urls := pgtest.New(t)
	seen := &tracer{}
	s := New(pgtest.Pool(t, urls.Scraper, Schema, seen))
	if err := s.EnsureListed(t.Context(), key.Site, source.Series{ID: key.SeriesID, Title: "Pepper&Carrot", URL: "http://x/pepper"}); err != nil {
		t.Fatal(err)
	}
	if err := s.EnsureLane(t.Context(), key.Site); err != nil {
		t.Fatal(err)
	}
	return env{s, urls, seen}
}

func (e env) admin(t *testing.T) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), e.urls.Admin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func reading(ids ...string) source.Reading {
	r := source.Reading{Series: source.Series{ID: key.SeriesID, Title: "Pepper&Carrot", Status: "ongoing", CoverURL: "http://x/c.jpg"}}
	for i, id := range ids {
		number, plain := source.Decimal(id)
		if !plain {
			number = fmt.Sprint(len(ids) - i)
		}
		r.Chapters = append(r.Chapters, source.Chapter{ID: id, Number: number, URL: "http://x/" + id, Order: i, Language: "en"})
	}
	return r
}

func TestEveryStatementPrepares(t *testing.T) {
	s := setup(t)
	conn, err := s.db.(*pgxpool.Pool).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for _, name := range s.Statements().Names() {
		if _, err := conn.Conn().Prepare(t.Context(), name, s.Statements().Get(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func words[T ~string](in []T) []string {
	var out []string
	for _, w := range in {
		out = append(out, string(w))
	}
	slices.Sort(out)
	return out
}

func TestTheDatabaseRepeatsTheWords(t *testing.T) {
	conn := setup(t).admin(t)
	var writing []poll.Outcome
	for _, o := range poll.Outcomes() {
		if o.Effect() == poll.Write {
			writing = append(writing, o)
		}
	}
	classes := []fault.Class{""}
	for _, row := range fault.Table() {
		if row.Job {
			classes = append(classes, row.Class)
		}
	}
	tests := []struct {
		table, column string
		want          []string
	}{
		{"poll_failures", "outcome", words(writing)},
		{"poll_lanes", "activity", words(lane.Activities())},
		{"poll_lanes", "trouble", words(lane.Troubles())},
		{"series", "next_poll_reason", words(lane.NextReasons())},
		{"series", "status", words(source.Statuses())},
		{"series", "reading_direction", words(source.Directions())},
		{"move_proposals", "because", words(lane.Becauses())},
		{"poll_passes", "end_reason", words(lane.EndReasons())},
		{"circuits", "state", words(circuit.States())},
		{"circuits", "reason", words(circuit.Reasons())},
		{"jobs", "state", words(job.States())},
		{"jobs", "class", words(classes)},
		{"jobs", "priority", words(job.Priorities())},
		{"jobs", "resume_to", words(job.Resumes())},
		{"holds", "kind", words(queue.Holds())},
		{"job_chapters", "state", words(job.ChapterStates())},
		{"job_chapters", "class", words(classes)},
		{"discoveries", "end_reason", words(queue.DiscoveryEnds())},
		{"discovery_skips", "why", words(queue.Whys())},
		{"canaries", "state", words(canary.States())},
		{"canaries", "outcome", words(canary.Outcomes())},
		{"incidents", "kind", words(incident.Kinds())},
		{"incidents", "about", words(incident.Abouts())},
		{"incidents", "resolution", words(incident.Resolutions())},
	}
	quoted := regexp.MustCompile(`'([^']*)'::text`)
	for _, tt := range tests {
		t.Run(tt.table+"."+tt.column, func(t *testing.T) {
			var def string
			err := conn.QueryRow(t.Context(), `SELECT pg_get_constraintdef(oid) FROM pg_constraint
				WHERE conrelid = ('scraper.' || $1)::regclass AND conname = $1 || '_' || $2 || '_check'`, tt.table, tt.column).Scan(&def)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range quoted.FindAllStringSubmatch(def, -1) {
				got = append(got, m[1])
			}
			slices.Sort(got)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("Go and the database differ:\n%s", d)
			}
		})
	}
}

// A Series is (site, series_id) everywhere (A1). What is about a Series the scraper
// polls hangs on it by that key, goes with it when it leaves and moves with it;
// Jobs, files and a Lane's present title outlive it and only carry the key.
func TestEveryTableNamesASeriesByItsWholeKey(t *testing.T) {
	t.Parallel()
	conn := setup(t).admin(t)
	all := func(sql string) (out []string) {
		t.Helper()
		rows, err := conn.Query(t.Context(), sql)
		if err != nil {
			t.Fatal(err)
		}
		if out, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			t.Fatal(err)
		}
		return out
	}
	hanging := all(`SELECT conrelid::regclass::text || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
		WHERE contype = 'f' AND confrelid IN ('scraper.series'::regclass, 'scraper.poll_failures'::regclass) ORDER BY 1`)
	want := []string{}
	for _, table := range []string{"chapter_fetches", "chapters", "move_proposals", "poll_failures", "preferred_groups"} {
		want = append(want, "scraper."+table+" FOREIGN KEY (site, series_id) REFERENCES scraper.series(site, series_id) ON UPDATE CASCADE ON DELETE CASCADE")
	}
	want = append(want, "scraper.series_moves FOREIGN KEY (to_site, to_id) REFERENCES scraper.series(site, series_id) ON UPDATE CASCADE ON DELETE CASCADE",
		"scraper.worklist_mutes FOREIGN KEY (site, series_id) REFERENCES scraper.poll_failures(site, series_id) ON UPDATE CASCADE ON DELETE CASCADE")
	if d := cmp.Diff(want, hanging); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	loose := all(`SELECT table_name::text FROM information_schema.columns WHERE table_schema = 'scraper' AND column_name = 'series_id'
		AND table_name NOT IN ('series', 'chapter_fetches', 'chapters', 'move_proposals', 'poll_failures', 'preferred_groups', 'worklist_mutes') ORDER BY 1`)
	if d := cmp.Diff([]string{"canaries", "discovery_skips", "incidents", "jobs", "library_files", "poll_lanes"}, loose); d != "" {
		t.Errorf("tables that carry the key alone:\n%s", d)
	}
	for _, table := range append(loose, "series") {
		if n := all("SELECT column_name::text FROM information_schema.columns WHERE table_schema = 'scraper' AND table_name = '" + table + "' AND column_name = 'site'"); len(n) != 1 {
			t.Errorf("%s names a Series without its Site", table)
		}
	}
}

func TestFollowsConvergeWhateverTheOrder(t *testing.T) {
	a, b := source.Key{Site: "sample", SeriesID: "a"}, source.Key{Site: "sample", SeriesID: "b"}
	wish := func(k source.Key) follow.Placed {
		return follow.Placed{Wish: follow.Wish{Key: k, URL: "http://x/" + k.SeriesID}}
	}
	s := setup(t)
	ctx := t.Context()
	now := time.Now()
	apply := func(c follow.Change, at time.Time) bool {
		t.Helper()
		got, err := s.ApplyFollows(ctx, c, at)
		if err != nil {
			t.Fatal(err)
		}
		return got.Stale
	}
	followed := func() (out []string) {
		rows, err := s.ListSeries(ctx, "followed")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			out = append(out, r.Key.SeriesID)
		}
		return out
	}
	apply(follow.Change{Revision: 2, Follows: []follow.Placed{wish(b)}}, now)
	if !apply(follow.Change{Revision: 1, Follows: []follow.Placed{wish(a)}}, now) {
		t.Error("an older revision was applied")
	}
	apply(follow.Change{Revision: 2, Whole: true, Follows: []follow.Placed{wish(a), wish(b)}}, now)
	if d := cmp.Diff([]string{"a", "b"}, followed()); d != "" {
		t.Error(d)
	}
	apply(follow.Change{Revision: 3, Whole: true}, now)
	apply(follow.Change{Revision: 4, Whole: true, Follows: []follow.Placed{wish(b)}}, now)
	if d := cmp.Diff([]string{"a", "b"}, followed()); d != "" {
		t.Errorf("an empty or a first whole set removed something:\n%s", d)
	}
	apply(follow.Change{Revision: 4, Whole: true, Follows: []follow.Placed{wish(b)}}, now.Add(25*time.Hour))
	if d := cmp.Diff([]string{"b"}, followed()); d != "" {
		t.Errorf("a Series missing for a day stayed:\n%s", d)
	}
	if _, err := s.RequestJob(ctx, b, true); err != nil {
		t.Fatal(err)
	}
	apply(follow.Change{Revision: 5, Unfollowed: []source.Key{b}}, now)
	if d := cmp.Diff([]string{"b"}, followed()); d != "" {
		t.Errorf("a Series with an outstanding Job left:\n%s", d)
	}
}

// TestTrespassIsRefused shows OWN-1, features D19 and D20.
func TestTrespassIsRefused(t *testing.T) {
	urls := pgtest.New(t)
	for _, tt := range []struct{ name, url, sql string }{
		{"scraper reads users", urls.Scraper, "SELECT FROM reader.users"},
		{"scraper writes progress", urls.Scraper, "DELETE FROM reader.progress"},
		{"reader reads jobs", urls.Reader, "SELECT FROM scraper.jobs"},
		{"reader deletes a failure", urls.Reader, "DELETE FROM scraper.poll_failures"},
		{"reader writes a failure", urls.Reader, "INSERT INTO scraper.poll_failures VALUES ('s', 'i', 'errors', now())"},
		{"reader changes an age", urls.Reader, "UPDATE scraper.poll_failures SET failing_since = now()"},
		{"reader reads failures", urls.Reader, "SELECT FROM scraper.poll_failures"},
		{"reader mutes a failure", urls.Reader, "INSERT INTO scraper.worklist_mutes VALUES ('s', 'i', now())"},
		{"scraper changes the transitions", urls.Scraper, "DELETE FROM scraper.job_transitions"},
		{"scraper makes a table", urls.Scraper, "CREATE TABLE scraper.x ()"},
		{"reader makes a table in public", urls.Reader, "CREATE TABLE public.x ()"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := pgx.Connect(t.Context(), tt.url)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close(context.Background()) }()
			_, err = conn.Exec(t.Context(), tt.sql)
			var pgErr *pgconn.PgError
			if !errors.As(err, &pgErr) || pgErr.Code != "42501" {
				t.Errorf("got %v, want permission denied", err)
			}
		})
	}
}

func TestWorklist(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, f := range []struct {
		id      string
		outcome poll.Outcome
	}{{"c", poll.Errors}, {"a", poll.NotFound}, {"b", poll.Errors}} {
		k := source.Key{Site: "sample", SeriesID: f.id}
		if err := s.EnsureListed(ctx, k.Site, source.Series{ID: f.id, Title: "Title " + f.id, URL: "http://x/" + f.id}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.RecordFailure(ctx, k, f.outcome, first.Add(time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		WorklistQuery
		want string
	}{
		{WorklistQuery{Sort: "oldest", Limit: 10}, "c a b"}, {WorklistQuery{Sort: "newest", Limit: 10}, "b a c"},
		{WorklistQuery{Site: "sample", Sort: "title", Limit: 10}, "a b c"}, {WorklistQuery{Outcome: poll.Errors, Sort: "oldest", Limit: 10}, "c b"},
		{WorklistQuery{Sort: "oldest", Offset: 1, Limit: 1}, "a"}, {WorklistQuery{Site: "elsewhere", Sort: "oldest", Limit: 10}, ""},
		{WorklistQuery{Sort: "oldest", Limit: 10, Before: first.Add(2 * time.Hour)}, "c a"}, {WorklistQuery{Sort: "oldest", Limit: 10, Before: first}, ""},
		{WorklistQuery{Sort: "oldest", Limit: 10, Muted: true}, ""},
	} {
		rows, err := s.Worklist(ctx, tt.WorklistQuery)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rows {
			got = append(got, r.Key.SeriesID)
			if r.Failure.Outcome == "" || r.Failure.Since.IsZero() || r.Series.Title == "" {
				t.Errorf("%+v: row %+v lacks something", tt, r)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
	if _, err := s.Worklist(ctx, WorklistQuery{Sort: "title; DROP TABLE series", Limit: 1}); !fault.Is(err, fault.Invalid) {
		t.Errorf("an order that is none: %v", err)
	}
	for before, want := range map[time.Time]map[poll.Outcome]WorklistCount{
		{}:                       {poll.Errors: {Shown: 2}, poll.NotFound: {Shown: 1}},
		first.Add(2 * time.Hour): {poll.Errors: {Shown: 1}, poll.NotFound: {Shown: 1}},
	} {
		counts, err := s.WorklistCounts(ctx, "sample", before)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, counts); d != "" {
			t.Errorf("before %v:\n%s", before, d)
		}
	}
}

func TestCountingUntilAFullCycle(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	now := time.Now()
	complete := lane.Pass{Site: key.Site, Started: now, Ended: now, EndReason: lane.EndComplete}
	if err := s.RecordPass(ctx, complete); err != nil {
		t.Fatal(err)
	}
	if since, err := s.CountingSince(ctx); err != nil || since.IsZero() {
		t.Errorf("a Pass that did not reach every Series ends the counting (%v, %v)", since, err)
	}
	if err := s.Advance(ctx, key, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	stopped := complete
	stopped.EndReason = lane.EndStopped
	if err := s.RecordPass(ctx, stopped); err != nil {
		t.Fatal(err)
	}
	if since, err := s.CountingSince(ctx); err != nil || since.IsZero() {
		t.Errorf("a stopped Pass ends the counting (%v, %v)", since, err)
	}
	if err := s.RecordPass(ctx, complete); err != nil {
		t.Fatal(err)
	}
	if since, err := s.CountingSince(ctx); err != nil || !since.IsZero() {
		t.Errorf("counting since %v after a full cycle (%v)", since, err)
	}
	lanes, err := s.Lanes(ctx)
	if err != nil || len(lanes) != 1 || lanes[0].Series != 1 || !lanes[0].CountingSince.IsZero() {
		t.Errorf("Lanes %+v, %v", lanes, err)
	}
	passes, err := s.PassesSince(ctx, now.Add(-time.Hour))
	if err != nil || len(passes) != 3 {
		t.Errorf("%d Passes, %v; want 3", len(passes), err)
	}
}
