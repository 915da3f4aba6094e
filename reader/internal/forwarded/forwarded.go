// Package forwarded says who really asks, over what scheme and by what name,
// when a reverse proxy stands in front of the reader. It believes the headers
// of the proxies an operator has named and of nobody else, and it refuses to
// guess: what a named proxy does not say is taken from the connection.
package forwarded

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
)

// Headers are what is read of a named proxy, and what docs/proxy.md tells an
// operator to set.
const (
	ForHeader   = "X-Forwarded-For"
	ProtoHeader = "X-Forwarded-Proto"
	HostHeader  = "X-Forwarded-Host"
)

// traces are headers that any proxy leaves. From one that is not named they say
// only that the request did not begin where its connection did.
var traces = []string{ForHeader, ProtoHeader, HostHeader, "Forwarded", "Via", "X-Real-Ip"}

type secureKey struct{}
type clientKey struct{}

// Handler rewrites each request to what its sender meant before next sees it:
// RemoteAddr is the client's, Host the name the browser used. Nothing outside
// of trusted can change either.
func Handler(trusted []netip.Prefix, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peer := address(r.RemoteAddr)
		client, secure, host := peer, r.TLS != nil, r.Host
		remote := r.RemoteAddr
		switch {
		case within(peer, trusted):
			if a := rightmost(r.Header.Values(ForHeader), trusted); a.IsValid() {
				client = a
				remote = netip.AddrPortFrom(a, 0).String()
			}
			// A chain of proxies appends: the first word is the browser's side.
			switch first(r.Header.Get(ProtoHeader)) {
			case "https":
				secure = true
			case "http":
				secure = false
			}
			if h := first(r.Header.Get(HostHeader)); h != "" {
				host = h
			}
		case passedOn(r.Header):
			// Somebody passed this on who is not named: whoever it was, it is
			// not the machine at the other end of the connection.
			client = netip.Addr{}
		}
		ctx := context.WithValue(r.Context(), secureKey{}, secure)
		r = r.WithContext(context.WithValue(ctx, clientKey{}, client))
		r.RemoteAddr, r.Host = remote, host
		next.ServeHTTP(w, r)
	})
}

// Secure reports whether the browser's own connection is encrypted.
func Secure(r *http.Request) bool {
	if s, ok := r.Context().Value(secureKey{}).(bool); ok {
		return s
	}
	return r.TLS != nil
}

// Client is the address the request began at; the zero Addr when a proxy that
// is not named stands between.
func Client(r *http.Request) netip.Addr {
	if a, ok := r.Context().Value(clientKey{}).(netip.Addr); ok {
		return a
	}
	return address(r.RemoteAddr)
}

// rightmost is the last address of the chain that is not a named proxy's: what
// stands to its left, its sender could have written.
func rightmost(values []string, trusted []netip.Prefix) netip.Addr {
	parts := strings.Split(strings.Join(values, ","), ",")
	var last netip.Addr
	for i := len(parts) - 1; i >= 0; i-- {
		a, err := netip.ParseAddr(strings.TrimSpace(parts[i]))
		if err != nil {
			// Some proxies add a port.
			a = address(strings.TrimSpace(parts[i]))
		}
		if a = a.Unmap(); !a.IsValid() {
			return last
		}
		last = a
		if !within(a, trusted) {
			break
		}
	}
	return last
}

func address(remote string) netip.Addr {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

func within(a netip.Addr, prefixes []netip.Prefix) bool {
	for _, p := range prefixes {
		if a.IsValid() && p.Contains(a) {
			return true
		}
	}
	return false
}

func passedOn(h http.Header) bool {
	for _, name := range traces {
		if h.Get(name) != "" {
			return true
		}
	}
	return false
}

func first(list string) string {
	one, _, _ := strings.Cut(list, ",")
	return strings.ToLower(strings.TrimSpace(one))
}

// Origin is how the outside names this server: scheme and host, no slash at the
// end.
func Origin(r *http.Request) string {
	if Secure(r) {
		return "https://" + strings.TrimSuffix(r.Host, ":443")
	}
	return "http://" + strings.TrimSuffix(r.Host, ":80")
}
