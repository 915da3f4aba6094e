package browser

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/source"
)

// maxVisits is how often a page may send itself elsewhere by script.
const maxVisits = 5

// document is the answer the page is made of.
type document struct {
	// url is nil until an answer was accepted.
	url       *url.URL
	mediaType string
	// permanent is true when every redirect on the way was a permanent one.
	permanent bool

	hops, visits int
}

// paused decides about one request that waits.
func (p *page) paused(e proto.FetchRequestPaused) error {
	u, err := url.Parse(e.Request.URL)
	if e.ResourceType == proto.NetworkResourceTypeOther && !strings.HasPrefix(e.Request.Headers["Accept"].Str(), "image/") {
		return p.proceed(e) // a worker's script, and not the page's icon
	}
	if err == nil && asksData(e.ResourceType) {
		return p.inTurn(e, u)
	}
	if err != nil || e.ResourceType != proto.NetworkResourceTypeDocument {
		return p.block(e)
	}
	answer := e.ResponseStatusCode != nil || e.ResponseErrorReason != ""
	switch {
	case e.FrameID != p.frame && answer:
		return p.proceed(e)
	case e.FrameID != p.frame && !p.beside(u):
		// Nothing of it would be read, and what it asks for could not be seen.
		return p.block(e)
	case e.FrameID != p.frame:
		return p.inTurn(e, u)
	case !answer:
		err = p.asked(e, u)
	case e.ResponseErrorReason != "":
		err = p.unanswered(e.Request.URL, string(e.ResponseErrorReason))
	default:
		return p.answered(e, u)
	}
	if err != nil {
		// The request stays where it is until the page is closed.
		p.fail(err)
		return nil
	}
	switch {
	case !answer && p.visited():
		return p.inTurn(e, u)
	case !answer && e.RedirectedRequestID == "":
		p.turns.Sent()
	}
	return p.proceed(e)
}

func (p *page) block(e proto.FetchRequestPaused) error {
	return proto.FetchFailRequest{RequestID: e.RequestID, ErrorReason: proto.NetworkErrorReasonBlockedByClient}.Call(p.tab)
}

func (p *page) proceed(e proto.FetchRequestPaused) error {
	return proto.FetchContinueRequest{RequestID: e.RequestID}.Call(p.tab)
}

// asked judges a page about to be asked for. A redirect was judged with the
// answer that held it; anything else after the first is the script's doing.
func (p *page) asked(e proto.FetchRequestPaused, u *url.URL) error {
	if e.RedirectedRequestID != "" {
		return nil
	}
	err := fetch.Allowed(p.site, u)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doc.visits++; p.doc.visits > maxVisits {
		return fetch.TooLarge(p.request.URL)
	}
	switch {
	case err == nil:
		p.doc.hops, p.doc.permanent = 0, false
		return nil
	case u.Scheme == "http" || u.Scheme == "https":
		return fetch.Unanswered(p.request.URL, &source.Elsewhere{URL: u.String()}, true)
	}
	return fetch.Unanswered(p.request.URL, err, true)
}

// answered judges the Site's answer before anything of it is shown or run.
func (p *page) answered(e proto.FetchRequestPaused, u *url.URL) error {
	status, header := *e.ResponseStatusCode, http.Header{}
	for _, h := range e.ResponseHeaders {
		header.Add(h.Name, h.Value)
	}
	if location := header.Get("Location"); location != "" && isRedirect(status) {
		if err := p.redirected(u, location, status); err != nil {
			p.fail(err)
			return nil
		}
		return p.proceed(e)
	}
	refused := fetch.Answered(p.request.URL, status, header, time.Now())
	if refused != nil {
		// A body that does not come is not waited for: the status says enough.
		ctx, cancel := context.WithTimeout(p.tab.ctx, answerWithin)
		defer cancel()
		body, _ := body(session{ctx, p.tab.client, p.tab.id}, e)
		fetch.Note(p.whole.ctx, u.String(), status, header, body, nil)
		p.fail(fetch.Unmasked(p.request.URL, refused, header, body, time.Now()))
		return nil
	}
	body, err := body(p.tab, e)
	if err != nil {
		if p.tab.ctx.Err() == nil {
			p.fail(fetch.Unanswered(p.request.URL, err, true))
		}
		return nil
	}
	mediaType, err := fetch.Page(p.request.URL, header, body)
	if err != nil {
		fetch.Note(p.whole.ctx, u.String(), status, header, body, nil)
		p.fail(err)
		return nil
	}
	p.mu.Lock()
	p.doc.url, p.doc.mediaType = u, mediaType
	p.mu.Unlock()
	return p.show(e, header, body)
}

func isRedirect(status int) bool {
	return status == http.StatusMovedPermanently || status == http.StatusFound || status == http.StatusSeeOther ||
		status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect
}

func (p *page) redirected(from *url.URL, location string, status int) error {
	to, err := from.Parse(location)
	if err != nil {
		return fetch.Unanswered(p.request.URL, err, true)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doc.hops++
	if err := fetch.Redirected(p.site, from, to, status, p.doc.hops); err != nil {
		return fetch.Unanswered(p.request.URL, err, true)
	}
	first := p.doc.hops == 1 && p.doc.visits <= 1
	p.doc.permanent = fetch.Permanent(status) && (first || p.doc.permanent)
	return nil
}

// body reads the answer as it came, decoded, up to one byte more than it may have.
func body(tab session, e proto.FetchRequestPaused) ([]byte, error) {
	stream, err := proto.FetchTakeResponseBodyAsStream{RequestID: e.RequestID}.Call(tab)
	if err != nil {
		return nil, err
	}
	size := 256 << 10
	var body []byte
	for len(body) <= fetch.MaxPage {
		part, err := proto.IORead{Handle: stream.Stream, Size: &size}.Call(tab)
		if err != nil {
			return nil, err
		}
		data := []byte(part.Data)
		if part.Base64Encoded {
			if data, err = base64.StdEncoding.DecodeString(part.Data); err != nil {
				return nil, err
			}
		}
		body = append(body, data...)
		if part.EOF {
			break
		}
	}
	return body, nil
}

// show lets Chromium have the page. The body is decoded by now, and headers that
// spoke of its form on the way would be lies.
func (p *page) show(e proto.FetchRequestPaused, header http.Header, body []byte) error {
	if len(body) == 0 {
		body = []byte("\n") // nothing would mean the answer's own body, which is gone
	}
	var kept []*proto.FetchHeaderEntry
	for _, h := range e.ResponseHeaders {
		switch strings.ToLower(h.Name) {
		case "content-encoding", "content-length", "transfer-encoding", "connection", "refresh", "link":
		default:
			kept = append(kept, h)
		}
	}
	full := proto.FetchFulfillRequest{RequestID: e.RequestID, ResponseCode: *e.ResponseStatusCode, ResponseHeaders: kept, Body: body}
	err := full.Call(p.tab)
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	// A header it does not take back is not worth the page.
	full.ResponseHeaders = []*proto.FetchHeaderEntry{{Name: "Content-Type", Value: header.Get("Content-Type")}}
	return full.Call(p.tab)
}
