package store

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/reader/internal/follow"
	"mangrove/reader/internal/progress"
	"mangrove/reader/internal/scraperclient"
)

func TestAMovedSeriesKeepsTitleProgressAndFollows(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"the follows", "the library"} {
		t.Run(first+" first", func(t *testing.T) {
			t.Parallel()
			s := open(t)
			ctx := context.Background()
			u := claimed(t, s, "mo")
			if _, err := s.Follow(ctx, follow.Wish{UserID: u.ID, Key: sample, Title: "S", Download: true}); err != nil {
				t.Fatal(err)
			}
			apply(t, s, "e1", 2, true, chapter(1, "c1", "1", 3), chapter(2, "c2", "2", 3))
			before, err := s.TitleByKey(ctx, sample)
			if err != nil {
				t.Fatal(err)
			}
			ids, _ := here(t, s, u.ID)
			if _, err := s.SaveMark(ctx, progress.Mark{UserID: u.ID, BookID: ids[0], Page: 1}); err != nil {
				t.Fatal(err)
			}
			rekey := func() {
				if _, err := s.Rekey(ctx, sample, other); err != nil {
					t.Fatal(err)
				}
			}
			library := func() {
				a, b := chapter(3, "c1", "1", 3), chapter(4, "c2", "2", 3)
				a.Series.Key, b.Series.Key = other, other
				apply(t, s, "e1", 4, true, a, b)
			}
			steps := []func(){rekey, library}
			if first == "the library" {
				steps = []func(){library, rekey}
			}
			for _, step := range steps {
				step()
			}
			after, err := s.TitleByKey(ctx, other)
			if err != nil || after.ID != before.ID {
				t.Errorf("the title is %d (%v), want %d as before", after.ID, err, before.ID)
			}
			books, err := s.Shelved(ctx, after.ID, u.ID)
			if err != nil || len(books) != 2 || books[0].ID != ids[0] || !books[0].Place.Begun {
				t.Errorf("books %+v, %v; want the same two with their progress", books, err)
			}
			if _, ok, err := s.Wish(ctx, u.ID, other); !ok || err != nil {
				t.Errorf("the follow did not come along: %v, %v", ok, err)
			}
			if _, ok, err := s.Wish(ctx, u.ID, sample); ok || err != nil {
				t.Errorf("the old name is still followed: %v, %v", ok, err)
			}
		})
	}
}

func TestWhoFollowsBothNamesKeepsOneWish(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := context.Background()
	u := claimed(t, s, "mo")
	for _, key := range []scraperclient.Key{sample, other} {
		if _, err := s.Follow(ctx, follow.Wish{UserID: u.ID, Key: key, Title: "S", Download: key == other}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Rekey(ctx, sample, other); err != nil {
		t.Fatal(err)
	}
	all, err := s.Wanted(ctx)
	if err != nil || len(all.Follows) != 1 || all.Follows[0].Key != other || !all.Follows[0].Download {
		t.Errorf("wanted %+v, %v; want the one wish for the new name", all, err)
	}
	if again, err := s.Rekey(ctx, sample, other); err != nil || again.Revision != 0 {
		t.Errorf("a second time took revision %d (%v), want none", again.Revision, err)
	}
}

func TestAFileUnderANewChapterIDIsTheSameBook(t *testing.T) {
	t.Parallel()
	s := open(t)
	u := claimed(t, s, "mo")
	apply(t, s, "e1", 1, true, chapter(1, "c1", "1", 3))
	before, _ := here(t, s, u.ID)
	again := chapter(2, "new-id", "1", 3)
	again.Path = "S/c1.cbz"
	apply(t, s, "e1", 2, true, again)
	after, names := here(t, s, u.ID)
	if d := cmp.Diff([]string{"new-id"}, names); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("the book's id changed:\n%s", d)
	}
}

func TestARevisionBehindIsRaised(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := context.Background()
	for _, raise := range []int64{7, 3} {
		if err := s.RaiseRevision(ctx, raise); err != nil {
			t.Fatal(err)
		}
		if all, err := s.Wanted(ctx); err != nil || all.Revision != 7 {
			t.Errorf("after raising to %d the revision is %d (%v), want 7", raise, all.Revision, err)
		}
	}
}
