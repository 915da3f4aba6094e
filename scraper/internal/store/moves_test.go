package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/follow"
	"mangrove/scraper/internal/inventory/inventorytest"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

func TestAMoveKeepsFollowFilesAndAge(t *testing.T) {
	l := newListing(t)
	ctx := t.Context()
	to := source.Key{Site: "other", SeriesID: "9"}
	if _, err := l.ApplyFollows(ctx, follow.Change{Revision: 1, Follows: []follow.Placed{{Wish: follow.Wish{Key: key, Download: true, URL: "http://x"}}}}, l.now); err != nil {
		t.Fatal(err)
	}
	l.read(span("", 3)...)
	if _, err := l.admin(t).Exec(ctx, `INSERT INTO scraper.library_files (path, revision, state, site, series_id, chapter_id, series_title, pages, size, fingerprint, published_at)
		VALUES ('P/2.cbz', 0, 'published', 'sample', 'pepper', '2', 'P', 1, 1, 'f', now())`); err != nil {
		t.Fatal(err)
	}
	since := l.now.Add(time.Hour)
	if _, err := l.RecordFailure(ctx, key, poll.Unfetchable, since); err != nil {
		t.Fatal(err)
	}
	if err := l.Propose(ctx, key, lane.Proposal{URL: "http://other.example/9", Because: lane.Redirect}, since); err != nil {
		t.Fatal(err)
	}
	moved := since.Add(48 * time.Hour)
	if err := l.MoveSeries(ctx, key, to, "http://other.example/9", moved); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Series(ctx, key); !fault.Is(err, fault.NotFound) {
		t.Errorf("the old name is still known: %v", err)
	}
	row, err := l.Series(ctx, to)
	if err != nil || !row.Download || row.Origin != "followed" || row.Moved.IsZero() || row.Series.URL != "http://other.example/9" {
		t.Errorf("at the new place: %+v, %v", row, err)
	}
	if f, failing, err := l.Failure(ctx, to); err != nil || !failing || !f.Since.Equal(since) {
		t.Errorf("its failure is %+v (failing %v, %v), want it since %v", f, failing, err, since)
	}
	if p, err := l.Proposal(ctx, to); err != nil || p.URL != "" {
		t.Errorf("the proposal is still there: %+v, %v", p, err)
	}
	changes, err := l.ChangesAfter(ctx, 0, 10)
	if err != nil || len(changes) != 1 || changes[0].Key != to || changes[0].Path != "P/2.cbz" || changes[0].State != "published" {
		t.Errorf("library changes %+v, %v; want the file under the new name", changes, err)
	}
	got, err := l.Moved(ctx, []source.Key{key, {Site: "x", SeriesID: "y"}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[source.Key]source.Key{key: to}, got); d != "" {
		t.Error(d)
	}

	// The first good read: other ids, other groups, one chapter more.
	r := source.Reading{Series: source.Series{ID: to.SeriesID, Title: "P"}}
	for i, n := range []string{"4", "3", "2", "1"} {
		r.Chapters = append(r.Chapters, source.Chapter{ID: "new-" + n, Number: n, Language: "en", Groups: []string{"South"}, URL: "http://other.example/" + n, Order: i})
	}
	due, err := l.DueSeries(ctx, to.Site, moved, 1)
	if err != nil || len(due) != 1 || !due[0].Moved || !due[0].Forced || due[0].Validators != (source.Validators{}) {
		t.Fatalf("due %+v, %v; want it at once, without the old place's validators", due, err)
	}
	g, err := l.RecordGood(ctx, due[0], r, moved, moved.Add(time.Hour), lane.ByInterval)
	if err != nil || len(g.New) != 1 || g.New[0].ID != "new-4" {
		t.Errorf("announced %+v (%v), want only chapter 4", g.New, err)
	}
	if _, failing, err := l.Failure(ctx, to); failing || err != nil {
		t.Errorf("still failing after a good read at the new place: %v, %v", failing, err)
	}
	lacking, err := l.Lacking(ctx, inventorytest.Snapshot(t, l.Store), to)
	if err != nil || len(lacking) != 3 {
		t.Errorf("lacks %+v (%v), want all but chapter 2, whose file it has", lacking, err)
	}
	if row, err := l.Series(ctx, to); err != nil || !row.Moved.IsZero() {
		t.Errorf("still marked as moved: %+v, %v", row.Moved, err)
	}
}

func TestAMoveIsRefused(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	other := source.Key{Site: "sample", SeriesID: "other"}
	if err := s.EnsureListed(ctx, other.Site, source.Series{ID: other.SeriesID, Title: "Other", URL: "http://x/other"}); err != nil {
		t.Fatal(err)
	}
	if err := s.MoveSeries(ctx, key, other, "http://x/other", time.Now()); !fault.Is(err, fault.Conflict) {
		t.Errorf("onto another Series: %v, want class conflict", err)
	}
	if err := s.MoveSeries(ctx, source.Key{Site: "a", SeriesID: "b"}, other, "u", time.Now()); !fault.Is(err, fault.NotFound) {
		t.Errorf("of nothing: %v, want class not-found", err)
	}
	if _, err := s.RequestJob(ctx, key, true); err != nil {
		t.Fatal(err)
	}
	if err := s.MoveSeries(ctx, key, source.Key{Site: "a", SeriesID: "b"}, "u", time.Now()); !fault.Is(err, fault.Stale) {
		t.Errorf("during a download: %v, want class stale", err)
	}
	if row, err := s.Series(ctx, key); err != nil || row.Series.URL != "http://x/pepper" {
		t.Errorf("a refused move changed something: %+v, %v", row, err)
	}
}

func TestAMoveToAnotherAddressOfTheSameSite(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	if err := s.MoveSeries(ctx, key, key, "http://x/new-slug", time.Now()); err != nil {
		t.Fatal(err)
	}
	row, err := s.Series(ctx, key)
	if err != nil || row.Series.URL != "http://x/new-slug" || row.Moved.IsZero() || row.ForcedPoll.IsZero() {
		t.Errorf("%+v, %v", row, err)
	}
	if moved, err := s.Moved(ctx, []source.Key{key}); err != nil || len(moved) != 0 {
		t.Errorf("a Series moved to itself: %v, %v", moved, err)
	}
}
