// Package progress keeps how far each person has read, and says where to go on
// (READ-1). It belongs to the chapter, not to its file: it is saved while the
// scraper is away and outlives a file that goes. It refuses to move anyone back
// unasked.
package progress

import (
	"cmp"
	"context"
	"slices"
	"time"

	"mangrove/reader/internal/catalog"
)

// Mark says that a person has seen a page.
type Mark struct {
	UserID, BookID int64
	// Page counts from 0.
	Page int
	// Asked is true when the person themself turned to this page; opening an
	// address is not asking.
	Asked bool
	// Known is the Version of the place that the device last knew, zero for none.
	// A mark that goes backwards must name the place it goes back from, so that an
	// old tab or a queue sent late cannot undo what was read elsewhere.
	Known  time.Time
	Device string
}

// Place is how far one person is in one book.
type Place struct {
	// Begun is false when nothing was ever read; the rest is zero then.
	Begun    bool
	Page     int
	Finished bool
	Device   string
	// ChangedAt grows with every change, so that it is the place's version too.
	ChangedAt time.Time
}

// Store keeps places.
type Store interface {
	// SaveMark applies the rules below in one statement and returns the place
	// that stands afterwards; fault.NotFound when there is no such page.
	//
	//   - the last page seen makes a book finished, and nothing unmakes it;
	//   - a mark further on is taken; one further back only if Asked and if
	//     nothing has changed the place since the device knew it.
	SaveMark(ctx context.Context, m Mark) (Place, error)
	// SetFinished marks books of one title read or unread; unread forgets the
	// places. Books of other titles are left alone, and so is a place that says so
	// already.
	SetFinished(ctx context.Context, userID, titleID int64, bookIDs []int64, finished bool) error
}

// Shelved is a book with one person's place in it.
type Shelved struct {
	catalog.Book
	Place Place
}

// The kinds of Next.
const (
	// Start is a title nothing of which was read.
	Start = "start"
	// Continue is a chapter begun, or the one after the last that was finished.
	Continue = "continue"
	// Again is a title read to its end.
	Again = "again"
)

// Next is where to go on in a title.
type Next struct {
	Kind string
	Book Shelved
	// Page counts from 0.
	Page int
}

// Resume says where to go on, given the books of a title in reading order:
// the chapter being read, else the first unread one after the chapter read
// last, else the first unread one, else the first. ok is false when no book is
// in the library.
func Resume(books []Shelved) (next Next, ok bool) {
	var here []Shelved
	for _, b := range books {
		if b.Here() {
			here = append(here, b)
		}
	}
	if len(here) == 0 {
		return Next{}, false
	}
	latest := -1
	for i, b := range here {
		// A range marked read has one time: the last of it counts.
		if b.Place.Begun && (latest < 0 || !b.Place.ChangedAt.Before(here[latest].Place.ChangedAt)) {
			latest = i
		}
	}
	if latest < 0 {
		return Next{Kind: Start, Book: here[0]}, true
	}
	if last := here[latest]; !last.Place.Finished {
		return Next{Kind: Continue, Book: last, Page: last.Place.Page}, true
	}
	for _, part := range [][]Shelved{here[latest+1:], here[:latest]} {
		for _, b := range part {
			if !b.Place.Finished {
				return Next{Kind: Continue, Book: b, Page: b.Place.Page}, true
			}
		}
	}
	return Next{Kind: Again, Book: here[0]}, true
}

// Sort puts books in reading order.
func Sort(books []Shelved) {
	slices.SortStableFunc(books, func(a, b Shelved) int {
		if c := catalog.Order(a.Number, a.SourceOrder, b.Number, b.SourceOrder); c != 0 {
			return c
		}
		return cmp.Compare(a.ID, b.ID)
	})
}
