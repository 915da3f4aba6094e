package web

import (
	"context"
	"net/url"
	"time"

	"mangrove/reader/internal/account"
)

// operating reports whether a view is one for those who run Mangrove.
func operating(view string) bool {
	return view == "worklist" || view == "lanes" || view == "scraper" || view == "job" || view == "incidents" || view == "health"
}

// worklistPieces draws the live elements of the Worklist: rows one by one, the
// list as a whole only when rows come or go.
func (s *Server) worklistPieces(ctx context.Context, u account.User, values url.Values, out []piece) ([]piece, error) {
	q, err := worklistOf(values)
	if err != nil {
		return nil, err
	}
	v, err := s.worklistView(ctx, u.ID, q)
	if err != nil {
		return nil, err
	}
	v.Frame.Scraper = s.say(ctx).scraperLine(s.Scraper.Presence(), time.Now())
	for _, p := range []struct{ id, name string }{{"wl-notices", "wl-notices"}, {"wl-filters", "wl-filters"}, {"wl-all", "wl-all"}} {
		if out, err = s.drawPiece(ctx, out, p.id, p.name, v); err != nil {
			return nil, err
		}
	}
	frame := "worklist " + v.Range
	for _, r := range v.Rows {
		frame += " " + r.ID
		if out, err = s.drawPiece(ctx, out, r.ID, "wl-row", r); err != nil {
			return nil, err
		}
	}
	if out, err = s.drawPiece(ctx, out, "worklist", "wl-list", v); err != nil {
		return nil, err
	}
	if len(v.Rows) > 0 {
		out[len(out)-1].Key = frame
	}
	return out, nil
}

// lanesPieces draws the Lanes: each card by itself, all of them when Sites come,
// go or change places.
func (s *Server) lanesPieces(ctx context.Context, values url.Values, out []piece) ([]piece, error) {
	chosen, err := chosenOf(values)
	if err != nil {
		return nil, err
	}
	v, err := s.lanesView(ctx, chosen)
	if err != nil {
		return nil, err
	}
	v.Frame.Scraper = s.say(ctx).scraperLine(s.Scraper.Presence(), time.Now())
	frame := "lanes"
	for _, c := range v.Cards {
		frame += " " + c.ID
		if out, err = s.drawPiece(ctx, out, c.ID, "lane-card", c); err != nil {
			return nil, err
		}
	}
	if out, err = s.drawPiece(ctx, out, "lanes", "lane-list", v); err != nil {
		return nil, err
	}
	if len(v.Cards) > 0 {
		out[len(out)-1].Key = frame
	}
	return out, nil
}

func (s *Server) drawPiece(ctx context.Context, out []piece, id, name string, data any) ([]piece, error) {
	html, err := s.draw(ctx, name, data)
	if err != nil {
		return nil, err
	}
	return append(out, piece{ID: id, HTML: string(html)}), nil
}
