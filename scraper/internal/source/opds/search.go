package opds

import (
	"bytes"
	"context"
	"encoding/xml"
	"net/url"
	"strings"

	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/markup"
)

// maxTemplate is how long the address of a search may be.
const maxTemplate = 2 << 10

// description is an OpenSearch document.
type description struct {
	URLs []struct {
		Type     string `xml:"type,attr"`
		Template string `xml:"template,attr"`
	} `xml:"Url"`
}

// Search asks the catalog's own search for Series. A catalog without one is looked
// through as far as its first feed goes.
func (a *Adapter) Search(ctx context.Context, f source.Fetcher, query string) ([]source.Series, error) {
	resp, err := f.Get(ctx, source.Request{URL: a.config.Address, Want: source.WantXML})
	if err != nil {
		return nil, err
	}
	start, err := parse(resp)
	if err != nil {
		return nil, err
	}
	template, err := a.template(ctx, f, start)
	if err != nil {
		return nil, err
	}
	if template == "" {
		return a.found(start, func(title string) bool {
			return strings.Contains(strings.ToLower(title), strings.ToLower(strings.TrimSpace(query)))
		}), nil
	}
	address := markup.Resolve(start.base, fill(template, query))
	if !markup.Within(address, a.site.Hosts) {
		return nil, source.Unparsed(resp.URL, "its search lies outside the catalog's hosts")
	}
	if resp, err = f.Get(ctx, source.Request{URL: address, Want: source.WantXML}); err != nil {
		return nil, err
	}
	answer, err := parse(resp)
	if err != nil {
		return nil, err
	}
	return a.found(answer, func(string) bool { return true }), nil
}

// template returns the address of the search with its gaps, or "". It stands in
// the link itself or in a document the link leads to.
func (a *Adapter) template(ctx context.Context, f source.Fetcher, start *page) (string, error) {
	for _, l := range start.Links {
		if l.Rel != "search" || len(l.Href) > maxTemplate {
			continue
		}
		if strings.Contains(l.Href, "{searchTerms}") {
			return l.Href, nil
		}
		address := markup.Resolve(start.base, l.Href)
		if !markup.Within(address, a.site.Hosts) {
			continue
		}
		resp, err := f.Get(ctx, source.Request{URL: address, Want: source.WantXML})
		if err != nil {
			return "", err
		}
		if _, err := markup.Root(resp.URL, resp.Body, "opensearchdescription"); err != nil {
			return "", err
		}
		var d description
		if err := xml.NewDecoder(bytes.NewReader(resp.Body)).Decode(&d); err != nil {
			return "", source.Unparsed(resp.URL, "it is no description of a search that can be read")
		}
		for _, u := range d.URLs {
			if strings.HasPrefix(u.Type, "application/atom+xml") && strings.Contains(u.Template, "{searchTerms}") && len(u.Template) <= maxTemplate {
				return u.Template, nil
			}
		}
	}
	return "", nil
}

// fill puts the query into a template; every other gap stays empty.
func fill(template, query string) string {
	out := strings.ReplaceAll(template, "{searchTerms}", url.QueryEscape(query))
	for {
		before, rest, open := strings.Cut(out, "{")
		_, after, closed := strings.Cut(rest, "}")
		if !open || !closed {
			return out
		}
		out = before + after
	}
}

// found makes Series of the entries of a feed that lead to another.
func (a *Adapter) found(p *page, fits func(title string) bool) []source.Series {
	var out []source.Series
	for i := range p.Entries {
		e := &p.Entries[i]
		id, address, ok := a.Recognise(p.feedOf(e))
		title := line(e.Title)
		if !ok || title == "" || !fits(title) {
			continue
		}
		s := source.Series{ID: id, Title: title, URL: address, CoverURL: p.link(e.Links, relThumbnail, relImage)}
		if !markup.Within(s.CoverURL, a.site.Hosts) {
			s.CoverURL = ""
		}
		if out = append(out, s); len(out) == maxFound {
			break
		}
	}
	return out
}
