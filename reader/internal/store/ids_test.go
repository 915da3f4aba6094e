package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/pgtest"
)

// TestIdsStayInANewDatabase: titles and books are called the same wherever and in
// whatever order they are taken in, so that a link outlives a database that is made
// anew, and two of one name have two ids.
// It shows features H21.
func TestIdsStayInANewDatabase(t *testing.T) {
	t.Parallel()
	type thing struct{ site, series, chapter, print string }
	things := []thing{
		{"sample", "a", "1", "p1"}, {"sample", "a", "2", "p2"}, {"sample", "b", "1", "p3"}, {"other", "a", "1", "p4"},
		{"local", "Folder", "by-path", "p5"},
	}
	ids := func(order []thing) map[thing][2]int64 {
		t.Helper()
		pool := pgtest.Pool(t, pgtest.New(t).Reader, "reader", nil)
		out := map[thing][2]int64{}
		for _, x := range order {
			var title, book int64
			err := pool.QueryRow(t.Context(), `
				WITH new AS (INSERT INTO titles (site, series_id, title) SELECT $1, $2, 'T' WHERE NOT EXISTS (SELECT FROM titles WHERE site = $1 AND series_id = $2) RETURNING id)
				SELECT id FROM new UNION ALL SELECT id FROM titles WHERE site = $1 AND series_id = $2`, x.site, x.series).Scan(&title)
			if err == nil {
				err = pool.QueryRow(t.Context(), `
					INSERT INTO books (title_id, chapter_id, path, page_count, size, fingerprint, published_at)
					VALUES ($1, $2, $2 || $3 || $4 || '.cbz', 1, 1, $3, now()) RETURNING id`, title, x.chapter, x.print, x.series+x.site).Scan(&book)
			}
			if err != nil {
				t.Fatal(err)
			}
			out[x] = [2]int64{title, book}
		}
		return out
	}
	first := ids(things)
	backwards := make([]thing, 0, len(things))
	for i := range things {
		backwards = append(backwards, things[len(things)-1-i])
	}
	if diff := cmp.Diff(first, ids(backwards), cmp.AllowUnexported(thing{})); diff != "" {
		t.Errorf("ids (-first +in another order):\n%s", diff)
	}
	seen := map[int64]thing{}
	for x, id := range first {
		if id[1] < 1 || id[1] >= 1<<53 {
			t.Errorf("book %d is no number that a script can hold", id[1])
		}
		if y, taken := seen[id[1]]; taken {
			t.Errorf("%+v and %+v are both book %d", x, y, id[1])
		}
		seen[id[1]] = x
	}
	// The same file twice, lying in two folders: two books.
	twins := ids([]thing{{"local", "F", "x", "same"}, {"local", "G", "y", "same"}})
	a, b := twins[thing{"local", "F", "x", "same"}], twins[thing{"local", "G", "y", "same"}]
	if a[1] == b[1] || a[0] == b[0] {
		t.Errorf("two copies are %v and %v", a, b)
	}
}
