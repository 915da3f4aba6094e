package lane

import (
	"context"
	"sync/atomic"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/source"
)

// Gate is the circuit as the Lane last knew it, asked before every request
// (CIRC-1), and whether the Site has answered since.
// Until the Lane has read the stored circuit nothing is let through.
type Gate struct {
	known atomic.Pointer[circuit.Circuit]
	// heard is true when the Site has answered since the Lane last looked.
	heard atomic.Bool
}

// Set takes over a circuit that was read or moved.
func (g *Gate) Set(c circuit.Circuit) { g.known.Store(&c) }

// Allow returns nil if a request may be sent, else a classified error. A probing
// circuit lets its probe through; the Lane runs nothing else then.
func (g *Gate) Allow() error {
	c := g.known.Load()
	if c == nil {
		return fault.Newf(fault.Away, "ask", "a Site", "its circuit is not known yet").WithEvidence(fault.NoRead)
	}
	switch c.State {
	case circuit.Closed, circuit.Probing:
		return nil
	case circuit.Paused:
		return fault.Newf(fault.Access, "ask", c.Site, "its circuit is paused (%s)", c.Reason).WithEvidence(fault.NoRead)
	}
	return fault.Newf(fault.Network, "ask", c.Site, "its circuit is open (%s)", c.Reason).WithEvidence(fault.NoRead)
}

// Listen is f, with every answer noted for the Lane: a page of a chapter says as
// well as a Series page that the Site answers (POLL-8).
func (g *Gate) Listen(f source.Fetcher) source.Fetcher { return listener{f, g} }

type listener struct {
	source.Fetcher
	gate *Gate
}

func (l listener) Get(ctx context.Context, r source.Request) (*source.Response, error) {
	resp, err := l.Fetcher.Get(ctx, r)
	if err == nil {
		l.gate.heard.Store(true)
	}
	return resp, err
}
