package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/follow"
	"mangrove/reader/internal/progress"
	"mangrove/reader/internal/scraperclient"
)

// shelve puts titles into the library with a chapter each, without the way through
// the change log.
func shelve(t testing.TB, s *Store, titles ...string) {
	t.Helper()
	if _, err := s.pool.Exec(context.Background(), `
		WITH t AS (
			INSERT INTO titles (site, series_id, title)
			SELECT 'shelf', 's' || (SELECT count(*) FROM titles) + n, title FROM unnest($1::text[]) WITH ORDINALITY AS g (title, n)
			RETURNING id
		)
		INSERT INTO books (title_id, chapter_id, path, page_count, size, fingerprint, published_at)
		SELECT id, 'c', id::text, 5, 1, 'f' || id, now() FROM t`, titles); err != nil {
		t.Fatal(err)
	}
}

func names(cards []catalog.Card) (out []string) {
	for _, c := range cards {
		out = append(out, c.Name)
	}
	return out
}

func block(t testing.TB, s *Store, userID int64, q catalog.ShelfQuery) []catalog.Card {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 1000
	}
	cards, err := s.ShelfBlock(context.Background(), userID, q)
	if err != nil {
		t.Fatal(err)
	}
	return cards
}

func TestTitlesStandInTheOrderPeopleExpect(t *testing.T) {
	t.Parallel()
	s := open(t)
	u := claimed(t, s, "mo")
	want := []string{"…", "Area 9", "Area 10", "“Éclair”", "eclipse", "Zoo 007", "Zoo 08", "はな", "ハナ"}
	given := slices.Clone(want)
	slices.Reverse(given)
	shelve(t, s, given...)
	if d := cmp.Diff(want, names(block(t, s, u.ID, catalog.ShelfQuery{Sort: catalog.SortTitle}))); d != "" {
		t.Error(d)
	}
}

// However the blocks are cut, and whatever is added meanwhile, every title that was
// there from the start is met, and none twice.
func TestBlocksAreCompleteWithoutRepeatsModel(t *testing.T) {
	t.Parallel()
	s := open(t)
	u := claimed(t, s, "mo")
	rapid.Check(t, func(rt *rapid.T) {
		if _, err := s.pool.Exec(context.Background(), "DELETE FROM titles"); err != nil {
			rt.Fatal(err)
		}
		title := rapid.StringMatching(`[ab1 ]{1,4}`)
		first := rapid.SliceOfN(title, 0, 30).Draw(rt, "first")
		shelve(t, s, first...)
		all := block(t, s, u.ID, catalog.ShelfQuery{})
		q := catalog.ShelfQuery{Sort: rapid.SampledFrom(catalog.Sorts()).Draw(rt, "sort")}
		met := map[catalog.Place]int{}
		for {
			q.Limit = rapid.IntRange(1, 9).Draw(rt, "limit")
			got := block(t, s, u.ID, q)
			for _, c := range got {
				met[catalog.Place{Site: c.Site, SeriesID: c.SeriesID}]++
			}
			if len(got) < q.Limit {
				break
			}
			q.After = got[len(got)-1].Place
			shelve(t, s, rapid.SliceOfN(title, 0, 2).Draw(rt, "more")...)
		}
		for _, c := range all {
			if n := met[catalog.Place{Site: c.Site, SeriesID: c.SeriesID}]; n != 1 {
				rt.Errorf("%q was met %d times", c.Name, n)
			}
		}
		for place, n := range met {
			if n > 1 {
				rt.Errorf("%v was met %d times", place, n)
			}
		}
	})
}

func TestABlockCanBeAskedForAgain(t *testing.T) {
	t.Parallel()
	s := open(t)
	u := claimed(t, s, "mo")
	shelve(t, s, "a", "b", "d", "e")
	first := block(t, s, u.ID, catalog.ShelfQuery{Limit: 3})
	shelve(t, s, "c")
	again := block(t, s, u.ID, catalog.ShelfQuery{Until: first[2].Place})
	if d := cmp.Diff([]string{"a", "b", "c", "d"}, names(again)); d != "" {
		t.Error(d)
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := context.Background()
	u := claimed(t, s, "mo")
	shelve(t, s, "New", "Begun", "Done", "Lost")
	for _, sql := range []string{
		"UPDATE titles SET tags = '{Witches}', status = 'completed' WHERE title = 'Done'",
		"UPDATE books SET language = 'ja' WHERE title_id = (SELECT id FROM titles WHERE title = 'Begun')",
		`INSERT INTO books (title_id, chapter_id, path, page_count, size, fingerprint, published_at, removed_at)
			SELECT id, 'gone', 'gone', 5, 1, 'f', now(), now() FROM titles WHERE title = 'Lost'`,
	} {
		if _, err := s.pool.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range block(t, s, u.ID, catalog.ShelfQuery{}) {
		books, err := s.Shelved(ctx, c.TitleID, u.ID)
		if err != nil {
			t.Fatal(err)
		}
		page := map[string]int{"Begun": 2, "Done": 4}[c.Name]
		if page > 0 {
			if _, err := s.SaveMark(ctx, progress.Mark{UserID: u.ID, BookID: books[0].ID, Page: page}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.Follow(ctx, follow.Wish{UserID: u.ID, Key: scraperclient.Key{Site: "shelf", SeriesID: "s9"}, Title: "Waiting"}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		q    catalog.ShelfQuery
		want []string
	}{
		{"all", catalog.ShelfQuery{}, []string{"Begun", "Done", "Lost", "New", "Waiting"}},
		{"unread", catalog.ShelfQuery{State: catalog.StateUnread}, []string{"Lost", "New"}},
		{"in progress", catalog.ShelfQuery{State: catalog.StateReading}, []string{"Begun"}},
		{"read", catalog.ShelfQuery{State: catalog.StateRead}, []string{"Done"}},
		{"not all here", catalog.ShelfQuery{State: catalog.StateGone}, []string{"Lost"}},
		{"failing", catalog.ShelfQuery{State: catalog.StateFailing, Failing: []scraperclient.Key{{Site: "shelf", SeriesID: "s9"}}}, []string{"Waiting"}},
		{"nothing fails", catalog.ShelfQuery{State: catalog.StateFailing}, nil},
		{"following", catalog.ShelfQuery{Following: true}, []string{"Waiting"}},
		{"a tag", catalog.ShelfQuery{Tag: "Witches"}, []string{"Done"}},
		{"a language", catalog.ShelfQuery{Language: "ja"}, []string{"Begun"}},
		{"a status", catalog.ShelfQuery{Status: "completed"}, []string{"Done"}},
		{"a Site", catalog.ShelfQuery{Site: "elsewhere"}, nil},
		{"words", catalog.ShelfQuery{Words: "O WITCH"}, []string{"Done"}},
		{"last read first", catalog.ShelfQuery{Sort: catalog.SortRead, Limit: 2}, []string{"Done", "Begun"}},
	} {
		if d := cmp.Diff(tt.want, names(block(t, s, u.ID, tt.q))); d != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, d)
		}
	}
	n, err := s.ShelfCounts(ctx, u.ID)
	if d := cmp.Diff(catalog.ShelfCounts{All: 5, Chapters: 3, Unread: 2, Reading: 1, Read: 1, Gone: 1, Following: 1}, n); d != "" || err != nil {
		t.Error(d, err)
	}
	choices, err := s.ShelfChoices(ctx, u.ID)
	if err != nil || len(choices["site"]) != 1 || len(choices["tag"]) != 1 || len(choices["language"]) != 1 || len(choices["status"]) != 1 {
		t.Errorf("%+v %v", choices, err)
	}
}

// What the triggers keep is what there is to count, whatever happens to books and
// places and in whatever order.
func TestShelfCountsModel(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := context.Background()
	u, o := claimed(t, s, "mo"), invited(t, s, "ada", "member").ID
	rapid.Check(t, func(rt *rapid.T) {
		exec := func(sql string, args ...any) {
			if _, err := s.pool.Exec(ctx, sql, args...); err != nil {
				rt.Fatal(sql, err)
			}
		}
		exec("DELETE FROM titles")
		shelve(t, s, "one", "two", "three")
		person := rapid.SampledFrom([]int64{u.ID, o})
		title := rapid.SampledFrom([]string{"one", "two", "three"})
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			who, name, n := person.Draw(rt, "who"), title.Draw(rt, "title"), rapid.IntRange(0, 3).Draw(rt, "n")
			switch rapid.IntRange(0, 8).Draw(rt, "what") {
			case 0:
				exec(`INSERT INTO books (title_id, chapter_id, path, number, language, page_count, size, fingerprint, published_at)
					SELECT id, $2, $2, $2::text::int, 'en', 5, 1, 'f', now() FROM titles WHERE title = $1 ON CONFLICT DO NOTHING`, name, fmt.Sprint(n))
			case 1:
				exec("UPDATE books SET removed_at = now() WHERE chapter_id = $1", fmt.Sprint(n))
			case 2:
				exec("UPDATE books SET removed_at = NULL")
			case 3:
				exec(`INSERT INTO progress (user_id, book_id, page, finished) SELECT $1, b.id, 1, $3 FROM books b JOIN titles t ON t.id = b.title_id WHERE t.title = $2
					ON CONFLICT (user_id, book_id) DO UPDATE SET finished = excluded.finished, changed_at = now()`, who, name, n > 1)
			case 4:
				exec("DELETE FROM progress WHERE user_id = $1", who)
			case 5:
				exec("UPDATE books SET title_id = (SELECT id FROM titles WHERE title = $1) WHERE chapter_id = $2 AND NOT EXISTS (SELECT FROM books o JOIN titles t ON t.id = o.title_id WHERE t.title = $1 AND o.chapter_id = $2) AND id = (SELECT min(id) FROM books WHERE chapter_id = $2)", name, fmt.Sprint(n))
			case 6:
				exec("DELETE FROM books WHERE chapter_id = $1", fmt.Sprint(n))
			case 7:
				exec("UPDATE books SET unreadable = CASE WHEN unreadable = '' THEN 'corrupt' ELSE '' END WHERE chapter_id = $1", fmt.Sprint(n))
			case 8:
				exec("UPDATE books SET missing_pages = CASE WHEN missing_pages = '{}' THEN '{2}'::int[] ELSE '{}' END WHERE chapter_id = $1", fmt.Sprint(n))
			}
		}
		var wrong string
		if err := s.pool.QueryRow(ctx, `SELECT concat_ws(', ',
			(SELECT string_agg(t.title, ' ') FROM titles t WHERE t.book_count <> (SELECT count(*) FROM books b WHERE b.title_id = t.id AND b.removed_at IS NULL)
				OR t.gone_count <> (SELECT count(*) FROM books b WHERE b.title_id = t.id AND b.removed_at IS NOT NULL)
				OR t.unreadable_count <> (SELECT count(*) FROM books b WHERE b.title_id = t.id AND b.removed_at IS NULL AND b.unreadable <> '')
				OR t.lacking_count <> (SELECT count(*) FROM books b WHERE b.title_id = t.id AND b.removed_at IS NULL AND (b.unreadable <> '' OR b.missing_pages <> '{}'))),
			(SELECT string_agg('unread ' || s.user_id || ' ' || s.title, ' ') FROM shelf s WHERE s.title_id > 0 AND s.unread <>
				(SELECT count(*) FROM books b LEFT JOIN progress p ON p.book_id = b.id AND p.user_id = s.user_id
				 WHERE b.title_id = s.title_id AND b.removed_at IS NULL AND b.unreadable = '' AND NOT coalesce(p.finished, false))),
			(SELECT string_agg('reading ' || u.id || ' ' || t.title, ' ') FROM users u CROSS JOIN titles t LEFT JOIN shelf_reading r ON r.user_id = u.id AND r.title_id = t.id
				WHERE (coalesce(r.finished, 0), coalesce(r.begun, 0), r.user_id IS NOT NULL) <>
					(SELECT count(*) FILTER (WHERE p.finished AND b.removed_at IS NULL AND b.unreadable = ''), count(*) FILTER (WHERE b.removed_at IS NULL AND b.unreadable = ''), count(*) > 0
					 FROM progress p JOIN books b ON b.id = p.book_id WHERE p.user_id = u.id AND b.title_id = t.id)))`).Scan(&wrong); err != nil {
			rt.Fatal(err)
		}
		if wrong != "" {
			rt.Errorf("kept otherwise than counted: %s", wrong)
		}
	})
}

// A wrong letter in five still finds the title among the first five, in any script.
func TestAWrongLetterInFiveIsForgivenModel(t *testing.T) {
	t.Parallel()
	s := open(t)
	u := claimed(t, s, "mo")
	scripts := map[string]string{
		"latin": "abcdefghijklmnopqrstuvwxyz", "cyrillic": "абвгдежзиклмнопрстуфхцчшщ", "greek": "αβγδεζηθικλμνξοπρστυφχψω",
		"hiragana": "あいうえおかきくけこさしすせそたちつてとなにぬねの", "katakana": "アイウエオカキクケコサシスセソタチツテトナニヌネノ",
		"han": "天地人火水木金土日月山川田花鳥風雪星空海猫犬龍鬼剣", "hangul": "가나다라마바사아자차카타파하거너더러머버서어저처커",
		"thai": "กขคงจฉชซญดตถทนบปผฝพฟมยรลวสหอ", "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي", "hebrew": "אבגדהוזחטיכלמנסעפצקרשת",
	}
	word := func(letters string) *rapid.Generator[string] {
		return rapid.Custom(func(rt *rapid.T) string {
			return string(rapid.SliceOfN(rapid.SampledFrom([]rune(letters)), 5, 9).Draw(rt, "word"))
		})
	}
	var all []string
	title := map[string]*rapid.Generator[string]{}
	for script, letters := range scripts {
		title[script] = rapid.Map(rapid.SliceOfN(word(letters), 1, 3), func(w []string) string { return strings.Join(w, " ") })
		for n := range 150 {
			all = append(all, title[script].Example(n))
		}
	}
	shelve(t, s, all...)
	rapid.Check(t, func(rt *rapid.T) {
		script := rapid.SampledFrom([]string{"latin", "cyrillic", "greek", "hiragana", "katakana", "han", "hangul", "thai", "arabic", "hebrew"}).Draw(rt, "script")
		want := title[script].Example(rapid.IntRange(0, 149).Draw(rt, "title"))
		query := []rune(want)
		for from := 0; from+5 <= len(query); from += 5 {
			at := from + rapid.IntRange(0, 4).Draw(rt, "at")
			if query[at] != ' ' {
				query[at] = rapid.SampledFrom([]rune(scripts[script])).Draw(rt, "letter")
			}
		}
		cards, err := s.Find(context.Background(), u.ID, string(query))
		if err != nil {
			rt.Fatal(err)
		}
		if got := names(cards); !slices.Contains(got[:min(len(got), 5)], want) {
			rt.Errorf("%q finds %q, want %q among the first five", string(query), got[:min(len(got), 5)], want)
		}
	})
}

func TestTheNearestStandsFirst(t *testing.T) {
	t.Parallel()
	s := open(t)
	u := claimed(t, s, "mo")
	want := []string{"Witch", "Witch Hat", "The Witch", "Saltwitches", "Watch"}
	shelve(t, s, "Saltwitches", "Watch", "Witch Hat", "The Witch", "Witch", "Elsewhere")
	cards, err := s.Find(context.Background(), u.ID, "witch")
	if d := cmp.Diff(want, names(cards)); d != "" || err != nil {
		t.Error(d, err)
	}
}

// A title is found by any name its Site gives it, a wrong letter in five included.
func TestOtherNamesAreFound(t *testing.T) {
	t.Parallel()
	s := open(t)
	u := claimed(t, s, "mo")
	shelve(t, s, "One", "Two", "Three")
	if _, err := s.pool.Exec(t.Context(), "UPDATE titles SET native_title = '灯籠通り', alt_titles = '{Lantern Street,Улица фонарей}' WHERE title = 'Two'"); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"lantern street", "Lantern", "lantarn straet", "улица фонарей", "фонарей", "灯籠通り"} {
		found, err := s.Find(t.Context(), u.ID, query)
		if err != nil || len(found) == 0 || found[0].Name != "Two" {
			t.Errorf("%q finds %+v, %v", query, found, err)
		}
	}
}
