// Package sample is the adapter of the sample Site: one real Series that comes
// with Mangrove, so that the whole way of a chapter can be seen on a fresh
// machine without asking anybody else's server. The scraper serves the Site to
// itself over loopback and reads it back over HTTP like any other. It reads the
// markup that samplesite documents and knows nothing of how it is served.
package sample

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/PuerkitoBio/goquery"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/sample/samplesite"
)

// Key is the sample Site's key.
const Key = "sample"

// seriesID is the one Series it lists from the start.
const seriesID = "pepper-and-carrot"

// Adapter reads the sample Site.
type Adapter struct {
	base     *url.URL
	loopback string
	server   *http.Server
}

var _ source.Adapter = (*Adapter)(nil)

// Start serves the built-in copy on a free loopback port and returns its
// adapter. With an address, the Site is read from there instead and nothing is
// served; the operator then lists that address.
func Start(address string) (*Adapter, error) {
	if address != "" {
		base, err := url.Parse(address)
		if err != nil {
			return nil, fault.New(fault.Invalid, "read", "the sample Site's address", err)
		}
		return &Adapter{base: base}, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fault.New(fault.Unknown, "serve", "the sample Site", err)
	}
	a := &Adapter{
		base:     &url.URL{Scheme: "http", Host: l.Addr().String()},
		loopback: l.Addr().String(),
		server:   &http.Server{Handler: samplesite.Handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10},
	}
	go func() { _ = a.server.Serve(l) }()
	return a, nil
}

// Close ends the listener.
func (a *Adapter) Close() {
	if a.server != nil {
		_ = a.server.Close()
	}
}

// pacing is short, since the Site is our own, but long enough for a person to
// see a download happen.
const pacing = 200 * time.Millisecond

// Site describes the sample Site.
func (a *Adapter) Site() source.Site {
	return source.Site{
		Key: Key, Name: "Sample", Hosts: []string{a.base.Host}, Languages: []string{"en"}, Pacing: pacing, ImagesInFlight: 2,
		WorkPrefix: Key + "-", Loopback: a.loopback, Canary: seriesID,
	}
}

// Listed is the one Series, known without asking.
func (a *Adapter) Listed() []source.Series {
	return []source.Series{{ID: seriesID, Title: "Pepper&Carrot", URL: a.at("/series/" + seriesID)}}
}

// Recognise knows the pages of Series on its own host, and of no other.
func (a *Adapter) Recognise(address string) (string, string, bool) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host != a.base.Host {
		return "", "", false
	}
	id, ok := strings.CutPrefix(u.Path, "/series/")
	id, _, _ = strings.Cut(id, "/")
	if !ok || id == "" {
		return "", "", false
	}
	return id, a.Address(id), true
}

// Address is where the page of a Series lies.
func (a *Adapter) Address(seriesID string) string {
	return a.at("/series/" + url.PathEscape(seriesID))
}

func (a *Adapter) at(path string) string { return a.base.JoinPath(path).String() }

// here returns address as it is served now: the port changes with every start,
// the path does not.
func (a *Adapter) here(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Scheme, u.Host = a.base.Scheme, a.base.Host
	return u.String()
}

// Series reads the page of a Series.
func (a *Adapter) Series(ctx context.Context, f source.Fetcher, ask source.Ask) (source.Reading, error) {
	page := a.Address(ask.SeriesID)
	resp, err := f.Get(ctx, source.Request{URL: page, Want: source.WantHTML, Validators: ask.Validators})
	if err != nil || resp.NotModified {
		return source.Reading{NotModified: err == nil, Validators: ask.Validators}, err
	}
	main, base, err := landmark(resp, "main#series")
	if err != nil {
		return source.Reading{}, err
	}
	moved := ""
	if resp.Permanent {
		moved = resp.URL
	}
	r := source.Reading{Validators: resp.Validators, MovedTo: moved, Series: source.Series{
		ID:          main.AttrOr("data-series-id", ""),
		Title:       text(main.Find("h1.title")),
		Description: text(main.Find("p.description")),
		License:     text(main.Find("p.licence")),
		URL:         page,
		Status:      source.Known(main.AttrOr("data-status", ""), source.Statuses()),
		Direction:   source.Known(main.AttrOr("data-direction", ""), source.Directions()),
		CoverURL:    resolve(base, main.Find("img.cover").AttrOr("src", "")),
	}}
	main.Find("span.author").Each(func(_ int, s *goquery.Selection) { r.Series.Authors = appendText(r.Series.Authors, s) })
	main.Find("ul.tags li").Each(func(_ int, s *goquery.Selection) { r.Series.Tags = appendText(r.Series.Tags, s) })
	list := main.Find("ol.chapters")
	if list.Length() == 0 {
		return source.Reading{}, source.NoLandmark(resp.URL, "list of chapters")
	}
	var bad error
	list.ChildrenFiltered("li").EachWithBreak(func(i int, li *goquery.Selection) bool {
		var c source.Chapter
		if c, bad = chapter(base, i, li); bad != nil {
			return false
		}
		r.Chapters = append(r.Chapters, c)
		return true
	})
	return r, bad
}

func chapter(base *url.URL, i int, li *goquery.Selection) (source.Chapter, error) {
	c := source.Chapter{
		ID: li.AttrOr("data-chapter-id", ""), Title: text(li.Find("span.title")), Language: li.AttrOr("data-language", ""), Order: i,
		External: li.AttrOr("data-external", "") != "", URL: resolve(base, li.Find("a").AttrOr("href", "")),
	}
	for attr, to := range map[string]*string{"data-number": &c.Number, "data-volume": &c.Volume} {
		v := li.AttrOr(attr, "")
		if v == "" {
			continue
		}
		d, ok := source.Decimal(v)
		if !ok {
			return c, source.Unparsed(base.String(), "entry %d of the chapter list: %s %q is no number", i+1, attr, v)
		}
		*to = d
	}
	if g := li.AttrOr("data-group", ""); g != "" {
		c.Groups = []string{g}
	}
	if day := li.Find("time").AttrOr("datetime", ""); day != "" {
		t, err := time.Parse(time.DateOnly, day)
		if err != nil {
			return c, source.Unparsed(base.String(), "entry %d of the chapter list: %q is no day", i+1, day)
		}
		c.Published = t
	}
	return c, nil
}

// Pages reads the page list of one chapter.
func (a *Adapter) Pages(ctx context.Context, f source.Fetcher, _ source.Key, ch source.Chapter) ([]source.Page, error) {
	resp, err := f.Get(ctx, source.Request{URL: a.here(ch.URL), Want: source.WantHTML})
	if err != nil {
		return nil, err
	}
	main, base, err := landmark(resp, "main#chapter")
	if err != nil {
		return nil, err
	}
	if got := main.AttrOr("data-chapter-id", ""); got != ch.ID {
		return nil, source.Unparsed(resp.URL, "the page is of chapter %q, not %q", got, ch.ID)
	}
	var pages []source.Page
	var bad error
	main.Find("ol.pages > li > img").EachWithBreak(func(i int, img *goquery.Selection) bool {
		address := resolve(base, img.AttrOr("src", ""))
		u, err := url.Parse(address)
		if address == "" || err != nil {
			bad = source.Unparsed(resp.URL, "page %d has no address", i+1)
			return false
		}
		// The host is this start's; the path is what stays.
		pages = append(pages, source.Page{URL: address, Identity: u.Path})
		return true
	})
	if bad == nil && main.AttrOr("data-pages", "") != strconv.Itoa(len(pages)) {
		bad = source.Unparsed(resp.URL, "the page lists %d images and says %q", len(pages), main.AttrOr("data-pages", ""))
	}
	return pages, bad
}

// landmark finds the part that every page of its kind has.
func landmark(resp *source.Response, selector string) (*goquery.Selection, *url.URL, error) {
	base, err := url.Parse(resp.URL)
	if err != nil {
		return nil, nil, source.Unparsed(resp.URL, "its address is not understood")
	}
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(resp.Body))
	if err != nil {
		return nil, nil, source.Unparsed(resp.URL, "it is no HTML")
	}
	main := doc.Find(selector)
	if main.Length() != 1 {
		return nil, nil, source.NoLandmark(resp.URL, selector)
	}
	return main, base, nil
}

// resolve makes an address absolute; "" stays "", as does what is no address.
func resolve(base *url.URL, ref string) string {
	u, err := url.Parse(ref)
	if ref == "" || err != nil {
		return ""
	}
	return base.ResolveReference(u).String()
}

func text(s *goquery.Selection) string { return strings.Join(strings.Fields(s.First().Text()), " ") }

func appendText(to []string, s *goquery.Selection) []string {
	if t := text(s); t != "" {
		return append(to, t)
	}
	return to
}
