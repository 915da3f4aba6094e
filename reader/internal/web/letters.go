package web

import (
	"context"

	"mangrove/reader/internal/catalog"
)

// mostStops is how many entries the rail of letters has at most, unless a library is
// in very many scripts: one for signs, the alphabet, and a few more.
const mostStops = 34

// stop is one entry of the rail of letters: where it leads for everybody, and what the
// script fetches instead.
type stop struct {
	Label       string
	Number      int
	Href, Fetch string
	Current     bool
}

// rail are the letters of a view by title that goes on behind its first block.
func (s *Server) rail(ctx context.Context, userID int64, q libraryQuery, ask catalog.ShelfQuery, b blockView) ([]stop, error) {
	if q.Sort != catalog.SortTitle || b.Page == "" && !q.From.Set {
		return nil, nil
	}
	numbers, err := s.Shelves.ShelfLetters(ctx, userID, ask)
	if err != nil {
		return nil, err
	}
	stops := catalog.Rail(numbers, mostStops)
	if len(stops) < 2 {
		return nil, nil
	}
	out := make([]stop, len(stops))
	here := 0
	for i, l := range stops {
		at := catalog.Place{Set: l.Start != "", Order: l.Start}
		from := q
		from.From = at
		out[i] = stop{Label: l.Label, Number: l.Number, Href: from.address(), Fetch: q.blockAddress(at, catalog.Place{})}
		if len(b.Tiles) > 0 && l.Number <= b.Tiles[0].Letter {
			here = i
		}
	}
	out[here].Current = true
	return out, nil
}
