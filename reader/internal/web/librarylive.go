package web

import (
	"context"
	"time"

	"mangrove/reader/internal/account"
	"mangrove/reader/internal/catalog"
)

// libraryPieces are what of the library is live: its counts, which make the script
// ask again for the blocks on the screen, and a mark in place of the empty library
// once there is something, for which the script asks for the page.
func (s *Server) libraryPieces(ctx context.Context, u account.User, out []piece) ([]piece, error) {
	n, err := s.Shelves.ShelfCounts(ctx, u.ID)
	if err != nil {
		return nil, err
	}
	name, v := "shelf-filled", libraryView{Titles: n.All, Unread: n.Chapters}
	if n.All == 0 {
		name = "shelf-empty"
		if v, err = s.libraryView(ctx, u.ID, libraryQuery{Sort: catalog.SortTitle}); err != nil {
			return nil, err
		}
		v.Frame.Scraper, v.Frame.Guest = s.say(ctx).scraperLine(s.Scraper.Presence(), time.Now()), u.Role == account.Guest
	}
	html, err := s.draw(ctx, name, v)
	if err != nil {
		return nil, err
	}
	head, err := s.draw(ctx, "shelf-head", v)
	if err != nil {
		return nil, err
	}
	// Every change of the catalog is worth a look, also one that no count shows.
	return append(out, piece{ID: "shelf-empty", HTML: string(html)}, piece{ID: "shelf-head", HTML: string(head), Key: time.Now().String()}), nil
}
