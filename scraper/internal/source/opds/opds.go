// Package opds is the adapter of another library's OPDS 1.2 catalog: a catalog is
// a Site, a feed of its books is a Series, a book is a chapter. It is declared by
// a Config and there is none by default.
//
// A book that the catalog streams page by page (OPDS-PSE) is downloaded like any
// chapter. A book it only offers as a file is listed and recorded as External: the
// package unpacks no archives. It tells a catalog the name and the password that a
// person gave for it, by the Login of its Site, and signs in nowhere else. A catalog in
// the operator's own network has to be among the addresses that may be read from.
//
// A Series is named by the path of its feed. OPDS gives an entry and the feed it
// leads to different ids, so a feed that moves to another path is another Series.
package opds

import (
	"context"
	"net/url"
	"path"
	"strings"
	"time"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/label"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/markup"
)

// Config declares one catalog: Address is where it begins, Hosts are where pages
// lie besides.
type Config struct {
	source.Declaration
	// Width is the widest page asked for; 0 means 3200 pixels.
	Width int
}

// Limits of a Series and of what a declaration may say.
const (
	maxFeeds   = 50
	maxEntries = 5000
	maxFound   = 50
	// LeastPacing is how fast a catalog is asked at most, usualPacing how fast
	// where nothing is said.
	LeastPacing = 200 * time.Millisecond
	usualPacing = time.Second
	usualWidth  = 3200
	// MaxWidth is the widest page that may be asked for.
	MaxWidth = 10_000
)

// Adapter reads one catalog.
type Adapter struct {
	config Config
	site   source.Site
	base   *url.URL
}

var _ source.Searcher = (*Adapter)(nil)

// New makes the adapter of a catalog, or says what is wrong with its declaration:
// source.Flaws.
func New(c Config) (*Adapter, error) {
	base, flaws := c.Check(LeastPacing)
	if c.Width == 0 {
		c.Width = usualWidth
	}
	if c.Width < 0 || c.Width > MaxWidth {
		flaws.Add("width", "%d is no width between 1 and %d", c.Width, MaxWidth)
	}
	if len(flaws) > 0 {
		return nil, fault.New(fault.Invalid, "declare", "the catalog "+c.Key, flaws)
	}
	a := &Adapter{config: c, base: base, site: c.Site(base, usualPacing)}
	a.site.ImagesInFlight = 2
	return a, nil
}

// Site describes the catalog as a Site.
func (a *Adapter) Site() source.Site { return a.site }

// Listed is nothing: what a catalog holds is known by asking it.
func (a *Adapter) Listed() []source.Series { return nil }

// Recognise knows the feeds below the folder that the catalog begins in.
func (a *Adapter) Recognise(address string) (string, string, bool) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host != a.base.Host || u.Scheme != "http" && u.Scheme != "https" {
		return "", "", false
	}
	id := u.EscapedPath()
	if u.RawQuery != "" {
		id += "?" + u.RawQuery
	}
	if path.Clean("/"+u.Path) != strings.TrimSuffix(u.Path, "/") || !strings.HasPrefix(u.Path, a.folder()) || id == a.base.RequestURI() || len(id) > 200 {
		return "", "", false
	}
	return id, a.Address(id), true
}

// folder is where the catalog's feeds lie.
func (a *Adapter) folder() string {
	if strings.HasSuffix(a.base.Path, "/") {
		return a.base.Path
	}
	return strings.TrimSuffix(path.Dir(a.base.Path), "/") + "/"
}

// Address is where a feed lies; its id is its path.
func (a *Adapter) Address(seriesID string) string {
	if !strings.HasPrefix(seriesID, "/") || strings.HasPrefix(seriesID, "//") {
		return ""
	}
	return markup.Resolve(a.base, seriesID)
}

// Series reads the feed of a Series, with the feeds that go on with it.
func (a *Adapter) Series(ctx context.Context, f source.Fetcher, ask source.Ask) (source.Reading, error) {
	address := a.Address(ask.SeriesID)
	if address == "" {
		return source.Reading{}, source.NotFound(ask.SeriesID)
	}
	var r source.Reading
	shown := map[string]string{}
	first := true
	err := a.walk(ctx, f, address, ask.Validators, func(p *page) (bool, error) {
		if p.resp.NotModified {
			r = source.Reading{NotModified: true, Validators: ask.Validators}
			return false, nil
		}
		if first {
			first = false
			r = source.Reading{Validators: p.resp.Validators, Series: a.series(ask.SeriesID, address, p)}
			if p.resp.Permanent {
				r.MovedTo = p.resp.URL
				r.Series.ID, _, _ = a.Recognise(p.resp.URL)
			}
			if p.link(p.Links, "next") != "" {
				// The validators speak of the first feed alone; a change in a later
				// one would be missed.
				r.Validators = source.Validators{}
			}
		}
		for i := range p.Entries {
			c, ok, err := a.chapter(p, r.Series.Title, &p.Entries[i])
			if err != nil {
				return false, err
			}
			if _, again := shown[c.ID]; !ok || again {
				continue
			}
			shown[c.ID] = line(p.Entries[i].Title)
			c.Order = len(r.Chapters)
			r.Chapters = append(r.Chapters, c)
		}
		if len(r.Chapters) > maxEntries {
			return false, source.Unparsed(address, "it has more than %d books", maxEntries)
		}
		return true, nil
	})
	label.Doubt(r.Chapters, shown)
	return r, err
}

func (a *Adapter) series(id, address string, p *page) source.Series {
	s := source.Series{ID: id, Title: line(p.Title), URL: address, Description: line(p.Subtitle), License: line(p.Rights), Direction: a.config.Direction}
	s.Authors = names(p.Authors)
	for i := range p.Entries {
		if s.CoverURL == "" {
			s.CoverURL = p.link(p.Entries[i].Links, relImage, relThumbnail)
		}
		if len(s.Authors) == 0 {
			s.Authors = names(p.Entries[i].Authors)
		}
	}
	if !markup.Within(s.CoverURL, a.site.Hosts) {
		s.CoverURL = ""
	}
	return s
}

// chapter makes a chapter of a book; ok is false for an entry that is none.
func (a *Adapter) chapter(p *page, series string, e *entry) (source.Chapter, bool, error) {
	_, streamed := e.stream()
	if !streamed && p.acquisition(e) == "" {
		return source.Chapter{}, false, nil
	}
	id := strings.TrimSpace(e.ID)
	if id == "" || len(id) > 200 {
		return source.Chapter{}, false, source.Unparsed(p.resp.URL, "the book %q has no id, or a very long one", line(e.Title))
	}
	c := source.Chapter{ID: id, Language: line(e.Language), URL: p.resp.URL, External: !streamed, Published: e.published()}
	label.Fill(&c, series, line(e.Title))
	if c.Language == "" {
		c.Language = a.config.Language
	}
	return c, true, nil
}
