package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/progress"
)

// How much Home shows.
const (
	homeContinue = 5
	homeRail     = 20
)

// resume is one title to go on with.
type resume struct {
	Href, Cover string
	// Picture is the page to go on with: the one that is wanted next anyway.
	Picture    string
	Name, Line string
	Left       string
	Percent    int
}

type homeView struct {
	Frame
	Hero   *resume
	Rows   []resume
	New    []tile
	Recent []tile
	// Library stands in for all of it while nothing is there.
	Library libraryView
	Empty   bool
}

func (s *Server) home(w http.ResponseWriter, r *http.Request) error {
	v, err := s.homeView(r.Context(), who(r).ID)
	if err != nil {
		return err
	}
	v.Frame = s.frame(r, s.say(r.Context()).T("Home"), "home")
	v.Frame.Live = "/events?view=home"
	v.Library.Frame = v.Frame
	s.render(w, r, http.StatusOK, "home", v)
	return nil
}

func (s *Server) homeView(ctx context.Context, userID int64) (homeView, error) {
	v, say := homeView{}, s.say(ctx)
	cards, err := s.Shelves.Shelf(ctx, userID)
	if err != nil {
		return v, err
	}
	if len(cards) == 0 {
		v.Empty = true
		v.Library, err = s.libraryView(ctx, userID, libraryQuery{Sort: catalog.SortTitle})
		return v, err
	}
	byID := map[int64]catalog.Card{}
	for _, c := range cards {
		if c.TitleID != 0 {
			byID[c.TitleID] = c
		}
	}
	if err := s.continueReading(ctx, userID, byID, &v); err != nil {
		return v, err
	}
	// Announced chapters come first; the catalog adds what arrived without word.
	if v.New, err = s.announced(ctx, userID, cards, time.Now()); err != nil {
		return v, err
	}
	railed := map[string]bool{}
	for _, t := range v.New {
		railed[t.Key] = true
	}
	news := slices.Clone(cards)
	slices.SortStableFunc(news, func(a, b catalog.Card) int { return b.Newest.Compare(a.Newest) })
	for _, c := range news {
		if !c.Following || c.Unread == 0 || len(v.New) == homeRail || railed[cardKey(c)] {
			continue
		}
		t := say.tileOf(c)
		books, err := s.Shelves.Shelved(ctx, c.TitleID, userID)
		if err != nil {
			return v, err
		}
		for _, b := range books {
			if b.Here() && !b.Place.Finished {
				t.Href = readAddress(b.ID, b.Place.Page)
				t.Meta = upperFirst(say.chapterName(b.Number, b.Name))
				break
			}
		}
		v.New = append(v.New, t)
	}
	slices.SortStableFunc(cards, func(a, b catalog.Card) int {
		return cmp.Or(b.AddedAt.Compare(a.AddedAt), cmp.Compare(a.TitleID, b.TitleID))
	})
	for _, c := range cards[:min(len(cards), homeRail)] {
		v.Recent = append(v.Recent, say.tileOf(c))
	}
	return v, nil
}

func (s *Server) continueReading(ctx context.Context, userID int64, cards map[int64]catalog.Card, v *homeView) error {
	ids, err := s.Shelves.RecentTitles(ctx, userID, 3*homeContinue)
	if err != nil {
		return err
	}
	for _, id := range ids {
		c, ok := cards[id]
		if !ok || len(v.Rows) == homeContinue-1 {
			continue
		}
		books, err := s.Shelves.Shelved(ctx, id, userID)
		if err != nil {
			return err
		}
		next, ok := progress.Resume(books)
		if !ok || next.Kind != progress.Continue {
			continue
		}
		one := s.say(ctx).resumeOf(c, next)
		if v.Hero == nil {
			v.Hero = &one
			continue
		}
		v.Rows = append(v.Rows, one)
	}
	return nil
}

func (t tongue) resumeOf(c catalog.Card, next progress.Next) resume {
	b := next.Book
	r := resume{Href: readAddress(b.ID, next.Page), Cover: titleCover(c.TitleID, c.Cover), Name: c.Name}
	r.Picture = pageAddress(b.ID, next.Page, b.Fingerprint)
	r.Line = upperFirst(t.chapterName(b.Number, b.Name))
	if b.Number != "" && b.Name != "" {
		r.Line = t.T("%s, %s", r.Line, b.Name)
	}
	left := b.PageCount - next.Page - 1
	r.Left = t.T("%d pages left", left)
	if !b.Place.Begun {
		r.Left = t.T("%d pages", b.PageCount)
	} else if b.PageCount > 1 {
		r.Percent = (next.Page + 1) * 100 / b.PageCount
	}
	return r
}
