package web

import (
	"context"
	"net/url"
	"time"
)

// watchQueue tells of changes in the queue for as long as someone looks. While
// the scraper is away the page is drawn again whenever it is tried.
func (s *Server) watchQueue(ctx context.Context, changed chan<- struct{}) {
	tell := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	for ctx.Err() == nil {
		_ = s.Scraper.WatchQueue(ctx, tell)
		tell()
		select {
		case <-ctx.Done():
		case <-time.After(2 * time.Second):
		}
	}
}

// scraperPieces draws the live elements of the queue's page: Jobs one by one,
// a part as a whole only when Jobs come, go or change places.
func (s *Server) scraperPieces(ctx context.Context, values url.Values, out []piece) ([]piece, error) {
	q, err := scraperQueryOf(values)
	if err != nil {
		return nil, err
	}
	v, err := s.scraperView(ctx, q)
	if err != nil {
		return nil, err
	}
	v.Frame.Scraper = lineOf(s.Scraper.Presence(), time.Now())
	for _, id := range []string{"q-holds", "q-hold", "q-tiles", "q-sites"} {
		if out, err = s.drawPiece(out, id, id, v); err != nil {
			return nil, err
		}
	}
	frame := "parts"
	for _, p := range v.Parts {
		frame += " " + p.ID + p.Sub + p.All + p.More + p.Range
		for _, r := range p.Rows {
			frame += " " + r.ID
			if out, err = s.drawPiece(out, r.ID, "job-row", r); err != nil {
				return nil, err
			}
		}
	}
	if out, err = s.drawPiece(out, "q-parts", "q-parts", v); err != nil {
		return nil, err
	}
	out[len(out)-1].Key = frame
	// A choice that somebody is just making is not drawn over: the settings are
	// drawn anew only when the scraper went or came.
	if out, err = s.drawPiece(out, "q-settings", "q-settings", v); err != nil {
		return nil, err
	}
	out[len(out)-1].Key = "here"
	if v.Away {
		out[len(out)-2].Key, out[len(out)-1].Key = "away", "away"
	}
	return out, nil
}

// jobPieces draws the live elements of one Job's page.
func (s *Server) jobPieces(ctx context.Context, values url.Values, out []piece) ([]piece, error) {
	id, err := number(values.Get("job"))
	if err != nil {
		return nil, err
	}
	v, err := s.jobView(ctx, id)
	if err != nil {
		return nil, err
	}
	v.Frame.Scraper = lineOf(s.Scraper.Presence(), time.Now())
	if out, err = s.drawPiece(out, "job-head", "job-head", v); err != nil {
		return nil, err
	}
	frame := "chapters " + v.Counts
	for _, c := range v.Chapters {
		frame += " " + c.ID + c.Head
		if out, err = s.drawPiece(out, c.ID, "job-chapter", c); err != nil {
			return nil, err
		}
	}
	if out, err = s.drawPiece(out, "job-chapters", "job-chapters", v); err != nil {
		return nil, err
	}
	out[len(out)-1].Key = frame
	return out, nil
}
