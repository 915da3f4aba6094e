package cbz

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/maruel/natural"
)

// skipped reports whether an entry is litter that zippers and file managers
// leave behind, or a folder.
func skipped(name string) bool {
	if name == "" || strings.HasSuffix(name, "/") {
		return true
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == ".." || part == ".": // unsafeName has something to say on these
		case strings.HasPrefix(part, "."), part == "__MACOSX", part == "@eaDir",
			strings.EqualFold(part, "Thumbs.db"), strings.EqualFold(part, "desktop.ini"):
			return true
		}
	}
	return false
}

// unsafeName says what is wrong with a name that would leave its folder if it
// were a path, or "". In a name that is not UTF-8 a backslash may be half of a
// character (Shift-JIS), so there it is no evidence.
func unsafeName(name string) string {
	switch {
	case strings.HasPrefix(name, "/"):
		return "an absolute path"
	case len(name) >= 2 && name[1] == ':' && unicode.IsLetter(rune(name[0])):
		return "a drive"
	case utf8.ValidString(name) && strings.Contains(name, `\`):
		return "a backslash"
	case strings.ContainsRune(name, 0):
		return "a NUL byte"
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "a step out of its folder"
		}
	}
	return ""
}

// shownName is name as it may be stored and shown: valid UTF-8 without control
// and invisible characters.
func shownName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(name, string(unicode.ReplacementChar)))
}

// compareNames orders entries as people number them: folder by folder, "2"
// before "10", capitals set aside unless nothing else differs.
func compareNames(a, b string) int {
	as, bs := strings.Split(strings.ToLower(a), "/"), strings.Split(strings.ToLower(b), "/")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			if natural.Less(as[i], bs[i]) {
				return -1
			}
			if natural.Less(bs[i], as[i]) {
				return 1
			}
		}
	}
	return cmp.Or(cmp.Compare(len(as), len(bs)), cmp.Compare(a, b))
}
