package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/net/http/httpguts"

	"mangrove/internal/failpoint"
	"mangrove/internal/fault"
	"mangrove/internal/logging"
	"mangrove/scraper/internal/source"
)

// Slots hands out the right to send one request. Acquire returns when the Lane's
// pacing and the Site's circuit allow it; release is called when the answer has
// been read. An error is classified: a circuit that is not closed is no request.
type Slots interface {
	Acquire(ctx context.Context, want source.Want) (release func(), err error)
	Turns
}

// Turns is for who holds a slot. Sent says that what it was granted for is asked
// for only now, from which the pacing counts. Again is for a page in a browser that
// asks for more by itself: it returns when one more request may be sent.
type Turns interface {
	Sent()
	Again(ctx context.Context) error
}

// Limits of one request (JOB-13, C20).
const (
	imageTimeout    = 60 * time.Second
	metadataTimeout = 30 * time.Second
	maxImage        = 32 << 20
	maxMetadata     = 8 << 20
	maxRedirects    = 5
	// tries in all, for network failures only.
	tries = 3
)

// Options make a Client for one Site.
type Options struct {
	Site  source.Site
	Slots Slots
	// Allow are the private ranges the operator listed.
	Guard Guard
	// Identity is the User-Agent: who is asking, stated plainly.
	Identity string
	// Renderer reads the pages of a Site that needs a browser; nil if there is none.
	Renderer Renderer
	// FirstWait is the wait before the second try; 0 means two seconds.
	FirstWait time.Duration
}

// Client asks one Site. It keeps that Site's cookies apart from all others'.
type Client struct {
	o    Options
	http *http.Client
}

var _ source.Fetcher = (*Client)(nil)

// New makes a Client.
func New(o Options) *Client {
	if o.FirstWait == 0 {
		o.FirstWait = 2 * time.Second
	}
	dialer := o.Guard.Dialer()
	dialer.Timeout = 15 * time.Second
	inFlight := max(o.Site.ImagesInFlight, 2)
	c := &Client{o: o}
	c.http = &http.Client{
		Jar: newCookies(),
		Transport: signed{o.Site.Login, &http.Transport{
			Proxy:                  nil,
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    inFlight,
			MaxConnsPerHost:        inFlight,
			IdleConnTimeout:        90 * time.Second,
			TLSHandshakeTimeout:    15 * time.Second,
			MaxResponseHeaderBytes: 1 << 20,
		}},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			return Redirected(c.o.Site, via[len(via)-1].URL, req.URL, req.Response.StatusCode, len(via))
		},
	}
	return c
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Get asks for r and returns the answer, or a classified error. Network
// failures are tried again a few times, each through a slot of its own; nothing
// else ever is. An image that was cut short is gone on with where that is safe.
func (c *Client) Get(ctx context.Context, r source.Request) (*source.Response, error) {
	if err := Askable(c.o.Site, r.URL); err != nil {
		return nil, transportFault(r.URL, err, true)
	}
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval = c.o.FirstWait
	wait.MaxInterval = 30 * time.Second
	var kept *partial
	return backoff.Retry(ctx, func() (*source.Response, error) {
		var resp *source.Response
		var err error
		resp, kept, err = c.once(ctx, r, kept)
		switch {
		case err == nil:
			return resp, nil
		case ctx.Err() != nil, !fault.Is(err, fault.Network), asksForQuiet(err), errors.Is(err, errNoBrowser):
			return nil, backoff.Permanent(err)
		}
		return nil, err
	}, backoff.WithBackOff(wait), backoff.WithMaxTries(tries))
}

// asksForQuiet reports whether the Site named a time before which it wants no
// further request: a retry would hurry it (JOB-7).
func asksForQuiet(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && !f.RetryAfter.IsZero()
}

// acquire waits for a slot, no longer than the request is wanted.
func (c *Client) acquire(ctx context.Context, r source.Request) (func(), error) {
	if r.Batch == nil {
		return c.o.Slots.Acquire(ctx, r.Want)
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-r.Batch.Ended():
			stop()
		case <-waiting.Done():
		}
	}()
	release, err := c.o.Slots.Acquire(waiting, r.Want)
	select {
	case <-r.Batch.Ended():
		if err == nil {
			release()
		}
		return nil, fault.New(fault.Stale, "get", logging.URL(r.URL), source.ErrWithdrawn).WithEvidence(fault.NoRead)
	default:
		return release, err
	}
}

// once sends one request, for the rest of what an earlier one left if there is
// some. It returns what the next try may go on with.
func (c *Client) once(ctx context.Context, r source.Request, before *partial) (*source.Response, *partial, error) {
	release, err := c.acquire(ctx, r)
	if err != nil {
		return nil, before, err
	}
	defer release()
	if c.o.Site.Browser && r.Want == source.WantHTML {
		out, err := c.render(ctx, r)
		return out, nil, err
	}
	return c.send(ctx, r, before)
}

func (c *Client) send(ctx context.Context, r source.Request, before *partial) (*source.Response, *partial, error) {
	timeout, limit := metadataTimeout, int64(maxMetadata)
	if r.Want == source.WantImage {
		timeout, limit = imageTimeout, maxImage
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		connected.Store(true)
		// A name may have been slow to resolve, or this machine: the next request
		// keeps its distance from when this one leaves.
		c.o.Slots.Sent()
	}})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
	if err != nil {
		return nil, nil, transportFault(r.URL, errScheme, true)
	}
	req.Header.Set("User-Agent", c.o.Identity)
	req.Header.Set("Accept", accept[r.Want])
	setIf(req.Header, "Referer", r.Referer)
	setIf(req.Header, "If-None-Match", r.Validators.ETag)
	setIf(req.Header, "If-Modified-Since", r.Validators.LastModified)
	before.ask(req.Header)

	resp, err := c.http.Do(req)
	if err != nil {
		return nil, before, transportFault(r.URL, err, connected.Load())
	}
	defer func() { _ = resp.Body.Close() }()
	if err := statusFault(r.URL, resp, time.Now()); err != nil {
		// Reading a little also lets the connection be used again.
		head, _ := io.ReadAll(io.LimitReader(resp.Body, challengeHead))
		err = Unmasked(r.URL, err, resp.Header, head, time.Now())
		note(ctx, resp, head)
		if !fault.Is(err, fault.Network) {
			// Before the slot is given back: who waits for it may be of this Batch.
			r.Batch.End()
		}
		return nil, nil, err
	}
	out := &source.Response{
		URL:        resp.Request.URL.String(),
		Permanent:  permanently(resp),
		Validators: source.Validators{ETag: resp.Header.Get("ETag"), LastModified: resp.Header.Get("Last-Modified")},
	}
	out.MediaType, out.Charset = contentType(resp.Header)
	if resp.StatusCode == http.StatusNotModified {
		if r.Validators == (source.Validators{}) {
			return nil, nil, unasked304(r.URL)
		}
		out.NotModified = true
		return out, nil, nil
	}
	if r.Want == source.WantImage {
		failpoint.Reach(failpoint.PageRequested)
	}
	rest := before.follows(resp)
	if before != nil && !rest && resp.StatusCode == http.StatusPartialContent {
		return nil, nil, notTheRest(r.URL)
	}
	if rest {
		limit -= int64(len(before.body))
	}
	out.Body, err = io.ReadAll(io.LimitReader(resp.Body, limit+1))
	long := int64(len(out.Body)) > limit
	if rest {
		out.Body = append(before.body, out.Body...)
	}
	switch {
	case err != nil && rest && !long:
		before.body = out.Body
		return nil, before, transportFault(r.URL, err, true)
	case err != nil && r.Want == source.WantImage && !long:
		return nil, begin(resp, out.Body), transportFault(r.URL, err, true)
	case err != nil:
		return nil, nil, transportFault(r.URL, err, true)
	case long:
		note(ctx, resp, out.Body)
		return nil, nil, TooLarge(r.URL)
	}
	// A page image is evidence only where it is none: the pages of a chapter would
	// push out the page that named them.
	err = bodyFault(r.URL, r.Want, out.MediaType, out.Body)
	if err != nil || r.Want != source.WantImage {
		note(ctx, resp, out.Body)
	}
	if err != nil {
		return nil, nil, err
	}
	return out, nil, nil
}

var accept = map[source.Want]string{
	source.WantHTML:  "text/html,application/xhtml+xml;q=0.9",
	source.WantJSON:  "application/json",
	source.WantXML:   "application/atom+xml,application/rss+xml,application/xml;q=0.9,text/xml;q=0.8",
	source.WantImage: "image/avif,image/webp,image/png,image/jpeg,image/gif;q=0.8",
}

// setIf sets a header that comes from outside. One that is no header value would
// end every request it is put into, so it is left out.
func setIf(h http.Header, name, value string) {
	if value != "" && httpguts.ValidHeaderFieldValue(value) {
		h.Set(name, value)
	}
}

// permanently reports whether the answer came by permanent redirects only.
func permanently(resp *http.Response) bool {
	moved := false
	for r := resp.Request.Response; r != nil; r = r.Request.Response {
		if !Permanent(r.StatusCode) {
			return false
		}
		moved = true
	}
	return moved
}
