package declared

import (
	"context"
	"net/url"
	"slices"

	"mangrove/scraper/internal/source"
)

// Limits of what one Series may say of itself.
const (
	maxChapters = 20_000
	maxTitle    = 1000
	maxNames    = 100
)

// Series reads the page of a Series and, where they lie elsewhere, the pages
// with its chapters.
func (s *Described) Series(ctx context.Context, f source.Fetcher, ask source.Ask) (source.Reading, error) {
	if !goodID(ask.SeriesID) || (s.address.fixed && ask.SeriesID != s.listed[0].ID) {
		return source.Reading{}, source.NotFound(clip(ask.SeriesID, 100))
	}
	p := &s.series
	v := ask.Validators
	if s.chapters.ownRead || s.chapters.next != nil {
		// That this page is the same says nothing about the others.
		v = source.Validators{}
	}
	asked := s.seriesAddress(ask)
	doc, err := s.open(ctx, f, asked, p.section, v)
	if err != nil {
		return source.Reading{}, err
	}
	if doc.resp.NotModified {
		return source.Reading{NotModified: true, Validators: ask.Validators}, nil
	}
	r, err := s.seriesIn(doc, ask, asked)
	if err != nil {
		return source.Reading{}, err
	}
	if !s.chapters.ownRead && s.chapters.next == nil {
		r.Validators = doc.resp.Validators
	}
	r.Chapters, err = s.list(ctx, f, doc, ask.SeriesID, r.Series.Title)
	return r, err
}

// seriesAddress is where a Series is read: by its id, or, where the page proves
// its id itself, where it was found the last time.
func (s *Described) seriesAddress(ask source.Ask) string {
	if s.series.id != nil && !s.series.ownRead && within(ask.URL, s.hosts) {
		if u, err := url.Parse(ask.URL); err == nil {
			if _, ok := s.address.id(u, true); ok {
				return ask.URL
			}
		}
	}
	return s.series.read.fill(vars{"id": ask.SeriesID})
}

// seriesIn reads what a page says of its Series.
func (s *Described) seriesIn(doc document, ask source.Ask, asked string) (source.Reading, error) {
	p := &s.series
	id := ask.SeriesID
	if doc.resp.URL != asked && p.id == nil {
		// Led elsewhere: only the address can tell whose page this is (POLL-13).
		got, ok := "", false
		if within(doc.resp.URL, s.hosts) {
			got, ok = s.idOf(doc.base)
		}
		if !ok || got != id {
			return source.Reading{}, source.NotFound(subject(doc.resp.URL))
		}
	}
	if err := doc.settle(p.section); err != nil {
		return source.Reading{}, err
	}
	known := vars{"series_id": id}
	text := func(v *value, most int) string { return clip(v.first(doc.root, known), most) }
	texts := func(v *value) []string {
		var out []string
		for _, t := range v.each(doc.root, known, maxNames) {
			if t = clip(t, maxTitle); !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
		return out
	}
	if p.id != nil {
		if id = p.id.first(doc.root, known); !goodID(id) {
			return source.Reading{}, source.Unparsed(subject(doc.resp.URL), "the page gives no id")
		}
	}
	r := source.Reading{Series: source.Series{
		ID: id, Title: text(p.title, maxTitle), NativeTitle: text(p.nativeTitle, maxTitle), Authors: texts(p.authors), Tags: texts(p.tags),
		Description: text(p.description, maxText), License: text(p.license, maxTitle), URL: s.Address(ask.SeriesID),
		Status:    source.Known(p.status.first(doc.root, known), source.Statuses()),
		Direction: source.Known(p.direction.first(doc.root, known), source.Directions()),
		CoverURL:  s.onSite(resolve(doc.base, p.cover.first(doc.root, known)), s.site.Hosts),
	}}
	if doc.resp.Permanent && !p.ownRead {
		r.MovedTo = doc.resp.URL
	}
	return r, nil
}

// onSite is address if it lies on hosts, else "".
func (s *Described) onSite(address string, hosts []string) string {
	if address == "" || !within(address, hosts) {
		return ""
	}
	return address
}
