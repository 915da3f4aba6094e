package moving_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/zap"
	"google.golang.org/protobuf/types/known/timestamppb"

	"mangrove/internal/fault"
	"mangrove/internal/pgtest"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/backup"
	"mangrove/reader/internal/backup/backuptest"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/follow"
	"mangrove/reader/internal/moving"
	"mangrove/reader/internal/pages"
	"mangrove/reader/internal/progress"
	"mangrove/reader/internal/scraperclient"
	"mangrove/reader/internal/scraperclient/scrapertest"
	"mangrove/reader/internal/store"
)

// world is one person's reader with a real database and a scripted scraper.
type world struct {
	t        *testing.T
	pool     *pgxpool.Pool
	store    *store.Store
	scraper  *scrapertest.Scraper
	follower *catalog.Follower
	moving   *moving.Service
	mo       int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	pool := pgtest.Pool(t, pgtest.New(t).Reader, "reader", nil)
	w := &world{t: t, pool: pool, store: store.New(pool), scraper: scrapertest.New(t)}
	w.scraper.Start(t)
	client, err := scraperclient.New(w.scraper.Socket(), zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	w.follower = catalog.NewFollower(w.store, client, pages.NewLibrary(t.TempDir()), zap.NewNop())
	w.moving = moving.New(w.store, client, follow.New(w.store, client, zap.NewNop()))
	hash := account.HashCode("ABCD-EFGH-JKLM")
	if _, err := w.store.SetClaimCode(t.Context(), hash, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	u, _, err := w.store.TakeClaim(t.Context(), hash, "Mo", "mo", "hash")
	if err != nil {
		t.Fatal(err)
	}
	w.mo = u.ID
	return w
}

// must fails the test on an error.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// book puts a chapter of ten pages into the catalog.
func (w *world) book(site, series, title, id, number string) {
	w.t.Helper()
	key := &scraperv1.SeriesKey{Site: site, SeriesId: series}
	w.scraper.Publish(&scraperv1.LibraryChange{
		Path: site + "/" + series + "/" + id + ".cbz", Key: key, SeriesTitle: title, Series: &scraperv1.Series{Title: title, Key: key},
		Chapter: &scraperv1.Chapter{ChapterId: id, Number: number}, Pages: 10, Size: 9, Fingerprint: "f", PublishedAt: timestamppb.New(time.Unix(1, 0)),
	})
	if err := w.follower.CatchUp(context.Background()); err != nil {
		w.t.Fatal(err)
	}
}

// reads makes an address one of MangaDex.
func (w *world) reads(address, id string) {
	w.scraper.Recognise(address, &scraperv1.RecognisedSeries{
		Word: "read", Key: &scraperv1.SeriesKey{Site: "mangadex", SeriesId: id}, Url: "https://mangadex.org/title/" + id, SiteName: "MangaDex",
	})
}

// plan plans the import of a file.
func (w *world) plan(data []byte) int64 {
	w.t.Helper()
	return must(w.moving.Plan(context.Background(), w.mo, "Mo", "a/b/backup.tachibk", bytes.NewReader(data)))(w.t)
}

func (w *world) adopt(id int64) {
	w.t.Helper()
	if err := w.moving.Adopt(context.Background(), w.mo, id); err != nil {
		w.t.Fatal(err)
	}
}

// dump is everything a person has, row by row.
func (w *world) dump() []string {
	w.t.Helper()
	var out []string
	for _, table := range []string{"bookmarks", "progress", "titles", "books", "pages", "reading_settings", "users", "collections", "collection_series"} {
		row := "t"
		if table == "titles" {
			// What is counted of a title's books follows from them.
			row = "(t.id, t.site, t.series_id, t.title, t.added_at)"
		}
		rows, err := w.pool.Query(context.Background(), "SELECT '"+table+" ' || "+row+"::text FROM "+table+" t ORDER BY 1")
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, must(pgx.CollectRows(rows, pgx.RowTo[string]))(w.t)...)
	}
	return out
}

// places are what was read, as "chapter page finished".
func (w *world) places() []string {
	w.t.Helper()
	rows, err := w.pool.Query(context.Background(), `SELECT b.chapter_id || ' ' || p.page || ' ' || p.finished FROM progress p JOIN books b ON b.id = p.book_id
		WHERE p.user_id = $1 ORDER BY b.number, b.chapter_id`, w.mo)
	if err != nil {
		w.t.Fatal(err)
	}
	return must(pgx.CollectRows(rows, pgx.RowTo[string]))(w.t)
}

const (
	mangadex  = 2499283573021220255
	elsewhere = 77
)

func chapter(url string, number float32, read bool, page int64) backuptest.Chapter {
	return backuptest.Chapter{URL: url, Number: number, Read: read, LastPage: page, ReadAt: 1_700_000_000_000}
}

// library is a backup with one of everything.
func library(t testing.TB) []byte {
	return backuptest.Mihon(t, []backuptest.Manga{
		{Source: mangadex, URL: "/manga/komi", Title: "Komi", Added: 1_600_000_000_000, Categories: []int64{0}, Chapters: []backuptest.Chapter{
			chapter("/chapter/k1", 1, true, 0), chapter("/chapter/k2", 2, true, 0), chapter("/chapter/k3", 3, false, 4), chapter("/chapter/k4", 4, true, 0),
		}},
		{Source: elsewhere, URL: "/m/1", Title: "Nowhere Else", Added: 1_600_000_000_000},
		{Source: elsewhere, URL: "/m/2", Title: "Moonlit Érrands!", Chapters: []backuptest.Chapter{chapter("/c/1", 1, true, 0)}},
		{Source: elsewhere, URL: "/m/3", Title: "Twice"},
		{Source: mangadex, URL: "/odd", Title: "Odd"},
		{Source: 0, URL: "mine", Title: "Of my own"},
		{Source: mangadex, URL: "/manga/seen", Title: "Seen", OnlyRead: true},
	}, []string{"Reading"}, map[int64]string{mangadex: "MangaDex", elsewhere: "Some Site"})
}

func (w *world) furnish() {
	w.reads("/manga/komi", "komi")
	w.reads("/manga/seen", "seen")
	w.scraper.Recognise("/odd", &scraperv1.RecognisedSeries{Word: "unread", SiteName: "MangaDex"})
	w.book("mangadex", "komi", "Komi", "k1", "1")
	w.book("mangadex", "komi", "Komi", "k2", "2")
	w.book("mangadex", "komi", "Komi", "k3", "3")
	w.book("local", "Komi", "Komi", "1", "1")
	w.book("local", "moon", "moonlit errands", "1", "1")
	w.book("local", "twice", "Twice", "1", "1")
	w.book("other", "twice", "Twice", "1", "1")
}

// TestADryRunSaysWhatEachIsAndWhy shows features F11 and F12.
func TestADryRunSaysWhatEachIsAndWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.furnish()
	before := w.dump()
	id := w.plan(library(t))
	if d := cmp.Diff(before, w.dump()); d != "" {
		t.Errorf("a dry run changed something: %s", d)
	}
	if n := len(w.scraper.Follows()); n != 0 {
		t.Errorf("the scraper heard %d times of a dry run", n)
	}
	var got []string
	for _, i := range must(w.store.ImportItems(t.Context(), id, "", 0, 100))(t) {
		got = append(got, fmt.Sprint(i.Title, ": ", i.Word, " ", i.Reason, " ", i.Site, " ", i.SeriesID, " local:", i.LocalID, " ", len(i.Candidates), " ", i.Categories, " ", i.Languages, " ", i.Read, "/", i.Chapters))
	}
	want := []string{
		"Komi: matched address mangadex komi local:Komi 0 [Reading] [en] 4/4",
		"Nowhere Else: no-adapter no-adapter mihon:Some Site /m/1 local: 0 [] [] 0/0",
		"Moonlit Érrands!: matched title local moon local: 0 [] [] 1/1",
		"Twice: ambiguous titles   local: 2 [] [] 0/0",
		"Odd: unknown unread   local: 0 [] [en] 0/0",
		"Of my own: unknown files   local: 0 [] [] 0/0",
		"Seen: matched address mangadex seen local: 0 [] [en] 0/0",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	i := must(w.store.Import(t.Context(), w.mo, id))(t)
	if all := i.All(); i.State != moving.Planned || i.Name != "backup.tachibk" || i.Kind != backup.Mihon || all.Items != 7 || all.Chapters != 5 || all.Read != 5 {
		t.Errorf("the import reads %+v", i)
	}
	if _, err := w.store.Import(t.Context(), w.mo+1, id); !fault.Is(err, fault.NotFound) {
		t.Errorf("somebody else's: %v", err)
	}
}

// TestAdoptingAndUndoing shows features F11 and F12.
func TestAdoptingAndUndoing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.furnish()
	// Read here before: the second chapter wholly, the third further than there.
	ids := map[string]int64{}
	rows := must(w.pool.Query(ctx, "SELECT b.chapter_id, b.id FROM books b JOIN titles t ON t.id = b.title_id WHERE t.site = 'mangadex'"))(t)
	var chapterID string
	var bookID int64
	_, err := pgx.ForEachRow(rows, []any{&chapterID, &bookID}, func() error { ids[chapterID] = bookID; return nil })
	if err != nil {
		t.Fatal(err)
	}
	for id, page := range map[string]int{"k1": 2, "k2": 9, "k3": 7} {
		must(w.store.SaveMark(ctx, progress.Mark{UserID: w.mo, BookID: ids[id], Page: page, Device: "Phone"}))(t)
	}
	before := w.dump()
	id := w.plan(library(t))
	if err := w.moving.Decide(ctx, w.mo, id, 3, 1); err != nil {
		t.Fatal(err)
	}
	if err := w.store.Leave(ctx, w.mo, id, 6, true); err != nil {
		t.Fatal(err)
	}
	w.adopt(id)

	// Nobody is moved back; the chapter of the folder counts as the Series' own.
	want := []string{"1 9 true", "1 9 true", "k1 9 true", "k2 9 true", "k3 7 false"}
	if d := cmp.Diff(want, w.places()); d != "" {
		t.Error(d)
	}
	follows := w.scraper.Follows()
	var told []string
	for _, f := range follows[len(follows)-1].GetFollows() {
		told = append(told, fmt.Sprint(f.GetKey().GetSite(), " ", f.GetKey().GetSeriesId(), " ", f.GetDownload(), " ", f.GetLanguages(), " ", f.GetUrl()))
	}
	if d := cmp.Diff([]string{
		"mangadex komi false [en] https://mangadex.org/title/komi", "mihon:Some Site /m/1 false [] ", "other twice false [] ",
	}, told); d != "" {
		t.Errorf("the scraper heard of: %s", d)
	}
	cards := must(w.store.Shelf(ctx, w.mo))(t)
	collected := must(w.store.Collections(ctx, w.mo))(t)
	if len(collected) != 1 || collected[0].Name != "Reading" || collected[0].Titles != 1 {
		t.Errorf("the category became %+v", collected)
	}
	kept := false
	for _, c := range cards {
		kept = kept || c.Name == "Nowhere Else" && c.Following
	}
	if !kept {
		t.Error("a Series without an adapter is not in the library")
	}
	if err := w.moving.Adopt(ctx, w.mo, id); !fault.Is(err, fault.Stale) {
		t.Errorf("adopted twice: %v", err)
	}

	// A chapter that arrives later was read already, once: unread stays unread.
	w.book("mangadex", "komi", "Komi", "k4", "4")
	want = append(want, "k4 9 true")
	if d := cmp.Diff(want, w.places()); d != "" {
		t.Errorf("a chapter that came later: %s", d)
	}

	// The same file again changes nothing.
	adopted := w.dump()
	again := w.plan(library(t))
	w.adopt(again)
	if d := cmp.Diff(adopted, w.dump()); d != "" {
		t.Errorf("the same file again: %s", d)
	}
	if err := w.moving.Undo(ctx, w.mo, again); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(adopted, w.dump()); d != "" {
		t.Errorf("undoing what changed nothing: %s", d)
	}

	if err := w.moving.Undo(ctx, w.mo+1, id); !fault.Is(err, fault.NotFound) {
		t.Errorf("undone by somebody else: %v", err)
	}
	if err := w.moving.Undo(ctx, w.mo, id); err != nil {
		t.Fatal(err)
	}
	var after []string
	for _, row := range w.dump() {
		if !bytes.Contains([]byte(row), []byte("k4.cbz")) {
			after = append(after, row)
		}
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("undoing left something: %s", d)
	}
	follows = w.scraper.Follows()
	if n := len(follows[len(follows)-1].GetUnfollowed()); n != 3 {
		t.Errorf("the scraper was told to forget %d Series, want 3", n)
	}
	i := must(w.store.Import(ctx, w.mo, id))(t)
	if all := i.All(); i.State != moving.Undone || all.Items != 7 || all.Kept != 4 || all.Left != 1 {
		t.Errorf("the report reads %+v", i)
	}
	if err := w.moving.Undo(ctx, w.mo, id); !fault.Is(err, fault.Stale) {
		t.Errorf("undone twice: %v", err)
	}
	// What comes back after undoing is unread.
	w.book("mangadex", "komi", "Komi", "k5", "4")
	if d := cmp.Diff([]string{"k1 2 false", "k2 9 true", "k3 7 false"}, w.places()); d != "" {
		t.Errorf("after undoing: %s", d)
	}
}

// What a person does after adopting is theirs: undoing leaves it.
func TestUndoingLeavesWhatWasDoneSince(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.furnish()
	id := w.plan(library(t))
	w.adopt(id)
	var k1, k3 int64
	if err := w.pool.QueryRow(ctx, "SELECT (SELECT id FROM books WHERE chapter_id = 'k1'), (SELECT id FROM books WHERE chapter_id = 'k3')").Scan(&k1, &k3); err != nil {
		t.Fatal(err)
	}
	must(w.store.SaveMark(ctx, progress.Mark{UserID: w.mo, BookID: k3, Page: 8}))(t)
	key := scraperclient.Key{Site: "mangadex", SeriesID: "komi"}
	must(w.store.Unfollow(ctx, w.mo, key))(t)
	must(w.store.Follow(ctx, follow.Wish{UserID: w.mo, Key: key, Title: "Komi", Download: true}))(t)
	title := must(w.store.TitleByKey(ctx, key))(t)
	if err := w.store.SetFinished(ctx, w.mo, title.ID, []int64{k1}, false); err != nil {
		t.Fatal(err)
	}
	// The file of a chapter that was marked unread since is read once more.
	w.book("mangadex", "komi", "Komi", "k1", "1")
	if err := w.moving.Undo(ctx, w.mo, id); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"k3 8 false"}, w.places()); d != "" {
		t.Error(d)
	}
	if wish, ok, err := w.store.Wish(ctx, w.mo, key); err != nil || !ok || !wish.Download {
		t.Errorf("the follow of since is %+v, %v, %v", wish, ok, err)
	}
}

// Kotatsu names the chapter one is in by a number of its own: once that chapter is
// here, those before it were read, whenever they came.
func TestKotatsusPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.reads("https://mangadex.org/title/komi", "komi")
	w.book("mangadex", "komi", "Komi", "k1", "1")
	komi := backuptest.KotatsuManga(5, "Komi", "MANGADEX", "komi", "https://mangadex.org/title/komi")
	key := backup.KotatsuKey("MANGADEX", "k3")
	w.adopt(w.plan(backuptest.Kotatsu(t, map[string]any{
		"favourites": []any{map[string]any{"category_id": 1, "manga": komi}},
		"history":    []any{map[string]any{"chapter_id": number(key), "page": 4, "percent": 0.5, "updated_at": int64(1_700_000_000_000), "manga": komi}},
	})))
	if got := w.places(); len(got) != 0 {
		t.Errorf("read before anybody can know: %v", got)
	}
	w.book("mangadex", "komi", "Komi", "k3", "3")
	w.book("mangadex", "komi", "Komi", "k2", "2")
	w.book("mangadex", "komi", "Komi", "k4", "4")
	if d := cmp.Diff([]string{"k1 9 true", "k2 9 true", "k3 4 false"}, w.places()); d != "" {
		t.Error(d)
	}
}

func number(key string) (n int64) {
	_, _ = fmt.Sscanf(key, "kotatsu:%d", &n)
	return n
}

// A person's own file: out of one library and into another, and in again for nothing.
func TestOutAndIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.furnish()
	w.adopt(w.plan(library(t)))
	// One that is in a collection, and neither followed nor read.
	must(w.store.NewCollection(t.Context(), w.mo, "Someday", scraperclient.Key{Site: "mangadex", SeriesID: "someday"}))(t)
	var file bytes.Buffer
	out := must(w.store.Export(t.Context(), w.mo))(t)
	if err := backup.Write(&file, out, time.Now()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"komi Reading", "someday Someday"}, collected(out)); d != "" {
		t.Errorf("collections in the file: %s", d)
	}
	before := w.dump()
	w.adopt(w.plan(file.Bytes()))
	if d := cmp.Diff(before, w.dump()); d != "" {
		t.Errorf("into the library it came from: %s", d)
	}

	other := newWorld(t)
	other.furnish()
	other.reads("https://mangadex.org/title/komi", "komi")
	other.adopt(other.plan(file.Bytes()))
	again := must(other.store.Export(t.Context(), other.mo))(t)
	if d := cmp.Diff(out, again); d != "" {
		t.Errorf("out of the other library: %s", d)
	}
}

// The largest backups that people tell of: 6,590 Series with 74,658 chapters go in at
// one go, in statements whose number does not grow with them.
// It shows features F12.
func TestTheLargestBackup(t *testing.T) {
	t.Parallel()
	const series, chapters = 6_590, 74_658
	w := newWorld(t)
	var manga []backuptest.Manga
	for left, i := chapters, 0; i < series; i++ {
		n := int(math.Ceil(float64(left) / float64(series-i)))
		left -= n
		m := backuptest.Manga{Source: elsewhere, URL: fmt.Sprint("/m/", i), Title: fmt.Sprint("Series ", i), Added: 1_600_000_000_000}
		if i%2 == 0 {
			m.Source = mangadex
			w.reads(m.URL, fmt.Sprint("s", i))
		}
		for c := range n {
			m.Chapters = append(m.Chapters, chapter(fmt.Sprint("/c/", i, "-", c), float32(c+1), true, 0))
		}
		manga = append(manga, m)
	}
	data := backuptest.Mihon(t, manga, nil, map[int64]string{mangadex: "MangaDex", elsewhere: "Some Site"})
	w.book("mangadex", "s0", "Series 0", "0-0", "1")
	began := w.statements()
	id := w.plan(data)
	planned := w.statements()
	w.adopt(id)
	adopted := w.statements()
	if planned-began > 4 || adopted-planned > 4 {
		t.Errorf("planning took %d transactions, adopting %d", planned-began, adopted-planned)
	}
	i := must(w.store.Import(t.Context(), w.mo, id))(t)
	if all := i.All(); all.Items != series || all.Kept != series || all.Chapters != chapters || all.Read != chapters {
		t.Errorf("the report reads %+v", all)
	}
	cards := must(w.store.Shelf(t.Context(), w.mo))(t)
	if len(cards) != series {
		t.Errorf("the library has %d titles, want %d", len(cards), series)
	}
	if follows := w.scraper.Follows(); len(follows) != 1 || len(follows[0].GetFollows()) != series {
		t.Errorf("the scraper heard of it in %d messages", len(follows))
	}
	if d := cmp.Diff([]string{"0-0 9 true"}, w.places()); d != "" {
		t.Error(d)
	}
	if err := w.moving.Undo(t.Context(), w.mo, id); err != nil {
		t.Fatal(err)
	}
	if cards := must(w.store.Shelf(t.Context(), w.mo))(t); len(cards) != 1 || cards[0].Following {
		t.Errorf("after undoing %d titles are left", len(cards))
	}
}

// statements counts how often the pool was asked for a connection: once for each
// transaction or single statement.
func (w *world) statements() int64 { return w.pool.Stat().AcquireCount() }

// Files of another program beside the Series of their name.
// It shows features F11.
func TestFoldersBesideSeries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	if _, err := w.moving.PlanFolders(ctx, w.mo); !fault.Is(err, fault.NotFound) {
		t.Errorf("without a folder: %v", err)
	}
	w.furnish()
	w.book("local", "alone", "Nobody follows this", "1", "1")
	for _, site := range []string{"mangadex", "other"} {
		must(w.store.Follow(ctx, follow.Wish{UserID: w.mo, Key: scraperclient.Key{Site: site, SeriesID: "moon"}, Title: "Moonlit Errands"}))(t)
	}
	id := must(w.moving.PlanFolders(ctx, w.mo))(t)
	look := func() (got []string) {
		for _, i := range must(w.store.ImportItems(ctx, id, "", 0, 100))(t) {
			got = append(got, fmt.Sprint(i.LocalID, ": ", i.Word, " ", i.Reason, " ", i.Site, " ", i.SeriesID, " ", len(i.Candidates), " ", i.State))
		}
		return got
	}
	if d := cmp.Diff([]string{
		"Komi: matched title mangadex komi 0 planned", "alone: unknown not-followed   0 planned", "twice: matched title other twice 0 planned",
		"moon: ambiguous titles   2 planned",
	}, look()); d != "" {
		t.Error(d)
	}
	for _, candidate := range []int{-1, 0} {
		if err := w.moving.Decide(ctx, w.mo, id, 3, candidate); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.store.Leave(ctx, w.mo, id, 2, true); err != nil {
		t.Fatal(err)
	}
	// A download under way stops it, and the press is repeated.
	w.scraper.RefuseFolders(fault.Newf(fault.Conflict, "adopt", "it", "a download is under way"))
	if err := w.moving.Adopt(ctx, w.mo, id); !fault.Is(err, fault.Conflict) {
		t.Errorf("while a download is under way: %v", err)
	}
	w.scraper.RefuseFolders(nil)
	w.adopt(id)
	folders := w.scraper.Folders()
	if len(folders) != 2 || folders["Komi"].GetSeriesId() != "komi" || folders["moon"].GetSite() != "mangadex" {
		t.Errorf("the scraper adopted %v", folders)
	}
	if err := w.moving.Undo(ctx, w.mo, id); err != nil {
		t.Fatal(err)
	}
	if folders := w.scraper.Folders(); len(folders) != 0 {
		t.Errorf("after undoing %v is adopted", folders)
	}
	if d := cmp.Diff([]string{
		"Komi: matched title mangadex komi 0 undone", "alone: unknown not-followed   0 planned", "twice: matched title other twice 0 left",
		"moon: matched titles mangadex moon 2 undone",
	}, look()); d != "" {
		t.Error(d)
	}
}

// collected are the Series of an export that stand in collections, each with one.
func collected(people []backup.Person) (out []string) {
	for _, p := range people {
		for _, s := range p.Series {
			for _, c := range s.Collections {
				out = append(out, s.SeriesID+" "+c)
			}
		}
	}
	return out
}
