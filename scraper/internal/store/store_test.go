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
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"mangrove/internal/fault"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/follow"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/publish"
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
		{"poll_passes", "end_reason", words(lane.EndReasons())},
		{"circuits", "state", words(circuit.States())},
		{"circuits", "reason", words(circuit.Reasons())},
		{"jobs", "state", words(job.States())},
		{"jobs", "class", words(classes)},
		{"job_chapters", "state", words(job.ChapterStates())},
		{"job_chapters", "class", words(classes)},
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

func TestFailureRow(t *testing.T) {
	s := setup(t)
	conn := s.admin(t)
	ctx := t.Context()
	first := time.Date(2026, 8, 12, 6, 0, 0, 0, time.UTC)
	version := func() (v string) {
		t.Helper()
		if err := conn.QueryRow(ctx, "SELECT xmin::text || ' ' || ctid::text FROM scraper.poll_failures").Scan(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	if err := s.RecordFailure(ctx, key, poll.Errors, first); err != nil {
		t.Fatal(err)
	}
	before := version()
	if err := s.RecordFailure(ctx, key, poll.Errors, first.Add(12*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if after := version(); after != before {
		t.Errorf("the same word again wrote a new row version: %s, then %s", before, after)
	}
	if err := s.RecordFailure(ctx, key, poll.NotFound, first.Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	got, failing, err := s.Failure(ctx, key)
	if err != nil || !failing || got.Outcome != poll.NotFound || !got.Since.Equal(first) {
		t.Errorf("after another word: %+v, %v, %v; want not_found since %v", got, failing, err, first)
	}
	if _, err := s.RecordGood(ctx, lane.Due{Key: key}, reading("1"), first, first, lane.ByInterval); err != nil {
		t.Fatal(err)
	}
	if _, failing, err := s.Failure(ctx, key); failing || err != nil {
		t.Errorf("a good read left the row: %v, %v", failing, err)
	}
}

func TestOutcomesWithoutEffectCannotWrite(t *testing.T) {
	s := setup(t)
	for _, o := range []poll.Outcome{poll.OK, poll.Refused, poll.Unreachable} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was written", o)
				}
			}()
			_ = s.RecordFailure(t.Context(), key, o, time.Now())
		}()
	}
	if n := s.seen.mentions("INTO poll_failures"); n != 0 {
		t.Errorf("%d statements on poll_failures, want 0", n)
	}
}

func TestFailingSinceUnderManyWriters(t *testing.T) {
	s := setup(t)
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := s.RecordFailure(t.Context(), key, poll.Errors, first); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			o := []poll.Outcome{poll.Errors, poll.NotFound, poll.NoChapter, poll.Unfetchable}[i%4]
			if err := s.RecordFailure(context.Background(), key, o, first.Add(time.Duration(i)*time.Hour)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, _, err := s.Failure(t.Context(), key); err != nil || !got.Since.Equal(first) {
		t.Errorf("failing_since moved to %v (%v)", got.Since, err)
	}
}

func TestChaptersNewGoneAndBack(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	good := func(known bool, r source.Reading) []string {
		t.Helper()
		g, err := s.RecordGood(ctx, lane.Due{Key: key, Known: known}, r, now, now.Add(time.Hour), lane.ByInterval)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, c := range g.New {
			ids = append(ids, c.ID)
		}
		return ids
	}
	if got := good(false, reading("2", "1")); got != nil {
		t.Errorf("the first read announced %v", got)
	}
	if got := good(true, reading("1", "2")); got != nil {
		t.Errorf("a reordered list announced %v", got)
	}
	if d := cmp.Diff([]string{"3"}, good(true, reading("3", "2"))); d != "" {
		t.Error(d)
	}
	gone := func() (out []string) {
		all, err := s.Chapters(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			if !c.GoneSince.IsZero() {
				out = append(out, c.ID)
			}
		}
		return out
	}
	if d := cmp.Diff([]string{"1"}, gone()); d != "" {
		t.Error(d)
	}
	if got := good(true, reading("3", "2", "1")); got != nil || gone() != nil {
		t.Errorf("back again: announced %v, gone %v; want neither", got, gone())
	}
	if got := good(true, source.Reading{NotModified: true}); got != nil || gone() != nil {
		t.Errorf("not modified: announced %v, gone %v", got, gone())
	}
}

func TestANewIDOfAnAbsentChapterAnnouncesNothing(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	read := func(r source.Reading) []source.Chapter {
		t.Helper()
		g, err := s.RecordGood(ctx, lane.Due{Key: key, Known: true}, r, now, now, lane.ByInterval)
		if err != nil {
			t.Fatal(err)
		}
		return g.New
	}
	read(reading("2", "1"))
	before, err := s.Chapters(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.admin(t).Exec(ctx, `INSERT INTO scraper.library_files (path, revision, state, site, series_id, chapter_id, series_title, pages, size, fingerprint, published_at)
		VALUES ('P/2.cbz', 0, 'published', 'sample', 'pepper', '2', 'P', 1, 1, 'f', now())`); err != nil {
		t.Fatal(err)
	}
	now = now.Add(24 * time.Hour)
	// The Site gave chapter 2 a new id; chapter 3 is really new.
	if got := read(reading("3", "two-again", "1")); len(got) != 1 || got[0].ID != "3" {
		t.Errorf("announced %v, want only chapter 3", got)
	}
	after, err := s.Chapters(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range after {
		if c.ID == "2" || !c.GoneSince.IsZero() {
			t.Errorf("chapter %s is still known, or gone since %v", c.ID, c.GoneSince)
		}
		if c.ID == "two-again" && !c.FirstSeen.Equal(before[0].FirstSeen) {
			t.Errorf("first seen moved from %v to %v", before[0].FirstSeen, c.FirstSeen)
		}
	}
	changes, err := s.ChangesAfter(ctx, 0, 10)
	if err != nil || len(changes) != 1 || changes[0].Chapter.ID != "two-again" || changes[0].Path != "P/2.cbz" {
		t.Errorf("library changes %+v, %v; want the same file under the new id", changes, err)
	}
	// Another language or group is another release.
	other := reading("fr", "3", "1")
	other.Chapters[0].Number, other.Chapters[0].Language = "2", "fr"
	if got := read(other); len(got) != 1 {
		t.Errorf("another language's chapter 2 announced %v, want itself", got)
	}
}

func TestNumbersRoundTrip(t *testing.T) {
	s := setup(t)
	r := reading("a", "b")
	r.Chapters[0].Number, r.Chapters[0].Volume = "10.5", ""
	r.Chapters[1].Number, r.Chapters[1].Volume = "", "2"
	r.Chapters[0].Groups = []string{"Crow Scans", "Old Owl"}
	r.Chapters[0].Published = time.Date(2014, 5, 10, 0, 0, 0, 0, time.UTC)
	if err := s.SaveReading(t.Context(), key, r, time.Now()); err != nil {
		t.Fatal(err)
	}
	lacking, err := s.Lacking(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	want := []source.Chapter{r.Chapters[1], r.Chapters[0]}
	if d := cmp.Diff(want, lacking, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

// An inspection may read a Site hours before its Lane's next Pass: what troubled
// the Lane until then has ended.
func TestAGoodReadEndsTheLanesTrouble(t *testing.T) {
	s := setup(t)
	ctx, now := t.Context(), time.Now()
	trouble := func() (out lane.Trouble) {
		t.Helper()
		lanes, err := s.Lanes(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lanes {
			if l.Site == key.Site {
				out = l.Trouble
			}
		}
		return out
	}
	if err := s.SetTrouble(ctx, key.Site, lane.TroubleUnreachable, now.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got := trouble(); got != lane.TroubleUnreachable {
		t.Fatalf("the Lane's trouble is %q, want it set", got)
	}
	if err := s.SaveReading(ctx, key, reading("1"), now); err != nil {
		t.Fatal(err)
	}
	if got := trouble(); got != lane.NoTrouble {
		t.Errorf("the Lane's trouble is %q after a good read", got)
	}
}

func TestEveryJobTransition(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	admin := s.admin(t)
	for _, from := range job.States() {
		for _, to := range job.States() {
			var id int64
			// Rows are made in their state directly; only updates are guarded.
			if err := admin.QueryRow(ctx, `INSERT INTO scraper.jobs (site, series_id, state, retry_at, finished_at)
				VALUES ('t', $1 || '-' || $2, $1, CASE WHEN $1 = 'retry_wait' THEN now() END,
				        CASE WHEN $1 IN ('unavailable', 'quarantined', 'done', 'cancelled') THEN now() END) RETURNING id`, from, to).Scan(&id); err != nil {
				t.Fatal(err)
			}
			c := job.Change{To: to}
			if to == job.RetryWait {
				c.RetryAt = time.Now()
			}
			_, err := s.Move(ctx, job.Job{ID: id, State: from}, c)
			if allowed := job.Allowed(from, to); allowed != (err == nil) {
				t.Errorf("Go: %s to %s: %v, allowed is %v", from, to, err, allowed)
			}
			if from == to || job.Allowed(from, to) {
				continue
			}
			_, err = admin.Exec(ctx, `UPDATE scraper.jobs SET state = $2, retry_at = CASE WHEN $2 = 'retry_wait' THEN now() END,
				finished_at = CASE WHEN $2 IN ('unavailable', 'quarantined', 'done', 'cancelled') THEN now() END WHERE id = $1`, id, to)
			var pgErr *pgconn.PgError
			if !errors.As(err, &pgErr) || !strings.Contains(pgErr.Message, "not an allowed transition") {
				t.Errorf("database: %s to %s went through: %v", from, to, err)
			}
		}
	}
}

func TestMoveIsCompareAndSet(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	if asked, err := s.RequestJob(ctx, key, true); !asked || err != nil {
		t.Fatal(asked, err)
	}
	if asked, err := s.RequestJob(ctx, key, true); asked || err != nil {
		t.Errorf("a second outstanding Job was made: %v, %v", asked, err)
	}
	j, _, err := s.NextJob(ctx, key.Site, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Move(ctx, j, job.Change{To: job.Inspecting}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Move(ctx, j, job.Change{To: job.Cancelled}); !fault.Is(err, fault.Stale) {
		t.Errorf("a lost compare-and-set: got %v, want class stale", err)
	}
}

func TestCommitTwiceIsOnePublication(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	if err := s.SaveReading(ctx, key, reading("1"), time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.RequestJob(ctx, key, true); err != nil {
		t.Fatal(err)
	}
	j, _, err := s.NextJob(ctx, key.Site, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	lacking, err := s.Lacking(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	j, err = s.Move(ctx, j, job.Change{To: job.Inspecting})
	if err != nil {
		t.Fatal(err)
	}
	if j, err = s.Plan(ctx, j, lacking, job.Change{To: job.Ready}); err != nil {
		t.Fatal(err)
	}
	p := job.Publication{Chapter: lacking[0], SeriesTitle: "Pepper&Carrot", Fingerprint: strings.Repeat("a", 64), File: publish.File{Path: "P/1.cbz", Size: 9, Pages: 3}}
	for range 2 {
		if err := s.Commit(ctx, j, p); err != nil {
			t.Fatal(err)
		}
	}
	changes, err := s.ChangesAfter(ctx, 0, 10)
	if err != nil || len(changes) != 1 || changes[0].Revision != 1 || changes[0].Pages != 3 || changes[0].Path != "P/1.cbz" {
		t.Errorf("changes %+v, %v; want one, of revision 1", changes, err)
	}
	if lacking, err := s.Lacking(ctx, key); err != nil || len(lacking) != 0 {
		t.Errorf("still lacking %v, %v", lacking, err)
	}
	if _, ok, err := s.NextChapter(ctx, j); ok || err != nil {
		t.Errorf("the Job still wants a chapter: %v, %v", ok, err)
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

func TestTrespassIsRefused(t *testing.T) {
	urls := pgtest.New(t)
	for _, tt := range []struct{ name, url, sql string }{
		{"scraper reads users", urls.Scraper, "SELECT FROM reader.users"},
		{"scraper writes progress", urls.Scraper, "DELETE FROM reader.progress"},
		{"reader reads jobs", urls.Reader, "SELECT FROM scraper.jobs"},
		{"reader writes poll_failures", urls.Reader, "DELETE FROM scraper.poll_failures"},
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
		if err := s.RecordFailure(ctx, k, f.outcome, first.Add(time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		site, outcome, sort string
		offset, limit       int
		want                string
	}{
		{"", "", "oldest", 0, 10, "c a b"}, {"", "", "newest", 0, 10, "b a c"}, {"sample", "", "title", 0, 10, "a b c"},
		{"", "errors", "oldest", 0, 10, "c b"}, {"", "", "oldest", 1, 1, "a"}, {"elsewhere", "", "oldest", 0, 10, ""},
	} {
		rows, err := s.Worklist(ctx, tt.site, tt.outcome, tt.sort, tt.offset, tt.limit)
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
	if _, err := s.Worklist(ctx, "", "", "title; DROP TABLE series", 0, 1); !fault.Is(err, fault.Invalid) {
		t.Errorf("an order that is none: %v", err)
	}
	counts, err := s.WorklistCounts(ctx, "sample")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[poll.Outcome]int{poll.Errors: 2, poll.NotFound: 1}, counts); d != "" {
		t.Error(d)
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

func TestNewChaptersAreAnnouncedOnce(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	now := time.Now()
	if _, err := s.ApplyFollows(ctx, follow.Change{Revision: 1, Follows: []follow.Placed{{Wish: follow.Wish{Key: key, URL: "http://x"}}}}, now); err != nil {
		t.Fatal(err)
	}
	for i, r := range []source.Reading{reading("1"), reading("2", "1"), reading("1"), reading("2", "1")} {
		if _, err := s.RecordGood(ctx, lane.Due{Key: key, Known: i > 0}, r, now.Add(time.Duration(i)*time.Hour), now, lane.ByInterval); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.NewChapters(ctx, 10)
	if err != nil || len(got) != 1 || got[0].ID != "2" || !got[0].Announced.Equal(now.Add(time.Hour).Truncate(time.Microsecond)) || got[0].LibraryState != "absent" {
		t.Errorf("new chapters %+v, %v; want chapter 2 once, since it was first listed", got, err)
	}
}

func TestUnchangedReadsAreOneStatement(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	now := time.Now().UTC().Truncate(time.Microsecond)
	if err := s.RecordFailure(ctx, key, poll.Errors, now); err != nil {
		t.Fatal(err)
	}
	before := s.seen.mentions("")
	if err := s.RecordUnchanged(ctx, []lane.Unchanged{{Key: key, At: now, Next: now.Add(time.Hour), Why: lane.ByReleases}}); err != nil {
		t.Fatal(err)
	}
	if n := s.seen.mentions("") - before; n != 1 {
		t.Errorf("%d statements, want 1", n)
	}
	row, err := s.Series(ctx, key)
	if err != nil || !row.LastGoodRead.Equal(now) || !row.NextPoll.Equal(now.Add(time.Hour)) || row.NextReason != lane.ByReleases {
		t.Errorf("row %+v, %v", row, err)
	}
	if _, failing, err := s.Failure(ctx, key); failing || err != nil {
		t.Errorf("the failure row stayed: %v, %v", failing, err)
	}
}

func TestOnlyANewWishWantsAJob(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	wants := func(revision int64, whole, download bool) int {
		t.Helper()
		got, err := s.ApplyFollows(ctx, follow.Change{Revision: revision, Whole: whole, Follows: []follow.Placed{{Wish: follow.Wish{Key: key, URL: "http://x", Download: download}}}}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return len(got.Wanted)
	}
	if n := wants(1, false, true); n != 1 {
		t.Errorf("a new follow wants %d Jobs, want one", n)
	}
	// The process died before it requested the Job: the next set says so again.
	if n := wants(1, true, true); n != 1 {
		t.Errorf("a follow without a Job wants %d, want one", n)
	}
	if _, err := s.RequestJob(ctx, key, true); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if n := wants(1, true, true); n != 0 {
			t.Errorf("the same set again wants %d Jobs, want none", n)
		}
	}
	if n := wants(2, false, false); n != 0 {
		t.Errorf("only to be told wants %d Jobs", n)
	}
	if n := wants(3, false, true); n != 1 {
		t.Errorf("downloads switched on again want %d Jobs, want one", n)
	}
}
