package scraperclient

import (
	"context"
	"time"

	"go.uber.org/zap"

	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// Heard is what Run tells: both are called from one goroutine and should not block long.
type Heard struct {
	// Library hears the head revision of the change log, now and whenever it moves.
	Library func(epoch string, head int64)
	// Back hears that the scraper answers after it had been away.
	Back func()
}

// Run watches the scraper until ctx ends: it keeps the presence and the status
// up to date and tells of library changes. A lost scraper is tried again every
// two seconds; gRPC's own back-off would grow to two minutes.
func (c *Client) Run(ctx context.Context, heard Heard) {
	go c.look(ctx)
	for ctx.Err() == nil {
		if err := c.watchLibrary(ctx, heard); ctx.Err() == nil {
			c.log.Debug("the library watch ended", zap.Error(c.fail(ctx, "watch", "the library", err)))
		}
		if !pause(ctx, retryEvery) {
			return
		}
		c.conn.ResetConnectBackoff()
	}
}

func (c *Client) watchLibrary(ctx context.Context, heard Heard) error {
	stream, err := c.api.WatchLibrary(ctx, &scraperv1.WatchLibraryRequest{})
	if err != nil {
		return err
	}
	for first := true; ; first = false {
		resp, err := stream.Recv()
		if err != nil {
			return err
		}
		c.answered()
		if first {
			heard.Back()
		}
		heard.Library(resp.GetEpoch(), resp.GetHead())
	}
}

// look asks for the status now and then, so that pages can show it without
// asking, and so that a scraper that hangs is noticed though its socket is open.
func (c *Client) look(ctx context.Context) {
	for {
		_, _ = c.Status(ctx)
		if !pause(ctx, retryEvery) {
			return
		}
	}
}

// WatchSeries calls changed with the state of one Series, now and after each
// change, until ctx ends or the stream does. It does not reconnect: the caller
// decides whether anyone still looks.
func (c *Client) WatchSeries(ctx context.Context, key Key, changed func(State)) error {
	stream, err := c.api.WatchSeries(ctx, &scraperv1.WatchSeriesRequest{Key: toKey(key)})
	if err != nil {
		return c.fail(ctx, "watch", key.Site+" "+key.SeriesID, err)
	}
	var state *scraperv1.SeriesState
	for {
		resp, err := stream.Recv()
		if err != nil {
			return c.fail(ctx, "watch", key.Site+" "+key.SeriesID, err)
		}
		c.answered()
		if state = joined(state, resp.GetState()); !resp.GetMore() {
			changed(fromState(state))
			state = nil
		}
	}
}

// pause waits for d and reports whether ctx still goes on.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
