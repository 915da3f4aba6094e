package label

import (
	"slices"
	"unicode"
)

// bareAt reads a number that no marker announces, standing by itself at i.
func (s *scan) bareAt(i int) (num, bool) {
	p := s.at(i - 1)
	if i >= len(s.low) || !digit(s.low[i]) && s.low[i] != '½' || s.dead[i] || s.used[i] || digit(p) || p == '$' || unicode.IsLetter(p) && p >= 0x250 {
		return num{}, false
	}
	prefixed := unicode.IsLetter(p)
	if p == '.' && digit(s.at(i-2)) || p == '-' && (i == 1 || i > s.start+1 && s.at(i-2) == ' ') && digit(s.low[i]) && s.at(i-3) != '-' {
		return num{}, false // the fraction of another, or a negative number
	}
	n, ok := s.number(i, false)
	if !ok || n.last == "" && s.at(n.end) == '-' && unicode.IsLetter(s.at(n.end+1)) {
		return num{}, false
	}
	if r := s.at(n.end); unicode.IsLetter(r) || r == '%' || r == '°' {
		return num{}, false
	}
	if prefixed {
		n.letters = true
	}
	return n, true
}

// lettersBefore returns the letters that a number hangs on: "sp" of "sp01".
func (s *scan) lettersBefore(i int) string {
	j := i
	for j > 0 && latin(s.low[j-1]) {
		j--
	}
	return string(s.low[j:i])
}

// bare returns the number that stands by itself and is the chapter's, or nil.
func (s *scan) bare() *num {
	var all []num
	from := max(s.start, s.leaf)
	for i := from; i < len(s.low); i++ {
		if s.round[i] || s.square[i] {
			continue
		}
		if n, ok := s.bareAt(i); ok {
			if !n.letters && !s.counted(n) {
				all = append(all, n)
			}
			i = max(n.end-1, i)
		}
	}
	if v := s.volumeMark(); v != nil && v.pos >= s.leaf {
		// Beside a volume only the number next to it is the chapter's: any other
		// is of a title.
		for i := range all {
			next := s.past(v.end, " -,.:") == all[i].pos || v.num.pos > all[i].pos && s.named && all[i].pos == s.past(s.start, " -:")
			if next {
				return &all[i]
			}
		}
		return nil
	}
	if len(all) == 0 {
		return nil
	}
	lead := all[0].pos == s.past(from, " .")
	switch {
	case s.known:
		return &all[0]
	case lead && (len(all) == 1 || s.parted(all[0].end)):
		return &all[0]
	}
	if lead && len(all) > 1 {
		all = all[1:]
	}
	// The name is not known and its digits stand first: a padded number is the
	// chapter's, else one that a separator or the end follows, else the last.
	if i := slices.IndexFunc(all, func(n num) bool { return n.padded }); i >= 0 {
		return &all[i]
	}
	if i := slices.IndexFunc(all, func(n num) bool { return s.parted(n.end) }); i >= 0 {
		return &all[i]
	}
	return &all[len(all)-1]
}

// counted reports whether n counts something else: "3 of 6", "Epilogue 3".
func (s *scan) counted(n num) bool {
	end := s.past(n.end, " ")
	if s.has(end, "of ") || s.has(n.pos-3, "of ") {
		return true
	}
	if !s.known {
		return false
	}
	for _, a := range asides() {
		w := []rune(a.word)
		if s.has(n.pos-1-len(w), a.word) && s.at(n.pos-1) == ' ' {
			return true
		}
	}
	return false
}

// parted reports whether a separator, a bracket or the end follows.
func (s *scan) parted(i int) bool {
	j := s.past(i, " ")
	r := s.at(j)
	return r == 0 || r == '(' || r == '[' || r == ':' || r == '-' && j > i
}

func (s *scan) volumeMark() *mark {
	var v *mark
	for i := range s.marks {
		if m := &s.marks[i]; (m.kind == volume || m.kind == season) && !s.square[m.pos] && (v == nil || v.pos < s.leaf) {
			v = m
		}
	}
	return v
}

// lastResort takes an ordinal ("The 2nd Night"), letters with their number
// ("SP01"), a lone number in brackets, or the first of "1 of 3".
func (s *scan) lastResort() *num {
	if s.volumeMark() != nil {
		return nil
	}
	var lettered *num
	for i := max(s.start, s.leaf); i < len(s.low); i++ {
		if !digit(s.low[i]) || digit(s.at(i-1)) || s.dead[i] || s.used[i] {
			continue
		}
		n, ok := s.decimal(i)
		if !ok {
			continue
		}
		two := string(s.low[n.end:min(n.end+2, len(s.low))])
		switch {
		case s.known && slices.Contains([]string{"st", "nd", "rd", "th"}, two) && !latin(s.at(n.end+2)) && s.wordStart(i):
			n.end, n.ordinal = n.end+2, true
			return &n
		case s.at(i-1) == '(' && s.at(n.end) == ')' && !year(n.value), s.at(i-1) == '(' && s.has(n.end, " of "):
			return &n
		case lettered == nil && latin(s.at(i-1)) && !s.wordStart(i) && i-len(s.lettersBefore(i)) >= 0 && len(s.lettersBefore(i)) <= 2 && s.wordStart(i-len(s.lettersBefore(i))) && s.parted(n.end):
			n.letters = true
			lettered = &n
		}
	}
	return lettered
}
