// Package label reads the labels that Sites put on chapters ("Vol.3 Ch.12.5 -
// Rain", "第１２．５話", "Solanin 028 Vol. 2") and says what they state: number,
// volume, part, revision, title. It is pure and takes time in proportion to the
// label's length. It guesses nothing: what a label does not state is absent,
// never 0; a date, a time, a page count or the Series' own digits are no number;
// and a position in a list is none of its business.
package label

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxBytes is how much of a label or a Series' name is read; more is cut off.
const maxBytes = 4 << 10

// Label is what a chapter's label states.
type Label struct {
	// Number and Volume are decimals as source.Decimal gives them, "" when
	// absent. Letters that tell chapters apart are its last digits, so that they
	// sort: 2a is 2.1, an "extra" .99, an "omake" .98, a "special" .97.
	Number, Volume string
	// Last and LastVolume end a range that begins with Number or Volume.
	Last, LastVolume string
	// Season is named besides; a Season before the number is the Volume too when
	// no volume is named, since the numbers then begin again with it.
	Season string
	// Part is the part of a chapter that is released in parts.
	Part string
	// Revision is the count of a release that was mended: 002v2 is chapter 2 again.
	Revision string
	// Suffix is what stood behind the number and tells it from others: "a", "AU".
	Suffix string
	// Special is the word for a chapter out of line ("oneshot", "extra",
	// "prologue", …), or the letters before its number ("SP" of SP01).
	Special string
	// Title is the rest: what a person would call the chapter.
	Title string
}

// Parse reads the label of a chapter of a Series. The Series' name, "" when it
// is not known, keeps its own digits from being taken for the chapter's.
func Parse(series, label string) Label {
	s := newScan(series, label)
	s.deaden()
	s.prefixed()
	s.classified()
	slices.SortStableFunc(s.marks, func(a, b mark) int { return a.pos - b.pos })
	var l Label
	l.volume(s)
	l.chapter(s)
	l.aside(s)
	l.Title = s.title(l)
	return l
}

// bound cuts s to maxBytes at a rune and makes it valid UTF-8.
func bound(s string) string {
	if len(s) > maxBytes {
		s = s[:maxBytes]
		for i := 0; i < utf8.UTFMax && len(s) > 0 && !utf8.RuneStart(s[len(s)-1]); i++ {
			s = s[:len(s)-1]
		}
		if r, n := utf8.DecodeLastRuneInString(s); r == utf8.RuneError && n == 1 {
			s = s[:len(s)-1]
		}
	}
	return strings.ToValidUTF8(s, " ")
}
