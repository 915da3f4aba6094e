package web

import (
	"context"
	"net/http"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/moving"
	"mangrove/reader/internal/scraperclient"
)

// tile is one cover with its words, on the library page and on Home.
type tile struct {
	Href, Cover, Name, Meta string
	Unread                  int
	Following               bool
	// Percent is how far the chapter being read is, 0 for none.
	Percent int
	// Key names the Series on the rail of new chapters.
	Key string
}

// offer is a Series that a Site offers from the start.
type offer struct {
	Key            scraperclient.Key
	Href, Cover    string
	Name, By, Text string
	SiteName       string
	License        string
	Following      bool
}

type libraryView struct {
	Frame
	Shelf  []tile
	Offers []offer
	Titles int
	Unread int
}

func (s *Server) library(w http.ResponseWriter, r *http.Request) error {
	v, err := s.libraryView(r.Context(), who(r).ID)
	if err != nil {
		return err
	}
	v.Frame = s.frame(r, "Library", "library")
	v.Frame.Live = "/events?view=library"
	s.render(w, r, http.StatusOK, "library", v)
	return nil
}

func (s *Server) libraryView(ctx context.Context, userID int64) (libraryView, error) {
	var v libraryView
	cards, err := s.Shelves.Shelf(ctx, userID)
	if err != nil {
		return v, err
	}
	followed := map[scraperclient.Key]bool{}
	for _, c := range cards {
		v.Shelf = append(v.Shelf, tileOf(c))
		v.Unread += c.Unread
		if c.Following {
			followed[scraperclient.Key{Site: c.Site, SeriesID: c.SeriesID}] = true
		}
	}
	v.Titles = len(cards)
	if len(cards) == 0 {
		v.Offers = s.offers(ctx, followed)
	}
	return v, nil
}

func tileOf(c catalog.Card) tile {
	key := scraperclient.Key{Site: c.Site, SeriesID: c.SeriesID}
	if c.TitleID == 0 {
		t := tile{Href: siteAddress(key), Cover: siteCoverAddress(key), Name: c.Name, Meta: "Nothing here yet", Following: true}
		if _, foreign := moving.ForeignSource(c.Site); foreign {
			// Nothing here can have a cover of it either.
			t.Cover, t.Meta = "", "No adapter"
		}
		return t
	}
	t := tile{
		Href: seriesAddress(c.TitleID), Cover: titleCover(c.TitleID, c.Cover), Name: c.Name, Meta: count(c.Books, "chapter", "chapters"),
		Unread: c.Unread, Following: c.Following,
	}
	if c.Pages > 1 {
		t.Percent = max(1, (c.Page+1)*100/c.Pages)
	}
	return t
}

// offers asks for the Series that Sites offer from the start. Without the
// scraper there are none to offer; the page says so.
func (s *Server) offers(ctx context.Context, followed map[scraperclient.Key]bool) []offer {
	listed, err := s.Scraper.ListSeries(ctx, "listed")
	if err != nil {
		if !fault.Is(err, fault.Away) {
			s.Log.Warn("the listed Series could not be asked for", zap.Error(err))
		}
		return nil
	}
	var out []offer
	for _, l := range listed {
		o := offer{
			Key: l.Key, Href: siteAddress(l.Key), Name: l.Title, By: byLine(l.Authors), Text: l.Description, SiteName: l.SiteName,
			License: l.License, Following: followed[l.Key],
		}
		if l.HasCover {
			o.Cover = siteCoverAddress(l.Key)
		}
		out = append(out, o)
	}
	return out
}

func byLine(authors []string) string {
	switch len(authors) {
	case 0:
		return ""
	case 1:
		return "By " + authors[0]
	case 2:
		return "By " + authors[0] + " and " + authors[1]
	}
	return "By " + authors[0] + " and others"
}
