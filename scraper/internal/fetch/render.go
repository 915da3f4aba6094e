package fetch

import (
	"context"
	"errors"
	"fmt"

	"mangrove/internal/fault"
	"mangrove/internal/logging"
	"mangrove/scraper/internal/source"
)

// Renderer reads a page whose content is only there once its scripts have run.
// It bounds itself in time and size, sends nothing that this package's rules
// forbid, and its errors are classified by this package's functions. What a script of
// the page wants to ask for waits for its turn.
type Renderer interface {
	Render(ctx context.Context, site source.Site, r source.Request, turns Turns) (*source.Response, error)
}

// errNoBrowser is why a page was not read that the Site may well have.
var errNoBrowser = errors.New("the browser cannot be used")

// NoBrowser is the fault of a read that never happened because the browser is
// missing, does not start or was lost (POLL-1). It is not tried again within the
// request: the Pass ends, and the Lane's next turn finds out.
func NoBrowser(address string, cause error) error {
	return fault.New(fault.Network, "get", logging.URL(address), fmt.Errorf("%w: %w", errNoBrowser, cause)).WithEvidence(fault.NoRead)
}

// render reads a page through the browser, within the slot the caller holds.
func (c *Client) render(ctx context.Context, r source.Request) (*source.Response, error) {
	if c.o.Renderer == nil {
		return nil, NoBrowser(r.URL, errors.New("none was given"))
	}
	return c.o.Renderer.Render(ctx, c.o.Site, r, c.o.Slots)
}
