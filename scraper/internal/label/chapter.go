package label

import (
	"cmp"
	"slices"
	"strconv"

	"mangrove/scraper/internal/source"
)

// Fill sets the Number, Volume and Title of a chapter to what its label states.
// Nothing the label says is lost: where its words are no title, or it tells more
// than there is room for (a range, a part, a word such as "extra"), the label is
// the title, and a revision stands behind it.
func Fill(c *source.Chapter, series, shown string) {
	l := Parse(series, shown)
	c.Number, c.Volume, c.Title = l.Number, l.Volume, l.Title
	more := l.Special != "" || l.Last != "" || l.LastVolume != "" || l.Part != ""
	switch {
	case l.Number == "" && l.Volume == "", c.Title == "" && more:
		c.Title = shown
	case l.Revision != "" && c.Title == "":
		c.Title = "v" + l.Revision
	case l.Revision != "":
		c.Title += " (v" + l.Revision + ")"
	}
}

// far is how many times the highest number before it a number may be.
const far = 100

// Doubt takes back numbers that a label cannot have meant: more than a hundred
// times the highest of the rest of the list, when most of the list lies below.
// Glued to its title, chapter 216 "19th Floor" is 21619 (S-001). Such a chapter has
// no number, and its label as the title. shown are the labels by chapter id; a
// number that was read of none is believed.
func Doubt(chapters []source.Chapter, shown map[string]string) {
	var numbered []int
	for i, c := range chapters {
		if c.Number != "" {
			numbered = append(numbered, i)
		}
	}
	slices.SortStableFunc(numbered, func(a, b int) int { return cmp.Compare(value(chapters[a]), value(chapters[b])) })
	for at := 1; at < len(numbered); at++ {
		if value(chapters[numbered[at]]) <= far*max(value(chapters[numbered[at-1]]), 1) {
			continue
		}
		if len(numbered)-at <= at {
			for _, i := range numbered[at:] {
				if said, read := shown[chapters[i].ID]; read {
					chapters[i].Number, chapters[i].Title = "", said
				}
			}
		}
		return
	}
}

func value(c source.Chapter) float64 {
	n, _ := strconv.ParseFloat(c.Number, 64) // what source.Decimal returned
	return n
}
