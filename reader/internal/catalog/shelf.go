package catalog

import "mangrove/reader/internal/scraperclient"

// ShelfQuery says which piece of a person's library is wanted, and in which order.
// The zero value is all of it, by title.
type ShelfQuery struct {
	// Sort is one of Sorts.
	Sort string
	// State is one of States.
	State string
	// Failing are the Series that StateFailing keeps.
	Failing                     []scraperclient.Key
	Following                   bool
	Site, Status, Language, Tag string
	// Words must all be in the title, its other names, its authors or its tags.
	Words string
	// Collection keeps what stands in it, 0 for none.
	Collection int64
	// After and Until bound the piece: behind the one, and up to the other.
	After, Until Place
	Limit        int
}

// The orders of a library. SortCollection is only for a collection.
const (
	SortTitle      = "title"
	SortRead       = "read"
	SortAdded      = "added"
	SortLatest     = "latest"
	SortUnread     = "unread"
	SortCollection = "collection"
)

// Sorts are the orders that a library can be asked for in.
func Sorts() []string { return []string{SortTitle, SortRead, SortAdded, SortLatest, SortUnread} }

// The states that a library can be filtered by.
const (
	StateUnread  = "unread"
	StateReading = "reading"
	StateRead    = "read"
	StateGone    = "gone"
	StateFailing = "failing"
)

// States are the words of them.
func States() []string {
	return []string{StateUnread, StateReading, StateRead, StateGone, StateFailing}
}

// Place is where a card stands in an order. No two cards have the same one.
type Place struct {
	Set            bool
	Rank           int64
	Order          string
	Site, SeriesID string
}

// ShelfCounts are how many titles of a library are in each state, and how many
// chapters are unread.
type ShelfCounts struct {
	All, Chapters, Unread, Reading, Read, Gone, Following int
}

// Choice is something to filter a library by.
type Choice struct {
	Value, Name string
	Titles      int
}
