package issuer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"mangrove/internal/special"
)

// maxAnswer bounds each answer of the issuer.
const maxAnswer = 1 << 20

var (
	errNoAnswer = errors.New("the issuer's server fails")
	errGuarded  = errors.New("an address that the issuer may not lead to")
)

// client asks the issuer. It goes to the host the operator named wherever that
// is, for that is often the same house; to other hosts, which only the issuer has
// named, at addresses that everybody can reach and on the usual port. It follows
// no redirect and uses no proxy.
func client(home *url.URL) *http.Client {
	anywhere := &net.Dialer{Timeout: patience}
	outside := &net.Dialer{Timeout: patience, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error { return global(address) }}
	own := hostPort(home)
	return &http.Client{
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: bounded{&http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				if strings.EqualFold(address, own) {
					return anywhere.DialContext(ctx, network, address)
				}
				return outside.DialContext(ctx, network, address)
			},
			TLSHandshakeTimeout: patience, ResponseHeaderTimeout: patience, MaxResponseHeaderBytes: 64 << 10,
			IdleConnTimeout: time.Minute, MaxIdleConns: 4, ForceAttemptHTTP2: true,
		}},
	}
}

func hostPort(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// global checks the address about to be connected, after every look-up.
func global(address string) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %q", errGuarded, address)
	}
	if p, within := special.Range(ap.Addr()); within {
		return fmt.Errorf("%w: %s is in %s", errGuarded, ap.Addr(), p)
	}
	if ap.Port() != 443 {
		return fmt.Errorf("%w: port %d", errGuarded, ap.Port())
	}
	return nil
}

// bounded bounds each answer, and tells a server that fails from one that answers.
type bounded struct{ next http.RoundTripper }

// RoundTrip is for http.Client.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusInternalServerError {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%w: %s", errNoAnswer, resp.Status)
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, maxAnswer)
	return resp, nil
}
