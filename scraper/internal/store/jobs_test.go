package store

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/follow"
	"mangrove/scraper/internal/inventory/inventorytest"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/publish"
)

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
	at := inventorytest.Snapshot(t, s.Store)
	lacking, err := s.Lacking(ctx, at, key)
	if err != nil {
		t.Fatal(err)
	}
	j, err = s.Move(ctx, j, job.Change{To: job.Inspecting})
	if err != nil {
		t.Fatal(err)
	}
	if j, err = s.Plan(ctx, j, []job.Planned{{Chapter: lacking[0]}}, job.Change{To: job.Ready}); err != nil {
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
	if lacking, err := s.Lacking(ctx, at, key); err != nil || len(lacking) != 0 {
		t.Errorf("still lacking %v, %v", lacking, err)
	}
	if _, ok, err := s.NextChapter(ctx, j); ok || err != nil {
		t.Errorf("the Job still wants a chapter: %v, %v", ok, err)
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
