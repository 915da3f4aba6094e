package store

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mangrove/scraper/internal/follow"
	"mangrove/scraper/internal/inventory/inventorytest"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

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
	if _, err := s.RecordFailure(ctx, key, poll.Errors, first); err != nil {
		t.Fatal(err)
	}
	before := version()
	if _, err := s.RecordFailure(ctx, key, poll.Errors, first.Add(12*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if after := version(); after != before {
		t.Errorf("the same word again wrote a new row version: %s, then %s", before, after)
	}
	if _, err := s.RecordFailure(ctx, key, poll.NotFound, first.Add(24*time.Hour)); err != nil {
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
			_, _ = s.RecordFailure(t.Context(), key, o, time.Now())
		}()
	}
	if n := s.seen.mentions("INTO poll_failures"); n != 0 {
		t.Errorf("%d statements on poll_failures, want 0", n)
	}
}

func TestFailingSinceUnderManyWriters(t *testing.T) {
	s := setup(t)
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := s.RecordFailure(t.Context(), key, poll.Errors, first); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			o := []poll.Outcome{poll.Errors, poll.NotFound, poll.NoChapter, poll.Unfetchable}[i%4]
			if _, err := s.RecordFailure(context.Background(), key, o, first.Add(time.Duration(i)*time.Hour)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, _, err := s.Failure(t.Context(), key); err != nil || !got.Since.Equal(first) || got.Outcome.Effect() != poll.Write {
		t.Errorf("the row says %q since %v (%v)", got.Outcome, got.Since, err)
	}
	if n, err := s.Standing(t.Context()); n.Failing != 1 || err != nil {
		t.Errorf("%d rows (%v), want one", n.Failing, err)
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
	lacking, err := s.Lacking(t.Context(), inventorytest.Snapshot(t, s.Store), key)
	if err != nil {
		t.Fatal(err)
	}
	want := []source.Chapter{r.Chapters[1], r.Chapters[0]}
	if d := cmp.Diff(want, lacking, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
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
	if _, err := s.RecordFailure(ctx, key, poll.Errors, now); err != nil {
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
