// Package catalog is what the reader knows of the library: titles, their books
// (one chapter each) and where each page lies in its file. It follows the
// scraper's change log by cursor (OWN-4): nothing is applied twice or skipped,
// ids never change, and what goes is marked, never deleted, so that progress
// outlives it. It refuses to write into the library or to look for files there
// by itself.
package catalog

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"mangrove/internal/unreadable"
)

// Title is one Series in the catalog.
type Title struct {
	ID                int64
	Site, SeriesID    string
	Name, NativeName  string
	Authors           []string
	Description, URL  string
	Status            string
	Tags              []string
	License, SiteName string
	Direction         string
	AddedAt           time.Time
}

// Book is one chapter in the library. Number and Volume are decimals as text,
// "" when absent.
type Book struct {
	ID, TitleID int64
	ChapterID   string
	Path        string
	Number      string
	Volume      string
	Name        string
	Language    string
	Groups      []string
	SourceOrder int
	PageCount   int
	Size        int64
	Fingerprint string
	PublishedAt time.Time
	RemovedAt   time.Time
	// Missing are the numbers, from 1, of the Site's pages that the file is without.
	Missing []int32
	// Why is the reason that its file cannot be read, "" when it can.
	Why unreadable.Reason
}

// Here reports whether the book can be read now: its file is in the library, and
// can be read.
func (b Book) Here() bool { return b.RemovedAt.IsZero() && b.Why == "" }

// Unreadable reports whether its file is in the library and cannot be read.
func (b Book) Unreadable() bool { return b.RemovedAt.IsZero() && b.Why != "" }

// Refused is a book that cannot be read, with the title it belongs to.
type Refused struct {
	Book
	TitleName string
}

// Page is where one page lies in its book's file. Position counts from 0.
type Page struct {
	Position     int
	Name         string
	Offset, Size int64
	Stored       bool
	MediaType    string
	Width        int
	Height       int
}

// Order compares two chapters in reading order: by number, those without one
// last, and the Site's own order (which lists the newest first) between equals.
func Order(aNumber string, aOrder int, bNumber string, bOrder int) int {
	a, aok := decimal(aNumber)
	b, bok := decimal(bNumber)
	switch {
	case aok && bok:
		if c := cmp.Compare(a, b); c != 0 {
			return c
		}
	case aok:
		return -1
	case bok:
		return 1
	}
	return cmp.Compare(bOrder, aOrder)
}

// SortBooks puts books in reading order.
func SortBooks(books []Book) {
	slices.SortStableFunc(books, func(a, b Book) int {
		if c := Order(a.Number, a.SourceOrder, b.Number, b.SourceOrder); c != 0 {
			return c
		}
		return cmp.Compare(a.ID, b.ID)
	})
}

// Decimal cleans a chapter number from outside: digits, perhaps a sign, perhaps
// a fraction; "" for anything else, which then has no number.
func Decimal(text string) string {
	text = strings.TrimSpace(text)
	if _, ok := decimal(text); !ok {
		return ""
	}
	return text
}

// decimal reads a small decimal. It is stricter than strconv: no exponent, no
// infinity, no hexadecimal, at most nine digits before the point and six after.
func decimal(text string) (float64, bool) {
	digits, negative := strings.CutPrefix(text, "-")
	whole, fraction, dotted := strings.Cut(digits, ".")
	if whole == "" || len(whole) > 9 || len(fraction) > 6 || dotted && fraction == "" {
		return 0, false
	}
	value, scale := 0.0, 1.0
	for _, r := range whole + fraction {
		if r < '0' || r > '9' {
			return 0, false
		}
		value = value*10 + float64(r-'0')
	}
	for range fraction {
		scale *= 10
	}
	if negative {
		value = -value
	}
	return value / scale, true
}

// Placed is a page with the file it lies in.
type Placed struct {
	Page
	Path        string
	Fingerprint string
	// Here is false when the file is known to be gone.
	Here bool
}

// Card is one title as the library page shows it to one person.
type Card struct {
	// TitleID is 0 for a follow of which nothing has arrived yet.
	TitleID        int64
	Site, SeriesID string
	Name, SiteName string
	Following      bool
	AddedAt        time.Time
	Books, Unread  int
	// Newest is when the newest book arrived.
	Newest time.Time
	// Cover changes when the cover does; "" when there is no page to make one of.
	Cover string
	// Page and Pages tell how far the book being read is; Pages 0 means none is.
	Page, Pages int
	// ReadAt is when the person last read in it, zero for never.
	ReadAt time.Time
	// Finished counts the books that the person has read to the end.
	Finished int
	// Gone counts books that the library had and that are not there now, Unreadable
	// those of Books whose file cannot be read.
	Gone, Unreadable int
	// Place is where the card stands in the order it was asked for.
	Place Place
}
