package fetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"mangrove/internal/special"
)

// Guard decides whether an address may be dialled. The zero value lets every
// global address through and nothing else.
type Guard struct {
	// Allow are ranges the operator listed all the same.
	Allow []netip.Prefix
	// Loopback is the one host:port that may be dialled on loopback, for the
	// sample Site's own listener; "" for every other Site.
	Loopback string
}

// Check returns nil if address (IP:port) may be dialled.
func (g Guard) Check(address string) error {
	if g.Loopback != "" && address == g.Loopback {
		return nil
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %q is no address", errGuarded, address)
	}
	ip := ap.Addr().Unmap().WithZone("")
	for _, p := range g.Allow {
		if p.Contains(ip) {
			return nil
		}
	}
	if p, within := special.Range(ip); within {
		return fmt.Errorf("%w: %s is in %s", errGuarded, ip, p)
	}
	if port := ap.Port(); port != 80 && port != 443 {
		return fmt.Errorf("%w: port %d is neither 80 nor 443", errGuarded, port)
	}
	return nil
}

// Dialer dials only what the guard lets through. The check runs on the address
// about to be connected, after every look-up, so that a name that resolves
// differently the second time gains nothing.
func (g Guard) Dialer() *net.Dialer {
	return &net.Dialer{
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error { return g.Check(address) },
	}
}
