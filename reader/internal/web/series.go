package web

import (
	"context"
	"net/http"
	"time"

	"mangrove/internal/fault"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/follow"
	"mangrove/reader/internal/moving"
	"mangrove/reader/internal/progress"
	"mangrove/reader/internal/scraperclient"
)

// seriesKnown is everything two programs and one person's follows know of a
// Series, gathered for one page. Title, State and Wish may each be missing.
type seriesKnown struct {
	Key   scraperclient.Key
	Title *catalog.Title
	Books []progress.Shelved
	// State is the scraper's word, nil while it is away or does not know the Series.
	State *scraperclient.State
	Wish  *follow.Wish
	// Presence says whether the scraper is there.
	Presence scraperclient.Presence
	// Proposal is where it may have moved to, nil when nothing says so.
	Proposal *proposal
	// Runs is true for those who may move a Series, Reads for those who only read.
	Runs, Reads bool
	// say is the language of who looks.
	say tongue
}

// seriesPage answers a title of the catalog.
func (s *Server) seriesPage(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r.PathValue("title"))
	if err != nil {
		return err
	}
	t, err := s.Shelves.Title(r.Context(), id)
	if err != nil {
		return err
	}
	return s.showSeries(w, r, titleKey(t))
}

// sitePage answers a Series of a Site: the title's own page once it has one.
func (s *Server) sitePage(w http.ResponseWriter, r *http.Request) error {
	t, err := s.Shelves.TitleByKey(r.Context(), keyOf(r))
	if err == nil {
		return redirect(w, r, seriesAddress(t.ID))
	}
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	return s.showSeries(w, r, keyOf(r))
}

func (s *Server) showSeries(w http.ResponseWriter, r *http.Request, key scraperclient.Key) error {
	known, err := s.know(r.Context(), who(r), key, nil)
	if err != nil {
		return err
	}
	v := known.view(time.Now())
	v.Frame = s.frame(r, v.Name, "library")
	v.Frame.Back = "/library"
	if v.Member = !v.Guest; v.Member {
		if v.Collections, err = s.inCollections(r.Context(), who(r), key); err != nil {
			return err
		}
	}
	v.Frame.Live = "/events?view=series&site=" + queryEscape(key.Site) + "&series=" + queryEscape(key.SeriesID)
	s.render(w, r, http.StatusOK, "series", v)
	return nil
}

// know gathers. A scraper that is away is not an error; a Series that neither
// the catalog nor the scraper nor a follow knows is one. state spares asking
// the scraper when its word is at hand.
func (s *Server) know(ctx context.Context, u account.User, key scraperclient.Key, state *scraperclient.State) (seriesKnown, error) {
	k := seriesKnown{say: s.say(ctx), Key: key, State: state, Runs: u.Role == account.Administrator, Reads: u.Role == account.Guest}
	t, err := s.Shelves.TitleByKey(ctx, key)
	switch {
	case err == nil:
		k.Title = &t
		if k.Books, err = s.Shelves.Shelved(ctx, t.ID, u.ID); err != nil {
			return k, err
		}
	case !fault.Is(err, fault.NotFound):
		return k, err
	}
	wish, ok, err := s.Shelves.Wish(ctx, u.ID, key)
	if err != nil {
		return k, err
	}
	if ok {
		k.Wish = &wish
	}
	if _, foreign := moving.ForeignSource(key.Site); k.State == nil && (!foreign || k.Wish == nil) {
		st, err := s.Scraper.GetSeries(ctx, key)
		if err == nil {
			k.State = &st
		} else if k.Title == nil && k.Wish == nil {
			// Away is passed on too: without it nothing can be said of the Series.
			return k, err
		}
	}
	if k.State != nil {
		k.Proposal = s.proposalOf(ctx, k.State.Proposal)
	}
	k.Presence = s.Scraper.Presence()
	return k, nil
}

// follow makes a wish: the button on a Series page and the cards of an empty
// library. It needs a name for the Series, from the catalog or the scraper.
func (s *Server) follow(w http.ResponseWriter, r *http.Request) error {
	if err := s.costlyCall(r); err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	key := keyOf(r)
	known, err := s.know(r.Context(), who(r), key, nil)
	if err != nil {
		return err
	}
	wish := follow.Wish{UserID: who(r).ID, Key: key, Title: known.name(), Download: true}
	if known.Wish != nil {
		wish = *known.Wish
	}
	// A form with the switch says which way; a plain Follow downloads.
	if r.PostForm.Has("switch") {
		wish.Download = r.PostFormValue("download") != ""
	}
	if err := s.Follows.Follow(r.Context(), wish); err != nil {
		return err
	}
	return redirect(w, r, seriesPart(r, key))
}

// seriesPart is the part of a Series' page that a form stood in, so that what it did is
// seen there: on a phone that part is folded away.
func seriesPart(r *http.Request, key scraperclient.Key) string {
	switch part := r.PostFormValue("part"); part {
	case "fol", "colls":
		return siteAddress(key) + "#" + part
	}
	return siteAddress(key)
}

func (s *Server) unfollow(w http.ResponseWriter, r *http.Request) error {
	if err := s.costlyCall(r); err != nil {
		return err
	}
	key := keyOf(r)
	if err := s.Follows.Unfollow(r.Context(), who(r).ID, key); err != nil {
		return err
	}
	if _, err := s.Shelves.TitleByKey(r.Context(), key); fault.Is(err, fault.NotFound) {
		// The scraper may forget it now, and then its page is gone.
		return redirect(w, r, "/library")
	}
	return redirect(w, r, siteAddress(key))
}

// poll asks for a Forced Poll; the page shows that it was asked for.
func (s *Server) poll(w http.ResponseWriter, r *http.Request) error {
	if err := s.costlyCall(r); err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	if err := s.Scraper.RequestPoll(r.Context(), keyOf(r)); err != nil {
		return err
	}
	return redirect(w, r, seriesPart(r, keyOf(r)))
}

// costlyCall limits what makes the scraper work (C39), for each user.
func (s *Server) costlyCall(r *http.Request) error { return s.costly.Costly(who(r).ID) }

// name is the best name there is for the Series.
func (k seriesKnown) name() string {
	switch {
	case k.State != nil && k.State.Series.Title != "":
		return k.State.Series.Title
	case k.Title != nil && k.Title.Name != "":
		return k.Title.Name
	case k.Wish != nil && k.Wish.Title != "":
		return k.Wish.Title
	}
	return k.Key.SeriesID
}
