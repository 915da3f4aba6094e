package label

import (
	"strings"
	"unicode"
)

// prefixed finds the words that stand before a number.
func (s *scan) prefixed() {
	words := before()
	for i := s.start; i < len(s.low); i++ {
		for _, w := range words {
			if !s.has(i, w.word) {
				continue
			}
			if m, ok := s.after(i, w); ok {
				s.add(m)
				i = m.end - 1
				if e, ok := s.episode(m); ok {
					s.add(e)
					i = e.end - 1
				}
				break
			}
		}
	}
}

// episode reads what is glued to a season: the E05 of S02E05.
func (s *scan) episode(m mark) (mark, bool) {
	if m.word != "s" || s.at(m.end) != 'e' || !digit(s.at(m.end+1)) {
		return mark{}, false
	}
	n, ok := s.number(m.end+1, false)
	return mark{kind: chapter, pos: m.end, end: n.end, num: n, word: "e"}, ok
}

// after reads the number that w, found at i, stands before.
func (s *scan) after(i int, w wording) (mark, bool) {
	first, size := []rune(w.word)[0], len([]rune(w.word))
	if unicode.IsLetter(first) && !s.wordStart(i) {
		return mark{}, false
	}
	j := i + size
	switch {
	case w.word == "v" && s.at(j) == '.':
		j++
	case w.tight, w.word == "#" && s.at(j) == '-':
	default:
		// A word goes on with no letter of its own.
		if unicode.IsLetter(first) && unicode.IsLetter(s.at(j)) {
			return mark{}, false
		}
		j = s.past(j, " .,:#-")
		if s.at(j-1) == '-' && s.at(j-2) == ' ' && digit(s.at(j)) && w.kind == volume {
			return mark{}, false // "v1 -001"
		}
	}
	// "#B01": letters tell a run of its own from the others.
	lettered := w.word == "#" && latin(s.at(j)) && (digit(s.at(j+1)) || latin(s.at(j+1)) && digit(s.at(j+2)))
	for lettered && latin(s.at(j)) {
		j++
	}
	if s.at(j) != '½' && !digit(s.at(j)) || s.dead[j] {
		return mark{}, false
	}
	issue := w.kind == chapter && (w.word[0] == '#' || strings.HasPrefix(w.word, "issue"))
	n, ok := s.number(j, issue)
	if w.kind != chapter {
		n, ok = s.decimal(j)
		if w.kind == volume && ok {
			s.reach(&n)
			if n.last == "" {
				n, _ = s.decimal(j) // a volume has no parts
			}
		}
	}
	if !ok {
		return mark{}, false
	}
	if w.word == "c" && s.at(n.end) == 'c' || w.word == "c" && s.at(j+1) == 'c' || len(w.word) == 1 && w.word != "#" && latin(s.at(n.end)) && w.word != "c" && w.word != "n" && (w.word != "s" || s.at(n.end) != 'e') {
		return mark{}, false
	}
	if s.at(n.end) == 'd' && unicode.IsUpper(s.orig[n.end]) && !unicode.IsLetter(s.at(n.end+1)) {
		return mark{}, false // "3D" is a word
	}
	n.letters = lettered
	return mark{kind: w.kind, pos: i, end: n.end, num: n, short: size == 1, word: w.word}, true
}

// classified finds the words that stand behind a number: 第12話, 12화, 2 Глава.
func (s *scan) classified() {
	words := behind()
	for i := s.start; i < len(s.low); i++ {
		head := i
		framed := s.low[i] == '第' || s.low[i] == '제'
		j := i
		if framed {
			j = s.past(i+1, " #")
		}
		if s.used[min(j, len(s.low)-1)] || !framed && (digit(s.at(i-1)) || s.at(i-1) == '.' && digit(s.at(i-2)) || !digit(s.at(i)) && !cjkNumeral(s.at(i))) {
			continue
		}
		n, ok := s.numeral(j)
		if !ok {
			continue
		}
		if digit(s.at(j)) {
			s.reach(&n)
		}
		k, loose := n.end, s.past(n.end, " .")
		found := false
		for _, w := range words {
			at := loose
			if w.tight {
				at = s.past(k, " ")
				if at > k && !framed {
					continue
				}
			}
			e := at + len([]rune(w.word))
			if !s.has(at, w.word) || unicode.IsLetter(s.at(e)) && s.at(e) < 0x2e80 {
				continue
			}
			if w.kind != pages && !framed && cjkNumeral(s.at(j)) {
				continue // a phrase, not a count
			}
			m := mark{kind: w.kind, pos: head, end: e, num: n, word: w.word}
			s.follow(&m)
			s.add(m)
			i, found = e-1, true
			break
		}
		if !found && framed && digit(s.at(j)) && s.past(k, " ") >= len(s.low) {
			s.add(mark{kind: chapter, pos: head, end: k, num: n, word: "第"})
		}
		if !found && n.end > i {
			i = n.end - 1
		}
	}
}

// follow reads the part that may follow a classifier: 第1話-①, 第8話（2）, 第1章-1.
func (s *scan) follow(m *mark) {
	if m.kind != chapter {
		return
	}
	j := s.past(m.end, " -(")
	if j == m.end {
		if _, ok := circled(s.at(j)); !ok {
			return
		}
	}
	n, ok := s.numeral(j)
	if ok && (s.at(n.end) == 0 || s.at(n.end) == ')' || s.at(n.end) == ' ' && s.at(j-1) == '-') && !strings.Contains(n.value, ".") {
		m.num.part = n.value
	}
}

func cjkNumeral(r rune) bool {
	_, ok := kanji(r)
	return ok
}

func (s *scan) add(m mark) {
	for i := m.pos; i < m.end && i < len(s.used); i++ {
		s.used[i] = true
	}
	s.marks = append(s.marks, m)
}
