// Package feed is the adapter of web comics that publish a feed, RSS or Atom: a
// feed is a Site with one Series, its items are the chapters. It is declared by a
// Config, which package declared makes of a file, and there is none by default.
//
// A feed lists what is newest. Chapters it no longer lists stay known and are
// marked as gone from the Site; those it dropped before it was followed are not
// found. The package keeps no archive and follows no links but an item's own.
package feed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mmcdole/gofeed"

	"mangrove/scraper/internal/label"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/markup"
)

// maxItems is how many items of a feed are read.
const maxItems = 5000

// Listed is the one Series: whoever declares a feed means it.
func (a *Adapter) Listed() []source.Series {
	return []source.Series{{ID: a.config.Key, Title: a.config.Name, URL: a.config.Address}}
}

// Recognise knows the feed's own address and the front page of its host.
func (a *Adapter) Recognise(address string) (string, string, bool) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host != a.base.Host {
		return "", "", false
	}
	front := strings.Trim(u.Path, "/") == "" && u.RawQuery == ""
	if !front && (strings.TrimSuffix(u.Path, "/") != strings.TrimSuffix(a.base.Path, "/") || u.RawQuery != a.base.RawQuery) {
		return "", "", false
	}
	return a.config.Key, a.config.Address, true
}

// Address is the feed's.
func (a *Adapter) Address(seriesID string) string {
	if seriesID != a.config.Key {
		return ""
	}
	return a.config.Address
}

// Series reads the feed.
func (a *Adapter) Series(ctx context.Context, f source.Fetcher, ask source.Ask) (source.Reading, error) {
	if ask.SeriesID != a.config.Key {
		return source.Reading{}, source.NotFound(ask.SeriesID)
	}
	resp, err := f.Get(ctx, source.Request{URL: a.config.Address, Want: source.WantXML, Validators: ask.Validators})
	if err != nil || resp.NotModified {
		return source.Reading{NotModified: err == nil, Validators: ask.Validators}, err
	}
	read, base, err := parse(resp)
	if err != nil {
		return source.Reading{}, err
	}
	r := source.Reading{Validators: resp.Validators, Series: a.series(read, base)}
	if resp.Permanent {
		r.MovedTo = resp.URL
	}
	shown := map[string]string{}
	for _, item := range read.Items {
		c, err := a.chapter(base, read, item)
		if err != nil {
			return source.Reading{}, err
		}
		if _, again := shown[c.ID]; again {
			continue // the same item again
		}
		shown[c.ID] = plain(item.Title)
		c.Order = len(r.Chapters)
		r.Chapters = append(r.Chapters, c)
	}
	label.Doubt(r.Chapters, shown)
	return r, nil
}

// parse reads a feed that is within the limits.
func parse(resp *source.Response) (*gofeed.Feed, *url.URL, error) {
	base, err := url.Parse(resp.URL)
	if err != nil {
		return nil, nil, source.Unparsed(resp.URL, "its address is not understood")
	}
	if _, err := markup.Root(resp.URL, resp.Body, "rss", "feed", "rdf"); err != nil {
		return nil, nil, err
	}
	read, err := gofeed.NewParser().Parse(bytes.NewReader(resp.Body))
	if err != nil {
		return nil, nil, source.Unparsed(resp.URL, "it is no feed that can be read")
	}
	if len(read.Items) > maxItems {
		return nil, nil, source.Unparsed(resp.URL, "it has %d items, more than %d", len(read.Items), maxItems)
	}
	return read, base, nil
}

func (a *Adapter) series(read *gofeed.Feed, base *url.URL) source.Series {
	s := source.Series{
		ID: a.config.Key, Title: plain(read.Title), URL: a.config.Address, Authors: a.config.Authors, Direction: a.config.Direction,
		Description: a.config.Description, License: a.config.License,
	}
	if s.Title == "" {
		s.Title = a.config.Name
	}
	if s.Description == "" {
		s.Description = plain(read.Description)
	}
	if s.License == "" {
		s.License = plain(read.Copyright)
	}
	if len(s.Authors) == 0 {
		for _, p := range read.Authors {
			if p != nil && plain(p.Name) != "" {
				s.Authors = append(s.Authors, plain(p.Name))
			}
		}
	}
	if read.Image != nil {
		s.CoverURL = a.within(markup.Resolve(base, read.Image.URL))
	}
	return s
}

// within returns address if it lies on the Site's hosts.
func (a *Adapter) within(address string) string {
	if !markup.Within(address, a.site.Hosts) {
		return ""
	}
	return address
}

func (a *Adapter) chapter(base *url.URL, read *gofeed.Feed, item *gofeed.Item) (source.Chapter, error) {
	id, link := identity(item), markup.Resolve(base, item.Link)
	if id == "" {
		return source.Chapter{}, source.Unparsed(base.String(), "the item %q has neither id nor address", item.Title)
	}
	shown := plain(item.Title)
	c := source.Chapter{ID: id, Language: a.config.Language, URL: link, Published: published(item)}
	label.Fill(&c, plain(read.Title), shown)
	if c.Language == "" {
		c.Language = read.Language
	}
	if c.URL == "" {
		c.URL = a.config.Address
	}
	// An item that leads off the Site's hosts and shows no image of its own is a
	// pointer to somebody else's pages (JOB-10).
	c.External = !markup.Within(c.URL, a.site.Hosts) && len(a.inItem(base, item)) == 0
	return c, nil
}

// identity is what stays the same of an item: its id, or its address. A long one
// is stored by its digest.
func identity(item *gofeed.Item) string {
	id := strings.TrimSpace(item.GUID)
	if id == "" {
		id = strings.TrimSpace(item.Link)
	}
	if len(id) > 200 || !utf8.ValidString(id) {
		sum := sha256.Sum256([]byte(id))
		return hex.EncodeToString(sum[:])
	}
	return id
}

// published is the item's date; one that cannot be is none.
func published(item *gofeed.Item) time.Time {
	for _, t := range []*time.Time{item.PublishedParsed, item.UpdatedParsed} {
		if t != nil && t.Year() >= 1980 && t.Before(time.Now().Add(48*time.Hour)) {
			return t.UTC()
		}
	}
	return time.Time{}
}
