package opds

import (
	"bytes"
	"context"
	"encoding/xml"
	"net/url"
	"strings"
	"time"

	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/markup"
)

// The relations of links.
const (
	relAcquisition = "http://opds-spec.org/acquisition"
	relImage       = "http://opds-spec.org/image"
	relThumbnail   = "http://opds-spec.org/image/thumbnail"
	relStream      = "http://vaemendis.net/opds-pse/stream"
)

// page is one feed of a catalog, as far as it is read.
type page struct {
	XMLName  xml.Name `xml:"feed"`
	Title    string   `xml:"title"`
	Subtitle string   `xml:"subtitle"`
	Rights   string   `xml:"rights"`
	Authors  []person `xml:"author"`
	Links    []link   `xml:"link"`
	Entries  []entry  `xml:"entry"`

	resp *source.Response
	base *url.URL
}

type person struct {
	Name string `xml:"name"`
}

type link struct {
	Rel   string `xml:"rel,attr"`
	Href  string `xml:"href,attr"`
	Type  string `xml:"type,attr"`
	Count int    `xml:"http://vaemendis.net/opds-pse/ns count,attr"`
}

type entry struct {
	ID       string   `xml:"id"`
	Title    string   `xml:"title"`
	Language string   `xml:"http://purl.org/dc/terms/ language"`
	Issued   string   `xml:"http://purl.org/dc/terms/ issued"`
	Publish  string   `xml:"published"`
	Authors  []person `xml:"author"`
	Links    []link   `xml:"link"`
}

// parse reads a feed that is within the limits.
func parse(resp *source.Response) (*page, error) {
	base, err := url.Parse(resp.URL)
	if err != nil {
		return nil, source.Unparsed(resp.URL, "its address is not understood")
	}
	if _, err := markup.Root(resp.URL, resp.Body, "feed"); err != nil {
		return nil, err
	}
	p := &page{resp: resp, base: base}
	if err := xml.NewDecoder(bytes.NewReader(resp.Body)).Decode(p); err != nil {
		return nil, source.Unparsed(resp.URL, "it is no Atom feed that can be read")
	}
	return p, nil
}

// walk gives take each feed from address on, as long as it wants more and the
// catalog has them.
func (a *Adapter) walk(ctx context.Context, f source.Fetcher, address string, v source.Validators, take func(*page) (more bool, err error)) error {
	seen := map[string]bool{}
	for next := address; next != "" && !seen[next]; v = (source.Validators{}) {
		if len(seen) >= maxFeeds {
			return source.Unparsed(address, "it goes on for more than %d feeds", maxFeeds)
		}
		seen[next] = true
		resp, err := f.Get(ctx, source.Request{URL: next, Want: source.WantXML, Validators: v})
		if err != nil {
			return err
		}
		p := &page{resp: resp}
		if !resp.NotModified {
			if p, err = parse(resp); err != nil {
				return err
			}
		}
		more, err := take(p)
		if err != nil || !more {
			return err
		}
		if next = p.link(p.Links, "next"); next != "" && !markup.Within(next, a.site.Hosts) {
			return source.Unparsed(resp.URL, "it goes on outside the catalog's hosts")
		}
	}
	return nil
}

// link returns the absolute address of the first link of one of the relations.
func (p *page) link(links []link, rels ...string) string {
	for _, rel := range rels {
		for _, l := range links {
			if l.Rel == rel {
				if address := markup.Resolve(p.base, l.Href); address != "" {
					return address
				}
			}
		}
	}
	return ""
}

// acquisition returns where a book can be got as a file, in any way.
func (p *page) acquisition(e *entry) string {
	for _, l := range e.Links {
		if l.Rel == relAcquisition || strings.HasPrefix(l.Rel, relAcquisition+"/") {
			return markup.Resolve(p.base, l.Href)
		}
	}
	return ""
}

// feedOf returns the feed that an entry of a navigation feed leads to.
func (p *page) feedOf(e *entry) string {
	for _, l := range e.Links {
		if strings.HasPrefix(l.Type, "application/atom+xml") && !strings.Contains(l.Type, "type=entry") && (l.Rel == "subsection" || l.Rel == "") {
			return markup.Resolve(p.base, l.Href)
		}
	}
	return ""
}

// stream returns the link by which a book's pages can be read one by one.
func (e *entry) stream() (link, bool) {
	for _, l := range e.Links {
		if l.Rel == relStream && l.Count > 0 && strings.Contains(l.Href, "{pageNumber}") && (l.Type == "" || strings.HasPrefix(l.Type, "image/")) {
			return l, true
		}
	}
	return link{}, false
}

// published is the day a book came out: as the catalog says, which may be a year.
func (e *entry) published() time.Time {
	for _, s := range []string{e.Publish, e.Issued} {
		for _, layout := range []string{time.RFC3339, time.DateOnly} {
			if t, err := time.Parse(layout, strings.TrimSpace(s)); err == nil && t.Year() > 1800 && t.Before(time.Now().Add(48*time.Hour)) {
				return t.UTC()
			}
		}
	}
	return time.Time{}
}

func names(people []person) []string {
	var out []string
	for _, p := range people {
		if n := line(p.Name); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// line is text on one line.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }
