package label

import "slices"

// deaden marks what looks like a number and is none: dates, times, years with
// their sign, money, numbers that go on with a letter.
func (s *scan) deaden() {
	for i := 0; i < len(s.low); i++ {
		if !digit(s.low[i]) || digit(s.at(i-1)) {
			continue
		}
		if end := s.noNumber(i); end > i {
			for ; i < end && i < len(s.dead); i++ {
				s.dead[i] = true
			}
			i--
		}
	}
}

// noNumber returns where the date or the like that begins at i ends, or i.
func (s *scan) noNumber(i int) int {
	a, j := s.digitsAt(i)
	sep := s.at(j)
	b, k := s.digitsAt(j + 1)
	c, l := "", k
	if s.at(k) == sep {
		c, l = s.digitsAt(k + 1)
	}
	switch {
	case len(a) == 8 && year(a[:4]) && month(a[4:6]) && a[6:] >= "01" && a[6:] <= "31":
		return j
	case sep == '年', sep == '月', sep == '日', sep == '時', sep == '歳':
		return j
	case sep == '월' || sep == '년':
		return j
	case sep == ':' && len(b) == 2 && len(a) <= 2 && s.at(j+1) != ' ':
		return max(k, l)
	case (sep == '-' || sep == '.' || sep == '/') && year(a) && month(b) && (c == "" && sep == '-' || len(c) == 2):
		return max(k, l)
	case (sep == '-' || sep == '.' || sep == '/') && len(a) <= 2 && len(b) <= 2 && a != "" && b != "" && year(c):
		return l
	case sep == '/' && b != "" && len(b) <= 3 && (s.at(i-1) == '(' || s.at(i-1) == '['):
		return k
	case a != "" && s.monthBefore(i):
		return j
	case s.at(i-1) == '$', s.at(i-1) == '\'', s.at(i-1) == '’':
		return j
	}
	return i
}

func year(s string) bool { return len(s) == 4 && (s[:2] == "19" || s[:2] == "20") }

func month(s string) bool { return len(s) == 2 && s >= "01" && s <= "12" }

// monthBefore reports whether a month's name stands before i.
func (s *scan) monthBefore(i int) bool {
	j := i
	for j > 0 && (s.low[j-1] == ' ' || s.low[j-1] == ',') {
		j--
	}
	if j == i {
		return false
	}
	k := j
	for k > 0 && latin(s.low[k-1]) {
		k--
	}
	return slices.Contains([]string{"january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december"}, string(s.low[k:j]))
}
