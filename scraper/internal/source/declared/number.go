package declared

import (
	"regexp"
	"strings"

	"mangrove/scraper/internal/source"
)

var (
	volumeIn  = regexp.MustCompile(`(?i)\bvol(?:ume)?[.\s]*(\d+(?:\.\d+)?)`)
	chapterIn = regexp.MustCompile(`(?i)(?:\b(?:chapter|chap|ch|episode|ep)[.\s]*|#)(\d+(?:\.\d+)?)`)
	leading   = regexp.MustCompile(`^(\d+(?:\.\d+)?)(?:\s|:|$)`)
)

// number reads what a Site writes for a chapter: a plain number, or a label that
// names a chapter, a volume or both. What it does not find is "".
func number(label string) (number, volume string) {
	label = strings.TrimSpace(label)
	if n, ok := source.Decimal(label); ok {
		return n, ""
	}
	take := func(re *regexp.Regexp) string {
		if m := re.FindStringSubmatch(label); m != nil {
			n, _ := source.Decimal(m[1])
			return n
		}
		return ""
	}
	number, volume = take(chapterIn), take(volumeIn)
	if number == "" && volume == "" {
		number = take(leading)
	}
	return number, volume
}
