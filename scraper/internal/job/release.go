package job

import (
	"strings"

	"mangrove/scraper/internal/source"
)

// Held is a release that the library has.
type Held struct {
	source.Chapter
	// Path is its file's, relative to the library.
	Path string
}

// Planned is a chapter that a Job is for.
type Planned struct {
	source.Chapter
	// Replaces is the path of the file that goes once this one is published, or "".
	Replaces string
}

// Choose returns which of the chapters that the library lacks are fetched, in
// their order. Several releases of one chapter are all kept unless the operator
// has said whose are preferred, best first: then one is, and a better one takes
// the place of the file of a lesser one. A later release of the same groups takes
// the place of the earlier one in any case (C21).
func Choose(lacking []source.Chapter, held []Held, preferred []string) (out []Planned) {
	for _, c := range lacking {
		if p, wanted := choose(c, lacking, held, preferred); wanted {
			out = append(out, p)
		}
	}
	return out
}

func choose(c source.Chapter, lacking []source.Chapter, held []Held, preferred []string) (Planned, bool) {
	p := Planned{Chapter: c}
	for i, rival := range lacking {
		if rival.ID != c.ID && oneChapter(rival, c) && (beats(rival, c, preferred) || (!beats(c, rival, preferred) && stated(preferred) && before(lacking, i, c))) {
			return p, false
		}
	}
	for _, h := range held {
		switch {
		case h.ID == c.ID:
			// The file lacks pages that are asked for again.
			p.Replaces = h.Path
		case !oneChapter(h.Chapter, c):
		case beats(c, h.Chapter, preferred):
			p.Replaces = h.Path
		case beats(h.Chapter, c, preferred), stated(preferred):
			return p, false
		}
	}
	return p, true
}

// stated reports whether the operator has a preference: only then is one release
// of a chapter enough.
func stated(preferred []string) bool { return len(preferred) > 0 }

// before reports whether the release at i comes before c in the list.
func before(list []source.Chapter, i int, c source.Chapter) bool {
	for j, x := range list {
		if x.ID == c.ID {
			return i < j
		}
	}
	return false
}

// oneChapter reports whether two releases are of one chapter: a chapter without a
// number is like no other.
func oneChapter(a, b source.Chapter) bool {
	return a.Number != "" && a.Number == b.Number && a.Volume == b.Volume && strings.EqualFold(a.Language, b.Language)
}

// beats reports whether release a is wanted rather than b: its groups are preferred
// to b's, or it is a later release of the same ones.
func beats(a, b source.Chapter, preferred []string) bool {
	ra, rb := rank(a, preferred), rank(b, preferred)
	if ra != rb {
		return ra < rb
	}
	return len(a.Groups) > 0 && equalGroups(a.Groups, b.Groups) && a.Published.After(b.Published) && !b.Published.IsZero()
}

// rank is the place of the best preferred group that a release is by; those by none
// share the last.
func rank(c source.Chapter, preferred []string) int {
	for i, p := range preferred {
		for _, g := range c.Groups {
			if strings.EqualFold(g, p) {
				return i
			}
		}
	}
	return len(preferred)
}

func equalGroups(a, b []string) bool {
	has := func(list []string, g string) bool {
		for _, x := range list {
			if x == g {
				return true
			}
		}
		return false
	}
	for _, g := range a {
		if !has(b, g) {
			return false
		}
	}
	return len(a) == len(b)
}
