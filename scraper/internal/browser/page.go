package browser

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/source"
)

const (
	// maxRequests and maxPopups are what a page may ask for before it is ended.
	maxRequests = 400
	maxPopups   = 10
	// maxPaced are the pages and data its scripts may ask for.
	maxPaced = 20
	// maxEvents may wait for a page's attention.
	maxEvents = 4096
)

// page is one page being read.
type page struct {
	c       *chromium
	site    source.Site
	request source.Request
	// turns says when one more request of the page may be sent.
	turns fetch.Turns
	proxy *proxy
	// whole and tab talk to Chromium as a whole and to this page.
	whole, tab session
	cancel     context.CancelFunc
	events     chan *cdp.Event
	context    proto.BrowserBrowserContextID
	target     proto.TargetTargetID
	frame      proto.PageFrameID

	mu sync.Mutex
	// verdict is why the read ends, once that is known; the first one stands.
	verdict error
	doc     document
	// waiting are requests that may still change the page; busy is when one of
	// them last began or ended.
	waiting          map[proto.NetworkRequestID]bool
	busy             time.Time
	requests, popups int
	// paced counts what the scripts asked for, turn what of it waits to be sent.
	paced, turn int
}

// read opens r.URL in a context of its own, and closes it again.
func (c *chromium) read(ctx context.Context, site source.Site, guard fetch.Guard, r source.Request, turns fetch.Turns) (*source.Response, error) {
	outer := ctx
	whole, stop := c.session(ctx, "")
	defer stop()
	p := &page{
		c: c, site: site, request: r, turns: turns, events: make(chan *cdp.Event, maxEvents), waiting: map[proto.NetworkRequestID]bool{}, busy: time.Now(),
	}
	whole.ctx, p.cancel = context.WithCancel(whole.ctx)
	defer p.cancel()
	p.whole = whole
	defer p.close()
	err := p.open(guard)
	var resp *source.Response
	if err == nil {
		resp, err = p.load()
	}
	if err == nil {
		return resp, nil
	}
	return nil, p.why(outer, err)
}

// open makes the context and the page in it, with nothing loaded.
func (p *page) open(guard fetch.Guard) error {
	var err error
	if p.proxy, err = newProxy(p.whole.ctx, p.site, guard, func() { p.fail(fetch.TooLarge(p.request.URL)) }); err != nil {
		return err
	}
	made, err := proto.TargetCreateBrowserContext{ProxyServer: p.proxy.address(), ProxyBypassList: "<-loopback>"}.Call(p.whole)
	if err != nil {
		return err
	}
	p.context = made.BrowserContextID
	p.c.mu.Lock()
	p.c.contexts[p.context] = p
	p.c.mu.Unlock()
	// Granting nothing refuses everything.
	if err := (proto.BrowserGrantPermissions{Permissions: []proto.BrowserPermissionType{}, BrowserContextID: p.context}).Call(p.whole); err != nil {
		return err
	}
	if err := (proto.BrowserSetDownloadBehavior{Behavior: proto.BrowserSetDownloadBehaviorBehaviorDeny, BrowserContextID: p.context}).Call(p.whole); err != nil {
		return err
	}
	target, err := proto.TargetCreateTarget{URL: "about:blank", BrowserContextID: p.context}.Call(p.whole)
	if err != nil {
		return err
	}
	p.target, p.frame = target.TargetID, proto.PageFrameID(target.TargetID)
	attached, err := proto.TargetAttachToTarget{TargetID: p.target, Flatten: true}.Call(p.whole)
	if err != nil {
		return err
	}
	p.tab = session{p.whole.ctx, p.whole.client, attached.SessionID}
	p.c.mu.Lock()
	p.c.open[p.tab.id] = p
	p.c.mu.Unlock()
	go p.follow()
	nothing := 0
	for _, enable := range []interface{ Call(proto.Client) error }{
		proto.PageEnable{},
		proto.InspectorEnable{},
		proto.NetworkEnable{MaxPostDataSize: &nothing},
		proto.NetworkSetBypassServiceWorker{Bypass: true},
		proto.NetworkSetUserAgentOverride{UserAgent: p.c.agent},
		proto.FetchEnable{Patterns: intercepted()},
	} {
		if err := enable.Call(p.tab); err != nil {
			return err
		}
	}
	return nil
}

// intercepted are the requests that stop for a decision: pages before they are
// asked for and before they are shown, data that scripts ask for, and what a text
// does not need. Scripts and styles of the page come with it.
func intercepted() []*proto.FetchRequestPattern {
	patterns := []*proto.FetchRequestPattern{
		{ResourceType: proto.NetworkResourceTypeDocument, RequestStage: proto.FetchRequestStageRequest},
		{ResourceType: proto.NetworkResourceTypeDocument, RequestStage: proto.FetchRequestStageResponse},
	}
	for _, t := range []proto.NetworkResourceType{
		proto.NetworkResourceTypeImage, proto.NetworkResourceTypeMedia, proto.NetworkResourceTypeFont, proto.NetworkResourceTypePing,
		proto.NetworkResourceTypeOther, proto.NetworkResourceTypeXHR, proto.NetworkResourceTypeFetch, proto.NetworkResourceTypeEventSource,
	} {
		patterns = append(patterns, &proto.FetchRequestPattern{ResourceType: t, RequestStage: proto.FetchRequestStageRequest})
	}
	return patterns
}

// load goes to the address and returns what has become of the page.
func (p *page) load() (*source.Response, error) {
	went, err := proto.PageNavigate{URL: p.request.URL, Referrer: p.request.Referer}.Call(p.tab)
	if err != nil {
		return nil, err
	}
	if went.ErrorText != "" {
		p.fail(p.unanswered(p.request.URL, went.ErrorText))
		return nil, errors.New(went.ErrorText)
	}
	html, err := p.settle()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.verdict != nil {
		return nil, p.verdict
	}
	if p.doc.url == nil {
		return nil, errors.New("it showed a page that no answer was seen for")
	}
	body := []byte(html)
	// What the adapter is handed is what the scripts made, not what was sent.
	fetch.Note(p.whole.ctx, p.doc.url.String(), http.StatusOK, http.Header{"Content-Type": {"text/html; charset=utf-8"}}, body, nil)
	// What the scripts made of it is judged once more: a challenge may come late.
	if _, err := fetch.Page(p.request.URL, http.Header{"Content-Type": {"text/html"}}, body); err != nil {
		return nil, err
	}
	return &source.Response{URL: p.doc.url.String(), Permanent: p.doc.permanent, MediaType: p.doc.mediaType, Charset: "utf-8", Body: body}, nil
}

// close disposes of the context with everything in it: popups, workers,
// cookies. A Chromium that does not do so is ended.
func (p *page) close() {
	defer func() {
		p.c.mu.Lock()
		delete(p.c.open, p.tab.id)
		delete(p.c.contexts, p.context)
		p.c.mu.Unlock()
	}()
	if p.context == "" || p.c.gone() {
		return
	}
	// The page's own context has ended by now more often than not (S-083).
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	s, stop := p.c.session(ctx, "")
	defer stop()
	if err := (proto.TargetDisposeBrowserContext{BrowserContextID: p.context}).Call(s); err != nil && !p.c.gone() {
		p.c.o.Log.Warn("the browser does not close a page and is ended", zap.Error(err))
		p.c.lose()
		p.c.process.kill()
	}
}

// fail ends the read for a reason; the first one stands.
func (p *page) fail(err error) {
	p.mu.Lock()
	if p.verdict == nil {
		p.verdict = err
	}
	p.mu.Unlock()
	p.cancel()
}

// why classifies the end of a read that did not succeed.
func (p *page) why(ctx context.Context, err error) error {
	p.mu.Lock()
	verdict, answered := p.verdict, p.doc.url != nil
	p.mu.Unlock()
	switch {
	case verdict != nil:
		return verdict
	case p.c.gone():
		return fetch.NoBrowser(p.request.URL, p.c.lostBecause(errLost))
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		if !p.c.answers() {
			p.c.lose()
			p.c.process.kill()
			return fetch.NoBrowser(p.request.URL, errors.New("it does not answer"))
		}
		return fetch.Unanswered(p.request.URL, context.DeadlineExceeded, answered || p.connected())
	case ctx.Err() != nil:
		return fetch.Unanswered(p.request.URL, ctx.Err(), false)
	}
	var classified *fault.Error
	if errors.As(err, &classified) {
		return err
	}
	return fetch.NoBrowser(p.request.URL, p.c.lostBecause(err))
}

// answers reports whether Chromium itself still answers; it is the page's
// fault, and not the browser's, if it does.
func (c *chromium) answers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	s, stop := c.session(ctx, "")
	defer stop()
	_, err := proto.BrowserGetVersion{}.Call(s)
	return err == nil
}

func (p *page) connected() bool {
	if p.proxy == nil {
		return false
	}
	u, err := url.Parse(p.request.URL)
	if err != nil {
		return false
	}
	connected, _ := p.proxy.reached(u)
	return connected
}

// unanswered classifies an address that gave no answer, from what the proxy saw
// and Chromium's word for it.
func (p *page) unanswered(address, text string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fetch.Unanswered(p.request.URL, err, false)
	}
	connected, err := p.proxy.reached(u)
	if err == nil {
		err = errors.New(text)
	}
	// A Site whose certificate is not believed was not read.
	if strings.Contains(text, "ERR_CERT") || strings.Contains(text, "ERR_SSL") {
		connected = false
	}
	return fetch.Unanswered(p.request.URL, err, connected)
}
