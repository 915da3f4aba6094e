package store

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"mangrove/internal/pgtest"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/follow"
	"mangrove/reader/internal/scraperclient"
)

// The database orders titles as the letters do: the letters of a view are those of its
// titles, and each leads to the first of them.
func TestLettersModel(t *testing.T) {
	t.Parallel()
	s := open(t)
	u := claimed(t, s, "mo")
	titles := rapid.SliceOfN(rapid.StringMatching(`[“ ]?[0-9a-cÄßøαςЯёאמامشกはがハ一人馬가까힘★]{1,3}`), 0, 12)
	rapid.Check(t, func(rt *rapid.T) {
		if _, err := s.pool.Exec(t.Context(), "DELETE FROM titles"); err != nil {
			rt.Fatal(err)
		}
		if _, err := s.pool.Exec(t.Context(), "DELETE FROM bookmarks"); err != nil {
			rt.Fatal(err)
		}
		shelve(t, s, titles.Draw(rt, "titles")...)
		for i, title := range titles.Draw(rt, "waiting") {
			if _, err := s.Follow(t.Context(), follow.Wish{UserID: u.ID, Key: scraperclient.Key{Site: "other", SeriesID: fmt.Sprint(i)}, Title: title}); err != nil {
				rt.Fatal(err)
			}
		}
		var failing []scraperclient.Key
		for _, c := range block(t, s, u.ID, catalog.ShelfQuery{}) {
			if rapid.Bool().Draw(rt, "fails") {
				failing = append(failing, scraperclient.Key{Site: c.Site, SeriesID: c.SeriesID})
			}
		}
		q := catalog.ShelfQuery{}
		if rapid.Bool().Draw(rt, "filtered") {
			q = catalog.ShelfQuery{
				State: rapid.SampledFrom([]string{"", catalog.StateUnread, catalog.StateFailing, catalog.StateRead}).Draw(rt, "state"), Failing: failing,
				Words: rapid.SampledFrom([]string{"", "a", "ss"}).Draw(rt, "words"), Site: rapid.SampledFrom([]string{"", "", "shelf", "other"}).Draw(rt, "site"),
			}
		}
		want := []int{}
		for _, c := range block(t, s, u.ID, q) {
			if n := catalog.LetterOf(c.Place.Order); len(want) == 0 || want[len(want)-1] != n {
				want = append(want, n)
			}
		}
		got, err := s.ShelfLetters(t.Context(), u.ID, q)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			rt.Errorf("(-want +got)\n%s%v", d, err)
		}
		for _, stop := range catalog.Rail(got, 10) {
			q.After, q.Limit = catalog.Place{Set: true, Order: stop.Start}, 1
			if led := block(t, s, u.ID, q); len(led) != 1 || catalog.LetterOf(led[0].Place.Order) != stop.Number {
				rt.Errorf("%s leads to %v", stop.Label, names(led))
			}
		}
	})
}

// The letters of ten thousand titles are a step through their index for each, and one
// behind the last; no title between is looked at.
func TestThePlanOfTheLetters(t *testing.T) {
	t.Parallel()
	urls := pgtest.Numbered(t, pgtest.New(t))
	s := New(pgtest.Pool(t, urls.Reader, "reader", nil))
	u := claimed(t, s, "mo")
	admin := pgtest.Pool(t, urls.Admin, "reader", nil)
	for _, sql := range []string{
		"INSERT INTO titles (site, series_id, title) SELECT 'shelf', n::text, chr(97 + n % 26) || md5(n::text) FROM generate_series(1, 10000) n",
		"INSERT INTO books (title_id, chapter_id, path, page_count, size, fingerprint, published_at) SELECT id, 'c', id::text, 5, 1, 'f' || id, now() FROM titles",
		"INSERT INTO bookmarks (user_id, site, series_id, title) SELECT u.id, site, series_id, title FROM titles t, users u WHERE t.id % 3 = 0",
		"ANALYZE",
	} {
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := s.pool.Query(t.Context(), "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) "+s.sql.Get("ShelfLetters"), asAsked, u.ID, catalog.LetterStarts())
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	plan := strings.Join(lines, "\n")
	if !regexp.MustCompile(`Index (Only )?Scan using titles_shelf on titles \w+ \(actual rows=(1|1\.00|0\.\d+) loops=27\)`).MatchString(plan) {
		t.Errorf("the letters are not 27 steps through the index of titles:\n%s", plan)
	}
}

// A guest who is kept to collections learns no letter of anything else.
func TestLettersOfAGuest(t *testing.T) {
	t.Parallel()
	s := open(t)
	u := claimed(t, s, "mo")
	kim := invited(t, s, "kim", "guest")
	shelve(t, s, "Ash", "Birch")
	id, err := s.NewCollection(t.Context(), u.ID, "For Kim", scraperclient.Key{Site: "shelf", SeriesID: "s2"})
	if err == nil {
		err = s.ShareCollection(t.Context(), u.ID, true, id, true)
	}
	if err == nil {
		err = s.LimitGuest(t.Context(), kim.ID, []int64{id})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []catalog.ShelfQuery{{}, {State: catalog.StateUnread}} {
		got, err := s.ShelfLetters(t.Context(), kim.ID, q)
		if d := cmp.Diff([]int{catalog.LetterOf("b")}, got); d != "" || err != nil {
			t.Errorf("(-want +got)\n%s%v", d, err)
		}
	}
}
