package cbz

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxName is the largest name in bytes. File systems take 255; the rest is room
// for the suffix of a temporary file.
const MaxName = 200

// FolderName returns the name of the folder of a Series (PUB-5): its title made
// legal on Linux, macOS, Windows and SMB, and a short hash of key, so that two
// Series never share a folder however alike their titles are. key is the Site,
// a NUL and the Site's own id of the Series. The name is a function of title
// and key; whoever publishes keeps the first one when the title changes.
func FolderName(title, key string) string {
	tail := " [" + shortHash(key) + "]"
	return finish(clip(orUntitled(title), MaxName-len(tail)-1) + tail)
}

// ChapterName returns the file name of a chapter: "Series - v01 c003 - Title
// [9ab34c12].cbz". number and volume are as the Site gives them and may be
// empty, "10.5" or no number at all; an empty title is left out. key is that of
// FolderName, another NUL and the Site's own id of the chapter.
func ChapterName(seriesTitle, number, volume, title, key string) string {
	tail := " [" + shortHash(key) + "].cbz"
	var place []string
	if v := padded(volume, 2); v != "" {
		place = append(place, "v"+v)
	}
	if c := padded(number, 3); c != "" {
		place = append(place, "c"+c)
	}
	name := clip(orUntitled(seriesTitle), 90)
	if len(place) > 0 {
		name += " - " + strings.Join(place, " ")
	}
	if t := clip(clean(title), MaxName-len(tail)-len(name)-len(" - ")-1); t != "" {
		name += " - " + t
	}
	return finish(name + tail)
}

// padded cleans a number and fills its whole part with zeros to digits, so that
// files sort; what is no plain number stays a text, at most 20 bytes of it.
func padded(number string, digits int) string {
	s := clip(clean(number), 20)
	whole, _, _ := strings.Cut(s, ".")
	for _, r := range whole {
		if r < '0' || r > '9' {
			return s
		}
	}
	if whole == "" {
		return s
	}
	return strings.Repeat("0", max(0, digits-len(whole))) + s
}

func orUntitled(title string) string {
	if s := clean(title); s != "" {
		return s
	}
	return "Untitled"
}

// clean makes text legal inside a name: NFC, no reserved, control, invisible or
// private characters, single spaces, nothing odd at either end.
func clean(text string) string {
	var b strings.Builder
	marks := 0
	for _, r := range norm.NFC.String(strings.ToValidUTF8(text, "")) {
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case marks > 8: // no script stacks this many on one letter
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case r == '/', r == '\\', r == '|', r == ':':
			b.WriteByte('-')
		case r == '"':
			b.WriteByte('\'')
		case strings.ContainsRune("*?<>", r):
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs), r == unicode.ReplacementChar, r&0xfffe == 0xfffe:
			// Bidi marks change what a person reads; SMB keeps its escapes in the private area.
		default:
			b.WriteRune(r)
		}
	}
	// Dropping a character may have let its neighbours combine.
	s := norm.NFC.String(strings.Join(strings.Fields(b.String()), " "))
	// A leading dot hides, a leading dash reads as an option, "~" as a home, and
	// a leading mark would combine with whatever is put before.
	s = strings.TrimLeftFunc(s, func(r rune) bool { return strings.ContainsRune(". -~", r) || unicode.Is(unicode.M, r) })
	return strings.TrimRight(s, ". ")
}

// clip cuts s to at most n bytes between two runes, never leaving a dot or a
// space at the end.
func clip(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if len(s) > n {
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	return strings.TrimRight(s, ". ")
}

// finish keeps a whole name off the devices of Windows, which are reserved with
// any ending: everything after the first dot is one. It costs one byte, which
// the callers leave free.
func finish(name string) string {
	stem, _, _ := strings.Cut(name, ".")
	switch stem = strings.ToUpper(strings.TrimRight(stem, " ")); stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return "_" + name
	}
	if rest, ok := strings.CutPrefix(stem, "COM"); ok && devicePort(rest) {
		return "_" + name
	}
	if rest, ok := strings.CutPrefix(stem, "LPT"); ok && devicePort(rest) {
		return "_" + name
	}
	return name
}

// devicePort is true for the digits of COM1 and LPT1, superscript ones too.
func devicePort(s string) bool {
	return utf8.RuneCountInString(s) == 1 && strings.Contains("0123456789¹²³", s)
}

// shortHash is the first eight hex digits of the SHA-256 of key.
func shortHash(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:4])
}
