package web

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"unicode/utf8"

	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/scraperclient"
)

// libraryBlock is how many titles a block has. It divides by every number of
// columns that the grid has, so that no block ends in half a row.
const libraryBlock = 48

// libraryQuery is one view of the library. All of it lives in the address, so that
// a view can be kept, sent and come back to.
type libraryQuery struct {
	Words, State, Sort          string
	Site, Status, Language, Tag string
	Following                   bool
	// List shows rows instead of covers.
	List bool
	// Collection is the one that is looked at, 0 for the whole library. It stands in
	// the path, not in the query.
	Collection int64
	// From is where the page begins, the zero place for the start.
	From catalog.Place
}

func statuses() []string { return []string{"ongoing", "completed", "hiatus", "cancelled"} }

// libraryOf reads the query string. What is none of its words is an address that
// does not exist.
func libraryOf(v url.Values) (libraryQuery, error) {
	q := libraryQuery{
		Words: v.Get("q"), State: v.Get("state"), Sort: v.Get("sort"), Site: v.Get("site"), Status: v.Get("status"), Language: v.Get("language"), Tag: v.Get("tag"),
		Following: v.Get("following") == "1", List: v.Get("view") == "list",
	}
	if q.Sort == "" {
		q.Sort = catalog.SortTitle
	}
	if q.State != "" && !slices.Contains(catalog.States(), q.State) || !slices.Contains(catalog.Sorts(), q.Sort) ||
		q.Status != "" && !slices.Contains(statuses(), q.Status) || len(q.Site)+len(q.Language)+len(q.Tag) > 2048 {
		return q, notFound("a view of the library")
	}
	if utf8.RuneCountInString(q.Words) > scraperclient.MaxQuery {
		return q, invalid("so long a filter")
	}
	var err error
	q.From, err = shelfPlace(v.Get("from"))
	return q, err
}

// values are the query string of a view, without what is as if it were not said.
func (q libraryQuery) values() url.Values {
	v := url.Values{}
	for name, value := range map[string]string{
		"q": q.Words, "state": q.State, "site": q.Site, "status": q.Status, "language": q.Language, "tag": q.Tag, "from": placeText(q.From),
	} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if q.Sort != "" && q.Sort != catalog.SortTitle && q.Sort != catalog.SortCollection {
		v.Set("sort", q.Sort)
	}
	if q.Following {
		v.Set("following", "1")
	}
	if q.List {
		v.Set("view", "list")
	}
	return v
}

func (q libraryQuery) path() string {
	if q.Collection != 0 {
		return collectionAddress(q.Collection)
	}
	return "/library"
}

func (q libraryQuery) address() string { return withQuery(q.path(), q.values()) }

// blockAddress is that of one block of the view, after one place and, if it is set,
// up to another.
func (q libraryQuery) blockAddress(after, until catalog.Place) string {
	q.From = catalog.Place{}
	v := q.values()
	if after.Set {
		v.Set("after", placeText(after))
	}
	if until.Set {
		v.Set("until", placeText(until))
	}
	return withQuery(q.path()+"/block", v)
}

func withQuery(path string, v url.Values) string {
	if len(v) == 0 {
		return path
	}
	return path + "?" + v.Encode()
}

// with is the view with a change, from its start.
func (q libraryQuery) with(change func(*libraryQuery)) libraryQuery {
	q.From = catalog.Place{}
	change(&q)
	return q
}

// filtered counts the filters behind the button.
func (q libraryQuery) filtered() (n int) {
	for _, set := range []bool{q.Site != "", q.Status != "", q.Language != "", q.Tag != "", q.Following, q.Words != ""} {
		if set {
			n++
		}
	}
	return n
}

// ask is the view as the store is asked for it.
func (q libraryQuery) ask() catalog.ShelfQuery {
	return catalog.ShelfQuery{
		Sort: q.Sort, State: q.State, Following: q.Following, Site: q.Site, Status: q.Status, Language: q.Language, Tag: q.Tag, Words: q.Words,
		Collection: q.Collection, After: q.From, Limit: libraryBlock,
	}
}

// placeText is a place in an address.
func placeText(p catalog.Place) string {
	if !p.Set {
		return ""
	}
	text, err := json.Marshal([]any{p.Rank, p.Order, p.Site, p.SeriesID})
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// shelfPlace reads a place; nobody but us writes one.
func shelfPlace(text string) (catalog.Place, error) {
	p := catalog.Place{Set: true}
	if text == "" {
		return catalog.Place{}, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	fields := []any{&p.Rank, &p.Order, &p.Site, &p.SeriesID}
	if err != nil || len(text) > 16<<10 || json.Unmarshal(data, &fields) != nil || len(fields) != 4 {
		return p, notFound("a place in the library")
	}
	return p, nil
}
