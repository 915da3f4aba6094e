package scraperclient

import (
	"context"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// Foreign is a Series as another program knows it: that program's name for where it
// is read, and its address there, whole or without the host.
type Foreign struct{ Source, Address string }

// The words of a Placed.
const (
	// Read is a Series that a Site here reads.
	Read = "read"
	// Unread is one of a Site here, by an address that it does not read.
	Unread = "unread"
	// NoAdapter is one of a Site that nothing here reads.
	NoAdapter = "no-adapter"
)

// Placed is what the scraper finds of one.
type Placed struct {
	Word string
	Key
	URL, SiteName string
}

// RecogniseSeries says of each Series whether a Site here reads it, in their order.
// No Site is asked.
func (c *Client) RecogniseSeries(ctx context.Context, series []Foreign) ([]Placed, error) {
	var out []Placed
	for len(series) > 0 {
		some := series[:min(len(series), MaxBulk)]
		series = series[len(some):]
		request := &scraperv1.RecogniseSeriesRequest{}
		for _, s := range some {
			request.Series = append(request.Series, &scraperv1.ForeignSeries{Source: s.Source, Address: s.Address})
		}
		resp, err := call(ctx, c, "recognise", "Series", func(ctx context.Context) (*scraperv1.RecogniseSeriesResponse, error) {
			return c.moves.RecogniseSeries(ctx, request)
		})
		if err != nil {
			return nil, err
		}
		if len(resp.GetSeries()) != len(some) {
			return nil, fault.Newf(fault.Invalid, "recognise", "Series", "%d answers to %d", len(resp.GetSeries()), len(some))
		}
		for _, s := range resp.GetSeries() {
			out = append(out, Placed{Word: s.GetWord(), Key: fromKey(s.GetKey()), URL: s.GetUrl(), SiteName: s.GetSiteName()})
		}
	}
	return out, nil
}

// AdoptFolder makes the files of another program chapters of a Series, where they
// lie. It is class conflict while a download of the Series is under way.
func (c *Client) AdoptFolder(ctx context.Context, folder string, key Key) error {
	_, err := call(ctx, c, "adopt", folder, func(ctx context.Context) (*scraperv1.AdoptFolderResponse, error) {
		return c.moves.AdoptFolder(ctx, &scraperv1.AdoptFolderRequest{Folder: folder, Key: toKey(key)})
	})
	return err
}

// ReturnFolder takes that back.
func (c *Client) ReturnFolder(ctx context.Context, folder string) error {
	_, err := call(ctx, c, "return", folder, func(ctx context.Context) (*scraperv1.ReturnFolderResponse, error) {
		return c.moves.ReturnFolder(ctx, &scraperv1.ReturnFolderRequest{Folder: folder})
	})
	return err
}
