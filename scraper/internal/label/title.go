package label

import (
	"slices"
	"strings"
	"unicode"
)

// aside takes the word for a chapter out of line.
func (l *Label) aside(s *scan) {
	if l.Special != "" {
		return
	}
	for i := s.start; i < len(s.low); i++ {
		for _, a := range asides() {
			if s.has(i, a.word) && s.wordStart(i) {
				l.Special = a.means
				return
			}
		}
	}
}

// title is what follows the number. A label without one is its own title, and so
// is one that begins with words of its own; one that only repeats the Series' name
// has none.
func (s *scan) title(l Label) string {
	i, eaten := s.start, s.numberEnd == 0
	if !s.known && !eaten {
		i = s.number0
	}
	for moved := true; moved; {
		moved = false
		gap := i
		i = s.past(i, " -:.,、|#")
		if s.numberEnd > i && (i >= s.number0 || (s.at(i) == '(' || s.at(i) == '[') && s.number0 == i+1) {
			i, moved, eaten = s.numberEnd, true, true
			continue
		}
		for _, m := range s.marks {
			// A volume that is only set apart from the number by a blank belongs to
			// it, one behind a dash to the title.
			if m.pos == i && (m.kind == volume || m.kind == season) && (!eaten || l.Number == "" || strings.TrimSpace(string(s.low[gap:i])) == "") {
				i, moved = m.end, true
				break
			}
		}
	}
	if i > s.start && (s.at(i) == ')' || s.at(i) == ']') {
		i++
	}
	if l.Part != "" && !slices.ContainsFunc(s.low[min(i, len(s.low)):], unicode.IsLetter) {
		return "" // the part, and nothing else
	}
	return strings.Trim(strings.Join(strings.Fields(string(s.orig[min(i, len(s.orig)):])), " "), " \t-–—:：.,、_|")
}
