package web

import (
	"context"
	"net/http"

	"mangrove/internal/fault"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/pages"
)

// page serves one page of a book; the address counts from 1.
func (s *Server) page(w http.ResponseWriter, r *http.Request) error {
	book, err := number(r.PathValue("book"))
	if err != nil {
		return err
	}
	n, err := number(r.PathValue("page"))
	if err != nil || n > 1<<30 {
		return notFound("a page")
	}
	placed, err := s.Shelves.Page(r.Context(), book, int(n-1))
	if err != nil {
		return err
	}
	err = s.Files.Serve(w, r, placed)
	if placed.Here && (fault.Is(err, fault.Storage) || fault.Is(err, fault.Page)) {
		s.reportFile(r.Context(), placed.Path)
	}
	return err
}

// reportFile tells the scraper of a file that could not be read, one at a time and
// behind the answer: an incident is the scraper's to record (F73). What is not told
// now is told by the next who looks.
func (s *Server) reportFile(ctx context.Context, path string) {
	if !s.reporting.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer s.reporting.Store(false)
		// One that is away hears of it another time; its absence is shown elsewhere.
		_ = s.Scraper.ReportFile(context.WithoutCancel(ctx), path)
	}()
}

// coverWidth reads ?w; nothing asked is the small one.
func coverWidth(r *http.Request) int {
	switch r.URL.Query().Get("w") {
	case "", "320":
		return pages.SmallCover
	case "640":
		return pages.LargeCover
	}
	return 0
}

// titleCover serves the cover of a title: its first page.
func (s *Server) titleCover(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r.PathValue("title"))
	if err != nil {
		return err
	}
	book, fingerprint, err := s.Shelves.CoverBook(r.Context(), id)
	if err != nil {
		return err
	}
	source := func(ctx context.Context) ([]byte, error) {
		placed, err := s.Shelves.Page(ctx, book, 0)
		if err != nil {
			return nil, err
		}
		return s.Files.PageSource(placed)(ctx)
	}
	return s.Covers.Serve(w, r, "page "+fingerprint, coverWidth(r), source)
}

// siteCover serves the cover that the Site shows, for a Series of which
// nothing is here yet.
func (s *Server) siteCover(w http.ResponseWriter, r *http.Request) error {
	key := keyOf(r)
	source := func(ctx context.Context) ([]byte, error) {
		c, err := s.Scraper.GetCover(ctx, key)
		return c.Data, err
	}
	return s.Covers.Serve(w, r, "site "+key.Site+" "+key.SeriesID+" "+coverMonth(), coverWidth(r), source)
}

// pagesOf answers the pages of a book, looking into the file again when it
// could not be read before.
func (s *Server) pagesOf(ctx context.Context, b catalog.Book) ([]catalog.Page, error) {
	if b.Why != "" {
		return nil, nil
	}
	list, err := s.Shelves.Pages(ctx, b.ID)
	if err != nil || len(list) > 0 {
		return list, err
	}
	if list, err = s.Files.Index(ctx, b.Path); err != nil {
		if fault.Is(err, fault.Unknown) {
			err = fault.New(fault.Page, "read", b.Path, err)
		}
		return nil, err
	}
	return list, s.Shelves.SaveIndex(ctx, b.ID, list)
}
