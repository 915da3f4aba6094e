package catalog

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Found is a card that a search came upon, with its names and the query in the form
// that is compared.
type Found struct {
	Card
	Words, Title, Native, Query string
	// Holds is true when every word of the query is in it.
	Holds bool
}

// The kinds of a hit, the best first.
const (
	whole = iota
	atStart
	atWord
	inside
	holds
	alike
	nothing
)

// shownAlike is how many titles are shown that are only like the query.
const shownAlike = 20

// others are its names besides the title, one a line in Native.
func (f Found) others() []string { return strings.Split(f.Native, "\n") }

// Rank orders what a search came upon: the whole name, then names that begin with
// the query, that have it at a word, inside, elsewhere; then names that differ in
// some letters, the fewest first. More than about a letter in five is no likeness.
func Rank(found []Found) []Card {
	type hit struct {
		Found
		kind, wrong int
	}
	var hits []hit
	for _, f := range found {
		query := strings.Join(strings.Fields(f.Query), " ")
		kind := kindOf(query, f.Title)
		for _, name := range f.others() {
			kind = min(kind, kindOf(query, name))
		}
		if kind == nothing && f.Holds {
			kind = holds
		}
		h := hit{Found: f, kind: kind}
		if kind == nothing {
			h.kind, h.wrong = alike, wrong(query, f)
			if letters := utf8.RuneCountInString(query); h.wrong > (letters+2)/5 || h.wrong >= letters {
				continue
			}
		}
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.wrong, b.wrong), cmp.Compare(len(a.Title), len(b.Title)),
			cmp.Compare(a.Place.Order, b.Place.Order), cmp.Compare(a.Site, b.Site), cmp.Compare(a.SeriesID, b.SeriesID))
	})
	var out []Card
	for n := 0; len(hits) > 0; hits = hits[1:] {
		if hits[0].kind == alike {
			n++
		}
		if n <= shownAlike {
			out = append(out, hits[0].Card)
		}
	}
	return out
}

func kindOf(query, name string) int {
	name = strings.Join(strings.Fields(name), " ")
	at := strings.Index(name, query)
	switch {
	case name == "" || query == "" || at < 0:
		return nothing
	case name == query:
		return whole
	case at == 0:
		return atStart
	}
	for from := 0; at >= 0; at = strings.Index(name[from:], query) {
		before, _ := utf8.DecodeLastRuneInString(name[:from+at])
		if !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			return atWord
		}
		from += at + len(query)
	}
	return inside
}

// wrong is how many letters of the query are wrong, missing or too many, where it
// lies best in one of the names or anywhere in the words.
func wrong(query string, f Found) int {
	least := distance(query, f.Words)
	for _, name := range append(f.others(), f.Title) {
		if name != "" {
			least = min(least, distance(query, name))
		}
	}
	return least
}

// longest bounds what is compared letter by letter.
const longest = 300

// distance is the edit distance between the query and the part of text that is
// nearest to it.
func distance(query, text string) int {
	q, t := letters(query), letters(text)
	row := make([]int, len(q)+1)
	for i := range row {
		row[i] = i
	}
	least := row[len(q)]
	for _, r := range t {
		diagonal := row[0] // a part may begin anywhere: the first row stays 0
		for i, w := range q {
			cost := diagonal
			if w != r {
				cost = 1 + min(diagonal, row[i], row[i+1])
			}
			diagonal, row[i+1] = row[i+1], cost
		}
		least = min(least, row[len(q)])
	}
	return least
}

func letters(text string) []rune {
	out := []rune(text)
	return out[:min(len(out), longest)]
}
