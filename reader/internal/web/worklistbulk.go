package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"mangrove/reader/internal/scraperclient"
)

// pollWorklist asks for Forced Polls: of one row, of the selected rows, or of
// all that the view keeps. It is a form, so that it works without script.
func (s *Server) pollWorklist(w http.ResponseWriter, r *http.Request) error {
	q, keys, err := s.selected(r)
	if err != nil {
		return err
	}
	mark := ""
	if len(keys) == 1 {
		mark = "#" + rowID(keys[0])
	}
	if r.PostForm.Has("all") {
		if keys, err = s.failingKeys(r.Context(), q); err != nil {
			return err
		}
		mark = ""
	}
	if len(keys) > 0 {
		if _, err := s.Scraper.RequestPolls(r.Context(), keys); err != nil {
			return err
		}
	}
	return redirect(w, r, q.address()+mark)
}

// selected reads a form of the Worklist: the view it came from, and the Series of
// one row's button or else the ticked ones.
func (s *Server) selected(r *http.Request) (q worklistQuery, keys []scraperclient.Key, err error) {
	if err := s.costlyCall(r); err != nil {
		return q, nil, err
	}
	if err := parseForm(r); err != nil {
		return q, nil, err
	}
	texts := r.PostForm["key"]
	if one := r.PostFormValue("one"); one != "" {
		texts = []string{one}
	}
	if len(texts) > scraperclient.MaxBulk {
		return q, nil, invalid("so many Series at once")
	}
	for _, text := range texts {
		key, err := keyFrom(text)
		if err != nil {
			return q, nil, err
		}
		keys = append(keys, key)
	}
	return backTo(r.PostFormValue("back")), keys, nil
}

// muteWorklist takes the selected failures off the list until they end;
// unmuteWorklist shows them again.
func (s *Server) muteWorklist(w http.ResponseWriter, r *http.Request) error {
	return s.setMuted(w, r, true)
}

func (s *Server) unmuteWorklist(w http.ResponseWriter, r *http.Request) error {
	return s.setMuted(w, r, false)
}

func (s *Server) setMuted(w http.ResponseWriter, r *http.Request, muted bool) error {
	q, keys, err := s.selected(r)
	if err != nil {
		return err
	}
	if len(keys) > 0 {
		if _, err := s.Scraper.SetMuted(r.Context(), keys, muted); err != nil {
			return err
		}
	}
	return redirect(w, r, q.address())
}

// unfollowWorklist ends the person's own follows of the selected Series. What
// somebody else follows, and what its Site lists anyway, stays on the list.
func (s *Server) unfollowWorklist(w http.ResponseWriter, r *http.Request) error {
	q, keys, err := s.selected(r)
	if err != nil {
		return err
	}
	if err := s.Follows.UnfollowAll(r.Context(), who(r).ID, keys); err != nil {
		return err
	}
	return redirect(w, r, q.address())
}

// failingKeys are the Series that the filters keep, as many as may be asked for
// at once, in the order of the view.
func (s *Server) failingKeys(ctx context.Context, q worklistQuery) ([]scraperclient.Key, error) {
	ask := q.at(1).ask()
	ask.Limit = 500
	var keys []scraperclient.Key
	for len(keys) < scraperclient.MaxBulk {
		list, err := s.Scraper.ListWorklist(ctx, ask)
		if err != nil {
			return nil, err
		}
		for _, i := range list.Items {
			keys = append(keys, i.Series.Key)
		}
		ask.Offset += ask.Limit
		if ask.Offset >= list.Total || len(list.Items) == 0 {
			break
		}
	}
	return keys, nil
}

// backTo reads the view a form came from. Whatever is not a view of the
// Worklist leads to its first.
func backTo(address string) worklistQuery {
	if u, err := url.Parse(safePath(address)); err == nil && u.Path == "/worklist" {
		if q, err := worklistOf(u.Query()); err == nil {
			return q
		}
	}
	return worklistQuery{Sort: "oldest", Page: 1}
}

// A Series in a form is its key with both parts escaped.
func keyText(key scraperclient.Key) string {
	return url.PathEscape(key.Site) + "/" + url.PathEscape(key.SeriesID)
}

func keyFrom(text string) (scraperclient.Key, error) {
	site, series, ok := strings.Cut(text, "/")
	var key scraperclient.Key
	var err error
	if key.Site, err = url.PathUnescape(site); ok && err == nil {
		key.SeriesID, err = url.PathUnescape(series)
	}
	if !ok || err != nil || key.Site == "" || key.SeriesID == "" || len(text) > 4096 {
		return key, invalid("a Series")
	}
	return key, nil
}
