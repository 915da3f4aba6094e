package declared

import (
	"context"
	"net/url"
	"strings"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// Kind is what a page is to a description.
type Kind string

// The kinds of pages.
const (
	SeriesPage  Kind = "series"
	ChapterPage Kind = "pages"
	SearchPage  Kind = "search"
)

// Finding is what one key of a description finds on a page.
type Finding struct {
	// Key is the dotted name; Line is where it stands in the file.
	Key  string
	Line int
	// Count is how much was found, Values the first of it.
	Count  int
	Values []string
}

// KindOf says what an address is to the description, and of which Series. An
// address that is neither that of a Series nor a search is taken for a chapter.
func (s *Described) KindOf(address string) (Kind, string) {
	u, err := url.Parse(address)
	if err != nil {
		return ChapterPage, ""
	}
	if s.search != nil {
		p, err := parsePattern(strings.ReplaceAll(s.search.read.raw, "{query}", "{id}"), "id")
		if _, ok := p.id(u, true); err == nil && ok && u.Host == p.host {
			return SearchPage, ""
		}
	}
	id, _, _ := s.Recognise(address)
	for _, p := range append([]pattern{s.address, s.series.read}, s.also...) {
		if _, ok := p.id(u, true); ok && id != "" {
			return SeriesPage, id
		}
	}
	return ChapterPage, id
}

// SearchFor is the query of a search's address.
func (s *Described) SearchFor(address string) string {
	u, err := url.Parse(address)
	if err != nil || s.search == nil {
		return ""
	}
	p, err := parsePattern(strings.ReplaceAll(s.search.read.raw, "{query}", "{id}"), "id")
	if err != nil {
		return ""
	}
	query, _ := p.id(u, true)
	return query
}

// PagesAt reads the page list at an address, as of a chapter known by nothing but
// it.
func (s *Described) PagesAt(ctx context.Context, f source.Fetcher, address, seriesID string) ([]source.Page, error) {
	ch := source.Chapter{URL: address}
	if u, err := url.Parse(address); err == nil && s.chapters.id == nil {
		ch.ID = u.RequestURI()
	}
	doc, err := s.open(ctx, f, address, s.pages.section, source.Validators{})
	if err != nil {
		return nil, err
	}
	return s.pagesIn(doc, seriesID, ch)
}

// shown is how many values a Finding holds, and of how many chapters.
const shown = 3

// Explain says what each key of a kind finds in an answer. List and page lists
// read elsewhere have answers of their own: the first is what is explained.
func (s *Described) Explain(kind Kind, resp *source.Response) ([]Finding, error) {
	x := explanation{site: s}
	switch kind {
	case SeriesPage:
		p := &s.series
		if err := x.open(resp, p.section, "series"); err != nil {
			return nil, err
		}
		x.values(x.doc.root, p.id, p.title, p.nativeTitle, p.authors, p.description, p.status, p.tags, p.cover, p.direction, p.license)
		if !s.chapters.ownRead {
			x.list(s.inherit())
		}
	case ListKind:
		if err := x.open(resp, s.chapters.section, "chapters"); err != nil {
			return nil, err
		}
		x.list(s.chapters.section)
	case SearchPage:
		if err := x.open(resp, s.search.section, "search"); err != nil {
			return nil, err
		}
		p := s.search
		x.items("search.item", p.item, p.id, p.title, p.address, p.cover)
	default:
		p := &s.pages
		if err := x.open(resp, p.section, "pages"); err != nil {
			return nil, err
		}
		x.values(x.doc.page, p.chapter, p.count)
		x.items("pages.image", p.image, p.source)
	}
	return x.found, nil
}

// ListKind is the kind of answers a list of chapters read on its own comes in.
const ListKind Kind = "chapters"

// ReadsListApart reports whether the chapters lie on a page of their own.
func (s *Described) ReadsListApart() bool { return s.chapters.ownRead }

// inherit is the chapters' section as the Series page is read for it.
func (s *Described) inherit() section {
	p := s.chapters.section
	if p.script == nil {
		p.script = s.series.script
	}
	return p
}

type explanation struct {
	site  *Described
	doc   document
	found []Finding
}

// open parses an answer; a page without its landmark is explained all the same.
func (x *explanation) open(resp *source.Response, p section, name string) error {
	doc, err := x.site.parse(resp, p)
	if err != nil {
		return err
	}
	x.doc = doc
	x.expr(name+".missing", p.missing, doc.page)
	x.expr(name+".landmark", p.landmark, doc.page)
	if err := x.doc.settle(p); err != nil && fault.Is(err, fault.NotFound) {
		x.doc.root = doc.page
	}
	return nil
}

func (x *explanation) line(key string, at place) int {
	if p, ok := x.site.places[key]; ok {
		return p.line
	}
	return at.line
}

// maxCounted bounds what is counted for an explanation.
const maxCounted = 100_000

func (x *explanation) expr(key string, e expr, in node) []node {
	if e == nil {
		return nil
	}
	nodes := e.nodes(in, maxCounted)
	f := Finding{Key: key, Line: x.line(key, place{}), Count: len(nodes)}
	if texts := e.texts(in, 1); len(texts) > 0 {
		f.Values = append(f.Values, clip(texts[0], 80))
	}
	x.found = append(x.found, f)
	return nodes
}

func (x *explanation) values(in node, values ...*value) {
	for _, v := range values {
		if v == nil {
			continue
		}
		all := v.each(in, vars{"series_id": "?", "chapter_id": "?"}, maxEach)
		f := Finding{Key: v.name, Line: x.line(v.name, v.at), Count: len(all)}
		for _, s := range all[:min(len(all), shown)] {
			f.Values = append(f.Values, clip(s, 80))
		}
		x.found = append(x.found, f)
	}
}

// items explains a list: how long it is, and in how many of its entries each
// value is found.
func (x *explanation) items(key string, item expr, values ...*value) {
	nodes := x.expr(key, item, x.doc.root)
	for _, v := range values {
		if v == nil {
			continue
		}
		f := Finding{Key: v.name, Line: x.line(v.name, v.at)}
		for _, n := range nodes {
			s := v.first(n, vars{"series_id": "?", "chapter_id": "?"})
			if s == "" {
				continue
			}
			if f.Count++; len(f.Values) < shown {
				f.Values = append(f.Values, clip(s, 80))
			}
		}
		x.found = append(x.found, f)
	}
}

func (x *explanation) list(p section) {
	c := &x.site.chapters
	x.expr("chapters.missing", c.missing, x.doc.page)
	if !c.ownRead {
		x.expr("chapters.landmark", c.landmark, x.doc.page)
		p.missing, p.landmark = nil, nil
		if err := x.doc.settle(p); err != nil {
			x.doc.root = node{}
		}
	}
	x.values(x.doc.page, c.count, c.next)
	x.items("chapters.item", c.item, c.id, c.address, c.label, c.number, c.volume, c.title, c.group, c.language, c.date, c.extern)
}
