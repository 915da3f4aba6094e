package fetch

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"mangrove/internal/fault"
	"mangrove/internal/logging"
)

// partial is the beginning of an image whose connection broke. It is kept between
// the tries of one request, and of use only while the Site says that it is still
// the same image (RFC 9110, 13.1.5 and 14).
type partial struct {
	body      []byte
	validator string
	// total is the image's length, 0 where the Site did not say.
	total int64
}

// begin returns what came of an answer whose body was cut short, or nil where it
// cannot be gone on with: without a strong validator the rest might be of another
// image.
func begin(resp *http.Response, body []byte) *partial {
	etag, modified := resp.Header.Get("ETag"), resp.Header.Get("Last-Modified")
	validator := etag
	switch {
	case strings.HasPrefix(etag, "W/"), etag == "" && modified == "":
		return nil
	case etag == "":
		validator = modified
	}
	if resp.StatusCode != http.StatusOK || resp.Uncompressed || len(body) == 0 || resp.Header.Get("Accept-Ranges") == "none" {
		return nil
	}
	return &partial{body: body, validator: validator, total: max(resp.ContentLength, 0)}
}

// ask asks for the rest alone.
func (p *partial) ask(h http.Header) {
	if p == nil {
		return
	}
	h.Set("Range", fmt.Sprintf("bytes=%d-", len(p.body)))
	h.Set("If-Range", p.validator)
}

// follows reports whether an answer is the rest that was asked for. One that is
// the whole image again, because it changed or the Site knows no ranges, is none.
func (p *partial) follows(resp *http.Response) bool {
	if p == nil || resp.StatusCode != http.StatusPartialContent || resp.Uncompressed {
		return false
	}
	from, total, ok := contentRange(resp.Header.Get("Content-Range"))
	if !ok || from != int64(len(p.body)) || (p.total > 0 && total > 0 && total != p.total) {
		return false
	}
	etag := resp.Header.Get("ETag")
	return etag == "" || etag == p.validator || !strings.HasPrefix(p.validator, `"`)
}

// contentRange reads "bytes 5-9/10"; total is 0 for "*".
func contentRange(v string) (from, total int64, ok bool) {
	v, found := strings.CutPrefix(v, "bytes ")
	span, size, cut := strings.Cut(v, "/")
	first, _, dash := strings.Cut(span, "-")
	if !found || !cut || !dash {
		return 0, 0, false
	}
	from, err := strconv.ParseInt(first, 10, 64)
	if err != nil || from < 0 {
		return 0, 0, false
	}
	if size == "*" {
		return from, 0, true
	}
	total, err = strconv.ParseInt(size, 10, 64)
	return from, total, err == nil && total > from
}

// notTheRest is an answer to a request for the rest that is neither the rest nor
// the whole: the next try asks for the whole.
func notTheRest(address string) error {
	return fault.Newf(fault.Network, "get", logging.URL(address), "the Site answered with another part than was asked for").WithEvidence(fault.Answered)
}
