package store

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/progress"
)

// A file of another program becomes a chapter of a Series and is given back: the book
// and what was read of it go with it, and the books beside it stay where they are.
func TestABookGoesWithItsFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	mo := claimed(t, w.Store, "mo")
	tell := func(site, series, path, id string) {
		t.Helper()
		key := &scraperv1.SeriesKey{Site: site, SeriesId: series}
		w.scraper.Publish(&scraperv1.LibraryChange{
			Path: path, Key: key, SeriesTitle: series, Series: &scraperv1.Series{Title: series, Key: key},
			Chapter: &scraperv1.Chapter{ChapterId: id, Number: "1"}, Pages: 5, Size: 1, Fingerprint: "of " + path,
		})
		w.catchUp(t)
	}
	tell("mangadex", "komi", "komi/2.cbz", "k2")
	tell("local", "Own", "Own/1.cbz", "hash1")
	tell("local", "Own", "Own/2.cbz", "hash2")
	look := func() []string {
		rows, err := w.pool.Query(ctx, `SELECT format('%s %s %s %s %s', b.id, t.site, b.path, b.chapter_id, p.page)
			FROM books b JOIN titles t ON t.id = b.title_id LEFT JOIN progress p ON p.book_id = b.id ORDER BY b.id`)
		if err != nil {
			t.Fatal(err)
		}
		out, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	var book int64
	if err := w.pool.QueryRow(ctx, "SELECT id FROM books WHERE chapter_id = 'hash1'").Scan(&book); err != nil {
		t.Fatal(err)
	}
	if _, err := w.SaveMark(ctx, progress.Mark{UserID: mo.ID, BookID: book, Page: 3}); err != nil {
		t.Fatal(err)
	}
	before := look()
	tell("mangadex", "komi", "Own/1.cbz", "k1")
	tell("mangadex", "komi", "Own/2.cbz", "hash2")
	if d := cmp.Diff([]string{
		fmt.Sprint(book-1, " mangadex komi/2.cbz k2 "), fmt.Sprint(book, " mangadex Own/1.cbz k1 3"), fmt.Sprint(book+1, " mangadex Own/2.cbz hash2 "),
	}, look()); d != "" {
		t.Errorf("adopted: %s", d)
	}
	tell("local", "Own", "Own/1.cbz", "hash1")
	tell("local", "Own", "Own/2.cbz", "hash2")
	if d := cmp.Diff(before, look()); d != "" {
		t.Errorf("given back: %s", d)
	}
	// A Series that had no title before keeps what came to it since.
	tell("local", "Solo", "Solo/1.cbz", "hash3")
	tell("mangadex", "solo", "Solo/1.cbz", "s1")
	tell("mangadex", "solo", "solo/2.cbz", "s2")
	tell("local", "Solo", "Solo/1.cbz", "hash3")
	var places []string
	for _, row := range look()[3:] {
		_, place, _ := strings.Cut(row, " ")
		places = append(places, place)
	}
	if d := cmp.Diff([]string{"local Solo/1.cbz hash3 ", "mangadex solo/2.cbz s2 "}, places); d != "" {
		t.Errorf("given back beside a new one: %s", d)
	}
}
