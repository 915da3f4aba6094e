// Package collection is the shelves that people put together: what one may be
// called, who may change it, and the covers that are uploaded for them, kept by the
// digest of what was made of them. It refuses a picture that is not whole, not known
// or too large, and it keeps no byte of an upload as it came. It knows no table.
package collection

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"mangrove/internal/fault"
)

// MaxName is how many characters a name has at most.
const MaxName = 80

// MaxSeries is how many Series one collection holds at most.
const MaxSeries = 10_000

// Collection is one shelf as a person sees it.
type Collection struct {
	ID   int64
	Name string
	// By is who made it, Mine that the person did.
	By   string
	Mine bool
	// Shared is true for one that everybody sees.
	Shared bool
	// Cover is the digest of the cover that was uploaded, "" for none.
	Cover string
	// Titles and Unread count what the person has of it.
	Titles, Unread int
	// First are the covers of its first titles.
	First []Face
}

// Face is a title's cover.
type Face struct {
	TitleID int64
	Version string
}

// Membership is a collection that a person may change, and whether a Series is in it.
type Membership struct {
	ID   int64
	Name string
	In   bool
}

// Spot is where a Series stands in the order of a collection: 0 to MaxPosition, and not
// necessarily alone there.
type Spot struct {
	Site, SeriesID string
	Position       int
}

// MaxPosition leaves room behind any place for whatever is added later.
const MaxPosition = 1_000_000_000

// Name cleans what somebody calls a collection, or says that it is no name.
func Name(text string) (string, error) {
	text = strings.Join(strings.FieldsFunc(norm.NFC.String(strings.ToValidUTF8(text, "")), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if text == "" || utf8.RuneCountInString(text) > MaxName {
		return "", fault.Newf(fault.Invalid, "name", "a collection", "a name has 1 to %d characters", MaxName)
	}
	return text, nil
}
