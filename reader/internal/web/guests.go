package web

import (
	"net/http"
	"slices"
	"strconv"

	"mangrove/reader/internal/account"
)

// guestLimits fills in what each guest sees.
func (s *Server) guestLimits(r *http.Request, people []personRow) error {
	if !slices.ContainsFunc(people, func(p personRow) bool { return p.Role == account.Guest }) {
		return nil
	}
	limits, err := s.Shelves.GuestLimits(r.Context())
	if err != nil {
		return err
	}
	all, err := s.Shelves.Collections(r.Context(), who(r).ID)
	if err != nil {
		return err
	}
	for i := range people {
		p := &people[i]
		if p.Guest = p.Role == account.Guest; !p.Guest {
			continue
		}
		var kept []int64
		kept, p.Kept = limits[p.ID]
		for _, c := range all {
			if c.Shared {
				p.Shelves = append(p.Shelves, choiceOf{Value: strconv.FormatInt(c.ID, 10), Label: c.Name, Chosen: slices.Contains(kept, c.ID)})
			}
		}
	}
	return nil
}

// limitGuest keeps a guest to shared collections, or to nothing.
func (s *Server) limitGuest(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	var kept []int64
	switch r.PostFormValue("sees") {
	case "everything":
	case "collections":
		kept = []int64{}
		for _, text := range r.PostForm["collection"] {
			id, err := number(text)
			if err != nil {
				return err
			}
			kept = append(kept, id)
		}
	default:
		return notFound("what a guest sees")
	}
	return s.changePerson(w, r, "sees", func(id int64) error { return s.Shelves.LimitGuest(r.Context(), id, kept) })
}
