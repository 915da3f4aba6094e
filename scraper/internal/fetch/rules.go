package fetch

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"mangrove/internal/fault"
	"mangrove/internal/logging"
	"mangrove/scraper/internal/source"
)

// The rules every request of a Site obeys, whoever sends it: the client here,
// or the browser, which keeps to them through its own proxy.

// MaxPage is how many bytes a page may have.
const MaxPage = maxMetadata

// Askable is Allowed for an address as a page names it.
func Askable(site source.Site, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errAddress
	}
	return Allowed(site, u)
}

// Allowed returns nil if a request of site may go to u.
func Allowed(site source.Site, u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return errScheme
	}
	if u.User != nil || !slices.ContainsFunc(site.Hosts, func(h string) bool { return declares(h, u) }) {
		return errHost
	}
	return nil
}

// declares reports whether a declared host is that of u. Of "*.example.net" only
// whole labels below it are, and only on the standard ports.
func declares(host string, u *url.URL) bool {
	suffix, wild := strings.CutPrefix(host, "*")
	if !wild {
		return host == u.Host || host == u.Hostname() && standardPort(u.Port())
	}
	below, ok := strings.CutSuffix(strings.ToLower(u.Hostname()), suffix)
	if !ok || !strings.HasPrefix(suffix, ".") || !standardPort(u.Port()) {
		return false
	}
	for label := range strings.SplitSeq(below, ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	return true
}

func standardPort(p string) bool { return p == "" || p == "80" || p == "443" }

// Redirected returns nil if a request of site that was answered with a redirect
// may follow it; hops counts this one. A way out of the Site's hosts is a
// *source.Elsewhere.
func Redirected(site source.Site, from, to *url.URL, status, hops int) error {
	if hops > maxRedirects {
		return errLoop
	}
	if from.Scheme == "https" && to.Scheme != "https" {
		return errScheme
	}
	err := Allowed(site, to)
	if errors.Is(err, errHost) && to.User == nil {
		return &source.Elsewhere{URL: to.String(), Permanent: Permanent(status)}
	}
	return err
}

// Permanent reports whether a redirect of this status is for good.
func Permanent(status int) bool {
	return status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect
}

// Unanswered classifies a request that got no answer that may be read;
// connected tells whether the Site took the connection.
func Unanswered(address string, err error, connected bool) error {
	return transportFault(address, err, connected)
}

// Answered classifies an answer by its status and headers; nil means that the
// body is worth reading. It is for requests without validators.
func Answered(address string, status int, header http.Header, now time.Time) error {
	if status == http.StatusNotModified {
		return unasked304(address)
	}
	return statusFault(address, &http.Response{StatusCode: status, Header: header}, now)
}

// Unmasked returns what err, an answer's fault by its status, is once the beginning
// of its body is known: a challenge is one with any status (POLL-1).
func Unmasked(address string, err error, header http.Header, head []byte, now time.Time) error {
	if fault.Is(err, fault.Access) || mediaTypeOf(header) != "text/html" || !isChallenge(head) {
		return err
	}
	return challenged(logging.URL(address), retryAfter(header, now))
}

// Page judges a page by what it is and returns its media type.
func Page(address string, header http.Header, body []byte) (mediaType string, err error) {
	mediaType = mediaTypeOf(header)
	if len(body) > MaxPage {
		return mediaType, TooLarge(address)
	}
	return mediaType, bodyFault(address, source.WantHTML, mediaType, body)
}

// TooLarge is the fault of an answer over its limit.
func TooLarge(address string) error {
	return fault.New(fault.Parser, "get", logging.URL(address), errTooLarge).WithEvidence(fault.Answered)
}

func unasked304(address string) error {
	return fault.Newf(fault.Network, "get", logging.URL(address), "the Site answered 304 to a request without validators").WithEvidence(fault.Answered)
}
