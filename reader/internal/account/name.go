package account

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxName is in characters, as a person counts.
const maxName = 40

// FoldName returns the name as it is shown and the key it is compared by: two
// spellings of one name (case, width, composed or not) have one key.
func FoldName(name string) (display, key string, err error) {
	display = strings.Join(strings.Fields(norm.NFC.String(name)), " ")
	if display == "" || !utf8.ValidString(name) || utf8.RuneCountInString(display) > maxName {
		return "", "", ErrName
	}
	for _, r := range display {
		// Format and control characters would make two names that look alike.
		if !unicode.IsPrint(r) {
			return "", "", ErrName
		}
	}
	// Lower case may undo the normal form (and NFKC may yield capitals), so both
	// are applied until neither changes anything; two rounds always suffice.
	key = display
	for range 2 {
		key = strings.ToLower(norm.NFKC.String(key))
	}
	key = strings.Join(strings.Fields(norm.NFKC.String(key)), " ")
	if key == "" {
		return "", "", ErrName
	}
	return display, key, nil
}
