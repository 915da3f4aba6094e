package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"mangrove/internal/archive"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/source"
)

func TestAFolderBecomesChapters(t *testing.T) {
	t.Parallel()
	s := setup(t)
	conn := s.admin(t)
	ctx := context.Background()
	// The Site lists 1 twice, in two languages, 2 (which is here already) and 3, gone.
	if _, err := conn.Exec(ctx, `UPDATE scraper.series SET languages = '{fr}';
		INSERT INTO scraper.chapters (site, series_id, chapter_id, number, language, url, source_order, first_seen_at, gone_since)
		SELECT $$`+key.Site+`$$, $$`+key.SeriesID+`$$, id, n, l, 'http://x/' || id, o, now(), gone
		FROM (VALUES ('one-en', 1, 'en', 0, NULL), ('one-fr', 1, 'fr', 1, NULL), ('two', 2, 'fr', 2, NULL), ('three', 3, 'fr', 3, now())) AS c (id, n, l, o, gone)`); err != nil {
		t.Fatal(err)
	}
	found := func(key source.Key, path, id, number string) inventory.Found {
		return inventory.Found{
			Path: path, Stamp: inventory.Stamp{Size: 1, Mod: 1}, Key: key, Chapter: source.Chapter{ID: id, Number: number}, SeriesTitle: "Own", Pages: 3, Kind: archive.ZIP, Fingerprint: "of " + path,
		}
	}
	own := source.Key{Site: inventory.LocalSite, SeriesID: "Own"}
	if _, err := s.ApplyInventory(ctx, inventory.Changes{New: []inventory.Found{
		found(key, "Ours/2.cbz", "two", "2"), found(own, "Own/1 again.cbz", "h1b", "1"), found(own, "Own/1.cbz", "h1", "1"), found(own, "Own/2.cbz", "h2", "2"),
		found(own, "Own/3.cbz", "h3", "3"), found(own, "Own/x.cbz", "hx", ""), found(source.Key{Site: inventory.LocalSite, SeriesID: "Other"}, "Other/1.cbz", "o1", "1"),
	}}); err != nil {
		t.Fatal(err)
	}
	look := func() []string {
		rows, err := conn.Query(ctx, "SELECT path || ': ' || site || ' ' || series_id || ' ' || chapter_id FROM scraper.library_files ORDER BY path")
		if err != nil {
			t.Fatal(err)
		}
		out, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	before := look()
	_, head, err := s.LibraryHead(ctx)
	if err != nil {
		t.Fatal(err)
	}

	// While a download is under way it has decided what is lacking.
	if _, err := conn.Exec(ctx, "INSERT INTO scraper.jobs (site, series_id) VALUES ($1, $2)", key.Site, key.SeriesID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.AdoptFolder(ctx, "Own", key, time.Now()); !fault.Is(err, fault.Conflict) {
		t.Errorf("while a download is under way: %v", err)
	}
	if _, err := conn.Exec(ctx, "UPDATE scraper.jobs SET state = 'cancelled', finished_at = now()"); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, look()); d != "" {
		t.Errorf("a refusal changed something: %s", d)
	}

	files, listed, err := s.AdoptFolder(ctx, "Own", key, time.Now())
	if err != nil || files != 5 || listed != 2 {
		t.Fatalf("adopted %d files, %d listed, %v", files, listed, err)
	}
	k := key.Site + " " + key.SeriesID
	if d := cmp.Diff([]string{
		"Other/1.cbz: local Other o1", "Ours/2.cbz: " + k + " two", "Own/1 again.cbz: " + k + " one-fr", "Own/1.cbz: " + k + " h1", "Own/2.cbz: " + k + " h2",
		"Own/3.cbz: " + k + " three", "Own/x.cbz: " + k + " hx",
	}, look()); d != "" {
		t.Error(d)
	}
	changes, err := s.ChangesAfter(ctx, head, 100)
	if err != nil || len(changes) != 5 {
		t.Errorf("the change log tells of %d files, %v", len(changes), err)
	}
	if files, _, err := s.AdoptFolder(ctx, "Own", key, time.Now()); err != nil || files != 0 {
		t.Errorf("a second time: %d files, %v", files, err)
	}
	// A file that another program renames and rewrites stays what it is now.
	if _, err := s.ApplyInventory(ctx, inventory.Changes{Moved: map[string]inventory.Found{"Own/1.cbz": found(own, "Own/1 new.cbz", "other", "1")}}); err != nil {
		t.Fatal(err)
	}

	files, err = s.ReturnFolder(ctx, "Own")
	if err != nil || files != 5 {
		t.Fatalf("returned %d files, %v", files, err)
	}
	for i := range before {
		if before[i] == "Own/1.cbz: local Own h1" {
			before[i] = "Own/1 new.cbz: local Own h1"
		}
	}
	if d := cmp.Diff(before, look(), sorted); d != "" {
		t.Errorf("returned: %s", d)
	}
	if files, err := s.ReturnFolder(ctx, "Own"); err != nil || files != 0 {
		t.Errorf("returned twice: %d, %v", files, err)
	}
}

var sorted = cmp.Transformer("sorted", func(in []string) map[string]bool {
	out := map[string]bool{}
	for n, s := range in {
		if out[s] {
			s = fmt.Sprint(s, n)
		}
		out[s] = true
	}
	return out
})
