package store

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fault"
	"mangrove/internal/pgtest"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/follow"
	"mangrove/reader/internal/progress"
	"mangrove/reader/internal/scraperclient"
)

func open(t *testing.T) *Store {
	t.Helper()
	return New(pgtest.Pool(t, pgtest.Numbered(t, pgtest.New(t)).Reader, "reader", nil))
}

func TestEveryStatementPrepares(t *testing.T) {
	t.Parallel()
	s := open(t)
	conn, err := s.pool.Acquire(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for _, name := range s.sql.Names() {
		if _, err := conn.Conn().Prepare(context.Background(), name, s.sql.Get(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func claimed(t *testing.T, s *Store, name string) account.User {
	t.Helper()
	hash := account.HashCode("ABCD-EFGH-JKLM")
	if ok, err := s.SetClaimCode(context.Background(), hash, time.Now().Add(time.Hour)); err != nil || !ok {
		t.Fatalf("set the code: %v, %v", ok, err)
	}
	u, won, err := s.TakeClaim(context.Background(), hash, name, name, "hash")
	if err != nil || !won {
		t.Fatalf("claim: %v, %v", won, err)
	}
	return u
}

func TestOneOfManyClaimsWins(t *testing.T) {
	t.Parallel()
	for name, nameOf := range map[string]func(int) string{
		"different names": func(i int) string { return "person " + strconv.Itoa(i) },
		"one name":        func(int) string { return "mo" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			ctx := context.Background()
			hash := account.HashCode("ABCD-EFGH-JKLM")
			if _, err := s.SetClaimCode(ctx, hash, time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			var mu sync.Mutex
			winners := 0
			for i := range 100 {
				wg.Go(func() {
					_, won, err := s.TakeClaim(ctx, hash, nameOf(i), nameOf(i), "hash")
					mu.Lock()
					defer mu.Unlock()
					if err != nil {
						t.Errorf("claim %d: %v", i, err)
					}
					if won {
						winners++
					}
				})
			}
			wg.Wait()
			var users int
			if err := s.pool.QueryRow(ctx, "SELECT count(*) FROM users").Scan(&users); err != nil {
				t.Fatal(err)
			}
			if winners != 1 || users != 1 {
				t.Errorf("got %d winners and %d users, want 1 and 1", winners, users)
			}
			if ok, _ := s.ClaimCodeMatches(ctx, hash); ok {
				t.Error("the code can be used again")
			}
			if ok, _ := s.SetClaimCode(ctx, hash, time.Now().Add(time.Hour)); ok {
				t.Error("a claimed library took a new code")
			}
		})
	}
}

func TestExpiredCode(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := context.Background()
	hash := account.HashCode("x")
	if _, err := s.SetClaimCode(ctx, hash, time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if ok, _ := s.ClaimCodeMatches(ctx, hash); ok {
		t.Error("an expired code matches")
	}
	if _, won, err := s.TakeClaim(ctx, hash, "mo", "mo", "hash"); won || err != nil {
		t.Errorf("an expired code claimed: %v, %v", won, err)
	}
}

var (
	sample = scraperclient.Key{Site: "sample", SeriesID: "s"}
	other  = scraperclient.Key{Site: "sample", SeriesID: "o"}
)

func TestFollowsTakeRevisions(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := context.Background()
	u := claimed(t, s, "mo")
	var second int64
	if err := s.pool.QueryRow(ctx, s.sql.Get("InsertUser"), "ada", "ada", "hash", account.Member).Scan(&second, new(time.Time)); err != nil {
		t.Fatal(err)
	}
	f := func(user int64, key scraperclient.Key, download bool) scraperclient.FollowChange {
		t.Helper()
		c, err := s.Follow(ctx, follow.Wish{UserID: user, Key: key, Title: "T", Download: download, Languages: []string{"en"}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	un := func(user int64, key scraperclient.Key) scraperclient.FollowChange {
		t.Helper()
		c, err := s.Unfollow(ctx, user, key)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	wanted := func(key scraperclient.Key, download bool) []scraperclient.Follow {
		return []scraperclient.Follow{{Key: key, Download: download, Languages: []string{"en"}, Title: "T"}}
	}
	for i, tt := range []struct {
		name      string
		got, want scraperclient.FollowChange
	}{
		{"first follow", f(u.ID, sample, false), scraperclient.FollowChange{Revision: 1, Follows: wanted(sample, false)}},
		{"again, unchanged", f(u.ID, sample, false), scraperclient.FollowChange{}},
		{"another user wants downloads", f(second, sample, true), scraperclient.FollowChange{Revision: 2, Follows: wanted(sample, true)}},
		{"that user leaves, one stays", un(second, sample), scraperclient.FollowChange{Revision: 3, Follows: wanted(sample, false)}},
		{"the last leaves", un(u.ID, sample), scraperclient.FollowChange{Revision: 4, Unfollowed: []scraperclient.Key{sample}}},
		{"leaves twice", un(u.ID, sample), scraperclient.FollowChange{}},
		{"another Series", f(u.ID, other, true), scraperclient.FollowChange{Revision: 5, Follows: wanted(other, true)}},
	} {
		if d := cmp.Diff(tt.want, tt.got); d != "" {
			t.Errorf("%d %s: (-want +got)\n%s", i, tt.name, d)
		}
	}
	all, err := s.Wanted(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(scraperclient.FollowChange{Revision: 5, Whole: true, Follows: wanted(other, true)}, all); d != "" {
		t.Error(d)
	}
}

func chapter(revision int64, id, number string, pages int) catalog.Entry {
	e := catalog.Entry{Change: scraperclient.Change{
		Revision: revision, Path: "S/" + id + ".cbz", Series: scraperclient.Series{Key: sample, Title: "S", Status: "weird", Direction: "up"},
		Chapter: scraperclient.Chapter{ID: id, Number: number}, Pages: pages, Size: 9, Fingerprint: "f-" + id, PublishedAt: time.Now(),
	}}
	for n := range pages {
		e.Pages = append(e.Pages, catalog.Page{Position: n, Name: strconv.Itoa(n), Offset: int64(n), Size: 1, Stored: true, MediaType: "image/png", Width: 1, Height: 2})
	}
	return e
}

func apply(t *testing.T, s *Store, epoch string, to int64, whole bool, entries ...catalog.Entry) {
	t.Helper()
	from, err := s.Cursor(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(context.Background(), catalog.Batch{From: from, To: catalog.Cursor{Epoch: epoch, Revision: to}, Entries: entries, Whole: whole}); err != nil {
		t.Fatal(err)
	}
}

// here lists the chapters present, by id, in reading order.
func here(t *testing.T, s *Store, user int64) (ids []int64, names []string) {
	t.Helper()
	title, err := s.TitleByKey(context.Background(), sample)
	if err != nil {
		t.Fatal(err)
	}
	books, err := s.Shelved(context.Background(), title.ID, user)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range books {
		if b.Here() {
			ids, names = append(ids, b.ID), append(names, b.ChapterID)
		}
	}
	return ids, names
}

func TestCatalogKeepsIDsAndProgress(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := context.Background()
	u := claimed(t, s, "mo")
	apply(t, s, "e1", 3, true, chapter(1, "c10", "10", 3), chapter(2, "c2", "2", 2), chapter(3, "bad", "1e400", 1))
	ids, names := here(t, s, u.ID)
	if d := cmp.Diff([]string{"c2", "c10", "bad"}, names); d != "" {
		t.Fatalf("reading order: %s", d)
	}
	if _, err := s.SaveMark(ctx, progress.Mark{UserID: u.ID, BookID: ids[0], Page: 1}); err != nil {
		t.Fatal(err)
	}

	// A tombstone of a path the chapter has left removes nothing.
	old := chapter(4, "c2", "2", 0)
	old.Removed, old.Path = true, "S/elsewhere.cbz"
	apply(t, s, "e1", 4, true, old)
	if _, names := here(t, s, u.ID); len(names) != 3 {
		t.Fatalf("a stale tombstone removed a chapter: %v", names)
	}
	gone := chapter(5, "c2", "2", 0)
	gone.Removed = true
	apply(t, s, "e1", 5, true, gone)
	if _, names := here(t, s, u.ID); cmp.Diff([]string{"c10", "bad"}, names) != "" {
		t.Fatalf("after the tombstone: %v", names)
	}
	apply(t, s, "e1", 6, true, chapter(6, "c2", "2", 4))
	again, _ := here(t, s, u.ID)
	if again[0] != ids[0] {
		t.Errorf("the chapter came back with id %d, want %d", again[0], ids[0])
	}
	books, err := s.Shelved(ctx, 1, u.ID)
	if err != nil {
		t.Fatal(err)
	}
	if p := books[0].Place; !p.Begun || p.Page != 1 || books[0].PageCount != 4 {
		t.Errorf("after coming back: %+v of %d pages", p, books[0].PageCount)
	}
	if pages, _ := s.Pages(ctx, ids[0]); len(pages) != 4 {
		t.Errorf("got %d pages, want the 4 of the new file", len(pages))
	}

	// A new epoch that lists one chapter in two batches.
	apply(t, s, "e2", 0, false)
	if _, names := here(t, s, u.ID); len(names) != 3 {
		t.Errorf("chapters left before the log was read whole: %v", names)
	}
	apply(t, s, "e2", 1, true, chapter(1, "c10", "10", 3))
	if _, names := here(t, s, u.ID); cmp.Diff([]string{"c10"}, names) != "" {
		t.Errorf("after the resync: %v", names)
	}
	books, err = s.Shelved(ctx, 1, u.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(books) != 3 || !books[0].Place.Begun {
		t.Error("a resync lost a book or its progress")
	}
}

// TestApplyIsAllOrNothing shows OWN-4.
func TestApplyIsAllOrNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := context.Background()
	bad := chapter(2, "c2", "2", 1)
	bad.Pages[0].MediaType = "image/svg+xml" // the table refuses it
	batch := catalog.Batch{To: catalog.Cursor{Epoch: "e", Revision: 2}, Entries: []catalog.Entry{chapter(1, "c1", "1", 1), bad}}
	if err := s.Apply(ctx, batch); err == nil {
		t.Fatal("a page of a forbidden type was stored")
	}
	if c, _ := s.Cursor(ctx); c != (catalog.Cursor{}) {
		t.Errorf("the cursor moved to %+v", c)
	}
	if _, err := s.TitleByKey(ctx, sample); !fault.Is(err, fault.NotFound) {
		t.Errorf("half a batch was stored: %v", err)
	}
	batch.Entries = batch.Entries[:1]
	if err := s.Apply(ctx, batch); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(ctx, batch); !fault.Is(err, fault.Stale) {
		t.Errorf("the same batch twice: %v, want stale", err)
	}
}

func TestProgressRules(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := context.Background()
	u := claimed(t, s, "mo")
	apply(t, s, "e", 1, true, chapter(1, "c1", "1", 5))
	ids, _ := here(t, s, u.ID)
	// A mark names the place it was made from: that of the mark before last, or none.
	const (
		current = "the place as it stands"
		old     = "the place before"
		none    = ""
	)
	known := map[string]time.Time{}
	for _, tt := range []struct {
		name     string
		page     int
		asked    bool
		known    string
		want     int
		finished bool
		err      fault.Class
	}{
		{"a page", 1, true, none, 1, false, ""},
		{"the next", 2, true, current, 2, false, ""},
		{"an old tab that opens does not go back", 0, false, current, 2, false, ""},
		{"an old tab in which a page is turned does not go back", 1, true, old, 2, false, ""},
		{"nor does one that knew of no place", 1, true, none, 2, false, ""},
		{"the person does", 1, true, current, 1, false, ""},
		{"further on from anywhere", 3, false, none, 3, false, ""},
		{"the last page finishes", 4, true, old, 4, true, ""},
		{"reading it again does not unfinish", 0, true, current, 0, true, ""},
		{"a page it does not have", 5, true, current, 0, false, fault.NotFound},
		{"a negative page", -1, true, current, 0, false, fault.NotFound},
	} {
		got, err := s.SaveMark(ctx, progress.Mark{UserID: u.ID, BookID: ids[0], Page: tt.page, Asked: tt.asked, Known: known[tt.known], Device: "phone"})
		if fault.Of(err) != tt.err {
			t.Errorf("%s: got error %v, want class %q", tt.name, err, tt.err)
			continue
		}
		if err == nil && (got.Page != tt.want || got.Finished != tt.finished) {
			t.Errorf("%s: got page %d finished %v, want %d %v", tt.name, got.Page, got.Finished, tt.want, tt.finished)
		}
		if err == nil && !got.ChangedAt.Equal(known[current]) {
			known[old], known[current] = known[current], got.ChangedAt
		}
	}
}

func TestRangesMarkedRead(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := context.Background()
	u := claimed(t, s, "mo")
	apply(t, s, "e", 1, true, chapter(1, "c1", "1", 5), chapter(2, "c2", "2", 5), chapter(3, "c3", "3", 1))
	ids, _ := here(t, s, u.ID)
	if _, err := s.SaveMark(ctx, progress.Mark{UserID: u.ID, BookID: ids[0], Page: 4}); err != nil {
		t.Fatal(err)
	}
	before, _ := s.Shelved(ctx, 1, u.ID)
	says := func(want ...bool) {
		t.Helper()
		books, err := s.Shelved(ctx, 1, u.ID)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range books {
			if b.Place.Finished != want[i] || b.Place.Begun != want[i] || want[i] && b.Place.Page != b.PageCount-1 {
				t.Errorf("chapter %s: %+v, want read %v", b.Number, b.Place, want[i])
			}
		}
	}
	set := func(title int64, finished bool, books ...int64) {
		t.Helper()
		if err := s.SetFinished(ctx, u.ID, title, books, finished); err != nil {
			t.Fatal(err)
		}
	}
	set(1, true)
	says(true, false, false)
	set(2, true, ids...)
	says(true, false, false)
	set(1, true, append(ids[:2:2], 99)...)
	says(true, true, false)
	if after, _ := s.Shelved(ctx, 1, u.ID); !after[0].Place.ChangedAt.Equal(before[0].Place.ChangedAt) {
		t.Error("a chapter read before was read again by marking a range")
	}
	set(2, false, ids...)
	says(true, true, false)
	set(1, false, ids[1:]...)
	says(true, false, false)
}

func TestShelf(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := context.Background()
	u := claimed(t, s, "mo")
	apply(t, s, "e", 2, true, chapter(1, "c1", "1", 5), chapter(2, "c2", "2", 5))
	for _, k := range []scraperclient.Key{sample, other} {
		if _, err := s.Follow(ctx, follow.Wish{UserID: u.ID, Key: k, Title: "Waiting", Download: true}); err != nil {
			t.Fatal(err)
		}
	}
	ids, _ := here(t, s, u.ID)
	if _, err := s.SaveMark(ctx, progress.Mark{UserID: u.ID, BookID: ids[0], Page: 4}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SaveMark(ctx, progress.Mark{UserID: u.ID, BookID: ids[1], Page: 2}); err != nil {
		t.Fatal(err)
	}
	cards, err := s.Shelf(ctx, u.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(cards) != 2 {
		t.Fatalf("got %d cards, want the title and the follow that waits", len(cards))
	}
	c := cards[0]
	if c.Name != "S" || c.Books != 2 || c.Unread != 1 || !c.Following || c.Page != 2 || c.Pages != 5 || c.Cover != "f-c1" {
		t.Errorf("card of the title: %+v", c)
	}
	if c := cards[1]; c.TitleID != 0 || c.Name != "Waiting" || c.SeriesID != "o" {
		t.Errorf("card of the follow: %+v", c)
	}
}

func TestTheReaderMayNotMakeASecondClaim(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, err := s.pool.Exec(context.Background(), "DELETE FROM claim")
	var f *fault.Error
	if err == nil || errors.As(err, &f) {
		t.Errorf("deleting the claim: %v, want a refusal by the database", err)
	}
}
