package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"mangrove/internal/fault"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/scraperclient"
)

// search looks in the library and offers to look on each Site that can be
// searched. The Sites are asked one by one and later, so that a slow one holds
// nobody up: by the script, or by the link in each group, whose address is this
// page with the Site in it.
func (s *Server) search(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	v := searchView{Query: strings.TrimSpace(strings.ToValidUTF8(q.Get("q"), ""))}
	v.Frame = s.frame(r, s.say(r.Context()).T("Search"), "search")
	if address, ok := asAddress(v.Query); ok && !v.Guest {
		return redirect(w, r, addAddress(address, ""))
	}
	if utf8.RuneCountInString(v.Query) > scraperclient.MaxQuery {
		v.Problem = s.say(r.Context()).T("That is too long to search for: at most %d characters.", scraperclient.MaxQuery)
	} else if v.Query != "" {
		cards, err := s.Shelves.Find(r.Context(), who(r).ID, v.Query)
		if err != nil {
			return err
		}
		for _, c := range cards {
			v.Shelf = append(v.Shelf, s.say(r.Context()).tileOf(c))
		}
	}
	// A link on somebody else's page asks no Site by itself.
	chosen := q.Get("site")
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" || v.Problem != "" {
		chosen = ""
	}
	// A guest looks in the library alone: searching a Site is work for it.
	if !v.Guest {
		if err := s.groups(r, &v, chosen); err != nil {
			return err
		}
	}
	s.render(w, r, http.StatusOK, "search", v)
	return nil
}

// groups fills in one group for each Site that can be searched, by name; the
// chosen one is searched now.
func (s *Server) groups(r *http.Request, v *searchView, chosen string) error {
	lanes, err := s.Scraper.ListLanes(r.Context())
	if unanswered(err) {
		v.Away = true
		return nil
	}
	if err != nil {
		return err
	}
	slices.SortStableFunc(lanes.Lanes, func(a, b scraperclient.LaneDetail) int { return strings.Compare(laneName(a.Lane), laneName(b.Lane)) })
	var mute, open []string
	now := time.Now()
	for _, l := range lanes.Lanes {
		if !l.Searchable {
			mute = append(mute, laneName(l.Lane))
			continue
		}
		open = append(open, laneName(l.Lane))
		if v.Query == "" || v.Problem != "" {
			continue
		}
		g := s.say(r.Context()).groupOf(l, v.Query, now)
		if l.Site == chosen && g.Fetch != "" {
			if g, err = s.searched(r, l, v.Query); err != nil {
				return err
			}
		}
		v.Groups = append(v.Groups, g)
	}
	v.Mute, v.Open = s.say(r.Context()).join(mute), s.say(r.Context()).join(open)
	return nil
}

// pieceHeader marks a request of our own script for a part of a page. A link
// cannot carry it, and a script of another site may not.
const pieceHeader = "X-Requested-With"

// searchSite answers one Site's group, for the script that fills it in where it
// stands. Without that script the address is the search page with the Site in it.
func (s *Server) searchSite(w http.ResponseWriter, r *http.Request) error {
	site, query := r.PathValue("site"), strings.TrimSpace(strings.ToValidUTF8(r.URL.Query().Get("q"), ""))
	if r.Header.Get(pieceHeader) == "" || query == "" {
		if query == "" {
			return redirect(w, r, "/search")
		}
		return redirect(w, r, searchAddress(query, site))
	}
	if utf8.RuneCountInString(query) > scraperclient.MaxQuery {
		return invalid("so long a search")
	}
	lanes, err := s.Scraper.ListLanes(r.Context())
	if err != nil && !unanswered(err) {
		return err
	}
	i := slices.IndexFunc(lanes.Lanes, func(l scraperclient.LaneDetail) bool { return l.Site == site })
	if i < 0 && err == nil {
		return notFound("a Site")
	}
	lane := scraperclient.LaneDetail{Lane: scraperclient.Lane{Site: site}}
	if i >= 0 {
		lane = lanes.Lanes[i]
	}
	g := s.say(r.Context()).groupOf(lane, query, time.Now())
	switch {
	case err != nil:
		g.away(s.Scraper.Presence(), time.Now())
	case g.Fetch != "":
		if g, err = s.searched(r, lane, query); err != nil {
			return err
		}
	}
	s.render(w, r, http.StatusOK, "search-group", g)
	return nil
}

// searched asks one Site, within the person's limit, and words what came of it.
func (s *Server) searched(r *http.Request, lane scraperclient.LaneDetail, query string) (siteGroup, error) {
	now := time.Now()
	g := s.say(r.Context()).groupOf(lane, query, now)
	if err := s.costlyCall(r); err != nil {
		g.tooMany(err)
		return g, nil
	}
	found, err := s.Scraper.SearchSite(r.Context(), lane.Site, query)
	if err == nil {
		var cards map[scraperclient.Key]catalog.Card
		if cards, err = s.shelved(r.Context(), who(r).ID); err != nil {
			return g, err
		}
		g.found(found, cards)
		return g, nil
	}
	if r.Context().Err() != nil {
		return g, err // nobody is listening any more
	}
	if again, ok := s.laneNow(r.Context(), lane.Site); ok && (fault.Is(err, fault.Access) || fault.Is(err, fault.Network)) {
		// The refusal may have closed the Lane this very moment.
		lane = again
	}
	g.failed(err, lane, s.Scraper.Presence(), time.Now())
	return g, nil
}

func (s *Server) laneNow(ctx context.Context, site string) (scraperclient.LaneDetail, bool) {
	lanes, err := s.Scraper.ListLanes(ctx)
	if err == nil {
		for _, l := range lanes.Lanes {
			if l.Site == site {
				return l, true
			}
		}
	}
	return scraperclient.LaneDetail{}, false
}

// shelved are the cards of one person's shelf by Series.
func (s *Server) shelved(ctx context.Context, userID int64) (map[scraperclient.Key]catalog.Card, error) {
	cards, err := s.Shelves.Shelf(ctx, userID)
	out := map[scraperclient.Key]catalog.Card{}
	for _, c := range cards {
		out[scraperclient.Key{Site: c.Site, SeriesID: c.SeriesID}] = c
	}
	return out, err
}
