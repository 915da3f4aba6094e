// Package mangadex is the adapter of MangaDex, read through its public API,
// version 5: a Series is an entity and its list of chapters ("feed"), a chapter's
// pages are named by whichever image server the API assigns for the next quarter
// of an hour. It refuses what the API does not mark as a good answer, a list
// shorter than the API says it is, and every name or address of a shape the API
// does not document. It signs in to nothing and reports nothing back.
package mangadex

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// Key is MangaDex's key.
const Key = "mangadex"

// What the Site documents: about five requests a second in all, forty page lists
// a minute, page addresses good for a quarter of an hour. We ask for less.
const (
	pacing     = 500 * time.Millisecond
	listPacing = 2 * time.Second
	listLife   = 15 * time.Minute
)

// credit is owed: the Site's terms ask for it, and for the groups', which stand
// with their chapters.
const credit = "Read from MangaDex, mangadex.org."

// Config is what may differ from the Site as it is. The zero value is that.
type Config struct {
	// API and Uploads are the roots of the API and of the covers.
	API, Uploads string
	// Languages are those a title is wanted in, and a Follow that names none
	// wants its chapters in; none means English.
	Languages []string
	// DataSaver asks for the small re-encoded pages in place of those uploaded.
	DataSaver bool
}

// Adapter reads MangaDex.
type Adapter struct {
	api, uploads *url.URL
	languages    []string
	quality      string // the folder of an image server
}

var _ source.Searcher = (*Adapter)(nil)

// New makes the adapter. It asks nothing.
func New(c Config) (*Adapter, error) {
	a := &Adapter{languages: c.Languages, quality: "data"}
	if len(a.languages) == 0 {
		a.languages = []string{"en"}
	}
	if c.DataSaver {
		a.quality = "data-saver"
	}
	for _, root := range []struct {
		address, usual string
		to             **url.URL
	}{{c.API, "https://api.mangadex.org", &a.api}, {c.Uploads, "https://uploads.mangadex.org", &a.uploads}} {
		if root.address == "" {
			root.address = root.usual
		}
		u, err := url.Parse(root.address)
		if err != nil || u.Host == "" {
			return nil, fault.Newf(fault.Invalid, "read", "MangaDex's address", "%q is none", root.address)
		}
		*root.to = u
	}
	return a, nil
}

// Site describes MangaDex. Its image servers have names of the moment below one
// domain.
func (a *Adapter) Site() source.Site {
	hosts := []string{a.api.Host, a.uploads.Host, "mangadex.org", "*.mangadex.network"}
	slices.Sort(hosts)
	return source.Site{
		Key: Key, Name: "MangaDex", Hosts: slices.Compact(hosts), Languages: slices.Clone(a.languages),
		Pacing: pacing, ListPacing: listPacing, ListLife: listLife, ImagesInFlight: 2, WorkPrefix: Key + "-",
	}
}

// Listed is none: nothing is asked until somebody follows something.
func (a *Adapter) Listed() []source.Series { return nil }

// Recognise knows the page of a title, with or without its name behind the id.
func (a *Adapter) Recognise(address string) (string, string, bool) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.User != nil {
		return "", "", false
	}
	if host := strings.ToLower(u.Host); host != "mangadex.org" && host != "www.mangadex.org" {
		return "", "", false
	}
	rest, ok := strings.CutPrefix(u.Path, "/title/")
	if !ok {
		// As the API names it, and other programs after it.
		rest, ok = strings.CutPrefix(u.Path, "/manga/")
	}
	id, _, _ := strings.Cut(rest, "/")
	id = strings.ToLower(id)
	if !ok || !isID(id) {
		return "", "", false
	}
	return id, a.Address(id), true
}

// Address is where the page of a title lies.
func (a *Adapter) Address(seriesID string) string {
	if !isID(seriesID) {
		return ""
	}
	return "https://mangadex.org/title/" + seriesID
}

// isID reports whether s is an id as the API writes them: a UUID in lower case.
func isID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, r := range []byte(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (r == '-') || !dash && (r < '0' || r > '9') && (r < 'a' || r > 'f') {
			return false
		}
	}
	return true
}

// at is an address of the API.
func (a *Adapter) at(path string, query url.Values) string {
	u := a.api.JoinPath(path)
	u.RawQuery = query.Encode()
	return u.String()
}
