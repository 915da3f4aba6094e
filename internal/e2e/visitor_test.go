package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"
	"github.com/ysmood/gson"
)

const (
	person   = "Ada"
	password = "correct horse battery staple"
)

// visitor is a person at a browser window of their own, on a device of their
// own: nobody shares cookies or what the pages remember.
type visitor struct {
	t    *testing.T
	m    *mangrove
	name string
	page *rod.Page

	mu sync.Mutex
	// problems are what no page may cause; noise is what a page says when its
	// server goes away under it.
	problems, noise []string
}

// screen is what a visitor looks at.
type screen struct {
	width, height int
	touch         bool
}

var (
	desktop = screen{width: 1280, height: 800}
	// upright shows one page at a time.
	upright = screen{width: 900, height: 1200}
	phone   = screen{width: 390, height: 844, touch: true}
)

// visit opens a window.
func (m *mangrove) visit(name string, s screen) *visitor {
	t := m.t
	t.Helper()
	device, err := theBrowser(t).Incognito()
	if err != nil {
		t.Fatalf("open a browser context: %v", err)
	}
	page, err := device.Page(proto.TargetCreateTarget{URL: "about:blank"})
	if err != nil {
		t.Fatalf("open a window: %v", err)
	}
	v := &visitor{t: t, m: m, name: name, page: page}
	t.Cleanup(func() {
		if t.Failed() {
			v.picture()
		}
		if err := device.Close(); err != nil {
			t.Logf("close the window of %s: %v", name, err)
		}
	})
	v.watch()
	scale := 1.0
	if s.touch {
		scale = 3
	}
	v.ok("set the screen", page.SetViewport(&proto.EmulationSetDeviceMetricsOverride{Width: s.width, Height: s.height, DeviceScaleFactor: scale, Mobile: s.touch}))
	if s.touch {
		// By this word the reader tells a phone from a computer.
		v.ok("be a phone", page.SetUserAgent(&proto.NetworkSetUserAgentOverride{UserAgent: "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36"}))
		points := 5
		v.ok("set touch", proto.EmulationSetTouchEmulationEnabled{Enabled: true, MaxTouchPoints: &points}.Call(page))
	}
	// A violation is a console message too, but only this names all of it.
	_, err = page.EvalOnNewDocument(`addEventListener('securitypolicyviolation', (e) =>
		console.error('CSP violation: ' + e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sourceFile + ':' + e.lineNumber))`)
	v.ok("watch for violations", err)
	return v
}

// watch notes what must not happen: errors on the console, violations of the
// policy, requests to anybody else.
func (v *visitor) watch() {
	note := func(list *[]string, format string, args ...any) {
		v.mu.Lock()
		defer v.mu.Unlock()
		*list = append(*list, fmt.Sprintf(format, args...))
	}
	wait := v.page.EachEvent(
		func(e *proto.NetworkRequestWillBeSent) {
			if !strings.HasPrefix(e.Request.URL, v.m.url("/")) && e.Request.URL != "about:blank" {
				note(&v.problems, "a request to another origin: %s", e.Request.URL)
			}
		},
		func(e *proto.RuntimeExceptionThrown) {
			note(&v.problems, "an exception: %s", e.ExceptionDetails.Exception.Description)
		},
		func(e *proto.RuntimeConsoleAPICalled) {
			if e.Type == proto.RuntimeConsoleAPICalledTypeError || e.Type == proto.RuntimeConsoleAPICalledTypeWarning {
				text := string(e.Type)
				for _, a := range e.Args {
					text += " " + a.Value.Str()
				}
				note(&v.problems, "the console: %s", text)
			}
		},
		func(e *proto.LogEntryAdded) {
			switch {
			case e.Entry.Level != proto.LogLogEntryLevelError && e.Entry.Level != proto.LogLogEntryLevelWarning:
			case e.Entry.Source == proto.LogLogEntrySourceNetwork:
				note(&v.noise, "the network: %s (%s)", e.Entry.Text, e.Entry.URL)
			default:
				note(&v.problems, "the log: %s: %s (%s)", e.Entry.Source, e.Entry.Text, e.Entry.URL)
			}
		},
	)
	go wait()
}

// contented fails the test if a page did what none may do. Where the server
// itself went away, away is true and failed requests are no news.
func (v *visitor) contented(away bool) {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, p := range v.problems {
		v.t.Errorf("%s saw %s", v.name, p)
	}
	for _, n := range v.noise {
		if !away {
			v.t.Errorf("%s saw %s", v.name, n)
		}
	}
}

// wouldNotice proves that contented has eyes: a page that asks somebody else and
// prints an error is noticed on both counts.
func (v *visitor) wouldNotice() {
	v.t.Helper()
	_, err := v.ask(`() => { console.error('on purpose'); return fetch('http://127.0.0.1:9/on-purpose').catch(() => null).then(() => null); }`)
	v.ok("misbehave", err)
	v.m.eventually("what is wrong on purpose is noticed", func() (bool, string) {
		v.mu.Lock()
		defer v.mu.Unlock()
		all := strings.Join(v.problems, "\n")
		return strings.Contains(all, "the console: error on purpose") && strings.Contains(all, "CSP violation: connect-src"), all
	})
}

// ok fails the test with what was being done.
func (v *visitor) ok(what string, err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatalf("%s could not %s: %v", v.name, what, err)
	}
}

// picture saves what the window shows and prints its words.
func (v *visitor) picture() {
	page := v.page.Timeout(40 * time.Second)
	defer page.CancelTimeout()
	if info, err := page.Info(); err == nil {
		v.t.Logf("%s is at %s", v.name, info.URL)
	}
	if text, err := page.Eval(`() => document.body.innerText.slice(0, 2000)`); err == nil {
		v.t.Logf("%s reads:\n%s", v.name, text.Value.Str())
	}
	v.mu.Lock()
	v.t.Logf("%s saw:\n%s", v.name, strings.Join(append(v.problems, v.noise...), "\n"))
	v.mu.Unlock()
	image, err := page.Screenshot(false, nil)
	if err == nil {
		dir := filepath.Join(root, "build", "e2e")
		file := filepath.Join(dir, strings.ReplaceAll(v.t.Name(), "/", "-")+"-"+v.name+".png")
		if err = os.MkdirAll(dir, 0o755); err == nil {
			err = os.WriteFile(file, image, 0o644)
		}
		v.t.Logf("%s looks at %s", v.name, file)
	}
	if err != nil {
		v.t.Logf("no picture of %s: %v", v.name, err)
	}
}

// open goes to an address of the reader.
func (v *visitor) open(path string) {
	v.t.Helper()
	page := v.page.Timeout(patience)
	defer page.CancelTimeout()
	v.ok("open "+path, page.Navigate(v.m.url(path)))
	v.until("the page is there", `() => document.readyState === 'complete'`)
}

// ask evaluates a function in the page as it is now.
func (v *visitor) ask(js string, args ...any) (gson.JSON, error) {
	return v.askFor(10*time.Second, js, args...)
}

// askFor evaluates a function that takes its time, once: one that is given up is
// not stopped in the page, and a second beside it would make both slower still.
func (v *visitor) askFor(most time.Duration, js string, args ...any) (gson.JSON, error) {
	page := v.page.Timeout(most)
	defer page.CancelTimeout()
	answer, err := page.Eval(js, args...)
	if err != nil {
		return gson.New(nil), err
	}
	return answer.Value, nil
}

// until waits until a function in the page gives something, and returns it.
func (v *visitor) until(what, js string, args ...any) gson.JSON {
	v.t.Helper()
	var got gson.JSON
	v.m.eventually(v.name+" sees that "+what, func() (bool, string) {
		var err error
		got, err = v.ask(js, args...)
		if err != nil {
			return false, err.Error() // a page that is just changing has no answer
		}
		raw := got.Val()
		return raw != nil && raw != false && raw != "" && raw != 0.0, js + " = " + got.JSON("", "")
	})
	return got
}

// click clicks an element with the mouse, where a person would see it.
func (v *visitor) click(selector string) {
	v.t.Helper()
	p := v.find(selector)
	v.ok("click "+selector, v.page.Mouse.MoveTo(p))
	v.ok("click "+selector, v.page.Mouse.Click(proto.InputMouseButtonLeft, 1))
}

// tap taps an element with a finger.
func (v *visitor) tap(selector string) {
	v.t.Helper()
	p := v.find(selector)
	v.ok("tap "+selector, v.page.Touch.Tap(p.X, p.Y))
}

// find brings the middle of an element on screen and returns where it is, once
// nothing lies over it.
func (v *visitor) find(selector string) proto.Point {
	v.t.Helper()
	p := v.until(selector+" can be clicked", `(selector) => {
		const el = [...document.querySelectorAll(selector)].find((e) => e.checkVisibility());
		if (!el) return null;
		el.scrollIntoView({ block: 'center', behavior: 'instant' });
		const r = el.getBoundingClientRect(), x = r.x + r.width / 2, y = r.y + r.height / 2;
		return el.contains(document.elementFromPoint(x, y)) ? [x, y] : null;
	}`, selector)
	return proto.NewPoint(p.Get("0").Num(), p.Get("1").Num())
}

// clickAt clicks at a part of the window's width and height.
func (v *visitor) clickAt(x, y float64) {
	v.t.Helper()
	v.ok("click", v.page.Mouse.MoveTo(v.point(x, y)))
	v.ok("click", v.page.Mouse.Click(proto.InputMouseButtonLeft, 1))
}

// tapAt taps there with a finger.
func (v *visitor) tapAt(x, y float64) {
	v.t.Helper()
	p := v.point(x, y)
	v.ok("tap", v.page.Touch.Tap(p.X, p.Y))
}

// swipe moves a finger across the window.
func (v *visitor) swipe(fromX, toX float64) {
	v.t.Helper()
	touch := func(x float64) *proto.InputTouchPoint {
		p := v.point(x, 0.5)
		return &proto.InputTouchPoint{X: p.X, Y: p.Y}
	}
	v.ok("swipe", v.page.Touch.Start(touch(fromX)))
	for i := 1; i <= 5; i++ {
		v.ok("swipe", v.page.Touch.Move(touch(fromX+(toX-fromX)*float64(i)/5)))
	}
	v.ok("swipe", v.page.Touch.End())
}

func (v *visitor) point(x, y float64) proto.Point {
	v.t.Helper()
	size, err := v.ask(`() => [innerWidth, innerHeight]`)
	v.ok("measure the window", err)
	return proto.NewPoint(size.Get("0").Num()*x, size.Get("1").Num()*y)
}

func (v *visitor) press(key input.Key) {
	v.t.Helper()
	v.ok("press a key", v.page.Keyboard.Type(key))
}

// fill types into an empty field.
func (v *visitor) fill(selector, text string) {
	v.t.Helper()
	page := v.page.Timeout(patience)
	defer page.CancelTimeout()
	el, err := page.Element(selector)
	v.ok("find "+selector, err)
	v.ok("fill "+selector, el.Input(text))
}
