package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"mangrove/reader/internal/progress"
)

// mark is one place to save, as the script sends it. Page counts from 0.
type mark struct {
	Page  *int `json:"page"`
	Asked bool `json:"asked"`
}

// saveProgress takes a place as JSON from the script, or as a form, which then
// leads to the page.
func (s *Server) saveProgress(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r.PathValue("book"))
	if err != nil {
		return err
	}
	form := false
	var m mark
	switch kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) {
	case "application/json":
		dec := json.NewDecoder(io.LimitReader(r.Body, 4096))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&m); err != nil || m.Page == nil {
			return invalid("a place")
		}
	case "application/x-www-form-urlencoded":
		if err := parseForm(r); err != nil {
			return err
		}
		n, err := number(r.PostFormValue("page"))
		if err != nil || n > 1<<30 {
			return invalid("a place")
		}
		page := int(n - 1)
		m, form = mark{Page: &page, Asked: true}, true
	default:
		s.plain(w, http.StatusUnsupportedMediaType, "Send a place as JSON or as a form.")
		return nil
	}
	if *m.Page < 0 || *m.Page > 1<<30 {
		return notFound("a page")
	}
	place, err := s.Shelves.SaveMark(r.Context(), progress.Mark{
		UserID: who(r).ID, BookID: id, Page: *m.Page, Asked: m.Asked, Device: device(r.UserAgent()),
	})
	if err != nil {
		return err
	}
	if form {
		return redirect(w, r, fmt.Sprintf("/read/%d?page=%d", id, *m.Page+1))
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(map[string]any{"page": place.Page, "finished": place.Finished})
}

// setFinished marks a chapter read or unread and leads back to its Series.
func (s *Server) setFinished(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r.PathValue("book"))
	if err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	book, err := s.Shelves.Book(r.Context(), id)
	if err != nil {
		return err
	}
	if err := s.Shelves.SetFinished(r.Context(), who(r).ID, id, r.PostFormValue("finished") != ""); err != nil {
		return err
	}
	return redirect(w, r, seriesAddress(book.TitleID))
}

// device is a word for the kind of machine, good enough to ask "continue from
// page 31 on the phone?" and too coarse to tell people apart.
func device(userAgent string) string {
	switch {
	case strings.Contains(userAgent, "iPad") || strings.Contains(userAgent, "Tablet"):
		return "tablet"
	case strings.Contains(userAgent, "Mobi") || strings.Contains(userAgent, "Android"):
		return "phone"
	}
	return "computer"
}
