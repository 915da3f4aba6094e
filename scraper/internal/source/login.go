package source

import (
	"net/netip"
	"net/url"
)

// Login is a name and a password that a person gave for one Site. They go to the
// one scheme and host they are for and nowhere else, and into no message.
type Login struct {
	// Host is the host, with its port where the address names one, and Scheme
	// http or https, that may be told.
	Scheme, Host string
	user         string
	password     string
}

// NewLogin makes a Login for the Site that begins at base.
func NewLogin(base *url.URL, user, password string) *Login {
	return &Login{Scheme: base.Scheme, Host: base.Host, user: user, password: password}
}

// For returns the name and the password if u may be told them. A nil Login has none.
func (l *Login) For(u *url.URL) (user, password string, ok bool) {
	if l == nil || u.Scheme != l.Scheme || u.Host != l.Host {
		return "", "", false
	}
	return l.user, l.password, true
}

// fit says why the login may not be sent to base; "" if it may.
func (l *Login) fit(base *url.URL) string {
	if base.Scheme != l.Scheme || base.Host != l.Host {
		return "it is for another host than the address"
	}
	if base.Scheme == "https" {
		return ""
	}
	if ip, err := netip.ParseAddr(base.Hostname()); err == nil && (ip.IsPrivate() || ip.IsLoopback()) {
		return ""
	}
	return "a password would be sent readable by everybody on the way: the address must begin with https://, or name a private address such as 192.168.1.5"
}

// String and GoString keep the password out of whatever is printed.
func (l *Login) String() string { return "a login" }

// GoString is String.
func (l *Login) GoString() string { return l.String() }
