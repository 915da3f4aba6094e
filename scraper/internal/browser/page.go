package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
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
	// maxEvents may wait for a page's attention.
	maxEvents = 4096
)

// page is one page being read.
type page struct {
	c       *chromium
	site    source.Site
	request source.Request
	proxy   *proxy
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
}

// read opens r.URL in a context of its own, and closes it again.
func (c *chromium) read(ctx context.Context, site source.Site, guard fetch.Guard, r source.Request) (*source.Response, error) {
	outer := ctx
	whole, stop := c.session(ctx, "")
	defer stop()
	p := &page{
		c: c, site: site, request: r, events: make(chan *cdp.Event, maxEvents), waiting: map[proto.NetworkRequestID]bool{}, busy: time.Now(),
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
// asked for and before they are shown, and what a text does not need.
func intercepted() []*proto.FetchRequestPattern {
	patterns := []*proto.FetchRequestPattern{
		{ResourceType: proto.NetworkResourceTypeDocument, RequestStage: proto.FetchRequestStageRequest},
		{ResourceType: proto.NetworkResourceTypeDocument, RequestStage: proto.FetchRequestStageResponse},
	}
	for _, t := range []proto.NetworkResourceType{
		proto.NetworkResourceTypeImage, proto.NetworkResourceTypeMedia, proto.NetworkResourceTypeFont, proto.NetworkResourceTypePing,
		proto.NetworkResourceTypeOther,
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
		return fetch.NoBrowser(p.request.URL, errLost)
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
	return fetch.NoBrowser(p.request.URL, err)
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

// about returns the page that an event of Chromium as a whole is about.
func (c *chromium) about(e *cdp.Event) *page {
	var known struct {
		TargetID   proto.TargetTargetID `json:"targetId"`
		TargetInfo struct {
			BrowserContextID proto.BrowserBrowserContextID `json:"browserContextId"`
		} `json:"targetInfo"`
	}
	if json.Unmarshal(e.Params, &known) != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known.TargetID == "" {
		return c.contexts[known.TargetInfo.BrowserContextID]
	}
	for _, p := range c.open {
		if p.target == known.TargetID {
			return p
		}
	}
	return nil
}

// follow acts on what happens in the page until the read ends.
func (p *page) follow() {
	defer func() {
		if r := recover(); r != nil {
			p.c.o.Log.Error("the browser's driver panicked", zap.Any("panic", r), zap.ByteString("stack", debug.Stack()))
			p.fail(fetch.NoBrowser(p.request.URL, fmt.Errorf("its driver panicked: %v", r)))
		}
	}()
	for {
		select {
		case <-p.tab.ctx.Done():
			return
		case e := <-p.events:
			if err := p.happened(e); err != nil && p.tab.ctx.Err() == nil {
				p.c.o.Log.Debug("the browser refused a request", zap.String("event", e.Method), zap.Error(err))
			}
		}
	}
}

func (p *page) happened(e *cdp.Event) error {
	switch e.Method {
	case "Fetch.requestPaused":
		return on(e, p.paused)
	case "Page.javascriptDialogOpening":
		return proto.PageHandleJavaScriptDialog{Accept: false}.Call(p.tab)
	case "Inspector.targetCrashed", "Target.targetCrashed":
		p.fail(fetch.NoBrowser(p.request.URL, errors.New("the page crashed")))
	case "Target.targetCreated":
		return on(e, p.appeared)
	case "Network.requestWillBeSent":
		return on(e, p.began)
	case "Network.loadingFinished":
		return on(e, func(e proto.NetworkLoadingFinished) error { return p.ended(e.RequestID) })
	case "Network.loadingFailed":
		return on(e, func(e proto.NetworkLoadingFailed) error { return p.ended(e.RequestID) })
	}
	return nil
}

// on decodes an event for what acts on it.
func on[E any](e *cdp.Event, act func(E) error) error {
	var event E
	if err := json.Unmarshal(e.Params, &event); err != nil {
		return err
	}
	return act(event)
}

// appeared closes windows that the page opened.
func (p *page) appeared(e proto.TargetTargetCreated) error {
	if e.TargetInfo.TargetID == p.target || e.TargetInfo.Type != proto.TargetTargetInfoTypePage {
		return nil
	}
	if p.popups++; p.popups > maxPopups {
		p.fail(fetch.TooLarge(p.request.URL))
	}
	_, err := proto.TargetCloseTarget{TargetID: e.TargetInfo.TargetID}.Call(p.whole)
	return err
}

func (p *page) began(e proto.NetworkRequestWillBeSent) error {
	if p.requests++; p.requests > maxRequests {
		p.fail(fetch.TooLarge(p.request.URL))
	}
	if e.FrameID != p.frame || !strings.HasPrefix(e.Request.URL, "http") {
		return nil // frames of other hosts and workers end theirs where we do not look
	}
	switch e.Type {
	case proto.NetworkResourceTypeScript, proto.NetworkResourceTypeXHR, proto.NetworkResourceTypeFetch, proto.NetworkResourceTypeDocument:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.waiting[e.RequestID] = true
		p.busy = time.Now()
	}
	return nil
}

func (p *page) ended(id proto.NetworkRequestID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting[id] {
		delete(p.waiting, id)
		p.busy = time.Now()
	}
	return nil
}

// quiet reports whether no request that may change the page is under way, and
// none was for a while.
func (p *page) quiet(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting) == 0 && now.Sub(p.busy) >= settleFor
}
