package browser

import (
	"net/url"

	"github.com/go-rod/rod/lib/proto"

	"mangrove/scraper/internal/fetch"
)

// asksData reports whether a kind of request is data that a script asks for.
func asksData(t proto.NetworkResourceType) bool {
	return t == proto.NetworkResourceTypeXHR || t == proto.NetworkResourceTypeFetch || t == proto.NetworkResourceTypeEventSource
}

// beside reports whether a frame's page lies on the host of the page itself: only
// such a frame is kept by the same process, where what it asks for is seen.
func (p *page) beside(u *url.URL) bool {
	own, err := url.Parse(p.request.URL)
	return err == nil && fetch.Allowed(p.site, u) == nil && u.Host == own.Host
}

// visited reports whether the page that is asked for is not the first one.
func (p *page) visited() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.doc.visits > 1
}

// inTurn sends a request that a script of the page wants to send when the Lane says
// so. It does not wait itself: the page goes on meanwhile. A redirect belongs to the
// request it answers.
func (p *page) inTurn(e proto.FetchRequestPaused, u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" || e.RedirectedRequestID != "" {
		return p.proceed(e)
	}
	if fetch.Allowed(p.site, u) != nil {
		return p.block(e)
	}
	p.mu.Lock()
	p.paced++
	many := p.paced > maxPaced
	if !many {
		p.turn++
	}
	p.mu.Unlock()
	switch {
	case many && e.ResourceType == proto.NetworkResourceTypeDocument:
		p.fail(fetch.TooLarge(p.request.URL))
		return nil
	case many:
		return p.block(e)
	}
	go func() {
		err := p.turns.Again(p.tab.ctx)
		p.mu.Lock()
		p.turn--
		p.mu.Unlock()
		switch {
		case err == nil:
			_ = p.proceed(e) // a page that is gone asks for nothing
			p.turns.Sent()
		case p.tab.ctx.Err() == nil:
			// The circuit is not closed any more: nothing follows.
			p.fail(err)
		}
	}()
	return nil
}

// waits reports whether the page waits for the Lane rather than for the Site.
func (p *page) waits() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.turn > 0
}
