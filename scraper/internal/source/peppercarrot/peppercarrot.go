// Package peppercarrot is the adapter of www.peppercarrot.com, the web comic
// Pepper&Carrot by David Revoy, whose author publishes an index of its episodes
// with their languages and pages for programs to read. The package reads that index
// and nothing else: no page of HTML, and no page at all before somebody follows the
// Series.
//
// It was written without asking the Site. What is known of the index comes from
// programs that read it: it lies at /0_sources/episodes-v1.json, is a list of
// objects with name, translated_languages and pages (cover, title, numbers, credits,
// each with a file's name), and a page lies at /0_sources/NAME/low-res/LANG_FILE.
// Not verified: whether every episode has every key, whether the credits are an
// image in every language, what all its two-letter codes of languages mean (it has
// some of its own; those are kept as private subtags), and where the pages for
// people lie. The cover has no language and is left out, titles are those of the
// English names of folders, and dates are in another file and absent.
package peppercarrot

import (
	"context"
	"net/url"
	"strings"
	"time"

	"mangrove/scraper/internal/source"
)

// Key is the Site's key.
const Key = "peppercarrot"

const (
	host     = "www.peppercarrot.com"
	base     = "https://" + host
	index    = base + "/0_sources/episodes-v1.json"
	seriesID = "pepper-and-carrot"
	title    = "Pepper&Carrot"
	// pacing is what one author's server is asked for.
	pacing = 3 * time.Second
)

// Adapter reads the Site.
type Adapter struct{}

var _ source.Searcher = Adapter{}

// New makes the adapter.
func New() Adapter { return Adapter{} }

// Site describes the Site.
func (Adapter) Site() source.Site {
	return source.Site{
		Key: Key, Name: title, Hosts: []string{host}, Languages: []string{"en"}, Pacing: pacing, ImagesInFlight: 1, WorkPrefix: Key + "-",
		Canary: seriesID,
	}
}

// Listed is nothing: a Site nobody follows is never asked.
func (Adapter) Listed() []source.Series { return nil }

// Recognise takes any page of the Site for its one Series.
func (a Adapter) Recognise(address string) (string, string, bool) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host != host && "www."+u.Host != host {
		return "", "", false
	}
	return seriesID, a.Address(seriesID), true
}

// Address is the Site's front page.
func (Adapter) Address(id string) string {
	if id != seriesID {
		return ""
	}
	return base + "/"
}

// Search needs no request: there is one Series, found by its name and author.
func (a Adapter) Search(_ context.Context, _ source.Fetcher, query string) ([]source.Series, error) {
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(query, "&", " ")))
	for _, w := range words {
		if !strings.Contains("pepper and carrot peppercarrot david revoy", w) {
			return nil, nil
		}
	}
	if len(words) == 0 {
		return nil, nil
	}
	return []source.Series{about()}, nil
}

func about() source.Series {
	return source.Series{
		ID: seriesID, Title: title, Authors: []string{"David Revoy"}, URL: base + "/", Direction: "ltr",
		License: "Pepper&Carrot by David Revoy, www.peppercarrot.com, CC BY 4.0; its translators are named in its episodes.",
	}
}

// Series reads the index.
func (a Adapter) Series(ctx context.Context, f source.Fetcher, ask source.Ask) (source.Reading, error) {
	if ask.SeriesID != seriesID {
		return source.Reading{}, source.NotFound(ask.SeriesID)
	}
	resp, err := f.Get(ctx, source.Request{URL: index, Want: source.WantJSON, Validators: ask.Validators})
	if err != nil || resp.NotModified {
		return source.Reading{NotModified: err == nil, Validators: ask.Validators}, err
	}
	episodes, err := parse(resp)
	if err != nil {
		return source.Reading{}, err
	}
	r := source.Reading{Validators: resp.Validators, Series: about()}
	for _, e := range episodes {
		for _, code := range e.Languages {
			c := e.chapter(code)
			c.Order = len(r.Chapters)
			r.Chapters = append(r.Chapters, c)
		}
	}
	return r, nil
}

// Pages makes the page list of an episode in a language.
func (a Adapter) Pages(ctx context.Context, f source.Fetcher, _ source.Key, ch source.Chapter) ([]source.Page, error) {
	resp, err := f.Get(ctx, source.Request{URL: index, Want: source.WantJSON})
	if err != nil {
		return nil, err
	}
	episodes, err := parse(resp)
	if err != nil {
		return nil, err
	}
	for _, e := range episodes {
		for _, code := range e.Languages {
			if e.id(code) == ch.ID {
				return e.pages(resp.URL, code)
			}
		}
	}
	return nil, source.NotFound(ch.ID)
}
