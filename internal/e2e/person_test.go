package e2e

import (
	"github.com/go-rod/rod/lib/input"
)

// What a person does, in the words of the pages.

// claim makes the visitor the administrator of a fresh installation.
func (v *visitor) claim() {
	v.t.Helper()
	v.open("/")
	v.at("/claim")
	v.fill("#code", v.m.code())
	v.fill("#name", person)
	v.fill("#pw", password)
	v.click("button[type=submit]")
	v.at("/library")
}

// signIn signs in by name and password.
func (v *visitor) signIn() {
	v.t.Helper()
	v.open("/")
	v.at("/sign-in")
	v.fill("#name", person)
	v.fill("#pw", password)
	v.click("button[type=submit]")
	v.at("/")
}

// at waits until the window is at a path.
func (v *visitor) at(path string) {
	v.t.Helper()
	v.until("the address is "+path, `(path) => location.pathname === path && document.readyState === 'complete'`, path)
}

// followTheSample follows the one Series an empty library offers, and stays on
// its page, marked so that a reload would be noticed.
func (v *visitor) followTheSample() {
	v.t.Helper()
	v.until("the library is empty and offers the Series", `() => document.querySelector('#shelf .empty') && document.querySelector('.offer form[action="/sites/sample/pepper-and-carrot/follow"]') !== null`)
	v.click(".offer form button")
	v.until("the Series is followed", `() => location.pathname === '/sites/sample/pepper-and-carrot' && document.querySelector('#series-following h2')?.textContent === 'Following'`)
	v.stay()
}

// stay marks the page as it is loaded now.
func (v *visitor) stay() {
	v.t.Helper()
	_, err := v.ask(`() => { window.stayed = true; }`)
	v.ok("mark the page", err)
}

// stayed fails if the page was loaded again since stay.
func (v *visitor) stayed() {
	v.t.Helper()
	if still, err := v.ask(`() => window.stayed === true`); err != nil || !still.Bool() {
		v.t.Errorf("the page of %s was loaded again; it was to change by itself (%v)", v.name, err)
	}
}

// chaptersHere waits until so many chapters of the Series page can be read.
func (v *visitor) chaptersHere(n int) {
	v.t.Helper()
	v.until("the chapters are here", `(n) => document.querySelectorAll('#chapters li.ch > a[href^="/read/"]').length >= n`, n)
}

// jobDone waits until the Series page says that the download is done.
func (v *visitor) jobDone(says string) {
	v.t.Helper()
	v.until("the Job is done", `(says) => (document.querySelector('#series-following dl')?.textContent || '').includes(says)`, says)
}

// openChapter opens a chapter from the Series page.
func (v *visitor) openChapter(number string) {
	v.t.Helper()
	id := v.until("chapter "+number+" can be opened", `(head) => [...document.querySelectorAll('#chapters li.ch')]
		.find((li) => li.querySelector(':scope > a[href^="/read/"]')?.textContent.startsWith(head))?.id`, "Chapter "+number)
	v.click("#" + id.Str() + " > a")
	v.shown()
}

// shown waits until every page image in the reading view is really displayed,
// and returns the words at its foot: "2–3 / 6".
func (v *visitor) shown() string {
	v.t.Helper()
	return v.until("the page is displayed", `() => {
		const images = [...document.querySelectorAll('#stage .slot img')];
		const visible = (i) => { const r = i.getBoundingClientRect(); return r.width > 0 && r.height > 0 && r.bottom > 0 && r.top < innerHeight; };
		return images.length > 0 && images.every((i) => i.complete && i.naturalWidth > 0 && visible(i)) &&
			document.querySelector('#place strong').textContent;
	}`).Str()
}

// turned waits until another page than before is displayed.
func (v *visitor) turned(before string) string {
	v.t.Helper()
	v.until("the page has turned", `(before) => document.querySelector('#place strong').textContent !== before`, before)
	return v.shown()
}

// next turns the page by key and waits for it.
func (v *visitor) next(before string) string {
	v.t.Helper()
	v.press(input.ArrowRight)
	return v.turned(before)
}

// saved waits until the server knows the place: Home continues there.
func (v *visitor) saved(href string) {
	v.t.Helper()
	v.until("Home continues at "+href, `async (href) => (await (await fetch('/')).text()).includes('<a class="hero" href="' + href + '">')`, href)
}

// readAddress is where the window is, as links to a chapter have it.
func (v *visitor) readAddress() string {
	v.t.Helper()
	return v.until("the address is that of a page", `() => location.pathname.startsWith('/read/') && location.pathname + location.search`).Str()
}
