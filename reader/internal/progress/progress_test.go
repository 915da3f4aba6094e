package progress

import (
	"testing"
	"time"

	"mangrove/reader/internal/catalog"
)

func TestResume(t *testing.T) {
	t.Parallel()
	at := func(minutes int) time.Time { return time.Unix(int64(60*minutes), 0) }
	book := func(id int64, p Place) Shelved {
		return Shelved{Book: catalog.Book{ID: id, PageCount: 10}, Place: p}
	}
	gone := func(b Shelved) Shelved { b.RemovedAt = at(1); return b }
	read := func(minutes int) Place {
		return Place{Begun: true, Finished: true, Page: 9, ChangedAt: at(minutes)}
	}
	for _, tt := range []struct {
		name  string
		books []Shelved
		kind  string
		id    int64
		page  int
		none  bool
	}{
		{name: "nothing here", books: []Shelved{gone(book(1, Place{}))}, none: true},
		{name: "never read", books: []Shelved{book(1, Place{}), book(2, Place{})}, kind: Start, id: 1},
		{name: "in the middle", books: []Shelved{book(1, read(1)), book(2, Place{Begun: true, Page: 4, ChangedAt: at(2)}), book(3, Place{})}, kind: Continue, id: 2, page: 4},
		{name: "the one read last of two begun", books: []Shelved{book(1, Place{Begun: true, Page: 1, ChangedAt: at(5)}), book(2, Place{Begun: true, Page: 4, ChangedAt: at(2)})}, kind: Continue, id: 1, page: 1},
		{name: "the next after the last finished", books: []Shelved{book(1, Place{}), book(2, read(2)), book(3, Place{})}, kind: Continue, id: 3},
		{name: "back to one that was skipped", books: []Shelved{book(1, Place{}), book(2, read(2))}, kind: Continue, id: 1},
		{name: "a gone chapter is passed over", books: []Shelved{book(1, read(1)), gone(book(2, Place{})), book(3, Place{})}, kind: Continue, id: 3},
		{name: "the next after a range marked at once", books: []Shelved{book(1, read(3)), book(2, read(3)), book(3, Place{})}, kind: Continue, id: 3},
		{name: "a range in the middle leaves what is before it for later", books: []Shelved{book(1, Place{}), book(2, read(3)), book(3, read(3)), book(4, Place{})}, kind: Continue, id: 4},
		{name: "all read", books: []Shelved{book(1, read(1)), book(2, read(2))}, kind: Again, id: 1},
	} {
		next, ok := Resume(tt.books)
		if ok == tt.none || next.Kind != tt.kind || next.Book.ID != tt.id || next.Page != tt.page {
			t.Errorf("%s: got %s of book %d page %d (%v)", tt.name, next.Kind, next.Book.ID, next.Page, ok)
		}
	}
}
