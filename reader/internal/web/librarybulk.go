package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"mangrove/internal/fault"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/follow"
	"mangrove/reader/internal/scraperclient"
)

// actOnTitles does one thing to the selected titles: it marks them read or unread,
// follows or unfollows them, or puts them into a collection. It is a form, so that
// it works without script.
func (s *Server) actOnTitles(w http.ResponseWriter, r *http.Request) error {
	if err := s.costlyCall(r); err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	keys, err := selectedTitles(r)
	if err != nil {
		return err
	}
	back := backToLibrary(r.PostFormValue("back"))
	if len(keys) == 0 {
		return redirect(w, r, back)
	}
	said, err := s.actOn(r, keys)
	if err != nil {
		return err
	}
	return redirect(w, r, saying(back, said, len(keys)))
}

// selectedTitles are the titles that a form names, within reason.
func selectedTitles(r *http.Request) (keys []scraperclient.Key, err error) {
	if len(r.PostForm["key"]) > scraperclient.MaxBulk {
		return nil, invalid("so many Series at once")
	}
	for _, text := range r.PostForm["key"] {
		key, err := keyFrom(text)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func (s *Server) actOn(r *http.Request, keys []scraperclient.Key) (said string, err error) {
	u := who(r)
	act := r.PostFormValue("act")
	collect := r.PostFormValue("collect")
	if act != "read" && act != "unread" && u.Role == account.Guest {
		return "", notFound("an action")
	}
	switch {
	case collect != "":
		return "collected", s.collect(r, collect, keys)
	case act == "read" || act == "unread":
		return act, s.Shelves.SetTitlesFinished(r.Context(), u.ID, keys, act == "read")
	case act == "unfollow":
		return "unfollowed", s.Follows.UnfollowAll(r.Context(), u.ID, keys)
	case act == "follow":
		return "followed", s.followAll(r, keys)
	}
	return "", notFound("an action")
}

// followAll follows what is in the library and not followed yet.
func (s *Server) followAll(r *http.Request, keys []scraperclient.Key) error {
	ctx, u := r.Context(), who(r)
	for _, key := range keys {
		t, err := s.Shelves.TitleByKey(ctx, key)
		if fault.Is(err, fault.NotFound) {
			continue // a follow of which nothing has arrived
		}
		if err != nil {
			return err
		}
		if _, followed, err := s.Shelves.Wish(ctx, u.ID, key); err != nil || followed {
			if err != nil {
				return err
			}
			continue
		}
		if err := s.Follows.Follow(ctx, follow.Wish{UserID: u.ID, Key: key, Title: t.Name, Download: true}); err != nil {
			return err
		}
	}
	return nil
}

// backToLibrary keeps a way back within the library and its collections.
func backToLibrary(address string) string {
	u, err := url.Parse(safePath(address))
	if err != nil || u.Path != "/library" && !isCollection(u.Path) {
		return "/library"
	}
	return u.RequestURI()
}

// saying is an address with what was done to how many.
func saying(back, said string, n int) string {
	u, err := url.Parse(back)
	if err != nil {
		return "/library"
	}
	q := u.Query()
	q.Set("said", said+"-"+strconv.Itoa(n))
	u.RawQuery = q.Encode()
	return u.RequestURI()
}

// librarySaid words what was just done; "" for anything else.
func (t tongue) librarySaid(text string) string {
	word, many, _ := strings.Cut(text, "-")
	n, err := strconv.Atoi(many)
	if err != nil || n <= 0 || n > scraperclient.MaxBulk {
		return ""
	}
	switch word {
	case "read":
		return t.T("%d titles marked read.", n)
	case "unread":
		return t.T("%d titles marked unread.", n)
	case "followed":
		return t.T("%d titles followed.", n)
	case "unfollowed":
		return t.T("%d titles not followed any more.", n)
	case "put":
		return t.T("%d titles put back into the collection.", n)
	case "collected":
		return t.T("%d titles put into the collection.", n)
	}
	return ""
}
