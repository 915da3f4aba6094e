package mangadex

import (
	"context"
	"strconv"
	"strings"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

const (
	maxFound = 25
	maxQuery = 200
)

// Search asks the Site for a title, best match first, as far as the Site shows
// it to a visitor.
func (a *Adapter) Search(ctx context.Context, f source.Fetcher, query string) ([]source.Series, error) {
	query = strings.TrimSpace(strings.ToValidUTF8(query, ""))
	if query == "" || len(query) > maxQuery {
		return nil, fault.Newf(fault.Invalid, "search", Key, "a title has between 1 and %d bytes", maxQuery)
	}
	q := wanted()
	q.Set("title", query)
	q.Set("limit", strconv.Itoa(maxFound))
	q.Set("order[relevance]", "desc")
	resp, err := f.Get(ctx, source.Request{URL: a.at("/manga", q), Want: source.WantJSON})
	if err != nil {
		return nil, err
	}
	e, err := open(resp, "collection")
	if err != nil {
		return nil, err
	}
	var found []entity
	if err := decode(resp.URL, e.Data, '[', &found); err != nil {
		return nil, err
	}
	var out []source.Series
	for _, t := range found[:min(len(found), maxFound)] {
		s, err := a.series(resp.URL, t)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
