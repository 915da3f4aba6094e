package store

import (
	"fmt"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"testing"
	"time"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/queue"
)

// put makes a Job in a state, as if it had got there.
func (e env) put(t *testing.T, series string, state job.State) int64 {
	t.Helper()
	var id int64
	err := e.admin(t).QueryRow(t.Context(), `INSERT INTO scraper.jobs (site, series_id, state, retries, stalls, class, reason, resume_to, retry_at, finished_at)
		VALUES ('sample', $1, $2, 1, 1, 'network', 'lost', CASE WHEN $2 = 'paused' THEN 'queued' ELSE '' END, CASE WHEN $2 = 'retry_wait' THEN now() END,
		        CASE WHEN $2 IN ('unavailable', 'quarantined', 'done', 'cancelled') THEN now() END) RETURNING id`, series, state).Scan(&id)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestEveryActOnEveryState(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	for _, act := range queue.Acts() {
		for _, from := range job.States() {
			id := s.put(t, fmt.Sprintf("%s-%s", act, from), from)
			to, leads := queue.Lead(act, from, job.Queued)
			if leads && !job.Allowed(from, to) {
				t.Errorf("%s leads from %s to %s, which is no transition", act, from, to)
			}
			done, err := queue.Do(ctx, s, act, id)
			if err != nil {
				t.Errorf("%s of a Job that is %s: %v", act, from, err)
				continue
			}
			if act == queue.Retry && from == job.Cancelled {
				if !done.Changed || done.Job.ID == id || done.Job.State != job.Requested {
					t.Errorf("retry of a Job that is %s: %+v, want a new one", from, done)
				}
				continue
			}
			want := from
			if leads {
				want = to
			}
			if done.Changed != leads || done.Job.ID != id || done.Job.State != want {
				t.Errorf("%s of a Job that is %s: changed %v, now %s; want %v, %s", act, from, done.Changed, done.Job.State, leads, want)
			}
			again, err := queue.Do(ctx, s, act, id)
			if err != nil || again.Changed || again.Job.State != want {
				t.Errorf("%s twice of a Job that was %s: %+v, %v", act, from, again, err)
			}
		}
	}
}

func TestWhatAnActLeaves(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	do := func(a queue.Act, id int64) queue.Acted {
		t.Helper()
		done, err := queue.Do(ctx, s, a, id)
		if err != nil {
			t.Fatal(err)
		}
		return done.Job
	}
	for _, tt := range []struct{ from, resumed job.State }{
		{job.Requested, job.Requested}, {job.Inspecting, job.Requested}, {job.RetryWait, job.Requested}, {job.Queued, job.Queued}, {job.Downloading, job.Queued},
	} {
		id := s.put(t, "pause-"+string(tt.from), tt.from)
		if j := do(queue.Pause, id); j.Reason != "lost" || j.ResumeTo != tt.resumed {
			t.Errorf("paused while %s it keeps %q and goes on as %q, want its reason and %q", tt.from, j.Reason, j.ResumeTo, tt.resumed)
		}
		if j := do(queue.Resume, id); j.State != tt.resumed || j.ResumeTo != "" {
			t.Errorf("paused while %s it goes on as %s, want %s", tt.from, j.State, tt.resumed)
		}
	}
	if j := do(queue.Start, s.put(t, "start", job.Ready)); !j.Unattended {
		t.Error("a Job that was started waits for the word again after its retry")
	}
	id := s.put(t, "retry", job.Quarantined)
	if _, err := s.admin(t).Exec(ctx, `INSERT INTO scraper.job_chapters (job_id, chapter_id, position, state, class, reason, pages, set_aside_at) VALUES
		($1, 'a', 1, 'published', '', '', 9, NULL), ($1, 'b', 2, 'set_aside', 'page', 'page 3 is no image', 0, now())`, id); err != nil {
		t.Fatal(err)
	}
	if j := do(queue.Retry, id); j.Retries != 0 || j.Stalls != 0 || j.Reason != "" || j.Class != "" {
		t.Errorf("after a retry: %+v, want the counts set back and no reason", j)
	}
	chapters, err := s.JobDetail(ctx, id, 10)
	if err != nil || len(chapters) != 2 || chapters[0].State != job.ChapterPublished || chapters[0].Pages != 9 || chapters[1].State != job.ChapterWaiting || chapters[1].Reason != "" {
		t.Errorf("its chapters: %+v, %v; want what is published kept and what was set aside waiting", chapters, err)
	}
}

func TestAnActThatLostLooksAgain(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	id := s.put(t, "a", job.Queued)
	if err := s.ActOnJob(ctx, queue.Step{ID: id, From: job.Ready, To: job.Cancelled}); !fault.Is(err, fault.Stale) {
		t.Errorf("a lost compare-and-set: %v, want class stale", err)
	}
	if _, err := queue.Do(ctx, s, queue.Pause, id+1000); !fault.Is(err, fault.NotFound) {
		t.Errorf("no such Job: %v", err)
	}
	if _, err := queue.Do(ctx, s, "explode", id); !fault.Is(err, fault.Invalid) {
		t.Errorf("no such act: %v", err)
	}
	old := s.put(t, "b", job.Quarantined)
	s.put(t, "b", job.Queued)
	if _, err := queue.Do(ctx, s, queue.Retry, old); !fault.Is(err, fault.Conflict) {
		t.Errorf("a retry beside an outstanding Job: %v, want class conflict", err)
	}
	all, err := queue.DoAll(ctx, s, queue.Retry, time.Now().Add(time.Hour))
	if err != nil || len(all) != 0 {
		t.Errorf("retry all took an older Job of the Series: %+v, %v", all, err)
	}
}

func TestManyAreThoseThatWereShown(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	first, second := s.put(t, "a", job.Ready), s.put(t, "b", job.Ready)
	s.put(t, "c", job.Queued)
	j, err := s.JobByID(ctx, second)
	if err != nil {
		t.Fatal(err)
	}
	// As a page sends it: in milliseconds.
	seen := time.UnixMilli(j.ChangedAt.UnixMilli())
	if _, err := s.admin(t).Exec(ctx, `UPDATE scraper.jobs SET changed_at = changed_at + interval '2 milliseconds' WHERE id = $1`, second); err != nil {
		t.Fatal(err)
	}
	all, err := queue.DoAll(ctx, s, queue.Start, seen)
	if err != nil || len(all) != 1 || all[0].Job.ID != first {
		t.Errorf("started %+v, %v; want only the first: the second became ready after the page was drawn", all, err)
	}
	if _, err := queue.DoAll(ctx, s, queue.Cancel, seen); !fault.Is(err, fault.Invalid) {
		t.Errorf("cancel for all: %v", err)
	}
}

func TestPriorityOrdersTheWaiting(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	q := queue.New(s)
	under, low, normal, high := s.put(t, "a", job.Downloading), s.put(t, "b", job.Queued), s.put(t, "c", job.Queued), s.put(t, "d", job.Queued)
	next := func() int64 {
		t.Helper()
		j, ok, err := q.Next(ctx, "sample", time.Now())
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		return j.ID
	}
	if got := next(); got != under {
		t.Errorf("Job %d goes first, want the one under way", got)
	}
	for id, p := range map[int64]job.Priority{low: job.Low, high: job.High} {
		if err := s.SetPriority(ctx, id, p); err != nil {
			t.Fatal(err)
		}
	}
	if got := next(); got != high {
		t.Errorf("Job %d goes first, want the high one", got)
	}
	// It took its turn between two chapters: one Job of a Site is downloading.
	if j, err := s.JobByID(ctx, under); err != nil || j.State != job.Queued {
		t.Errorf("the one under way is %s (%v), want it back in the queue", j.State, err)
	}
	for _, want := range []int64{high, under, normal, low} {
		got := next()
		if got != want {
			t.Errorf("Job %d, want %d", got, want)
		}
		if _, err := queue.Do(ctx, s, queue.Cancel, got); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetPriority(ctx, 4711, job.High); !fault.Is(err, fault.NotFound) {
		t.Errorf("no such Job: %v", err)
	}
}

func TestListedJobs(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	if err := s.SaveReading(ctx, key, reading("1", "2", "3"), time.Now()); err != nil {
		t.Fatal(err)
	}
	id := s.put(t, key.SeriesID, job.Downloading)
	if _, err := s.admin(t).Exec(ctx, `INSERT INTO scraper.job_chapters (job_id, chapter_id, position, state, pages) VALUES
		($1, '1', 1, 'published', 9), ($1, '2', 2, 'downloading', 0), ($1, '3', 3, 'waiting', 4)`, id); err != nil {
		t.Fatal(err)
	}
	s.put(t, "gone", job.Quarantined)
	newer := s.put(t, "gone", job.Quarantined)
	list, err := s.ListJobs(ctx, []job.State{job.Downloading, job.Quarantined}, "sample", 0, 10)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v; want the one under way and the newest of those set aside", list, err)
	}
	l := list[0]
	if l.ID != id || l.Title != "Pepper&Carrot" || l.Total != 3 || l.Published != 1 || l.Counted != 4 || l.Uncounted != 1 || l.Current.ID != "2" {
		t.Errorf("%+v", l)
	}
	if list[1].ID != newer || list[1].Title != "gone" {
		t.Errorf("%+v, want Job %d by the id of its Series", list[1], newer)
	}
	counts, err := s.CountJobs(ctx, "")
	if err != nil || counts[job.Downloading] != (JobCount{1, 2}) || counts[job.Quarantined].Jobs != 1 || len(counts) != 2 {
		t.Errorf("counts %+v, %v", counts, err)
	}
	if other, err := s.ListJobs(ctx, job.States(), "elsewhere", 0, 10); err != nil || len(other) != 0 {
		t.Errorf("another Site has %+v, %v", other, err)
	}
	if _, err := s.ListedJobByID(ctx, 0); !fault.Is(err, fault.NotFound) {
		t.Errorf("Job 0: %v", err)
	}
	if at, err := s.Standing(ctx); err != nil || at.Ready != 0 || at.Quarantined != 1 {
		t.Errorf("waiting: %d, %d, %v", at.Ready, at.Quarantined, err)
	}
}

func TestSettingsOfTheQueue(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	if d, ok, err := s.Pacing(ctx, "sample"); d != 0 || ok || err != nil {
		t.Errorf("nothing chosen: %v, %v, %v", d, ok, err)
	}
	if err := s.SetPacing(ctx, "sample", 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if d, ok, err := s.Pacing(ctx, "sample"); d != 5*time.Second || !ok || err != nil {
		t.Errorf("chosen: %v, %v, %v", d, ok, err)
	}
	if err := s.SetPacing(ctx, "sample", 0); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.Pacing(ctx, "sample"); ok || err != nil {
		t.Errorf("taken back: %v, %v", ok, err)
	}
	for _, d := range []time.Duration{-time.Second, 2 * time.Hour} {
		if err := s.SetPacing(ctx, "sample", d); !fault.Is(err, fault.Invalid) {
			t.Errorf("a pacing of %s: %v", d, err)
		}
	}
	if at, err := s.DiscoveryAt(ctx); at != "03:00" || err != nil {
		t.Errorf("discovery at %q, %v", at, err)
	}
	for at, fine := range map[string]bool{"": true, "23:59": true, "24:00": false, "3:00": false, "noon": false, "03:00:00": false} {
		err := s.SetDiscoveryAt(ctx, at)
		if fine != (err == nil) || !fine && !fault.Is(err, fault.Invalid) {
			t.Errorf("discovery at %q: %v", at, err)
		}
		if got, gerr := s.DiscoveryAt(ctx); fine && (got != at || gerr != nil) {
			t.Errorf("discovery at %q reads %q, %v", at, got, gerr)
		}
	}
	if n, err := s.FreeSpaceFloor(ctx); n != 1<<30 || err != nil {
		t.Errorf("the floor is %d, %v", n, err)
	}
	if err := s.SetFreeSpaceFloor(ctx, 5); err != nil {
		t.Fatal(err)
	}
	if n, err := s.FreeSpaceFloor(ctx); n != 5 || err != nil {
		t.Errorf("the floor is %d, %v", n, err)
	}
	if err := s.SetFreeSpaceFloor(ctx, -1); !fault.Is(err, fault.Invalid) {
		t.Errorf("a floor below zero: %v", err)
	}
}

// TestAccept: only a chapter that was set aside for its pages is taken without them,
// and the Job takes it up by itself; what else it set aside stays (C19).
func TestAccept(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := t.Context()
	for from, want := range map[job.State]job.State{
		job.Done: job.Requested, job.Quarantined: job.Requested, job.Unavailable: job.Requested,
		job.Queued: job.Queued, job.Downloading: job.Downloading, job.Paused: job.Paused, job.RetryWait: job.RetryWait, job.Cancelled: job.Cancelled,
	} {
		id := s.put(t, "accept-"+string(from), from)
		if _, err := s.admin(t).Exec(ctx, `INSERT INTO scraper.job_chapters (job_id, chapter_id, position, state, class, set_aside_at) VALUES
			($1, 'a', 1, 'set_aside', 'page', now()), ($1, 'b', 2, 'set_aside', 'conflict', now()), ($1, 'c', 3, 'set_aside', 'page', now()), ($1, 'd', 4, 'published', '', NULL)`, id); err != nil {
			t.Fatal(err)
		}
		now, err := queue.Accept(ctx, s, id, "a")
		if err != nil || now.State != want {
			t.Errorf("of a Job that is %s: now %s (%v), want %s", from, now.State, err, want)
		}
		for _, other := range []string{"a", "b", "d", "nosuch"} {
			if _, err := queue.Accept(ctx, s, id, other); !fault.Is(err, fault.Stale) {
				t.Errorf("chapter %s of a Job that was %s: %v, want class stale", other, from, err)
			}
		}
		rows, err := s.admin(t).Query(ctx, "SELECT chapter_id || ' ' || state || ' ' || accept_missing FROM scraper.job_chapters WHERE job_id = $1 ORDER BY position", id)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if d := cmp.Diff([]string{"a waiting true", "b set_aside false", "c set_aside false", "d published false"}, got); err != nil || d != "" {
			t.Errorf("chapters of a Job that was %s (%v):\n%s", from, err, d)
		}
	}
}
