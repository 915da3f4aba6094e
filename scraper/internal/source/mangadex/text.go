package mangadex

import (
	"regexp"
	"strings"
	"unicode"
)

// Bounds of what people wrote, in runes.
const (
	maxLine = 500
	maxText = 10_000
)

// oneLine is s without control characters, on one line.
func oneLine(s string) string { return clip(strings.Join(strings.Fields(printable(s)), " "), maxLine) }

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// The little Markdown that descriptions are written in. A link keeps its words,
// emphasis its text; rules go.
var (
	link     = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)`)
	emphasis = regexp.MustCompile(`(\*\*\*|\*\*|__|~~)(\S(?:.*?\S)?)(\*\*\*|\*\*|__|~~)`)
	rule     = regexp.MustCompile(`(?m)^[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*$`)
	heading  = regexp.MustCompile(`(?m)^[ \t]{0,3}#{1,6}[ \t]+`)
	blank    = regexp.MustCompile(`\n\s*\n\s*`)
)

// plain is a description as plain text: its paragraphs, none of its marks.
func plain(s string) string {
	s = printable(strings.ReplaceAll(clip(s, 2*maxText), "\r\n", "\n"))
	s = rule.ReplaceAllString(s, "")
	s = heading.ReplaceAllString(s, "")
	s = link.ReplaceAllString(s, "$1")
	s = emphasis.ReplaceAllString(s, "$2")
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	s = blank.ReplaceAllString(strings.Join(lines, "\n"), "\n\n")
	return clip(strings.TrimSpace(s), maxText)
}

// language is the BCP 47 tag of one of the Site's codes, a few of which are its own.
func language(code string) string {
	code = oneLine(code)
	base, region, ok := strings.Cut(code, "-")
	switch {
	case len(code) > 35:
		// Longer than any tag: it says nothing.
		return "und"
	case !ok:
		return code
	case region == "ro":
		// Written in Latin letters, not spoken in Romania.
		return base + "-Latn"
	case code == "es-la":
		return "es-419"
	case len(region) == 2:
		return base + "-" + strings.ToUpper(region)
	}
	return code
}
