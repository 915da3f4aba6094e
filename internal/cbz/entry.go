package cbz

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/maruel/natural"
)

// Litter reports whether an entry is litter that zippers and file managers
// leave behind, or a folder.
func Litter(name string) bool {
	name = slashed(name)
	if name == "" || strings.HasSuffix(name, "/") {
		return true
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == ".." || part == ".": // UnsafeName has something to say on these
		case strings.HasPrefix(part, "."), part == "__MACOSX", part == "@eaDir",
			strings.EqualFold(part, "Thumbs.db"), strings.EqualFold(part, "desktop.ini"):
			return true
		}
	}
	return false
}

// UnsafeName says what is wrong with a name that would leave its folder if it
// were a path, or "".
func UnsafeName(name string) string {
	name = slashed(name)
	switch {
	case strings.HasPrefix(name, "/"):
		return "an absolute path"
	case len(name) >= 2 && name[1] == ':' && unicode.IsLetter(rune(name[0])):
		return "a drive"
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

// slashed is name with the backslashes of some Windows programs as slashes. In a
// name that is not UTF-8 one may be half of a character (Shift-JIS), so there it
// stays.
func slashed(name string) string {
	if !utf8.ValidString(name) {
		return name
	}
	return strings.ReplaceAll(name, `\`, "/")
}

// baseName is the last part of a name.
func baseName(name string) string {
	name = slashed(name)
	return name[strings.LastIndexByte(name, '/')+1:]
}

// ShownName is name as it may be stored and shown: valid UTF-8 without control
// and invisible characters.
func ShownName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(name, string(unicode.ReplacementChar)))
}

// CompareNames orders entries as people number them: folder by folder, "2"
// before "10", capitals set aside unless nothing else differs.
func CompareNames(a, b string) int {
	as, bs := strings.Split(strings.ToLower(slashed(a)), "/"), strings.Split(strings.ToLower(slashed(b)), "/")
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
