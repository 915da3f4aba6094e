package declared

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"mangrove/scraper/internal/source"
)

// maxPages bounds the page list of one chapter (B35), maxFound what search
// returns.
const (
	maxPages = 2000
	maxFound = 50
)

// Pages reads the page list of one chapter.
func (s *Described) Pages(ctx context.Context, f source.Fetcher, series source.Key, ch source.Chapter) ([]source.Page, error) {
	address := ch.URL
	if s.pages.ownRead {
		address = s.pages.read.fill(vars{"id": series.SeriesID, "chapter": ch.ID})
	}
	doc, err := s.open(ctx, f, address, s.pages.section, source.Validators{})
	if err != nil {
		return nil, err
	}
	return s.pagesIn(doc, series.SeriesID, ch)
}

// pagesIn reads the page list out of an answer.
func (s *Described) pagesIn(doc document, seriesID string, ch source.Chapter) ([]source.Page, error) {
	p := &s.pages
	if err := doc.settle(p.section); err != nil {
		return nil, err
	}
	at := subject(doc.resp.URL)
	known := vars{"series_id": seriesID, "chapter_id": ch.ID}
	if p.chapter != nil && ch.ID != "" {
		if got := p.chapter.first(doc.page, known); got != ch.ID {
			return nil, source.Unparsed(at, "the page is of chapter %q, not %q", clip(got, 100), ch.ID)
		}
	}
	found := p.image.nodes(doc.root, maxPages+1)
	if len(found) > maxPages {
		return nil, source.Unparsed(at, "the page lists more than %d images", maxPages)
	}
	var out []source.Page
	seen := map[string]bool{}
	for i, n := range found {
		address := s.imageAddress(doc, n, known)
		switch {
		case address == "":
			return nil, source.Unparsed(at, "image %d has no address", i+1)
		case !within(address, s.site.Hosts):
			u, err := url.Parse(address)
			if err != nil {
				return nil, source.Unparsed(at, "image %d has no address", i+1)
			}
			return nil, source.Unparsed(at, "image %d lies on %s, which is none of hosts or image_hosts", i+1, clip(u.Host, 100))
		case seen[address]:
			continue
		}
		seen[address] = true
		out = append(out, source.Page{URL: address})
	}
	if len(out) == 0 {
		return nil, source.Unparsed(at, "the page shows no image")
	}
	if p.count != nil {
		if said := p.count.first(doc.page, known); said != strconv.Itoa(len(out)) {
			return nil, source.Unparsed(at, "the page lists %d images and says %q", len(out), clip(said, 40))
		}
	}
	p.identify(out)
	return out, nil
}

// imageAddress is the first candidate that is a web address: a lazy page shows a
// data: picture until its script has run.
func (s *Described) imageAddress(doc document, n node, known vars) string {
	v := s.pages.source
	if v.template != nil || v.constant != "" {
		return resolve(doc.base, v.first(n, known))
	}
	for _, e := range v.alts {
		c, isCSS := e.(css)
		if !isCSS || len(c.attrs) < 2 {
			if got := resolve(doc.base, v.shape(first(e.texts(n, 1)))); got != "" {
				return got
			}
			continue
		}
		for _, a := range c.attrs {
			one := css{match: c.match, attrs: []string{a}}
			if got := resolve(doc.base, v.shape(first(one.texts(n, 1)))); got != "" {
				return got
			}
		}
	}
	return ""
}

func first(of []string) string {
	if len(of) == 0 {
		return ""
	}
	return of[0]
}

// identify names what stays the same when addresses are renewed: the address
// without its query, unless that would make two pages one.
func (p *pagesPart) identify(pages []source.Page) {
	short := func(address string) string {
		id := source.Identity(address)
		if u, err := url.Parse(id); err == nil && p.byPath {
			return u.Path
		}
		return id
	}
	once := map[string]bool{}
	for _, page := range pages {
		once[short(page.URL)] = true
	}
	for i := range pages {
		pages[i].Identity = short(pages[i].URL)
		if len(once) < len(pages) {
			pages[i].Identity = pages[i].URL
		}
	}
}

// searchable is a Site whose description says how it is searched.
type searchable struct{ *Described }

var (
	_ source.Adapter  = (*Described)(nil)
	_ source.Searcher = searchable{}
)

// Search asks the Site for a title.
func (s searchable) Search(ctx context.Context, f source.Fetcher, query string) ([]source.Series, error) {
	doc, err := s.open(ctx, f, s.search.read.fill(vars{"query": query}), s.search.section, source.Validators{})
	if err != nil {
		return nil, err
	}
	return s.foundIn(doc)
}

// foundIn reads what a search found. What leads to no Series page is passed over:
// a Site's search finds its news too.
func (s *Described) foundIn(doc document) ([]source.Series, error) {
	p := s.search
	if err := doc.settle(p.section); err != nil {
		return nil, err
	}
	var out []source.Series
	seen := map[string]bool{}
	for _, item := range p.item.nodes(doc.root, 10*maxFound) {
		r := source.Series{ID: p.id.first(item, nil), Title: clip(p.title.first(item, nil), maxTitle)}
		if p.address != nil {
			id, _, ok := s.Recognise(resolve(doc.base, p.address.first(item, nil)))
			if !ok || (r.ID != "" && r.ID != id) {
				continue
			}
			r.ID = id
		}
		r.URL = s.Address(r.ID)
		if r.URL == "" || strings.TrimSpace(r.Title) == "" || seen[r.ID] {
			continue
		}
		seen[r.ID] = true
		r.CoverURL = s.onSite(resolve(doc.base, p.cover.first(item, nil)), s.site.Hosts)
		if out = append(out, r); len(out) == maxFound {
			break
		}
	}
	return out, nil
}
