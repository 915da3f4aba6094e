package scraperclient

import (
	"context"
	"time"

	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// Applied says what came of a message of follows.
type Applied struct {
	// Revision is the highest the scraper has applied.
	Revision int64
	// Moved maps Series that a person has moved to their names now.
	Moved map[Key]Key
}

// Recognised is a Series page address that some Site reads.
type Recognised struct {
	Key
	URL, SiteName string
	// Known is what the scraper knows of it already, nil if nothing.
	Known *Series
}

// RecogniseAddress says which Series a page address belongs to; class not-found
// when no Site reads it.
func (c *Client) RecogniseAddress(ctx context.Context, address string) (Recognised, error) {
	resp, err := call(ctx, c, "read", "this address", func(ctx context.Context) (*scraperv1.RecogniseAddressResponse, error) {
		return c.api.RecogniseAddress(ctx, &scraperv1.RecogniseAddressRequest{Address: address})
	})
	if err != nil {
		return Recognised{}, err
	}
	out := Recognised{Key: fromKey(resp.GetKey()), URL: resp.GetUrl(), SiteName: resp.GetSiteName()}
	if resp.GetKnown() != nil {
		known := fromSeries(resp.GetKnown())
		out.Known = &known
	}
	return out, nil
}

// MoveSeries moves a Series to where an address leads and returns its name from
// then on (POLL-14): class stale while a download of it is under way, conflict
// when the new name is another Series known there, not-found when no Site reads
// the address.
func (c *Client) MoveSeries(ctx context.Context, key Key, address string) (Key, error) {
	resp, err := call(ctx, c, "move", key.Site+" "+key.SeriesID, func(ctx context.Context) (*scraperv1.MoveSeriesResponse, error) {
		return c.api.MoveSeries(ctx, &scraperv1.MoveSeriesRequest{Key: toKey(key), Address: address})
	})
	if err != nil {
		return Key{}, err
	}
	return fromKey(resp.GetKey()), nil
}

// PauseSite stops asking a Site until it is resumed. One that is paused already stays so.
func (c *Client) PauseSite(ctx context.Context, site string) error {
	_, err := call(ctx, c, "pause", site, func(ctx context.Context) (*scraperv1.PauseSiteResponse, error) {
		return c.api.PauseSite(ctx, &scraperv1.PauseSiteRequest{Site: site})
	})
	return err
}

// ResumeSite ends a pause or a rest of a Site. quietUntil is set, and nothing
// done, when the Site asked for quiet until then and the call is not confirmed.
func (c *Client) ResumeSite(ctx context.Context, site string, confirmed bool) (quietUntil time.Time, err error) {
	resp, err := call(ctx, c, "resume", site, func(ctx context.Context) (*scraperv1.ResumeSiteResponse, error) {
		return c.api.ResumeSite(ctx, &scraperv1.ResumeSiteRequest{Site: site, Confirmed: confirmed})
	})
	if err != nil || resp.GetAskedForQuietUntil() == nil {
		return time.Time{}, err
	}
	return resp.GetAskedForQuietUntil().AsTime(), nil
}
