package e2e

import (
	"testing"

	"github.com/go-rod/rod/lib/proto"
)

// TestOtherLanguages opens what a person meets every evening in Arabic and in German,
// on a phone and on a computer: in that language, from the right side, accessible,
// and with nothing that reaches out of the window or is cut off.
func TestOtherLanguages(t *testing.T) {
	turn(t)
	m := newMangrove(t)
	m.start()
	ada := m.visit("ada", desktop)
	ada.claim()
	ada.followTheSample()
	ada.chaptersHere(3)
	ada.jobDone("Done, 3 chapters")
	chapter := ada.until("a chapter can be read", `() => document.querySelector('#chapters li.ch > a[href^="/read/"]')?.pathname`).Str()
	for _, tt := range []struct {
		name, language, direction, library string
		screen                             screen
	}{
		{"mo-arabic", "ar", "rtl", "المكتبة", phone}, {"lu-arabic", "ar", "rtl", "المكتبة", desktop},
		{"mo-german", "de", "ltr", "Bibliothek", phone}, {"lu-german", "de", "ltr", "Bibliothek", desktop},
	} {
		v := m.visit(tt.name, tt.screen)
		v.asksFor(tt.language)
		v.readsAloud("light")
		v.seen("sign-in-"+tt.language, "/sign-in")
		v.signIn()
		for _, page := range []struct{ name, path string }{
			{"read", chapter + "?page=2"}, {"home", "/"}, {"library", "/library"}, {"library-list", "/library?view=list"}, {"series", "/sites/sample/pepper-and-carrot"},
			{"search", "/search?q=pepper"}, {"add", "/add"}, {"saved", "/saved"}, {"collections", "/collections"}, {"me", "/me"}, {"move-in", "/move-in"}, {"move", "/sites/sample/pepper-and-carrot/move"}, {"worklist", "/worklist"}, {"lanes", "/lanes"}, {"people", "/settings/people"}, {"nothing", "/nowhere"},
		} {
			v.seen(page.name+"-"+tt.language, page.path)
			v.speaks(page.path, tt.language, tt.direction)
			v.fits(page.path)
		}
		v.open("/library")
		v.until("the library is in its language", `(word) => document.querySelector('h1').textContent === word`, tt.library)
		// The pages of a title run as the title does, whatever the language.
		v.open(chapter + "?page=2")
		v.until("the pages have a direction of their own", `() => getComputedStyle(document.getElementById('stage')).direction === 'ltr'`)
	}
}

// asksFor makes the browser ask for a language.
func (v *visitor) asksFor(language string) {
	v.t.Helper()
	agent, err := v.ask(`() => navigator.userAgent`)
	v.ok("know the browser", err)
	v.ok("ask for a language", v.page.SetUserAgent(&proto.NetworkSetUserAgentOverride{UserAgent: agent.Str(), AcceptLanguage: language}))
}

func (v *visitor) speaks(path, language, direction string) {
	v.t.Helper()
	got, err := v.ask(`() => document.documentElement.lang + ' ' + document.documentElement.dir`)
	v.ok("ask for the language", err)
	if got.Str() != language+" "+direction {
		v.t.Errorf("%s for %s is in %q, want %s %s", path, v.name, got.Str(), language, direction)
	}
}

// fits fails the test for what a window does not show whole: a page that is wider
// than it, and a word of a button, a heading or the navigation that is cut off.
func (v *visitor) fits(path string) {
	v.t.Helper()
	found, err := v.ask(`() => {
		const out = [], root = document.scrollingElement;
		if (root.scrollWidth > innerWidth) out.push('the page is ' + root.scrollWidth + ' wide');
		for (const el of document.querySelectorAll('h1, h2, h3, button, .btn, .bottomnav a, .side-link, .chip, label, legend, dt, .pill, .tool')) {
			if (!el.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || el.closest('.sr, .rail, .chips, .skip, .only-wide-word')) continue;
			const box = el.getBoundingClientRect();
			if (box.width < 2 || box.height < 2) continue;
			if (box.left < -1 || box.right > innerWidth + 1) out.push('outside: ' + el.className + ' ' + el.textContent.trim().slice(0, 40));
			const style = getComputedStyle(el);
			if (style.overflowX !== 'visible' && el.scrollWidth > el.clientWidth + 1 && style.textOverflow !== 'ellipsis') out.push('cut off: ' + el.className + ' ' + el.textContent.trim().slice(0, 40));
		}
		return out;
	}`)
	v.ok("measure the page", err)
	for _, f := range found.Arr() {
		v.t.Errorf("%s for %s: %s", path, v.name, f.Str())
	}
}
