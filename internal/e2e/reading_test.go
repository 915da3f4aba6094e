package e2e

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"

	"mangrove/internal/config"
)

// drawn makes a chapter of drawn pages, each of its own colour.
func drawn(t *testing.T, number string, sizes ...image.Point) chapter {
	t.Helper()
	c := chapter{id: "drawn-" + number, number: number, title: "Drawn " + number}
	dir := t.TempDir()
	for i, size := range sizes {
		page := image.NewPaletted(image.Rect(0, 0, size.X, size.Y), color.Palette{color.RGBA{R: uint8(20 * i), G: 120, B: uint8(250 - 20*i), A: 255}})
		name := filepath.Join(dir, fmt.Sprintf("%s-%03d.png", number, i+1))
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, page); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		c.files = append(c.files, name)
	}
	return c
}

// pages is so many of one size.
func pages(n, width, height int) []image.Point {
	out := make([]image.Point, n)
	for i := range out {
		out[i] = image.Pt(width, height)
	}
	return out
}

// TestReadingView reads one evening in every way there is, with keys, mouse and
// finger, on two devices and with the reader gone.
func TestReadingView(t *testing.T) {
	turn(t)
	paired := pages(10, 800, 1200)
	paired[3], paired[7] = image.Pt(1600, 1200), image.Pt(1600, 1200)
	shelf := startShelf(t, []chapter{drawn(t, "1", paired...), drawn(t, "2", pages(12, 800, 20000)...), drawn(t, "3", pages(1, 800, 1200)...)})
	m := newMangrove(t, shelf.settings()...)
	m.start()
	ada := m.visit("ada", desktop)
	ada.claim()
	ada.followTheSample()
	ada.chaptersHere(3)
	books := map[string]string{}
	for _, number := range []string{"1", "2", "3"} {
		books[number] = ada.until("chapter "+number+" has its address", `(head) => [...document.querySelectorAll('#chapters li.ch > a')]
			.find((a) => a.textContent.startsWith(head))?.getAttribute('href')`, "Chapter "+number).Str()
	}

	ada.readsPairs(books["1"])
	ada.readsKeys()
	ada.zooms()
	// What is offered on the phone is what was saved when it opens the chapter.
	ada.saved(books["1"] + "?page=5")
	bea := m.visit("phone", phone)
	bea.signIn()
	bea.readsWithAFinger(books["1"])
	m.readsOnTwo(ada, bea, books["1"])
	ada.readsAStrip(books["2"])
	ada.readsOnePage(books["3"])
	ada.marksARange()
	ada.contented(false)
	bea.contented(false)
	m.readsWithTheReaderGone(bea, books["1"])
}

// begin opens a chapter and takes the hint away.
func (v *visitor) begin(href string) string {
	v.t.Helper()
	v.open(href)
	words := v.shown()
	v.until("the hint is gone", `() => { if (!document.querySelector('#zones').hidden) document.querySelector('#zones').click(); return document.querySelector('#zones').hidden; }`)
	return words
}

// says waits until a function of the page is true.
func (v *visitor) says(what, js string, args ...any) {
	v.t.Helper()
	v.until(what, js, args...)
}

// place waits until the foot says which pages are shown.
func (v *visitor) place(want string) {
	v.t.Helper()
	v.until("the pages are "+want, `(want) => document.querySelector('#place strong').textContent === want`, want)
	v.shown()
}

// sheetsOf turns from the first page to the end and says what stood together, as
// it stands on screen from left to right.
func (v *visitor) sheetsOf() string {
	v.t.Helper()
	v.press(input.Home)
	var out []string
	for range 12 {
		words := v.shown()
		seen := v.until("pages are on screen", `() => [...document.querySelectorAll('#stage .slot')]
			.sort((a, b) => a.getBoundingClientRect().left - b.getBoundingClientRect().left).map((s) => s.dataset.page).join('+')`).Str()
		out = append(out, seen)
		if strings.HasSuffix(words, "10 / 10") {
			break
		}
		v.press(input.Space)
		v.turned(words)
	}
	return strings.Join(out, " | ")
}

// readsPairs is S-069: every page once, wide ones alone, and right to left swaps the
// sides inside a pair only.
func (v *visitor) readsPairs(href string) {
	v.t.Helper()
	v.begin(href)
	v.press('d')
	for _, tt := range []struct {
		key  input.Key
		want string
	}{
		{0, "1 | 2+3 | 4 | 5+6 | 7 | 8 | 9+10"},
		{'r', "1 | 3+2 | 4 | 6+5 | 7 | 8 | 10+9"},
		{'c', "2+1 | 3 | 4 | 6+5 | 7 | 8 | 10+9"},
	} {
		if tt.key != 0 {
			v.press(tt.key)
		}
		if got := v.sheetsOf(); got != tt.want {
			v.t.Errorf("after %q the pages stand %s, want %s", tt.key, got, tt.want)
		}
	}
	// Arrows follow the pages.
	v.press(input.Home)
	v.place("1–2 / 10")
	v.press(input.ArrowLeft)
	v.place("3 / 10")
	v.press(input.ArrowRight)
	v.place("1–2 / 10")
	v.says("the choice is on the server", `async (href) => (await (await fetch(href)).text()).includes('&#34;mode&#34;:&#34;double&#34;,&#34;dir&#34;:&#34;rtl&#34;,&#34;fit&#34;:&#34;both&#34;,&#34;bg&#34;:&#34;black&#34;,&#34;gap&#34;:&#34;none&#34;,&#34;cover&#34;:&#34;paired&#34;')`, href)
	// Back leaves the reading view, forward comes to the page that was left.
	v.press(input.ArrowLeft)
	v.place("3 / 10")
	before := v.readAddress()
	v.open("/library")
	v.ok("go back", v.page.NavigateBack())
	v.place("3 / 10")
	if at := v.readAddress(); at != before {
		v.t.Errorf("back leads to %s, want %s", at, before)
	}
	for _, key := range []input.Key{'c', 'r', 'd'} {
		v.press(key)
	}
	// Page 3 stood beside 2 meanwhile.
	v.place("2 / 10")
	v.press(input.ArrowRight)
	v.place("3 / 10")
}

// readsKeys opens the map of keys over the page.
func (v *visitor) readsKeys() {
	v.t.Helper()
	v.press('m')
	_, err := v.ask(`() => document.querySelector('.read-bar [data-do="settings"]').focus()`)
	v.ok("focus a button", err)
	v.press('?')
	v.says("the keys of this page come first, with the focus on Close", `() => document.querySelector('dialog[open] h3')?.textContent === 'On this page: Reading' &&
		document.activeElement.getAttribute('aria-label') === 'Close'`)
	v.press('n')
	v.press(input.ArrowRight)
	v.press(input.Escape)
	v.says("the keys are gone, the focus is back and no page was turned", `() => !document.querySelector('dialog') && document.activeElement.dataset.do === 'settings' &&
		document.querySelector('#place strong').textContent === '3 / 10'`)
	v.press('m')
	v.open("/library")
	v.press('?')
	v.says("other pages have theirs", `() => [...document.querySelectorAll('dialog[open] h3')].map((h) => h.textContent).join() === 'On this page: Library,Everywhere,Reading'`)
	v.click(`dialog .switch`)
	v.press(input.Escape)
	v.press('?')
	v.says("single keys are off on this device", `() => !document.querySelector('dialog') && localStorage.getItem('mangrove:keys') === 'off'`)
	v.click(".side-keys")
	v.click(`dialog .switch`)
	v.press(input.Escape)
}

// zooms zooms with wheel, keys and mouse; a page that is not zoomed turns as ever.
func (v *visitor) zooms() {
	v.t.Helper()
	v.ok("go back", v.page.NavigateBack())
	v.place("3 / 10")
	v.ok("point", v.page.Mouse.MoveTo(v.point(0.5, 0.5)))
	v.ok("turn the wheel", v.page.Mouse.Scroll(0, 120, 1))
	v.place("4 / 10")
	v.ok("hold Ctrl", v.page.Keyboard.Press(input.ControlLeft))
	for range 4 {
		v.ok("turn the wheel", v.page.Mouse.Scroll(0, -120, 1))
	}
	v.ok("let Ctrl go", v.page.Keyboard.Release(input.ControlLeft))
	const wider = `() => document.querySelector('#stage').classList.contains('zoomed') && document.querySelector('#stage').scrollWidth > innerWidth * 1.5`
	v.says("the page is larger than the window", wider)
	left, err := v.ask(`() => document.querySelector('#stage').scrollLeft`)
	v.ok("look", err)
	v.press(input.ArrowRight)
	v.says("an arrow moves the page and does not turn it", `(left) => document.querySelector('#stage').scrollLeft > left &&
		document.querySelector('#place strong').textContent === '4 / 10'`, left.Num())
	v.press('0')
	v.says("0 ends it", `() => !document.querySelector('#stage.zoomed') && document.querySelector('#stage').scrollWidth <= innerWidth`)
	v.clickAt(0.45, 0.5)
	v.clickAt(0.45, 0.5)
	v.says("two clicks zoom", wider)
	v.press(input.Escape)
	v.press(input.ArrowRight)
	v.place("5 / 10")
	for _, tt := range []struct {
		key  input.Key
		what string
		js   string
	}{
		{'w', "fit width fills the width", `() => Math.abs(document.querySelector('.slot img').getBoundingClientRect().width - document.querySelector('#stage').clientWidth) < 1`},
		{'h', "fit height fills the height", `() => Math.abs(document.querySelector('.slot img').getBoundingClientRect().height - innerHeight) < 1`},
		{'o', "original is as large as the picture", `() => document.querySelector('.slot img').getBoundingClientRect().width === 800`},
		{'0', "fit both shows all of it", `() => { const r = document.querySelector('.slot img').getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight && r.right <= innerWidth; }`},
	} {
		v.press(tt.key)
		v.says(tt.what, tt.js)
	}
}

// pinch spreads two fingers.
func (v *visitor) pinch() {
	v.t.Helper()
	at := func(apart float64) []*proto.InputTouchPoint {
		one, two := v.point(0.5-apart, 0.5), v.point(0.5+apart, 0.5)
		a, b := 1.0, 2.0
		return []*proto.InputTouchPoint{{X: one.X, Y: one.Y, ID: &a}, {X: two.X, Y: two.Y, ID: &b}}
	}
	v.ok("pinch", v.page.Touch.Start(at(0.1)...))
	for _, apart := range []float64{0.15, 0.2, 0.3} {
		v.ok("pinch", v.page.Touch.Move(at(apart)...))
	}
	v.ok("pinch", v.page.Touch.End())
}

// readsWithAFinger turns, pinches, taps twice and reads from top to bottom.
func (v *visitor) readsWithAFinger(href string) {
	v.t.Helper()
	v.begin(href + "?page=1")
	v.says("the place on the computer is offered", `() => document.querySelector('.read-ask strong')?.textContent === 'Continue from page 5 on the computer?'`)
	v.tap(".read-ask .plain")
	v.says("staying ends it", `() => !document.querySelector('.read-ask')`)
	v.place("1 / 10")
	v.pinch()
	v.says("two fingers zoom", `() => document.querySelector('#stage.zoomed') !== null`)
	v.swipe(0.6, 0.4)
	v.says("a finger moves a zoomed page", `() => document.querySelector('#place strong').textContent === '1 / 10'`)
	v.tapAt(0.5, 0.5)
	v.tapAt(0.5, 0.5)
	v.says("two taps end it", `() => document.querySelector('#stage.zoomed') === null`)
	v.swipe(0.8, 0.2)
	v.place("2 / 10")
	v.tapAt(0.5, 0.5)
	v.says("one tap in the middle brings the bars", `() => document.querySelector('#read.bars') !== null`)
	v.tap(`.read-bar [data-do="settings"]`)
	v.tap(`#settings label:has([value="vertical"])`)
	v.tap(`.sheet-head button`)
	v.says("the sheet is gone", `() => document.querySelector('#settings').hidden`)
	v.tapAt(0.5, 0.5)
	v.says("the bars are gone", `() => !document.querySelector('#read.bars')`)
	v.tapAt(0.5, 0.9)
	v.place("3 / 10")
	v.swipeUp()
	v.place("4 / 10")
	v.says("nothing is wider than the screen", `() => document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight`)
	v.ok("load again", v.page.Reload())
	v.says("the mode is remembered", `() => document.querySelector('#stage.vertical') !== null`)
	_, err := v.ask(`() => set('mode', 'auto')`)
	v.ok("set the mode back", err)
}

// swipeUp moves a finger up the window.
func (v *visitor) swipeUp() {
	v.t.Helper()
	at := func(y float64) *proto.InputTouchPoint {
		p := v.point(0.5, y)
		return &proto.InputTouchPoint{X: p.X, Y: p.Y}
	}
	v.ok("swipe", v.page.Touch.Start(at(0.75)))
	for _, y := range []float64{0.65, 0.5, 0.35, 0.3} {
		v.ok("swipe", v.page.Touch.Move(at(y)))
	}
	v.ok("swipe", v.page.Touch.End())
}

// readsOnTwo lets the phone read on while a window of the computer stays behind:
// what is turned there moves nobody back until the person says so (S-068).
func (m *mangrove) readsOnTwo(computer, other *visitor, href string) {
	m.t.Helper()
	computer.begin(href + "?page=5")
	other.begin(href + "?page=8")
	other.until("the phone is ahead", `() => { document.querySelector('.read-ask .plain')?.click(); return true; }`)
	other.swipe(0.8, 0.2)
	other.place("9 / 10")
	other.saved(href + "?page=9")
	computer.press(input.ArrowRight)
	computer.place("6 / 10")
	computer.says("the page on the phone is offered, not jumped to", `() => document.querySelector('.read-ask strong')?.textContent === 'Continue from page 9 on the phone?' &&
		document.querySelector('#place strong').textContent === '6 / 10'`)
	computer.saved(href + "?page=9")
	computer.click(".read-ask .plain")
	computer.saved(href + "?page=6")
}

// readsAStrip goes through 12 pages of 800 x 20,000: few of them live at once,
// nothing moves, and no line shows between two.
func (v *visitor) readsAStrip(href string) {
	v.t.Helper()
	v.begin(href)
	v.press('s')
	v.says("it is a strip", `() => document.querySelectorAll('.strip-pages .slot').length === 12`)
	got, err := v.askFor(patience, `async () => {
		const shifts = [];
		const seen = new PerformanceObserver((list) => { for (const e of list.getEntries()) for (const s of e.sources) if (s.node?.closest?.('#stage')) shifts.push((s.node.className || s.node.nodeName) + ' ' + e.value + ' ' + JSON.stringify([s.previousRect, s.currentRect])); });
		seen.observe({ type: 'layout-shift' });
		const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
		const height = document.documentElement.scrollHeight;
		let most = 0, grown = 0, shown = 0, painted = 0, largest = 0;
		for (let y = 0; y < height; y += innerHeight * 1.5) {
			scrollTo({ top: y, behavior: 'instant' });
			await frame(); await frame();
			most = Math.max(most, document.querySelectorAll('#stage .slot.loaded').length);
			painted = Math.max(painted, [...document.querySelectorAll('#stage .slices canvas')].reduce((n, c) => n + c.width * c.height * 4, 0));
			largest = Math.max(largest, ...[...document.querySelectorAll('#stage canvas')].map((c) => c.width * c.height));
			grown = Math.max(grown, Math.abs(document.documentElement.scrollHeight - height));
			shown += document.querySelectorAll('#stage .slot.loaded').length > 0 ? 1 : 0;
		}
		seen.disconnect();
		const slots = [...document.querySelectorAll('.slot')].map((s) => s.getBoundingClientRect());
		const gap = Math.max(...slots.slice(1).map((r, i) => Math.abs(r.top - slots[i].bottom)));
		return { most, grown, shown, gap, shifts, height, painted, largest };
	}`)
	v.ok("scroll the strip from end to end", err)
	if n := got.Get("most").Int(); n < 1 || n > 5 {
		v.t.Errorf("up to %d pages of 64 MB are live at once, want at most 5", n)
	}
	// Of each, the slices that are near are painted and no others.
	if n := got.Get("painted").Num(); n == 0 || n > 40e6 {
		v.t.Errorf("up to %.0f MB of slices are painted at once, want some and at most 40", n/1e6)
	}
	if n := got.Get("largest").Int(); n > 16_777_216 {
		v.t.Errorf("a slice of %d pixels is more than some phones show", n)
	}
	if got.Get("grown").Num() != 0 || len(got.Get("shifts").Arr()) != 0 || got.Get("gap").Num() > 0.02 || got.Get("shown").Int() < 10 {
		v.t.Errorf("the strip moved or has gaps: %s", got.JSON("", ""))
	}
	// S-070: no line at any width, on any screen.
	for _, scale := range []float64{1.25, 1.5, 2.625, 1} {
		v.ok("change the screen", v.page.SetViewport(&proto.EmulationSetDeviceMetricsOverride{Width: desktop.width, Height: desktop.height, DeviceScaleFactor: scale}))
		apart, err := v.ask(`() => [360, 411.43, 768, 1024.5].map((width) => {
			document.querySelector('#stage').style.width = width + 'px';
			const slots = [...document.querySelectorAll('.slot')].map((s) => s.getBoundingClientRect()), images = [...document.querySelectorAll('.slot.loaded')];
			const over = images.map((s) => { const a = s.getBoundingClientRect(), b = s.querySelector('.slices').getBoundingClientRect(); return Math.max(b.top - a.top, a.bottom - b.bottom); });
			document.querySelector('#stage').style.width = '';
			return Math.max(...slots.slice(1).map((r, i) => Math.abs(r.top - slots[i].bottom)), ...over);
		})`)
		v.ok("measure", err)
		for _, gap := range apart.Arr() {
			if gap.Num() > 0.02 {
				v.t.Errorf("at scale %v a line shows between pages: %s", scale, apart.JSON("", ""))
			}
		}
	}
	v.says("the last page seen marks it read", `async (href) => (await (await fetch(href)).text()).includes('&#34;finished&#34;:true')`, href)
	v.press(input.Home)
	_, err = v.ask(`() => document.querySelector('[name=gap][value=wide]').click()`)
	v.ok("ask for a gap", err)
	v.says("a gap stands between the pages", `() => {
		const [a, b] = [...document.querySelectorAll('.slot')].map((s) => s.getBoundingClientRect());
		return b.top - a.bottom === 48 && document.querySelector('.slot.loaded') !== null;
	}`)
}

// readsOnePage is S-067: opening a chapter of one page is not reading it, going on
// from it is.
func (v *visitor) readsOnePage(href string) {
	v.t.Helper()
	v.begin(href)
	v.press('s') // the title was a strip
	v.place("1 / 1")
	v.open("/library")
	const read = `async (href, want) => (await (await fetch(href)).text()).includes('&#34;finished&#34;:' + want)`
	v.says("looking at it is not reading it", read, href, "false")
	v.begin(href)
	v.press(input.ArrowRight)
	v.says("the chapter ends, and says what comes next", `() => !document.querySelector('#chapter-end').hidden && document.querySelector('#chapter-end .notice h3').textContent === 'That was the newest chapter'`)
	v.says("going on is", read, href, "true")
}

// marksARange marks chapters by Shift and by keys.
func (v *visitor) marksARange() {
	v.t.Helper()
	v.open("/sites/sample/pepper-and-carrot")
	v.chaptersHere(3)
	v.click("#pick")
	v.click("#chapters li.ch:nth-child(1) .pick")
	v.ok("hold Shift", v.page.Keyboard.Press(input.ShiftLeft))
	v.click("#chapters li.ch:nth-child(3) .pick")
	v.ok("let Shift go", v.page.Keyboard.Release(input.ShiftLeft))
	v.says("all three are picked", `() => document.querySelector('#picked').textContent === '3 chapters selected'`)
	v.click(`#mark button:not([name]):not([type=button])`)
	v.says("all are unread", `() => document.querySelectorAll('#chapters li.ch .new').length === 3 && !document.querySelector('.pick:checked')`)
	_, err := v.ask(`() => document.querySelector('#chapters li.ch:nth-child(1) a').focus()`)
	v.ok("focus a chapter", err)
	v.press('x')
	_, err = v.ask(`() => document.querySelector('#chapters li.ch:nth-child(2) a').focus()`)
	v.ok("focus a chapter", err)
	v.press('X')
	v.says("two are picked by keys", `() => document.querySelector('#picked').textContent === '2 chapters selected'`)
	v.click(`#mark button[name=finished]`)
	v.says("two are read", `() => document.querySelectorAll('#chapters li.ch.done').length === 2`)
}

// readsWithTheReaderGone keeps a chapter on the phone, stops Mangrove, reads on, and
// finds its place sent when Mangrove is back. Signing out removes what was kept.
func (m *mangrove) readsWithTheReaderGone(v *visitor, href string) {
	m.t.Helper()
	v.begin(href + "?page=1")
	v.says("the worker serves this window", `async () => (await navigator.serviceWorker.ready) && navigator.serviceWorker.controller !== null`)
	_, err := v.ask(`() => document.querySelector('.read-bar [data-do="settings"]').click()`)
	v.ok("open the settings", err)
	v.tap(`[data-do="keep"]`)
	v.says("the chapter is kept", `() => document.querySelector('#keep-row button').textContent === 'Remove from this device'`)
	v.open("/saved")
	v.says("it is listed with its size", `() => /^Chapter 1 · 10 pages, \d+ kB$/.test(document.querySelector('#kept .row-meta')?.textContent)`)
	if code := m.stop(); code != config.ExitOK {
		m.t.Errorf("mangrove up ended with %d", code)
	}
	v.open("/library")
	v.says("what is kept is offered", `() => document.querySelector('h1').textContent === 'Mangrove cannot be reached' && document.querySelectorAll('#kept a').length === 1`)
	v.tap("#kept a")
	v.shown()
	words := v.shown()
	for range 2 {
		v.swipe(0.8, 0.2)
		words = v.turned(words)
	}
	v.says("the place waits on the device", `() => document.querySelector('#offline').textContent.includes('1 place to send')`)
	at := strings.Fields(words)[0]
	v.open(href)
	if again := v.shown(); again != words {
		m.t.Errorf("opened again without the reader the chapter is at %q, want %q", again, words)
	}
	m.start()
	m.serving()
	// The worker gives a busy machine a few seconds, and shows what is kept meanwhile.
	m.eventually("the reader is back", func() (bool, string) {
		v.open("/")
		back, err := v.ask(`() => document.querySelector('h1')?.textContent !== 'Mangrove cannot be reached'`)
		return err == nil && back.Bool(), "still what is kept"
	})
	v.saved(href + "?page=" + at)
	v.open("/me")
	v.tap(`form[action="/sign-out"] button`)
	v.at("/sign-in")
	v.says("nothing is left on the device", `async () => !(await caches.has('mangrove-kept'))`)
	v.contented(true)
}
