//go:build webkit

package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// safari is a person whose browser is WebKit, the engine of every browser on an
// iPhone. It is driven by WebDriver (W3C), of which only a handful of commands are
// needed: scripts, keys, a finger, a picture.
type safari struct {
	t       *testing.T
	m       *mangrove
	session string // address of the session
}

// arrowRight is the key, in WebDriver's normalised values.
const arrowRight = "\ue014"

// safari opens a window of WebKit in which a page is as large as the screen says.
func (m *mangrove) safari(s screen) *safari {
	t := m.t
	t.Helper()
	for _, program := range []string{"WebKitWebDriver", "xvfb-run"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: run make webkit, which installs it", err)
		}
	}
	found, err := filepath.Glob("/usr/lib/*/webkit2gtk-4*/MiniBrowser")
	if err != nil || len(found) == 0 {
		t.Fatal("there is no window for WebKit")
	}
	browser := found[0]
	address := freePort(t)
	port := address[strings.LastIndex(address, ":")+1:]
	top := t.TempDir()
	cmd := exec.Command("xvfb-run", "-a", "-s", "-screen 0 2000x2000x24", "WebKitWebDriver", "--host=127.0.0.1", "--port="+port)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + top, "TMPDIR=" + top, "LANG=C.UTF-8", "XDG_RUNTIME_DIR=" + top, "GDK_BACKEND=x11", "LIBGL_ALWAYS_SOFTWARE=1", "NO_AT_BRIDGE=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said := &console{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	v := &safari{t: t, m: m, session: "http://" + address}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("WebKit said:\n%s", lastLines(said.String(), 30))
		}
		if v.session != "http://"+address {
			if t.Failed() {
				v.picture("failed")
			}
			_, _ = v.send(http.MethodDelete, "", nil)
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	m.eventually("WebKit can be driven", func() (bool, string) {
		answer, err := v.send(http.MethodGet, "/status", nil)
		return err == nil, fmt.Sprint(string(answer), err)
	})
	var made struct {
		SessionID string `json:"sessionId"`
	}
	answer, err := v.send(http.MethodPost, "/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"webkitgtk:browserOptions": map[string]any{"binary": browser, "args": []string{"--automation", "--full-screen"}},
	}}})
	if err == nil {
		err = json.Unmarshal(answer, &made)
	}
	if err != nil || made.SessionID == "" {
		t.Fatalf("open a window of WebKit: %v: %s", err, answer)
	}
	v.session += "/session/" + made.SessionID
	v.resize(s.width, s.height)
	return v
}

// send says one command and returns its value.
func (v *safari) send(method, path string, body any) (json.RawMessage, error) {
	var text []byte
	if method == http.MethodPost {
		if body == nil {
			body = struct{}{}
		}
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequest(method, v.session+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	client := http.Client{Timeout: patience}
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err = io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	var got struct {
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(text, &got); err != nil {
		return nil, fmt.Errorf("%s %s: %s: %w", method, path, text, err)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: %s", method, path, got.Value)
	}
	return got.Value, nil
}

func (v *safari) must(what string, err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatalf("WebKit could not %s: %v", what, err)
	}
}

// ask evaluates a function in the page, as ask of visitor does; a promise is waited for.
func (v *safari) ask(js string, args ...any) (any, error) {
	if args == nil {
		args = []any{}
	}
	script := "const done = arguments[arguments.length - 1]; Promise.resolve().then(() => (" + js + ")(...[...arguments].slice(0, -1))).then((value) => done({ value }), (e) => done({ failed: String(e) }));"
	answer, err := v.send(http.MethodPost, "/execute/async", map[string]any{"script": script, "args": args})
	if err != nil {
		return nil, err
	}
	var got struct {
		Value  any
		Failed string
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return nil, err
	}
	if got.Failed != "" {
		return nil, fmt.Errorf("%s", got.Failed)
	}
	return got.Value, nil
}

// until waits until a function in the page gives something, and returns it.
func (v *safari) until(what, js string, args ...any) any {
	v.t.Helper()
	var got any
	v.m.eventually("WebKit shows that "+what, func() (bool, string) {
		var err error
		got, err = v.ask(js, args...)
		if err != nil {
			return false, err.Error()
		}
		return got != nil && got != false && got != "" && got != 0.0, fmt.Sprint(js, " = ", got)
	})
	return got
}

func (v *safari) open(path string) {
	v.t.Helper()
	_, err := v.send(http.MethodPost, "/url", map[string]any{"url": v.m.url(path)})
	v.must("open "+path, err)
	v.until("the page is there", `() => document.readyState === 'complete'`)
}

// resize makes the window so large. It is one without a bar of its own, so that it may
// be as narrow as a phone.
func (v *safari) resize(width, height int) {
	v.t.Helper()
	_, err := v.send(http.MethodPost, "/window/rect", map[string]any{"width": width, "height": height})
	v.must("take the size of a phone", err)
	v.until("it has the size", `(w, h) => innerWidth === w && innerHeight === h`, width, height)
}

// element is where a selector's first element is, for the commands that want one.
func (v *safari) element(selector string) string {
	v.t.Helper()
	v.until(selector+" is there", `(s) => document.querySelector(s) !== null`, selector)
	answer, err := v.send(http.MethodPost, "/element", map[string]any{"using": "css selector", "value": selector})
	v.must("find "+selector, err)
	var found map[string]string
	v.must("find "+selector, json.Unmarshal(answer, &found))
	for _, id := range found {
		return "/element/" + id
	}
	v.t.Fatalf("WebKit named no element for %s", selector)
	return ""
}

func (v *safari) click(selector string) {
	v.t.Helper()
	_, err := v.send(http.MethodPost, v.element(selector)+"/click", nil)
	v.must("click "+selector, err)
}

func (v *safari) fill(selector, text string) {
	v.t.Helper()
	_, err := v.send(http.MethodPost, v.element(selector)+"/value", map[string]any{"text": text})
	v.must("fill "+selector, err)
}

func (v *safari) press(key string) {
	v.t.Helper()
	_, err := v.send(http.MethodPost, "/actions", map[string]any{"actions": []any{map[string]any{"type": "key", "id": "keys", "actions": []any{
		map[string]any{"type": "keyDown", "value": key}, map[string]any{"type": "keyUp", "value": key},
	}}}})
	v.must("press a key", err)
}

func (v *safari) at(path string) {
	v.t.Helper()
	v.until("the address is "+path, `(path) => location.pathname === path && document.readyState === 'complete'`, path)
}

// picture is what the window shows; it is kept under build/webkit as well.
func (v *safari) picture(name string) image.Image {
	v.t.Helper()
	answer, err := v.send(http.MethodGet, "/screenshot", nil)
	v.must("take a picture", err)
	var text string
	v.must("take a picture", json.Unmarshal(answer, &text))
	data, err := base64.StdEncoding.DecodeString(text)
	v.must("read the picture", err)
	dir := filepath.Join(root, "build", "webkit")
	v.must("keep the picture", os.MkdirAll(dir, 0o755))
	v.must("keep the picture", os.WriteFile(filepath.Join(dir, name+".png"), data, 0o644))
	img, err := png.Decode(bytes.NewReader(data))
	v.must("read the picture", err)
	return img
}

// shown waits until every page image in sight is displayed and says the pages.
func (v *safari) shown() string {
	v.t.Helper()
	return v.until("the page is displayed", `() => {
		const images = [...document.querySelectorAll('#stage .slot img')];
		return images.length > 0 && images.every((i) => i.complete && i.naturalWidth > 0) && document.querySelector('#place strong').textContent;
	}`).(string)
}

func (v *safari) place(want string) {
	v.t.Helper()
	v.until("the pages are "+want, `(want) => document.querySelector('#place strong').textContent === want`, want)
	v.shown()
}

// TestWebKit is an evening on an iPhone, as far as WebKit on Linux is one: claim,
// follow, read in each mode, with the browser's bar over the page (S-071) and a strip
// higher than any canvas of iOS (S-072).
func TestWebKit(t *testing.T) {
	shelf := startShelf(t, []chapter{drawn(t, "1", pages(6, 800, 1200)...), drawn(t, "2", pages(4, 1200, 15000)...)})
	m := newMangrove(t, shelf.settings()...)
	m.start()
	v := m.safari(phone)
	v.open("/")
	v.at("/claim")
	v.fill("#code", m.code())
	v.fill("#name", person)
	v.fill("#pw", password)
	v.picture("claim")
	v.click("button[type=submit]")
	v.at("/library")
	v.click(".offer form button")
	v.until("the Series is followed", `() => location.pathname === '/sites/sample/pepper-and-carrot'`)
	v.until("the chapters are here", `() => document.querySelectorAll('#chapters li.ch > a[href^="/read/"]').length >= 2`)
	books := v.until("the chapters have addresses", `() => [...document.querySelectorAll('#chapters li.ch > a')].sort((a, b) => (a.textContent < b.textContent ? -1 : 1)).map((a) => a.getAttribute('href'))`).([]any)
	for _, page := range []string{"/", "/library", "/collections", "/sites/sample/pepper-and-carrot", "/search?q=pepper", "/me", "/worklist", "/lanes", "/settings/scraper", "/settings/health", "/incidents", "/saved"} {
		v.open(page)
		v.until(page+" is no wider than the phone", `() => document.documentElement.scrollWidth <= innerWidth && document.querySelector('h1, .topbar') !== null`)
		v.picture("page" + strings.NewReplacer("/", "-", "?", "-", "=", "-").Replace(page))
	}
	v.readsPages(books[0].(string))
	v.readsATallStrip(books[1].(string))
	v.readsWithoutAConnection(books[0].(string))
}

// readsPages turns by key, in every mode; where the browser's bar takes 120 pixels of an
// iPad, the whole page stands above it.
func (v *safari) readsPages(href string) {
	v.t.Helper()
	v.open(href)
	v.until("the hint is gone", `() => { if (!document.querySelector('#zones').hidden) document.querySelector('#zones').click(); return document.querySelector('#zones').hidden; }`)
	v.place("1 / 6")
	v.press(arrowRight)
	v.place("2 / 6")
	v.until("the place is saved", `async (want) => (await (await fetch('/')).text()).includes(want)`, `<a class="hero" href="`+href+`?page=2">`)
	v.picture("reading")
	for _, mode := range []string{"double", "vertical", "strip", "single"} {
		_, err := v.ask(`(mode) => set('mode', mode)`, mode)
		v.must("choose "+mode, err)
		v.until("the page of "+mode+" is displayed", `() => { const seen = [...document.querySelectorAll('#stage .slot')].filter((s) => { const r = s.getBoundingClientRect(); return r.bottom > 1 && r.top < innerHeight - 1; });
			return seen.length > 0 && seen.every((s) => s.querySelector('canvas, img') && [...s.querySelectorAll('img')].every((i) => i.complete && i.naturalWidth > 0)); }`)
		v.isDrawn("mode-" + mode)
	}
	v.resize(820, 1060)
	_, err := v.ask(`() => set('fit', 'height')`)
	v.must("fit the height", err)
	v.until("the whole page stands in the window", `() => { const r = document.querySelector('#stage .slot img').getBoundingClientRect(); return r.height > innerHeight / 2 && r.top >= -0.5 && r.bottom <= innerHeight + 0.5; }`)
	_, err = v.ask(`() => { set('fit', 'auto'); set('mode', 'auto') }`)
	v.must("set it back", err)
	v.resize(phone.width, phone.height)
}

// isDrawn waits until the window has the colours that drawn uses, all the way down its
// middle.
func (v *safari) isDrawn(name string) {
	v.t.Helper()
	v.m.eventually(name+" shows the page", func() (bool, string) {
		picture := v.picture(name)
		b := picture.Bounds()
		for y := b.Min.Y + b.Dy()/4; y < b.Max.Y-b.Dy()/4; y += 4 {
			if _, green, _, _ := picture.At(b.Min.X+b.Dx()/2, y).RGBA(); green>>8 < 117 || green>>8 > 123 {
				return false, fmt.Sprintf("another colour in line %d; see build/webkit/%s.png", y, name)
			}
		}
		return true, ""
	})
}

// readsATallStrip goes through pages of 1200 x 15000: no canvas is larger than iOS
// shows, and none is blank.
func (v *safari) readsATallStrip(href string) {
	v.t.Helper()
	v.open(href)
	_, err := v.ask(`() => set('mode', 'strip')`)
	v.must("choose the strip", err)
	v.until("it is a strip", `() => document.querySelectorAll('.strip-pages .slot').length === 4`)
	height := v.until("it has its height", `() => document.documentElement.scrollHeight > 4 * innerHeight && document.documentElement.scrollHeight`).(float64)
	for _, part := range []float64{0, 0.2, 0.45, 0.7, 0.88} {
		v.until("the middle of the window is painted", `(y) => {
			scrollTo({ top: y, behavior: 'instant' });
			return [...document.querySelectorAll('#stage canvas, #stage img')].some((c) => { const r = c.getBoundingClientRect(); return r.top <= innerHeight / 2 && r.bottom >= innerHeight / 2; });
		}`, height*part)
		v.isDrawn(fmt.Sprintf("strip-%.0f", part*100))
		if most, err := v.ask(`() => Math.max(0, ...[...document.querySelectorAll('canvas')].map((c) => c.width * c.height))`); err != nil || most.(float64) > 16_777_216 {
			v.t.Errorf("a canvas of %v pixels is more than iOS shows (%v)", most, err)
		}
	}
	_, err = v.ask(`() => set('mode', 'auto')`)
	v.must("set the mode back", err)
}

// readsWithoutAConnection keeps a chapter, and reads it with Mangrove stopped.
func (v *safari) readsWithoutAConnection(href string) {
	v.t.Helper()
	v.open(href + "?page=1")
	v.until("the worker serves this window", `async () => (await navigator.serviceWorker.ready) && navigator.serviceWorker.controller !== null`)
	_, err := v.ask(`() => document.querySelector('.read-bar [data-do="settings"]').click()`)
	v.must("open the settings", err)
	v.click(`[data-do="keep"]`)
	v.until("the chapter is kept", `() => document.querySelector('#keep-row button').textContent === 'Remove from this device'`)
	v.m.stop()
	v.open("/library")
	v.until("what is kept is offered", `() => document.querySelector('h1').textContent === 'Mangrove cannot be reached' && document.querySelectorAll('#kept a').length === 1`)
	v.picture("offline")
	v.click("#kept a")
	v.shown()
	v.picture("offline-reading")
}
