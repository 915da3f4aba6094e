package account

import (
	_ "embed" // for the list of common passwords
	"strings"
	"unicode"
	"unicode/utf8"
)

// common is a short list kept here by hand: what people type most. It is no
// substitute for the long lists of passwords that were stolen elsewhere, which
// cannot be had without fetching them; the rules below stand for what most of
// those lists consist of. docs/people.md says so, too.
//
//go:embed common.txt
var common string

// CheckPassword refuses what is too short, too long, the person's own name,
// among the passwords every guesser tries first, or made by a rule that takes a
// guesser no longer.
func CheckPassword(password, nameKey string) error {
	switch {
	case len(password) < MinPassword:
		return ErrShort
	case len(password) > MaxPassword:
		return ErrLong
	}
	folded := strings.ToLower(password)
	if folded == nameKey {
		return ErrCommon
	}
	for line := range strings.Lines(common) {
		if strings.TrimSpace(line) == folded {
			return ErrCommon
		}
	}
	if fresh(folded) < 4 || repeats(folded) || onlyDigits(folded) || madeOf(folded, nameKey) {
		return ErrGuessable
	}
	return nil
}

// keyRows are the rows of the usual keyboards, for fingers that walk along them.
func keyRows() []string {
	return []string{"1234567890", "qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "qsdfghjklm", "zxcvbnm", "yxcvbnm"}
}

// fresh counts the signs that do not merely go on from the one before: the same
// again, the next or last in the alphabet, or the neighbour on the keyboard.
func fresh(text string) int {
	n := 0
	var last rune
	for _, r := range text {
		if n == 0 || !goesOn(last, r) {
			n++
		}
		last = r
	}
	return n
}

func goesOn(a, b rune) bool {
	if b-a >= -1 && b-a <= 1 {
		return true
	}
	for _, row := range keyRows() {
		i, j := strings.IndexRune(row, a), strings.IndexRune(row, b)
		if i >= 0 && j >= 0 && j-i >= -1 && j-i <= 1 {
			return true
		}
	}
	return false
}

// repeats reports whether text is one short piece, of at most six signs, again
// and again, the last time perhaps cut off.
func repeats(text string) bool {
	for period := 1; period <= 6 && 2*period <= len(text); period++ {
		if text[period:] == text[:len(text)-period] {
			return true
		}
	}
	return false
}

// onlyDigits: twelve digits are more than all dates and telephone numbers.
func onlyDigits(text string) bool {
	return len(text) < 12 && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsDigit(r) })
}

// firstGuesses are the words a guesser tries with a year or a sign behind them in a
// place like this one.
func firstGuesses() []string {
	return []string{
		"mangrove", "mangas", "manga", "manhwa", "webtoon", "anime", "comics", "comic", "library", "reader", "administrator", "admin",
		"password", "passwort", "passwd", "pass", "secret", "welcome", "letmein", "login", "default", "changeme", "test", "guest", "user", "my", "the", "is",
	}
}

// madeOf reports whether nothing but such words and the person's own name stands
// between digits and marks, letters replaced by look-alike digits included.
func madeOf(text, nameKey string) bool {
	parts := strings.Fields(nameKey)
	words := append(firstGuesses(), append(parts, strings.Join(parts, ""))...)
	plain, leet := lettersOf(text), lettersOf(strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s").Replace(text))
	return spelled(plain, words) || spelled(leet, words)
}

func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, text)
}

// spelled reports whether letters is words of the list, one behind the other.
func spelled(letters string, words []string) bool {
	if letters == "" || utf8.RuneCountInString(letters) > 200 {
		return false
	}
	reached := make([]bool, len(letters)+1)
	reached[0] = true
	for i := range letters {
		if !reached[i] {
			continue
		}
		for _, w := range words {
			if w = lettersOf(w); w != "" && strings.HasPrefix(letters[i:], w) {
				reached[i+len(w)] = true
			}
		}
	}
	return reached[len(letters)]
}
