package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"google.golang.org/protobuf/types/known/timestamppb"

	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/follow"
	"mangrove/reader/internal/pages"
	"mangrove/reader/internal/pages/pagestest"
	"mangrove/reader/internal/progress"
	"mangrove/reader/internal/scraperclient"
	"mangrove/reader/internal/scraperclient/scrapertest"
)

// world is a scripted scraper, a real library folder and the real store.
type world struct {
	*Store
	scraper  *scrapertest.Scraper
	client   *scraperclient.Client
	library  string
	follower *catalog.Follower
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Store: open(t), scraper: scrapertest.New(t), library: t.TempDir()}
	w.scraper.Start(t)
	var err error
	if w.client, err = scraperclient.New(w.scraper.Socket(), zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.client.Close() })
	w.follower = catalog.NewFollower(w.Store, w.client, pages.NewLibrary(w.library), zap.NewNop())
	return w
}

func (w *world) publish(t *testing.T, id, number string, count int) {
	t.Helper()
	path := "S/" + id + ".cbz"
	fingerprint, size := pagestest.Book(t, w.library, path, count)
	w.scraper.Publish(&scraperv1.LibraryChange{
		Path: path, Key: &scraperv1.SeriesKey{Site: "sample", SeriesId: "s"}, SeriesTitle: "S",
		Series:  &scraperv1.Series{Title: "S", Key: &scraperv1.SeriesKey{Site: "sample", SeriesId: "s"}},
		Chapter: &scraperv1.Chapter{ChapterId: id, Number: number}, Pages: int32(count), Size: size, Fingerprint: fingerprint,
		PublishedAt: timestamppb.New(time.Unix(1, 0)),
	})
}

func (w *world) catchUp(t *testing.T) {
	t.Helper()
	if err := w.follower.CatchUp(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// TestFollowerAppliesPagesWithTheirPlaces shows OWN-4.
func TestFollowerAppliesPagesWithTheirPlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	changed := w.follower.Changed()
	w.publish(t, "c1", "1", 3)
	w.catchUp(t)
	select {
	case <-changed:
	default:
		t.Error("nobody was told that the catalog changed")
	}
	ids, _ := here(t, w.Store, 0)
	list, err := w.Pages(ctx, ids[0])
	if err != nil || len(list) != 3 {
		t.Fatalf("got %d pages, %v", len(list), err)
	}
	file, err := os.ReadFile(filepath.Join(w.library, "S", "c1.cbz"))
	if err != nil {
		t.Fatal(err)
	}
	for n, p := range list {
		if got := string(file[p.Offset : p.Offset+p.Size]); !p.Stored || got != string(pagestest.Page(t, n, 40, 60)) {
			t.Errorf("page %d is not where the index says", n)
		}
	}
	// Again, with nothing new: nothing is written and nobody is told.
	changed = w.follower.Changed()
	w.catchUp(t)
	select {
	case <-changed:
		t.Error("an unchanged log was announced")
	default:
	}
	if c, _ := w.Cursor(ctx); c != (catalog.Cursor{Epoch: "epoch-1", Revision: 1}) {
		t.Errorf("cursor %+v", c)
	}
}

func TestFollowerReadsAMissingFileLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	w.publish(t, "c1", "1", 2)
	path := filepath.Join(w.library, "S", "c1.cbz")
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	w.catchUp(t)
	ids, _ := here(t, w.Store, 0)
	if len(ids) != 1 {
		t.Fatal("a chapter whose file is away for a moment was skipped")
	}
	if list, _ := w.Pages(ctx, ids[0]); len(list) != 0 {
		t.Fatal("pages of a file that is not there")
	}
}

// failing stands before the store and fails once, after or before its commit.
type failing struct {
	*Store
	before, after bool
}

func (f *failing) Apply(ctx context.Context, b catalog.Batch) error {
	if f.before {
		f.before = false
		return errors.New("killed before the commit")
	}
	if err := f.Store.Apply(ctx, b); err != nil {
		return err
	}
	if f.after {
		f.after = false
		return errors.New("killed after the commit")
	}
	return nil
}

// TestFollowerCrashesBetween shows OWN-4.
func TestFollowerCrashesBetween(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]failing{"before the commit": {before: true}, "after the commit": {after: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			f.Store = w.Store
			w.publish(t, "c1", "1", 2)
			w.publish(t, "c2", "2", 2)
			broken := catalog.NewFollower(&f, w.client, pages.NewLibrary(w.library), zap.NewNop())
			if err := broken.CatchUp(context.Background()); err == nil {
				t.Fatal("no crash")
			}
			if err := broken.CatchUp(context.Background()); err != nil {
				t.Fatal(err)
			}
			_, names := here(t, w.Store, 0)
			if d := cmp.Diff([]string{"c1", "c2"}, names); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestFollowerResyncsAnotherEpoch shows OWN-4.
func TestFollowerResyncsAnotherEpoch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(t, "c1", "1", 2)
	w.publish(t, "c2", "2", 2)
	w.catchUp(t)
	before, _ := here(t, w.Store, 0)
	w.scraper.NewEpoch("epoch-2")
	w.publish(t, "c2", "2", 2)
	w.catchUp(t)
	after, names := here(t, w.Store, 0)
	if len(after) != 1 || names[0] != "c2" || after[0] != before[1] {
		t.Errorf("after the resync: %v %v, want c2 with id %d", after, names, before[1])
	}
	w.scraper.NewEpoch("epoch-3")
	w.catchUp(t)
	if after, _ := here(t, w.Store, 0); len(after) != 0 {
		t.Errorf("an empty log left %v", after)
	}
}

func TestFollowsReachTheScraper(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	u := claimed(t, w.Store, "mo")
	s := follow.New(w.Store, w.client, zap.NewNop())
	if err := s.Follow(ctx, follow.Wish{UserID: u.ID, Key: sample, Title: "S", Download: true}); err != nil {
		t.Fatal(err)
	}
	w.scraper.Stop()
	// With the scraper away the wish stands all the same.
	if err := s.Follow(ctx, follow.Wish{UserID: u.ID, Key: other, Title: "O", Download: false}); err != nil {
		t.Fatal(err)
	}
	w.scraper.Start(t)
	if err := eventually(ctx, func() error { return s.SendAll(ctx) }); err != nil {
		t.Fatal(err)
	}
	if err := s.Unfollow(ctx, u.ID, sample); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range w.scraper.Follows() {
		line := ""
		if m.GetWhole() {
			line = "whole"
		}
		for _, f := range m.GetFollows() {
			line += " +" + f.GetKey().GetSeriesId()
		}
		for _, k := range m.GetUnfollowed() {
			line += " -" + k.GetSeriesId()
		}
		got = append(got, line)
	}
	if d := cmp.Diff([]string{" +s", "whole +o +s", " -s"}, got); d != "" {
		t.Error(d)
	}
	if n := w.scraper.Follows()[2].GetRevision(); n != 3 {
		t.Errorf("the last revision is %d, want 3", n)
	}
}

// eventually runs fn until it succeeds: the client reconnects in its own time.
func eventually(ctx context.Context, fn func() error) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		err := fn()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TestABetterFileTakesThePlaceOfABook: the id stays and with it what was read, as
// far as the new file goes (C21).
func TestABetterFileTakesThePlaceOfABook(t *testing.T) {
	t.Parallel()
	for _, apart := range []bool{false, true} {
		w := newWorld(t)
		ctx := t.Context()
		u := claimed(t, w.Store, "mo")
		w.publish(t, "north", "44", 5)
		w.catchUp(t)
		ids, _ := here(t, w.Store, u.ID)
		if _, err := w.SaveMark(ctx, progress.Mark{UserID: u.ID, BookID: ids[0], Page: 3, Asked: true, Device: "phone"}); err != nil {
			t.Fatal(err)
		}
		w.scraper.Publish(&scraperv1.LibraryChange{
			Path: "S/north.cbz", Removed: true, ReplacedBy: "S/south.cbz", Key: &scraperv1.SeriesKey{Site: "sample", SeriesId: "s"},
			SeriesTitle: "S", Chapter: &scraperv1.Chapter{ChapterId: "north", Number: "44"},
		})
		if apart {
			w.catchUp(t)
		}
		w.publish(t, "south", "44", 3)
		w.catchUp(t)
		now, names := here(t, w.Store, u.ID)
		if d := cmp.Diff([]string{"south"}, names); d != "" || now[0] != ids[0] {
			t.Fatalf("books %v (were %v), chapters (-want +got):\n%s", now, ids, d)
		}
		b, err := w.Book(ctx, ids[0])
		if err != nil || b.Path != "S/south.cbz" || b.PageCount != 3 {
			t.Errorf("the book is %+v, %v", b, err)
		}
		title, err := w.TitleByKey(ctx, sample)
		if err != nil {
			t.Fatal(err)
		}
		shelved, err := w.Shelved(ctx, title.ID, u.ID)
		if err != nil || len(shelved) != 1 || shelved[0].Place.Page != 2 || shelved[0].Place.Finished {
			t.Errorf("the place is %+v, %v; want the last page, not finished", shelved, err)
		}
	}
}

// TestAFileThatIsGoneComesBackWithItsProgress: the scraper says that it is missing,
// then that another program has put it under another name (INV-5).
// It shows INV-5, S-059.
func TestAFileThatIsGoneComesBackWithItsProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	u := claimed(t, w.Store, "mo")
	w.publish(t, "c1", "1", 4)
	w.publish(t, "c2", "2", 4)
	w.catchUp(t)
	ids, _ := here(t, w.Store, u.ID)
	if _, err := w.SaveMark(ctx, progress.Mark{UserID: u.ID, BookID: ids[0], Page: 2, Asked: true, Device: "phone"}); err != nil {
		t.Fatal(err)
	}
	change := &scraperv1.LibraryChange{
		Path: "S/c1.cbz", Key: &scraperv1.SeriesKey{Site: "sample", SeriesId: "s"}, SeriesTitle: "S", Pages: 4, Fingerprint: "f",
		Chapter: &scraperv1.Chapter{ChapterId: "c1", Number: "1", LibraryState: "missing"}, PublishedAt: timestamppb.New(time.Unix(1, 0)),
	}
	w.scraper.Publish(change)
	w.catchUp(t)
	if _, names := here(t, w.Store, u.ID); !cmp.Equal([]string{"c2"}, names) {
		t.Errorf("here are %v, want the other alone", names)
	}
	if b, err := w.Book(ctx, ids[0]); err != nil || b.Here() {
		t.Errorf("the book is %+v, %v; want it kept and gone", b, err)
	}
	fingerprint, size := pagestest.Book(t, w.library, "S & co/first.cbz", 4)
	w.scraper.Publish(&scraperv1.LibraryChange{
		Path: "S & co/first.cbz", Key: change.Key, SeriesTitle: "S", Pages: 4, Fingerprint: fingerprint, Size: size,
		Chapter: &scraperv1.Chapter{ChapterId: "c1", Number: "1", LibraryState: "published"}, PublishedAt: change.PublishedAt,
	})
	w.catchUp(t)
	now, names := here(t, w.Store, u.ID)
	if !cmp.Equal([]string{"c1", "c2"}, names) || now[0] != ids[0] {
		t.Fatalf("here are %v %v, want the same books as before: %v", now, names, ids)
	}
	b, err := w.Book(ctx, ids[0])
	if err != nil || b.Path != "S & co/first.cbz" || !b.Here() {
		t.Errorf("the book is %+v, %v", b, err)
	}
	shelved, err := w.Shelved(ctx, b.TitleID, u.ID)
	if err != nil || len(shelved) != 2 || shelved[0].Place.Page != 2 {
		t.Errorf("the place is %+v, %v", shelved, err)
	}
}
