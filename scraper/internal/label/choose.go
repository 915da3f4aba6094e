package label

import (
	"strings"

	"mangrove/scraper/internal/source"
)

// volume takes the first volume that is named; a short one behind the chapter is
// a revision of it, unless it stands in round brackets.
func (l *Label) volume(s *scan) {
	chapterAt := -1
	var found, late *mark
	for i := range s.marks {
		m := &s.marks[i]
		switch {
		case m.kind == chapter && chapterAt < 0:
			chapterAt = m.pos
		case m.kind == season && l.Season == "":
			l.Season = plainDecimal(m.num.value)
		case m.kind != volume:
		case m.word == "v" && (s.square[m.pos] || chapterAt >= 0 && !s.round[m.pos]):
			if l.Revision == "" && chapterAt >= 0 {
				l.Revision = plainDecimal(m.num.value)
			}
		case m.pos < s.leaf:
			late = m
		case found == nil:
			found = m
		}
	}
	if found == nil {
		found = late
	}
	if found != nil {
		l.Volume, l.LastVolume = plainDecimal(found.num.value), plainDecimal(found.num.last)
		return
	}
	for _, m := range s.marks {
		if m.kind == season && (chapterAt < 0 || m.pos < chapterAt) {
			l.Volume = plainDecimal(m.num.value)
			return
		}
	}
}

// plainDecimal is s as source.Decimal gives it, or "".
func plainDecimal(s string) string {
	d, ok := source.Decimal(s)
	if !ok {
		return ""
	}
	return d
}

// chapter takes the number of the chapter.
func (l *Label) chapter(s *scan) {
	n, m := s.chosen()
	if n == nil {
		l.partOf(s)
		return
	}
	l.Number, l.Last = plainDecimal(n.value), plainDecimal(n.last)
	l.Suffix = n.suffix
	if n.revision != "" {
		l.Revision = plainDecimal(n.revision)
	}
	if n.part != "" {
		l.Part = plainDecimal(n.part)
	}
	if !n.ordinal {
		s.number0, s.numberEnd = n.pos, n.end
	}
	if m != nil {
		s.number0, s.numberEnd = m.pos, m.end
	}
	if n.letters {
		letters := s.lettersBefore(n.pos)
		l.Special = strings.ToUpper(letters)
		s.number0 = min(s.number0, n.pos-len(letters))
	}
	l.partOf(s)
}

// partOf takes the part that is named; a label that names nothing else counts by
// it. "3 of 6" is a part too, unless it was all there is.
func (l *Label) partOf(s *scan) {
	for _, m := range s.marks {
		if m.kind != part {
			continue
		}
		if l.Part == "" {
			l.Part = plainDecimal(m.num.value)
		}
		if l.Number == "" && l.Volume == "" && m.pos == s.past(s.start, " -:") && m.end == len(s.low) {
			l.Number, l.Part = l.Part, ""
			s.number0, s.numberEnd = m.pos, m.end
		}
		return
	}
	for i := s.start; i < len(s.low) && l.Part == ""; i++ {
		if !digit(s.low[i]) || digit(s.at(i-1)) || s.used[i] || s.dead[i] || i >= s.number0 && i < s.numberEnd {
			continue
		}
		if n, ok := s.decimal(i); ok && s.has(s.past(n.end, " ("), "of ") && digit(s.at(s.past(n.end, " (of"))) {
			l.Part = plainDecimal(n.value)
		}
	}
}

// chosen returns the number of the chapter with its marker, if it has one.
func (s *scan) chosen() (*num, *mark) {
	if s.named {
		if n, ok := s.bareAt(s.past(s.start, " -:,.~")); ok && !s.round[n.pos] && !s.square[n.pos] {
			return &n, nil
		}
	}
	m := s.marker()
	if m != nil && m.pos >= s.leaf {
		return &m.num, m
	}
	if n := s.bare(); n != nil {
		return n, nil
	}
	if m != nil {
		return &m.num, m
	}
	return s.lastResort(), nil
}

// marker returns the first marker of a chapter: outside brackets if there is one,
// and in a file's name in its last part. Where the Series' name is unknown, "Episode
// 3" may be of it, so a padded issue number behind is believed more.
func (s *scan) marker() *mark {
	var best *mark
	better := func(m *mark) bool {
		inside := func(m *mark) bool { return s.round[m.pos] || s.square[m.pos] }
		switch {
		case best == nil:
			return true
		case (m.pos >= s.leaf) != (best.pos >= s.leaf):
			return m.pos >= s.leaf
		case inside(m) != inside(best):
			return inside(best)
		}
		return !s.known && m.word == "#" && m.num.padded && best.word != "#" && !best.num.padded && strings.HasPrefix(best.word, "ep")
	}
	for i := range s.marks {
		if m := &s.marks[i]; m.kind == chapter && better(m) {
			best = m
		}
	}
	return best
}
