package label

import (
	"slices"
	"strings"
	"unicode"
)

// plain is r as the scanner reads it, always one rune for one: full-width forms
// and digits of any script become ASCII, letters small, dashes and blanks one
// kind each.
func plain(r rune) rune {
	switch {
	case r >= 0xff01 && r <= 0xff5e:
		r -= 0xfee0
	case r >= 0x2010 && r <= 0x2015, r == 0x2212, r == '〜', r == '～':
		return '-'
	case r == '_', r == 0x3000, unicode.IsSpace(r), unicode.IsControl(r):
		return ' '
	case r == '【', r == '［', r == '〔', r == '「', r == '『':
		return '('
	case r == '】', r == '］', r == '〕', r == '」', r == '』':
		return ')'
	case r > unicode.MaxASCII && unicode.Is(unicode.Nd, r):
		// Digits of a script stand together, from zero to nine.
		zero := r
		for zero > r-9 && unicode.Is(unicode.Nd, zero-1) {
			zero--
		}
		return '0' + (r-zero)%10
	}
	if r == '_' {
		return ' '
	}
	return unicode.ToLower(r)
}

func plainly(s []rune) []rune {
	out := make([]rune, len(s))
	for i, r := range s {
		out[i] = plain(r)
	}
	return out
}

// scan is a label being read. orig and low are the label rune for rune.
type scan struct {
	orig, low []rune
	// round and square are true for runes within such brackets; dead for those
	// that belong to a date, a time, a count of pages; used for those of a marker.
	round, square, dead, used []bool
	// start is where the label goes on after the Series' own name; named is true
	// if it begins with it, known if the name is known at all.
	start        int
	named, known bool
	// leaf is where the last part of a file's name begins.
	leaf int
	// number0 and numberEnd enclose what the number was read from.
	number0, numberEnd int
	marks              []mark
}

func newScan(series, label string) *scan {
	s := &scan{orig: []rune(strings.TrimSpace(bound(label)))}
	s.low = plainly(s.orig)
	s.fileName()
	n := len(s.low)
	s.round, s.square, s.dead, s.used = make([]bool, n), make([]bool, n), make([]bool, n), make([]bool, n)
	s.brackets()
	name := plainly([]rune(strings.TrimSpace(bound(series))))
	s.known = len(name) > 0
	if s.known && n >= len(name) && slices.Equal(s.low[:len(name)], name) && !(n > len(name) && joined(name[len(name)-1], s.low[len(name)])) {
		s.start, s.named = len(name), true
	}
	return s
}

// joined reports whether b goes on with the word or number that a ends.
func joined(a, b rune) bool {
	return digit(a) && digit(b) || unicode.IsLetter(a) && unicode.IsLetter(b) && a < 0x2e80
}

// endings are of files; a label with one is a file's name, perhaps with folders.
func endings() []string {
	return []string{".cbz", ".cbr", ".cb7", ".cbt", ".zip", ".rar", ".7z", ".pdf", ".epub", ".jpg", ".jpeg", ".png", ".webp"}
}

// fileName drops the ending of a file's name. Its last part is looked at first:
// the folders before it repeat the ranges of whole runs.
func (s *scan) fileName() {
	for _, e := range endings() {
		end := []rune(e)
		if len(s.low) > len(end) && slices.Equal(s.low[len(s.low)-len(end):], end) {
			s.low, s.orig = s.low[:len(s.low)-len(end)], s.orig[:len(s.low)-len(end)]
			s.leaf = 1 + lastIndex(s.low, '/')
			return
		}
	}
}

func lastIndex(s []rune, r rune) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == r {
			return i
		}
	}
	return -1
}

// brackets marks what stands in brackets. An opened one that is never closed
// reaches to the end.
func (s *scan) brackets() {
	round, square := 0, 0
	for i, r := range s.low {
		switch r {
		case '(', '{':
			round++
		case '[':
			square++
		}
		s.round[i], s.square[i] = round > 0, square > 0
		switch r {
		case ')', '}':
			round = max(round-1, 0)
		case ']':
			square = max(square-1, 0)
		}
	}
}

func digit(r rune) bool { return r >= '0' && r <= '9' }

// at returns the rune at i, or 0 outside the label.
func (s *scan) at(i int) rune {
	if i < 0 || i >= len(s.low) {
		return 0
	}
	return s.low[i]
}

// has reports whether word stands at i.
func (s *scan) has(i int, word string) bool {
	for _, r := range word {
		if s.at(i) != r {
			return false
		}
		i++
	}
	return true
}

// past returns the first place from i on that is none of what.
func (s *scan) past(i int, what string) int {
	for n := 0; i < len(s.low) && n < 8 && strings.ContainsRune(what, s.low[i]); i, n = i+1, n+1 {
		continue
	}
	return i
}

// wordStart reports whether a word of Latin, Greek, Cyrillic or the like may
// begin at i. Scripts without blanks between words have no such rule.
func (s *scan) wordStart(i int) bool {
	p := s.at(i - 1)
	return !unicode.IsLetter(p) && !digit(p) || p >= 0x2e80
}
