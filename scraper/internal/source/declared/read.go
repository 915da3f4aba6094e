package declared

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// Adapter returns the Site as what the scraper works with: it can be searched
// only when its description says how.
func (s *Described) Adapter() source.Adapter {
	if s.search != nil {
		return searchable{s}
	}
	return s
}

// File is where the Site is described.
func (s *Described) File() string { return s.file }

// Site describes the Site.
func (s *Described) Site() source.Site { return s.site }

// Listed are the Series the description names.
func (s *Described) Listed() []source.Series { return s.listed }

// Recognise knows the addresses of Series by the description's patterns; what
// follows the pattern's path is no hindrance.
func (s *Described) Recognise(address string) (string, string, bool) {
	if len(address) > maxAddress {
		return "", "", false
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || !onHost(u, s.hosts) {
		return "", "", false
	}
	id, ok := s.idOf(u)
	if !ok {
		return "", "", false
	}
	return id, s.Address(id), true
}

// idOf is the id of the Series whose page an address is or lies under.
func (s *Described) idOf(u *url.URL) (string, bool) {
	for _, p := range append([]pattern{s.address, s.series.read}, s.also...) {
		if id, ok := p.id(u, false); ok {
			if p.fixed {
				return s.listed[0].ID, true
			}
			return id, true
		}
	}
	return "", false
}

// Address is where the page of a Series lies.
func (s *Described) Address(seriesID string) string {
	if !goodID(seriesID) {
		return ""
	}
	return s.address.fill(vars{"id": seriesID})
}

// document is one answer, parsed, with what its values are taken from.
type document struct {
	resp *source.Response
	base *url.URL
	// page is the answer itself, root where the section's values begin.
	page, root node
}

// open asks for an address and parses the answer for a section.
func (s *Described) open(ctx context.Context, f source.Fetcher, address string, p section, v source.Validators) (document, error) {
	want := source.WantHTML
	if p.json {
		want = source.WantJSON
	}
	ask := source.Request{URL: address, Want: want, Validators: v}
	if l, ok := p.landmark.(css); ok {
		ask.Landmark = l.match.String()
	}
	resp, err := f.Get(ctx, ask)
	if err != nil || resp.NotModified {
		return document{resp: resp}, err
	}
	return s.parse(resp, p)
}

// parse reads an answer as the section's kind; what is none of that kind has no
// landmark.
func (s *Described) parse(resp *source.Response, p section) (document, error) {
	d := document{resp: resp}
	var err error
	if d.base, err = url.Parse(resp.URL); err != nil {
		return d, source.Unparsed("the answer", "its address is not understood")
	}
	if p.json {
		v, err := parseJSON(resp.Body, true)
		if err != nil {
			return d, fault.Newf(fault.Parser, "read", subject(resp.URL), "%s", err).WithEvidence(fault.Answered)
		}
		d.page = node{json: v}
		return d, nil
	}
	set := s.charset
	if set == "" || s.site.Browser {
		// What a browser made of a page is UTF-8, whatever the page says it was.
		set = resp.Charset
	}
	doc, err := parseHTML(resp.Body, set)
	if err != nil {
		return d, source.Unparsed(subject(resp.URL), "%s", err)
	}
	d.page = node{html: doc, markup: true}
	if b := cascadia.Query(doc, baseTag); b != nil {
		if u, err := url.Parse(strings.TrimSpace(attribute(b, "href"))); err == nil {
			d.base = d.base.ResolveReference(u)
		}
	}
	return d, nil
}

var baseTag = must("base[href]").match

// settle looks for the section's notice and landmark, and finds where its values
// begin.
func (d *document) settle(p section) error {
	if found(p.missing, d.page) {
		return source.NotFound(subject(d.resp.URL))
	}
	if p.landmark != nil && !found(p.landmark, d.page) {
		return source.NoLandmark(subject(d.resp.URL), p.landText)
	}
	d.root = d.page
	if p.script == nil {
		return nil
	}
	var ok bool
	if d.root, ok = p.script.cut(d.page.html); !ok {
		return source.NoLandmark(subject(d.resp.URL), "script with the list")
	}
	return nil
}

// found reports whether an expression finds anything that is there.
func found(e expr, n node) bool {
	if e == nil {
		return false
	}
	for _, f := range e.nodes(n, 1) {
		if f.markup || f.json != nil {
			return true
		}
	}
	return false
}

// maxListed bounds how many texts are taken out of a script one by one.
const maxListed = 20_000

// cut takes the script's value out of a page.
func (sc *script) cut(doc *html.Node) (node, bool) {
	for _, n := range sc.from.find(doc) {
		body := raw(n)
		if len(sc.from.attrs) > 0 {
			body = sc.from.one(n)
		}
		if sc.match != nil {
			at := sc.match.FindStringSubmatchIndex(body)
			if at == nil {
				continue
			}
			if len(at) > 2 && at[2] >= 0 {
				body = body[at[2]:]
				if sc.each != nil {
					body = body[:at[3]-at[2]]
				}
			} else {
				body = body[at[1]:]
			}
		}
		if sc.each != nil {
			var list []any
			for _, m := range sc.each.FindAllStringSubmatch(body, maxListed) {
				list = append(list, strings.ReplaceAll(m[len(m)-1], `\/`, "/"))
			}
			if len(list) > 0 {
				return node{json: list}, true
			}
			continue
		}
		v, err := parseJSON([]byte(strings.TrimSpace(body)), false)
		if err != nil {
			continue
		}
		if at := sc.path.walk(v, 1); len(at) == 1 {
			return node{json: at[0]}, true
		}
	}
	return node{}, false
}

// subject is an address without its query, for messages.
func subject(address string) string { return clip(source.Identity(address), 300) }

// now is when relative dates are read.
func now() time.Time { return time.Now() }
