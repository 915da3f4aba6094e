package label

import (
	"strconv"
	"strings"
	"unicode"
)

// num is a number as a label writes it.
type num struct {
	pos, end int
	// value and last are plain digits with at most one point.
	value, last              string
	suffix, revision, part   string
	padded, grouped, letters bool
	// ordinal is true of a number that is a word of the title: the 2nd.
	ordinal bool
}

// kanji returns the value of a numeral written in Chinese characters.
func kanji(r rune) (int, bool) {
	if i := strings.IndexRune("零一二三四五六七八九", r); i >= 0 {
		return i / len("零"), true
	}
	switch r {
	case '〇':
		return 0, true
	case '十':
		return 10, true
	case '百':
		return 100, true
	case '千':
		return 1000, true
	}
	return 0, false
}

// circled returns the number in a circle.
func circled(r rune) (int, bool) {
	return int(r-'①') + 1, r >= '①' && r <= '⑳'
}

// digitsAt reads plain digits from i: at most eight, or they are no number.
func (s *scan) digitsAt(i int) (string, int) {
	j := i
	for digit(s.at(j)) {
		j++
	}
	if j == i || j-i > 8 {
		return "", j
	}
	return string(s.low[i:j]), j
}

// decimal reads a decimal from i: "12", "12.5", "024,005", "1,074", "7 ½".
func (s *scan) decimal(i int) (num, bool) {
	n := num{pos: i}
	if s.at(i) == '½' {
		n.value, n.end = "0.5", i+1
		return n, true
	}
	whole, j := s.digitsAt(i)
	if whole == "" {
		return n, false
	}
	n.padded = len(whole) > 1 && whole[0] == '0'
	n.value, n.end = whole, j
	point := s.at(j)
	if (point == '.' || point == ',') && digit(s.at(j+1)) {
		part, k := s.digitsAt(j + 1)
		switch {
		case s.at(k) == point && digit(s.at(k+1)) && !n.grouped:
			// 1.2.3 is a version or a sum of money.
			return n, false
		case part == "" || len(part) > 4:
			return n, point == ','
		case point == ',' && len(part) == 3 && len(whole) < 4 && whole[0] != '0':
			n.value, n.end, n.grouped = whole+part, k, true
		default:
			n.value, n.end = whole+"."+part, k
		}
	}
	if half := s.past(n.end, " "); s.at(half) == '½' && !strings.Contains(n.value, ".") && half-n.end < 2 {
		n.value, n.end = n.value+".5", half+1
	}
	return n, true
}

// numeral reads a number in Chinese characters or in a circle, or a decimal.
func (s *scan) numeral(i int) (num, bool) {
	if v, ok := circled(s.at(i)); ok {
		return num{pos: i, end: i + 1, value: strconv.Itoa(v)}, true
	}
	total, one, j := 0, -1, i
	for ; j < len(s.low) && j-i < 8; j++ {
		v, ok := kanji(s.low[j])
		if !ok {
			break
		}
		switch {
		case v >= 10:
			total += v * max(one, 1)
			if one == 0 {
				total -= v
			}
			one = -1
		case one >= 0:
			one = one*10 + v
		default:
			one = v
		}
	}
	if j > i {
		return num{pos: i, end: j, value: strconv.Itoa(total + max(one, 0))}, true
	}
	return s.decimal(i)
}

// number reads a number with what may hang on it: a letter, a word, a revision,
// the end of a range. Issues, after "#" or "Issue", may have whole words hang on
// them ("27AU", "78.BEY").
func (s *scan) number(i int, issue bool) (num, bool) {
	n, ok := s.decimal(i)
	if !ok {
		return n, false
	}
	s.hang(&n, issue)
	s.revise(&n)
	s.reach(&n)
	if r := s.at(s.past(n.end, " ")); r != 0 {
		if v, ok := circled(r); ok {
			n.part = strconv.Itoa(v)
		}
	}
	return n, true
}

// hang reads a letter or a word that tells the number from others of its value.
func (s *scan) hang(n *num, issue bool) {
	if strings.Contains(n.value, ".") {
		return
	}
	j, sep := n.end, s.at(n.end)
	if sep == '.' || sep == ',' || sep == '-' {
		j++
	}
	k := j
	for latin(s.at(k)) {
		k++
	}
	word := string(s.low[j:k])
	digits, special := "", false
	for _, w := range hanging() {
		if strings.HasPrefix(word, w.word) && sep != '-' && (word == w.word || strings.HasPrefix(word, w.word+"vol")) {
			digits, special = w.digits, true
		}
	}
	spaced := s.past(n.end, " ")
	if word == "" && spaced > n.end {
		for _, w := range hanging() {
			if e := spaced + len(w.word); s.has(spaced, w.word) && (e >= len(s.low) || s.has(e, "vol") && digit(s.at(e+3))) {
				if s.has(e, "vol") {
					_, e = s.digitsAt(e + 3)
				}
				n.value, n.suffix, n.end = n.value+"."+w.digits, w.word, e
				return
			}
		}
	}
	whole := !digit(s.at(k))
	switch {
	case special:
		n.value, n.suffix, n.end = n.value+"."+digits, word, k
	case len(word) == 1 && whole && word != "v" && word[0] <= 'i' && (sep == '.' || sep == ',' || sep == '-' || unicode.IsLower(s.orig[j])):
		n.value, n.suffix, n.end = n.value+"."+string('1'+rune(word[0]-'a')), word, k
	case issue && word != "" && whole && sep != '-' && sep != ',' && (sep == '.' || unicode.IsUpper(s.orig[j])) && len(word) < 12 && word[0] != 'v':
		n.suffix, n.end = string(s.orig[j:k]), k
	}
}

type hangs struct{ word, digits string }

// hanging are the words that make a chapter of their own of a number.
func hanging() []hangs {
	return []hangs{{"extra", "99"}, {"omake", "98"}, {"special", "97"}}
}

func latin(r rune) bool { return r >= 'a' && r <= 'z' }

// revise reads "v2" or "v.2" hanging on a number.
func (s *scan) revise(n *num) {
	if s.at(n.end) != 'v' {
		return
	}
	j := n.end + 1
	if s.at(j) == '.' {
		j++
	}
	if r, k := s.digitsAt(j); r != "" && !latin(s.at(k)) {
		n.revision, n.end = r, k
	}
}

// reach reads the end of a range, or the part of a chapter: 12-2 is 12.2, since
// no range runs backwards.
func (s *scan) reach(n *num) {
	gap := s.past(n.end, " ")
	if r := s.at(gap); r != '-' && r != '~' && r != '–' {
		return
	}
	j := s.past(gap+1, " ")
	spaced := gap > n.end || j > gap+1
	if s.at(j) == 'c' && !spaced {
		j = s.past(j, "ch.")
	}
	m, ok := s.decimal(j)
	if !ok || latin(s.at(m.end)) && s.at(m.end+1) != ' ' || m.padded && m.end-m.pos != n.end-n.pos && !strings.ContainsAny(m.value+n.value, ".") {
		return
	}
	before, after := atof(n.value), atof(m.value)
	end := s.past(m.end, " ")
	closed := end >= len(s.low) || strings.ContainsRune("()[]+{", s.low[end])
	switch {
	case after > before && (!spaced || closed):
		s.hang(&m, false)
		n.last, n.end = m.value, m.end
	case after <= before && !spaced && !m.padded && !strings.ContainsAny(m.value+n.value, ".") && len(m.value) < 3 && after > 0:
		n.value, n.end = n.value+"."+m.value, m.end
	}
}

func atof(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return f
}
