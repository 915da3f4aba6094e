package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"mangrove/internal/fault"
	"mangrove/reader/internal/follow"
	"mangrove/reader/internal/scraperclient"
)

// maxTitle bounds a title that came with an address.
const maxTitle = 300

// addPage is the way to follow by an address: a form, and once an address is
// recognised what would be followed. No Site is asked.
func (s *Server) addPage(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	v, _, err := s.addView(r, q.Get("address"), q.Get("title"))
	if err != nil {
		return err
	}
	s.render(w, r, http.StatusOK, "add", v)
	return nil
}

// add follows by an address. Which Series it is, is asked again: the form says
// only what a person pasted. Who follows it already keeps the wish as it was.
func (s *Server) add(w http.ResponseWriter, r *http.Request) error {
	if err := s.costlyCall(r); err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	v, k, err := s.addView(r, r.PostFormValue("address"), r.PostFormValue("title"))
	if err != nil {
		return err
	}
	switch {
	case v.Away:
		s.render(w, r, http.StatusServiceUnavailable, "add", v)
		return nil
	case v.Found == nil:
		s.render(w, r, http.StatusNotFound, "add", v)
		return nil
	}
	if k.Wish == nil {
		wish := follow.Wish{
			UserID: who(r).ID, Key: k.Key, Title: v.Found.Name, URL: v.Found.URL, Download: r.PostFormValue("new") != "tell",
			Languages: chosen(v.Found.Languages, r.PostForm["language"]),
		}
		if err := s.Follows.Follow(r.Context(), wish); err != nil {
			return err
		}
	}
	return redirect(w, r, siteAddress(k.Key))
}

// chosen keeps the languages that the Site lists, in the order of its list.
func chosen(offered []languageChoice, wanted []string) []string {
	var out []string
	for _, l := range offered {
		if slices.Contains(wanted, l.Tag) {
			out = append(out, l.Tag)
		}
	}
	return out
}

func (s *Server) addView(r *http.Request, address, title string) (addView, seriesKnown, error) {
	v := addView{Address: strings.TrimSpace(address)}
	v.Frame = s.frame(r, s.say(r.Context()).T("Follow"), "search")
	v.Frame.Back = "/search"
	p, err := s.paste(r.Context(), address)
	if err != nil {
		return v, seriesKnown{}, err
	}
	v.Away = v.Frame.Scraper.Away || p.Away
	v.Unread, v.Sites = p.Unread, p.Sites
	if p.Found == nil {
		if p.Address == "" && !v.Away {
			names, err := s.siteNames(r.Context())
			if err != nil && !unanswered(err) {
				return v, seriesKnown{}, err
			}
			v.Sites, v.Away = s.say(r.Context()).join(names), err != nil
		}
		return v, seriesKnown{}, nil
	}
	k, err := s.know(r.Context(), who(r), p.Found.Key, nil)
	switch {
	case err == nil, fault.Is(err, fault.NotFound):
	case unanswered(err):
		v.Away = true
		return v, k, nil
	default:
		return v, k, err
	}
	v.Address = p.Address
	v.Found = foundOf(k, *p.Found, title, time.Now())
	return v, k, nil
}

// clipTitle makes a title of what came with an address.
func clipTitle(title string) string {
	title = strings.Join(strings.Fields(strings.ToValidUTF8(title, "")), " ")
	if runes := []rune(strings.ReplaceAll(title, "\x00", "")); len(runes) > maxTitle {
		return string(runes[:maxTitle])
	}
	return strings.ReplaceAll(title, "\x00", "")
}

// addressName stands for a Series of which no title is known: its address, short.
func addressName(at scraperclient.Recognised) string {
	rest, ok := cutScheme(at.URL)
	if !ok {
		return at.SeriesID
	}
	return clipTitle(strings.TrimSuffix(strings.TrimPrefix(rest, "www."), "/"))
}
