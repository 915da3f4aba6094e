package fetch

import (
	"context"
	"net/http"
	"strings"
	"time"

	"mangrove/scraper/internal/source"
)

// told are the headers of an answer that tell something about it and nothing
// about who asked; only these are kept as evidence.
var told = []string{"Content-Type", "Content-Length", "Date", "Server", "Retry-After", "Cf-Mitigated", "Etag", "Last-Modified"}

// Note keeps an answer as evidence of the unit of work it was asked for: where it
// came from, its status, a few of its headers and the beginning of its body. sent
// are cookies that went with the question; they and those that were set are known
// to be secret, wherever the page repeats them.
func Note(ctx context.Context, address string, status int, header http.Header, body []byte, sent []*http.Cookie) {
	s := source.Seen{At: time.Now(), URL: address, Status: status, MediaType: mediaTypeOf(header), Body: body}
	for _, name := range told {
		if v := header.Get(name); v != "" {
			s.Headers = append(s.Headers, source.Header{Name: strings.ToLower(name), Value: v})
		}
	}
	set := (&http.Response{Header: header}).Cookies()
	for _, c := range append(set, sent...) {
		s.Secrets = append(s.Secrets, c.Value)
	}
	source.Note(ctx, s)
}

// note is Note of an answer that came over HTTP. resp.Request is the last one,
// after redirects, and holds the cookies that went with it.
func note(ctx context.Context, resp *http.Response, body []byte) {
	Note(ctx, resp.Request.URL.String(), resp.StatusCode, resp.Header, body, resp.Request.Cookies())
}
