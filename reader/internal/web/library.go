package web

import (
	"context"
	"net/http"
	"time"

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
	// Key names the Series on the rail of new chapters, and in a form.
	Key string
	// SiteName, Read and LastRead are for a row of the list: how much of it is read,
	// in percent, and when last.
	SiteName, LastRead string
	Read               int
	Here               bool
	// Fails says how it fails and since when, nil for one that does not.
	Fails *pill
	// Letter is the number of the letter of catalog.Letters that it stands under, and
	// Begins is true for the first of it in a block by title.
	Letter int
	Begins bool
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
	Offers []offer
	Titles int
	Unread int
	// Chips, Sorts and Filters are the toolbar.
	Chips     []chip
	Sorts     []choiceOf
	Filters   []filter
	Filtered  int
	Words     string
	Following bool
	// Hidden are the parts of the view that a form of the toolbar carries along.
	Hidden []hiddenField
	// Grid and Rows are the addresses of the two layouts.
	Grid, Rows string
	List       bool
	Block      blockView
	// Rail are the letters to jump to, nil where there is nothing to jump over.
	Rail []stop
	// Start leads to the start, and Begun says that the page begins behind it.
	Start string
	Begun bool
	// Clear is the view without filters.
	Clear string
	// Away says that what fails is not known now.
	Away bool
	// Collecting are the person's collections to put Series into.
	Collecting []choiceOf
	Way, Said  string
	// TakeOut is where a form takes the selected titles out of the collection that is
	// looked at, "" for those who may not and for the library.
	TakeOut string
}

// filter is one choice behind the button.
type filter struct {
	Name, Label, None string
	Choices           []choiceOf
}

type choiceOf struct {
	Value, Label string
	Chosen       bool
}

type hiddenField struct{ Name, Value string }

// blockView is a piece of the library. Next is where the next begins, "" at the end.
type blockView struct {
	ID, After, Until string
	List, Picks      bool
	Tiles            []tile
	// Page and Fetch lead to the next block: for everybody, and for the script.
	Page, Fetch string
	// Again is the address of this block itself.
	Again string
}

func (s *Server) library(w http.ResponseWriter, r *http.Request) error {
	q, err := libraryOf(r.URL.Query())
	if err != nil {
		return err
	}
	v, err := s.libraryView(r.Context(), who(r).ID, q)
	if err != nil {
		return err
	}
	v.Frame = s.frame(r, s.say(r.Context()).T("Library"), "library")
	v.Frame.Live = "/events?view=library"
	if !v.Guest {
		if v.Collecting, err = s.collecting(r.Context(), who(r)); err != nil {
			return err
		}
	}
	v.Said = s.say(r.Context()).librarySaid(r.URL.Query().Get("said"))
	s.render(w, r, http.StatusOK, "library", v)
	return nil
}

func (s *Server) libraryView(ctx context.Context, userID int64, q libraryQuery) (libraryView, error) {
	v := libraryView{Words: q.Words, Following: q.Following, List: q.List, Filtered: q.filtered(), Way: q.address()}
	n, err := s.Shelves.ShelfCounts(ctx, userID)
	if err != nil {
		return v, err
	}
	v.Titles, v.Unread = n.All, n.Chapters
	if n.All == 0 {
		v.Offers = s.offers(ctx, nil)
		return v, nil
	}
	ask := q.ask()
	if v.Block, v.Away, err = s.block(ctx, userID, q, &ask); err != nil {
		return v, err
	}
	if v.Rail, err = s.rail(ctx, userID, q, ask, v.Block); err != nil {
		return v, err
	}
	v.toolbar(s.say(ctx), q, n)
	choices, err := s.Shelves.ShelfChoices(ctx, userID)
	if err != nil {
		return v, err
	}
	v.Filters = s.say(ctx).filtersOf(q, choices)
	v.Start, v.Begun = q.with(func(*libraryQuery) {}).address(), q.From.Set
	return v, nil
}

// libraryPart answers one block, for the script that adds it to the page. Without
// that script its address is the page that begins with it.
func (s *Server) libraryPart(w http.ResponseWriter, r *http.Request) error {
	q, err := libraryOf(r.URL.Query())
	if err != nil {
		return err
	}
	return s.part(w, r, q)
}

func (s *Server) part(w http.ResponseWriter, r *http.Request, q libraryQuery) error {
	after, err := shelfPlace(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	until, err := shelfPlace(r.URL.Query().Get("until"))
	if err != nil {
		return err
	}
	q.From = after
	if r.Header.Get(pieceHeader) == "" {
		return redirect(w, r, q.address())
	}
	ask := q.ask()
	if until.Set {
		// What came into this block meanwhile belongs to it, within reason.
		ask.Until, ask.Limit = until, 5*libraryBlock
	}
	b, _, err := s.block(r.Context(), who(r).ID, q, &ask)
	if err != nil {
		return err
	}
	s.render(w, r, http.StatusOK, "library-part", b)
	return nil
}

// block gathers a piece of a view, and says in ask which Series fail where that decides
// what belongs to it. away is true when it needs the scraper's word, and the scraper has
// none.
func (s *Server) block(ctx context.Context, userID int64, q libraryQuery, ask *catalog.ShelfQuery) (b blockView, away bool, err error) {
	if ask.State == catalog.StateFailing {
		ask.Failing, err = s.failingKeys(ctx, worklistQuery{Sort: "oldest", Page: 1})
		if away = unanswered(err); err != nil && !away {
			return b, false, err
		}
	}
	cards, err := s.Shelves.ShelfBlock(ctx, userID, *ask)
	if err != nil {
		return b, away, err
	}
	b = blockView{After: placeText(ask.After), List: q.List, ID: elementID("block-", placeText(ask.After)), Picks: true}
	now, say := time.Now(), s.say(ctx)
	failing := s.failingSeries(ctx, now)
	for i, c := range cards {
		shown := say.shelfTile(c, now)
		if f, fails := failing[scraperclient.Key{Site: c.Site, SeriesID: c.SeriesID}]; fails {
			p := say.failureWords(&f, now)
			shown.Fails = &p
		}
		if q.Sort == catalog.SortTitle {
			shown.Letter = catalog.LetterOf(c.Place.Order)
			shown.Begins = i == 0 || b.Tiles[i-1].Letter != shown.Letter
		}
		b.Tiles = append(b.Tiles, shown)
	}
	last := ask.Until
	if len(cards) > 0 && !last.Set {
		last = cards[len(cards)-1].Place
	}
	b.Until = placeText(last)
	if !ask.Until.Set && len(cards) == ask.Limit {
		next := q
		next.From = last
		b.Page, b.Fetch = next.address(), q.blockAddress(last, catalog.Place{})
	}
	b.Again = q.blockAddress(ask.After, last)
	if b.Page == "" && !ask.Until.Set {
		// Whatever comes behind the last title belongs to the last block.
		b.Again = q.blockAddress(ask.After, catalog.Place{})
	}
	return b, away, nil
}

func (t tongue) tileOf(c catalog.Card) tile {
	key := scraperclient.Key{Site: c.Site, SeriesID: c.SeriesID}
	if c.TitleID == 0 {
		shown := tile{Href: siteAddress(key), Cover: siteCoverAddress(key), Name: c.Name, Meta: t.T("Nothing here yet"), Following: true, Key: keyText(key)}
		if _, foreign := moving.ForeignSource(c.Site); foreign {
			// Nothing here can have a cover of it either.
			shown.Cover, shown.Meta = "", t.T("No adapter")
		}
		return shown
	}
	shown := tile{
		Href: seriesAddress(c.TitleID), Cover: titleCover(c.TitleID, c.Cover), Name: c.Name, Meta: t.T("%d chapters", c.Books),
		Unread: c.Unread, Following: c.Following, SiteName: c.SiteName, Key: keyText(key),
	}
	if c.Pages > 1 {
		shown.Percent = max(1, (c.Page+1)*100/c.Pages)
	}
	return shown
}

// shelfTile is a tile with what the list says besides.
func (t tongue) shelfTile(c catalog.Card, now time.Time) tile {
	shown := t.tileOf(c)
	shown.Here, shown.LastRead = c.Books > 0, t.T("not yet")
	readable := c.Books - c.Unreadable
	if c.Gone+c.Unreadable > 0 && shown.Here {
		shown.Meta = t.T("%s of %s", t.number(readable), t.T("%d chapters", c.Books+c.Gone))
	}
	if readable > 0 {
		shown.Read = c.Finished * 100 / readable
	}
	if !c.ReadAt.IsZero() {
		shown.LastRead = t.ago(c.ReadAt, now)
	}
	return shown
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
			Key: l.Key, Href: siteAddress(l.Key), Name: l.Title, By: s.say(ctx).byLine(l.Authors), Text: l.Description, SiteName: l.SiteName,
			License: l.License, Following: followed[l.Key],
		}
		if l.HasCover {
			o.Cover = siteCoverAddress(l.Key)
		}
		out = append(out, o)
	}
	return out
}
