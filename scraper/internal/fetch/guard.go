package fetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// special are the ranges no Site may lead the scraper to (SEC-2): everything in
// the IANA special-purpose registries that is not globally reachable, and the
// translation ranges through which a private IPv4 address can be written as
// IPv6. netip's own predicates miss half of them.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("10.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.31.196.0/24"),
	netip.MustParsePrefix("192.52.193.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"),
	netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("192.175.48.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("224.0.0.0/4"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/128"),
	netip.MustParsePrefix("::1/128"),
	netip.MustParsePrefix("::/96"),
	netip.MustParsePrefix("::ffff:0:0/96"),
	netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("2620:4f:8000::/48"),
	netip.MustParsePrefix("3fff::/20"),
	netip.MustParsePrefix("5f00::/16"),
	netip.MustParsePrefix("fc00::/7"),
	netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("fec0::/10"),
	netip.MustParsePrefix("ff00::/8"),
}

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
	for _, p := range special {
		if p.Contains(ip) {
			return fmt.Errorf("%w: %s is in %s", errGuarded, ip, p)
		}
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
