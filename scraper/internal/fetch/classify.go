package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"mangrove/internal/fault"
	"mangrove/internal/logging"
	"mangrove/scraper/internal/source"
)

// The reasons a request is not sent or an answer is not read.
var (
	errGuarded  = errors.New("the address is not allowed")
	errHost     = errors.New("the address lies outside the Site's declared hosts")
	errAddress  = errors.New("it is no address")
	errScheme   = errors.New("only http and https addresses are read")
	errLoop     = errors.New("too many redirects")
	errTooLarge = errors.New("the answer is too large")
)

// transportFault classifies a request that got no answer. Whether the Site took
// the connection decides between a read that failed and one that never happened
// (POLL-1): connected is told by the request's own trace.
func transportFault(address string, err error, connected bool) error {
	subject := logging.URL(address)
	var elsewhere *source.Elsewhere
	if errors.As(err, &elsewhere) {
		return fault.New(fault.Parser, "get", subject, elsewhere).WithEvidence(fault.Answered)
	}
	cause := unwrapURL(err)
	f := fault.New(fault.Network, "get", subject, cause)
	switch {
	case errors.Is(err, errGuarded):
		// A name that leads to a private address is more often a filtering
		// resolver or a captive portal than a hostile Site: the read never
		// happened, and nothing was dialled.
		return f.WithEvidence(fault.NoRead)
	case errors.Is(err, errHost), errors.Is(err, errScheme), errors.Is(err, errAddress), errors.Is(err, errLoop):
		// The Site answered with a way that may not be followed, or its page
		// named one: nothing that can be read, and no reason to rest.
		return fault.New(fault.Parser, "get", subject, cause).WithEvidence(fault.Answered)
	case connected:
		return f.WithEvidence(fault.Answered)
	}
	return f.WithEvidence(fault.NoRead)
}

// unwrapURL drops the *url.Error, whose text repeats the whole address with its
// query, and keeps what went wrong.
func unwrapURL(err error) error {
	var timeout interface{ Timeout() bool }
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return errors.New("the name " + dns.Name + " has no address: " + dns.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("connection refused")
	case errors.Is(err, syscall.ECONNRESET):
		return errors.New("the connection was reset")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the answer was cut short")
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("no answer in time")
	}
	for _, known := range []error{errHost, errScheme, errAddress, errGuarded, errLoop, errTooLarge} {
		if errors.Is(err, known) {
			return known
		}
	}
	return errors.New("the request failed")
}

// statusFault classifies an answer by its status and headers; nil means that
// the body is worth reading.
func statusFault(address string, resp *http.Response, now time.Time) error {
	subject := logging.URL(address)
	status := resp.StatusCode
	after := retryAfter(resp.Header, now)
	// Cloudflare and MangaDex say so in a header of their own.
	byHeader := strings.EqualFold(resp.Header.Get("cf-mitigated"), "challenge") || status >= 400 && resp.Header.Get("X-Captcha-Sitekey") != ""
	if status == http.StatusTooManyRequests && after.IsZero() {
		after = retryAfterUnix(resp.Header, now)
	}
	switch {
	case byHeader:
		return challenged(subject, after)
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusTooManyRequests:
		f := fault.Newf(fault.Access, "get", subject, "the Site refused: %w", &source.Status{Code: status}).WithEvidence(fault.Answered)
		f.RetryAfter = after
		return f
	case status == http.StatusNotFound, status == http.StatusGone:
		return fault.New(fault.NotFound, "get", subject, &source.Status{Code: status})
	case status == http.StatusNotModified, status == http.StatusOK, status == http.StatusPartialContent:
		return nil
	}
	f := fault.Newf(fault.Network, "get", subject, "the Site answered with status %d", status).WithEvidence(fault.Answered)
	f.RetryAfter = after
	return f
}

// retryAfter reads both forms of the header (RFC 9110, 10.2.3). A date in the
// past, a negative or an absurd number is no wish at all.
func retryAfter(h http.Header, now time.Time) time.Time {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return time.Time{}
	}
	if n, err := strconv.Atoi(v); err == nil {
		if n <= 0 || n > 366*24*3600 {
			return time.Time{}
		}
		return now.Add(time.Duration(n) * time.Second)
	}
	t, err := http.ParseTime(v)
	if err != nil {
		return time.Time{}
	}
	if said, err := http.ParseTime(h.Get("Date")); err == nil {
		// The Site counts by its own clock, which need not be ours (S-040).
		t = t.Add(now.Sub(said))
	}
	if !t.After(now) || !t.Before(now.AddDate(1, 0, 1)) {
		return time.Time{}
	}
	return t
}

// retryAfterUnix reads MangaDex's own header, a UNIX time. It comes with every
// answer and only means something when there were too many.
func retryAfterUnix(h http.Header, now time.Time) time.Time {
	n, err := strconv.ParseInt(strings.TrimSpace(h.Get("X-RateLimit-Retry-After")), 10, 64)
	if t := time.Unix(n, 0); err == nil && t.After(now) && t.Before(now.AddDate(0, 0, 1)) {
		return t
	}
	return time.Time{}
}

// bodyFault judges an answer with a good status by what it is: a challenge page
// served with 200, or another kind of thing than was asked for.
func bodyFault(address string, want source.Want, mediaType string, body []byte) error {
	subject := logging.URL(address)
	head := bytes.ToLower(body[:min(len(body), 64<<10)])
	if mediaType == "text/html" || bytes.Contains(head[:min(len(head), 512)], []byte("<html")) {
		if isChallenge(body) {
			return challenged(subject, time.Time{})
		}
	}
	wrong := func() error {
		return fault.Newf(fault.Parser, "get", subject, "the answer is %s, not %s", orUntyped(mediaType), want).WithEvidence(fault.Answered)
	}
	switch want {
	case source.WantHTML:
		if mediaType != "text/html" && mediaType != "application/xhtml+xml" {
			return wrong()
		}
	case source.WantJSON:
		if mediaType != "application/json" && !strings.HasSuffix(mediaType, "+json") {
			return wrong()
		}
	case source.WantXML:
		// Many feeds are served as some other kind of text: what begins like one
		// is one.
		if !isXML(mediaType) && !beginsLikeFeed(head) {
			return wrong()
		}
	case source.WantImage:
		// An image is typed by content where it is checked (PUB-4); a page of
		// text in its place is told apart here.
		if strings.HasPrefix(mediaType, "text/") || mediaType == "application/json" {
			return fault.Newf(fault.Page, "get", subject, "the answer is %s, not an image", mediaType).WithEvidence(fault.Answered)
		}
	}
	return nil
}

func isXML(mediaType string) bool {
	return mediaType == "application/xml" || mediaType == "text/xml" || strings.HasSuffix(mediaType, "+xml") && mediaType != "application/xhtml+xml"
}

// beginsLikeFeed reports whether the first element of a page, given small, is a
// feed's.
func beginsLikeFeed(head []byte) bool {
	for at := head; len(at) > 0; {
		i := bytes.IndexByte(at, '<')
		if i < 0 || i+1 >= len(at) {
			return false
		}
		at = at[i+1:]
		if at[0] == '?' || at[0] == '!' {
			continue
		}
		return bytes.HasPrefix(at, []byte("rss")) || bytes.HasPrefix(at, []byte("feed")) || bytes.HasPrefix(at, []byte("rdf:rdf"))
	}
	return false
}

// challenged is the refusal of a Site that asks visitors to prove that they are
// human, with the time before which it wants no further request, if it names one.
func challenged(subject string, after time.Time) *fault.Error {
	f := fault.Newf(fault.Access, "get", subject, "the Site asks visitors to prove that they are human").WithEvidence(fault.Answered)
	f.RetryAfter = after
	return f
}

func orUntyped(mediaType string) string {
	if mediaType == "" {
		return "of no stated type"
	}
	return mediaType
}

func mediaTypeOf(h http.Header) string {
	mt, _ := contentType(h)
	return mt
}

// contentType is an answer's media type and character set, as far as stated.
func contentType(h http.Header) (mediaType, charset string) {
	mt, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return "", ""
	}
	return mt, params["charset"]
}
