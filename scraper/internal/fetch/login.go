package fetch

import (
	"net/http"

	"mangrove/scraper/internal/source"
)

// signed tells the Site the name and the password a person gave for it. Each
// request is looked at by itself, so that a redirect takes them nowhere else.
type signed struct {
	login *source.Login
	next  *http.Transport
}

// RoundTrip sends one request.
func (s signed) RoundTrip(r *http.Request) (*http.Response, error) {
	if user, password, ok := s.login.For(r.URL); ok {
		r = r.Clone(r.Context())
		r.SetBasicAuth(user, password)
	}
	return s.next.RoundTrip(r)
}

// CloseIdleConnections is for http.Client.
func (s signed) CloseIdleConnections() { s.next.CloseIdleConnections() }
