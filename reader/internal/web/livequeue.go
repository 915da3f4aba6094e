package web

import (
	"context"
	"fmt"
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

// scraperPieces draws the live elements of the queue's page. What moves several
// times a second is an element of its own without a button or a link in it: a
// click on one that is just being replaced would be lost. A part is drawn as a
// whole when Jobs come, go, change places or want other buttons.
func (s *Server) scraperPieces(ctx context.Context, values url.Values, out []piece) ([]piece, error) {
	q, err := scraperQueryOf(values)
	if err != nil {
		return nil, err
	}
	v, err := s.scraperView(ctx, q)
	if err != nil {
		return nil, err
	}
	v.Frame.Scraper = s.say(ctx).scraperLine(s.Scraper.Presence(), time.Now())
	for _, id := range []string{"q-holds", "q-hold", "q-tiles"} {
		if out, err = s.drawPiece(ctx, out, id, id, v); err != nil {
			return nil, err
		}
	}
	if out, err = s.sitePieces(ctx, v, out); err != nil {
		return nil, err
	}
	frame := "parts"
	for _, p := range v.Parts {
		frame += " " + p.ID + p.Sub + p.All + p.More + p.Range
		for _, r := range p.Rows {
			frame += fmt.Sprint(" ", r.ID, r.Name, r.Cover, r.Acts, r.Elsewhere)
			for _, of := range []string{"at", "state"} {
				if out, err = s.drawPiece(ctx, out, r.ID+"-"+of, "job-"+of, r); err != nil {
					return nil, err
				}
			}
		}
	}
	if out, err = s.drawPiece(ctx, out, "q-parts", "q-parts", v); err != nil {
		return nil, err
	}
	out[len(out)-1].Key = frame
	// A choice that somebody is just making is not drawn over: the settings are
	// drawn anew only when the scraper went or came.
	if out, err = s.drawPiece(ctx, out, "q-settings", "q-settings", v); err != nil {
		return nil, err
	}
	out[len(out)-1].Key = "here"
	if v.Away {
		out[len(out)-2].Key, out[len(out)-1].Key = "away", "away"
	}
	return out, nil
}

// sitePieces draws the Sites: what they do and their rate each by itself.
func (s *Server) sitePieces(ctx context.Context, v scraperView, out []piece) ([]piece, error) {
	frame := "sites"
	var err error
	for _, r := range v.Sites {
		if out, err = s.drawPiece(ctx, out, r.ID+"-at", "site-at", r); err != nil {
			return nil, err
		}
		r.Line, r.Pace = "", ""
		frame += fmt.Sprint(" ", r)
	}
	if out, err = s.drawPiece(ctx, out, "q-sites", "q-sites", v); err != nil {
		return nil, err
	}
	out[len(out)-1].Key = frame
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
	v.Frame.Scraper = s.say(ctx).scraperLine(s.Scraper.Presence(), time.Now())
	if v.Row.Max > 0 {
		if out, err = s.drawPiece(ctx, out, v.Row.ID+"-at", "job-at", v.Row); err != nil {
			return nil, err
		}
	}
	still := v
	still.Row.Meta, still.Row.Percent, still.Row.Value = "", "", 0
	key, err := s.draw(ctx, "job-head", still)
	if err != nil {
		return nil, err
	}
	if out, err = s.drawPiece(ctx, out, "job-head", "job-head", v); err != nil {
		return nil, err
	}
	out[len(out)-1].Key = string(key)
	frame := "chapters " + v.Counts
	for _, c := range v.Chapters {
		frame += " " + c.ID + c.Head
		if out, err = s.drawPiece(ctx, out, c.ID, "job-chapter", c); err != nil {
			return nil, err
		}
	}
	if out, err = s.drawPiece(ctx, out, "job-chapters", "job-chapters", v); err != nil {
		return nil, err
	}
	out[len(out)-1].Key = frame
	return out, nil
}
