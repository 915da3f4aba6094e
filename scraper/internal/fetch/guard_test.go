package fetch

import (
	"errors"
	"net/netip"
	"testing"
)

func TestGuardRefusesEverythingSpecial(t *testing.T) {
	refused := []string{
		"0.0.0.0:80", "10.0.0.1:80", "100.64.0.1:80", "127.0.0.1:80", "127.255.255.254:443", "169.254.169.254:80", "172.16.0.1:80", "172.31.255.255:80",
		"192.0.0.1:80", "192.0.2.1:80", "192.88.99.1:80", "192.168.1.1:443", "198.18.0.1:80", "198.51.100.1:80", "203.0.113.1:80", "224.0.0.1:80",
		"240.0.0.1:80", "255.255.255.255:80", "[::]:80", "[::1]:80", "[::ffff:127.0.0.1]:80", "[::ffff:10.0.0.1]:80", "[::127.0.0.1]:80",
		"[64:ff9b::7f00:1]:80", "[64:ff9b:1::1]:80", "[100::1]:80", "[2001::1]:80", "[2001:db8::1]:80", "[2002:7f00:1::]:80", "[fc00::1]:80",
		"[fd12:3456::1]:80", "[fe80::1%eth0]:80", "[fec0::1]:80", "[ff02::1]:80", "[3fff::1]:80", "[5f00::1]:80",
		"93.184.216.34:22", "93.184.216.34:5432", "93.184.216.34:0", "not an address",
	}
	for _, a := range refused {
		if err := (Guard{}).Check(a); !errors.Is(err, errGuarded) {
			t.Errorf("%s is let through (%v)", a, err)
		}
	}
	for _, a := range []string{"93.184.216.34:443", "1.1.1.1:80", "[2606:4700:4700::1111]:443", "[::ffff:93.184.216.34]:443"} {
		if err := (Guard{}).Check(a); err != nil {
			t.Errorf("%s is refused: %v", a, err)
		}
	}
}

func TestGuardAllowsOnlyWhatIsListed(t *testing.T) {
	g := Guard{Allow: []netip.Prefix{netip.MustParsePrefix("192.168.7.0/24")}, Loopback: "127.0.0.1:41234"}
	for a, want := range map[string]bool{
		"192.168.7.9:8080": true, "192.168.8.9:80": false, "127.0.0.1:41234": true, "127.0.0.1:41235": false, "[::1]:41234": false, "127.0.0.2:41234": false,
	} {
		if got := g.Check(a) == nil; got != want {
			t.Errorf("%s: let through is %v, want %v", a, got, want)
		}
	}
}
