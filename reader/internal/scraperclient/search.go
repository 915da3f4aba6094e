package scraperclient

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// MaxQuery is how many characters one search may have.
const MaxQuery = 200

// searchTimeout bounds a search: it waits for the Site's pacing and then for the
// Site, so it is longer than a question to the scraper alone.
const searchTimeout = 20 * time.Second

// ErrNotSearchable is the cause when a Site has no search that Mangrove can read.
var ErrNotSearchable = errors.New("this Site cannot be searched")

// SearchSite asks one Site for a title and returns what it found, in its order.
// It is class invalid around ErrNotSearchable where there is no search, not-found
// for an unknown Site, access when the Site refuses, network when it cannot be
// asked now, and stall when it took too long. A slow Site is no sign that the
// scraper is away, so the presence is left alone then.
func (c *Client) SearchSite(ctx context.Context, site, query string) ([]Series, error) {
	limited, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	resp, err := c.api.SearchSite(limited, &scraperv1.SearchSiteRequest{Site: site, Query: query})
	if err != nil {
		switch status.Code(err) {
		case codes.Unimplemented:
			c.answered()
			return nil, fault.New(fault.Invalid, "search", site, ErrNotSearchable)
		case codes.DeadlineExceeded:
			return nil, fault.New(fault.Stall, "search", site, err)
		}
		return nil, c.fail(ctx, "search", site, err)
	}
	c.answered()
	var out []Series
	for _, s := range resp.GetSeries() {
		out = append(out, fromSeries(s))
	}
	return out, nil
}
