package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/fetch"
)

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
		p.fail(fetch.NoBrowser(p.request.URL, p.c.lostBecause(errCrashed)))
	case "Target.targetCreated":
		return on(e, p.appeared)
	case "Network.requestWillBeSent":
		return on(e, p.began)
	case "Network.responseReceived":
		return on(e, p.received)
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

// received ends the read when the Site refuses what a script of the page asks for:
// too many requests, or a challenge. Other refusals may be the page's way, as to
// tell a visitor from a member.
func (p *page) received(e proto.NetworkResponseReceived) error {
	u, err := url.Parse(e.Response.URL)
	if err != nil || !asksData(e.Type) || fetch.Allowed(p.site, u) != nil {
		return err
	}
	header := http.Header{}
	for name, value := range e.Response.Headers {
		header.Set(name, value.Str())
	}
	if e.Response.Status != http.StatusTooManyRequests && header.Get("cf-mitigated") == "" {
		return nil
	}
	if err := fetch.Answered(p.request.URL, e.Response.Status, header, time.Now()); fault.Is(err, fault.Access) {
		p.fail(err)
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
