package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"mangrove/reader/internal/progress"
)

// mark is one place to save, as the script sends it. Page counts from 0; Known is
// the version of the place that the device last heard of, 0 for none.
type mark struct {
	Page  *int  `json:"page"`
	Asked bool  `json:"asked"`
	Known int64 `json:"known"`
}

// placeData is a place as the script hears it.
type placeData struct {
	Page     int  `json:"page"`
	Finished bool `json:"finished"`
	// Version is what a later mark has to know to go back from here.
	Version int64  `json:"version"`
	Device  string `json:"device"`
	When    string `json:"when"`
}

func placeOf(say tongue, p progress.Place, now time.Time) placeData {
	if !p.Begun {
		return placeData{Page: -1}
	}
	return placeData{Page: p.Page, Finished: p.Finished, Version: p.ChangedAt.UnixMicro(), Device: p.Device, When: say.clock(p.ChangedAt, now)}
}

// saveProgress takes a place as JSON from the script, or as a form, which then
// leads to the page. Its answer is the place that stands: where that is another,
// somebody read on elsewhere, and the person is asked.
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
		// Without it the form goes on and never back.
		if m.Known, err = number(r.PostFormValue("known")); err != nil {
			m.Known = 0
		}
	default:
		s.plain(w, http.StatusUnsupportedMediaType, "Send a place as JSON or as a form.")
		return nil
	}
	if *m.Page < 0 || *m.Page > 1<<30 {
		return notFound("a page")
	}
	place, err := s.Shelves.SaveMark(r.Context(), progress.Mark{
		UserID: who(r).ID, BookID: id, Page: *m.Page, Asked: m.Asked, Known: time.UnixMicro(m.Known), Device: device(r.UserAgent()),
	})
	if err != nil {
		return err
	}
	if form {
		return redirect(w, r, fmt.Sprintf("/read/%d?page=%d", id, *m.Page+1))
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(placeOf(s.say(r.Context()), place, time.Now()))
}

// setFinished marks the chapters of a Series that are ticked read or unread, and
// leads back to it. Of another Series nothing is marked.
func (s *Server) setFinished(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	title, err := s.Shelves.TitleByKey(r.Context(), keyOf(r))
	if err != nil {
		return err
	}
	var books []int64
	for _, text := range r.PostForm["book"] {
		id, err := number(text)
		if err != nil {
			return invalid("a chapter")
		}
		books = append(books, id)
	}
	if err := s.Shelves.SetFinished(r.Context(), who(r).ID, title.ID, books, r.PostFormValue("finished") != ""); err != nil {
		return err
	}
	return redirect(w, r, seriesAddress(title.ID))
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
