package browser

import (
	"encoding/json"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"mangrove/scraper/internal/fetch"
)

// lookEvery is how often a page is looked at while it settles, lastLook how long
// before its time is over what is there is read.
const (
	lookEvery = 100 * time.Millisecond
	lastLook  = 3 * time.Second
)

// world is the name of the scripts' world that is ours: it shares the page's
// document and none of its objects, so that a page cannot answer for itself.
const world = "mangrove"

// sight is what a page looks like from outside.
type sight struct {
	Ready    string `json:"ready"`
	Elements int    `json:"elements"`
	Text     int    `json:"text"`
	Found    bool   `json:"found"`
}

// settle waits until the page's scripts have put it together, for a bounded
// time, and returns its HTML as it is then. Whether the landmark is there is
// waited for and not judged: that is the adapter's to say.
func (p *page) settle() (string, error) {
	landmark, err := json.Marshal(p.request.Landmark)
	if err != nil {
		return "", err
	}
	look := `(() => { const d = document, l = ` + string(landmark) + `;
		let found = true;
		if (l) { try { found = !!d.querySelector(l) } catch {} }
		return JSON.stringify({
			ready: String(d.readyState), elements: d.getElementsByTagName('*').length, found: found,
			text: d.documentElement ? d.documentElement.textContent.length : 0,
		})
	})()`
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var last sight
	changed, until := time.Now(), time.Now().Add(p.c.o.Settle)
	latest, bounded := p.tab.ctx.Deadline()
	for {
		var now sight
		text, ok, err := p.evaluate(look)
		if err != nil {
			return "", err
		}
		if ok && json.Unmarshal([]byte(text), &now) != nil {
			now = sight{}
		}
		at := time.Now()
		if now != last {
			last, changed = now, at
		}
		waits := p.waits()
		if waits {
			// What the Lane holds back is no reason to read half a page.
			until = until.Add(lookEvery)
		}
		if bounded && until.After(latest.Add(-lastLook)) {
			until = latest.Add(-lastLook)
		}
		settled := now.Found && now.Ready == "complete" && at.Sub(changed) >= settleFor && !waits && p.quiet(at)
		if settled || at.After(until) {
			return p.html()
		}
		select {
		case <-p.tab.ctx.Done():
			return "", p.tab.ctx.Err()
		case <-tick.C:
		}
	}
}

// html returns the page as it is now, bounded.
func (p *page) html() (string, error) {
	limit, err := json.Marshal(fetch.MaxPage)
	if err != nil {
		return "", err
	}
	html, ok, err := p.evaluate(`(() => {
		const d = document, h = (d.doctype ? '<!DOCTYPE ' + d.doctype.name + '>' : '') + d.documentElement.outerHTML;
		return h.length > ` + string(limit) + ` ? null : h
	})()`)
	if err == nil && !ok {
		err = fetch.TooLarge(p.request.URL)
	}
	return html, err
}

// evaluate runs an expression of ours in our world of the page; ok is false when
// it gave no text. A page that was just replaced by another is looked at again.
func (p *page) evaluate(expression string) (text string, ok bool, err error) {
	for try := 0; ; try++ {
		made, err := proto.PageCreateIsolatedWorld{FrameID: p.frame, WorldName: world}.Call(p.tab)
		if err == nil {
			var got *proto.RuntimeEvaluateResult
			got, err = proto.RuntimeEvaluate{Expression: expression, ContextID: made.ExecutionContextID, ReturnByValue: true}.Call(p.tab)
			if err == nil {
				if got.ExceptionDetails != nil || got.Result.Type != proto.RuntimeRemoteObjectTypeString {
					return "", false, nil
				}
				return got.Result.Value.Str(), true, nil
			}
		}
		if p.tab.ctx.Err() != nil || try == 3 {
			return "", false, err
		}
	}
}
