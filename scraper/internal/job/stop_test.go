package job_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"mangrove/internal/fakesite"
	"mangrove/internal/fault"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/checkpoint"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

// inspected brings the Job to where its chapters are to be fetched.
func (w *workshop) inspected(t *testing.T) {
	t.Helper()
	if err := w.runner(t).Inspect(t.Context(), w.job(t)); err != nil {
		t.Fatal(err)
	}
}

// TestAStopEndsAtTheNextCheckpoint: an operator or the watchdog has moved the Job,
// and then the unit is told. The page under way is kept, and nothing more is asked.
func TestAStopEndsAtTheNextCheckpoint(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.inspected(t)
	hold := make(chan struct{})
	w.site.On("/img/1/0.png", fakesite.Answer{ContentType: "image/png", Body: w.images["/img/1/0.png"], Hold: hold})
	r := w.runner(t)
	done := make(chan error, 1)
	go func() { done <- r.Step(t.Context(), w.job(t)) }()
	if err := w.site.WaitCount(t.Context(), "/img/1/0.png", 1); err != nil {
		t.Fatal(err)
	}
	r.Stop(w.job(t).ID + 1) // another Job's stop is not ours
	if _, err := w.db.Move(t.Context(), w.job(t), job.Change{To: job.Paused}); err != nil {
		t.Fatal(err)
	}
	r.Stop(w.job(t).ID)
	r.Stop(w.job(t).ID) // twice is once
	close(hold)
	if err := <-done; !fault.Is(err, fault.Stale) {
		t.Errorf("the stopped unit ends with %v, want class stale", err)
	}
	if j := w.job(t); j.State != job.Paused || j.Class != "" {
		t.Errorf("the Job is %s of class %q, want it as it was moved", j.State, j.Class)
	}
	c, there := checkpoint.Load(checkpoint.Path(w.library, w.adapter.Site(), key))
	if !there || c.PagesDone != 1 {
		t.Errorf("checkpoint %+v (there %v), want the one page that came", c, there)
	}
	if n := w.site.Count("/img/1/1.png") + w.site.Count("/img/1/2.png"); n != 0 {
		t.Errorf("%d pages were asked for after the stop", n)
	}
	// Gone on with, it fetches what is missing and no more.
	if _, err := w.db.Move(t.Context(), w.job(t), job.Change{To: job.Queued}); err != nil {
		t.Fatal(err)
	}
	if j, err := w.work(t); err != nil || j.State != job.Done || w.site.Count("/img/1/0.png") != 1 {
		t.Errorf("the Job is %s (%v); its first page was asked for %d times, want once", j.State, err, w.site.Count("/img/1/0.png"))
	}
}

// TestTheFloorOfFreeSpace: a full disk costs the Site nothing (C23, F67).
func TestTheFloorOfFreeSpace(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.inspected(t)
	w.site.Forget()
	r := w.runner(t)
	r.Floor = func(context.Context) (int64, error) { return math.MaxInt64 / 2, nil }
	err := r.Step(t.Context(), w.job(t))
	if j := w.job(t); !fault.Is(err, fault.Storage) || j.State != job.Queued || j.Class != fault.Storage {
		t.Errorf("got %v, the Job is %s of class %q; want a storage failure and the Job queued", err, j.State, j.Class)
	}
	if got := w.site.Ledger().Paths(); len(got) != 0 {
		t.Errorf("asked for %v before the room was known", got)
	}
	r.Floor = func(context.Context) (int64, error) { return 0, nil }
	if err := r.Step(t.Context(), w.job(t)); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// TestAChapterSetAsideWaitsForTheSiteOrForAPerson: the next Job tries it again
// once the Site lists it otherwise, or on Retry (JOB-4).
func TestAChapterSetAsideWaitsForTheSiteOrForAPerson(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.site.On("/img/1/1.png", fakesite.HTML("<html>no image</html>"))
	if j, err := w.work(t); err != nil || j.State != job.Done {
		t.Fatal(j, err)
	}
	again := func(what string, want int) {
		t.Helper()
		w.site.Forget()
		if asked, err := w.db.RequestJob(t.Context(), key, true); err != nil || !asked {
			t.Fatal(asked, err)
		}
		if j, err := w.work(t); err != nil || j.State != job.Done {
			t.Fatal(j, err)
		}
		if got := w.site.Count("/c/1"); got != want {
			t.Errorf("%s: chapter 1 was begun %d times, want %d", what, got, want)
		}
	}
	again("nothing changed", 0)
	read := func(change func(*source.Chapter)) {
		t.Helper()
		reading, err := w.adapter.Series(t.Context(), w.runner(t).Fetcher, source.Ask{})
		if err != nil {
			t.Fatal(err)
		}
		change(&reading.Chapters[0])
		if err := w.db.SaveReading(t.Context(), key, reading, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	read(func(c *source.Chapter) { c.Order = 17 })
	again("only its place in the list changed", 0)
	read(func(c *source.Chapter) { c.Order, c.Title = 17, "Corrected" })
	again("the Site lists it otherwise", 1)
	again("it was set aside again", 0)
	// A person's word is for the chapters of the Job at hand.
	j := w.job(t)
	for id := j.ID; id > 0; id-- {
		if err := w.db.RetryChapters(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	again("on Retry", 1)
}

// TestAChapterIsFetchedTwiceADayAtMost: something outside takes each published
// file away and forgets it (S-055).
func TestAChapterIsFetchedTwiceADayAtMost(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for range 10 {
		if _, err := w.pool.Exec(t.Context(), "DELETE FROM library_files"); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"1", "2"} {
			w.takeAway(t, name)
		}
		if _, err := w.db.RequestJob(t.Context(), key, true); err != nil {
			t.Fatal(err)
		}
		if j, err := w.work(t); err != nil || j.State != job.Done {
			t.Fatal(j, err)
		}
	}
	for _, path := range []string{"/img/1/0.png", "/img/2/2.png"} {
		if got := w.site.Count(path); got != 2 {
			t.Errorf("%s was fetched %d times in ten rounds, want 2", path, got)
		}
	}
	aside := 0
	for id := int64(1); id <= w.job(t).ID; id++ {
		chapters, err := w.db.JobChapters(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chapters {
			if c.State == job.ChapterSetAside {
				aside++
				if want := "fetch t/s/" + c.ChapterID + ": it was fetched 2 times within a day and is still not in the library"; c.Reason != want {
					t.Errorf("reason %q, want %q", c.Reason, want)
				}
			}
		}
	}
	if aside != 2 {
		t.Errorf("%d chapters were set aside, want both", aside)
	}
}

// written counts the statements that write, by the words they begin with.
type written struct{ statements, commits int }

func (w *written) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	switch data.SQL {
	case "commit":
		w.commits++
	case "begin":
	default:
		if writes(data.SQL) {
			w.statements++
			w.commits++
		}
	}
	return ctx
}

func (*written) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestAChapterCostsThreeStatementsThatWrite: its start, that its pages are
// there, and its publication; pages cost none.
func TestAChapterCostsThreeStatementsThatWrite(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.inspected(t)
	// The Job's start and the name of the Series' folder are no chapter's.
	if err := w.runner(t).Step(t.Context(), w.job(t)); err != nil {
		t.Fatal(err)
	}
	count := &written{}
	w.db = store.New(pgtest.Pool(t, w.urls.Scraper, store.Schema, count))
	if err := w.runner(t).Step(t.Context(), w.job(t)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(written{3, 3}, *count, cmp.AllowUnexported(written{})); d != "" {
		t.Errorf("a chapter of three pages (-want +got):\n%s", d)
	}
}

// writes reports whether a statement changes a row.
func writes(sql string) bool {
	for _, word := range []string{"INSERT INTO", "UPDATE ", "DELETE FROM"} {
		if strings.Contains(sql, word) {
			return true
		}
	}
	return false
}

// takeAway removes the published file of a chapter, as another program may.
func (w *workshop) takeAway(t *testing.T, number string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(w.library, "A Series *", "* c00"+number+" *.cbz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
}
