package opds

import (
	"context"
	"strconv"
	"strings"

	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/markup"
)

// Pages reads how many pages a book has and where they are streamed from. The
// feed is asked again for it: a count may change, and an address may end.
func (a *Adapter) Pages(ctx context.Context, f source.Fetcher, series source.Key, ch source.Chapter) ([]source.Page, error) {
	begin := ch.URL
	var pages []source.Page
	find := func(p *page) (bool, error) {
		for i := range p.Entries {
			e := &p.Entries[i]
			if strings.TrimSpace(e.ID) != ch.ID {
				continue
			}
			l, ok := e.stream()
			if !ok {
				return false, source.Unparsed(p.resp.URL, "the book %q is not streamed", line(e.Title))
			}
			var err error
			pages, err = a.streamed(p, l)
			return false, err
		}
		return true, nil
	}
	if err := a.walk(ctx, f, begin, source.Validators{}, find); err != nil || pages != nil {
		return pages, err
	}
	// New books shift the others from one feed to the next: look from the first.
	if whole := a.Address(series.SeriesID); whole != "" && whole != begin {
		if err := a.walk(ctx, f, whole, source.Validators{}, find); err != nil || pages != nil {
			return pages, err
		}
	}
	return nil, source.NotFound(ch.ID)
}

// streamed makes the page list of a book: numbered from 0.
func (a *Adapter) streamed(p *page, l link) ([]source.Page, error) {
	if l.Count > markup.MaxPages {
		return nil, source.Unparsed(p.resp.URL, "a book has %d pages, more than %d", l.Count, markup.MaxPages)
	}
	at := func(n int) string {
		href := strings.NewReplacer("{pageNumber}", strconv.Itoa(n), "{maxWidth}", strconv.Itoa(a.config.Width)).Replace(l.Href)
		return markup.Resolve(p.base, href)
	}
	pages := make([]source.Page, 0, l.Count)
	for n := range l.Count {
		address := at(n)
		if address == "" || !markup.Within(address, a.site.Hosts) {
			return nil, source.Unparsed(p.resp.URL, "its pages have no address within the catalog's hosts")
		}
		// The number may stand in the query, so that the whole address tells pages
		// apart.
		pages = append(pages, source.Page{URL: address, Identity: address})
	}
	return pages, nil
}
