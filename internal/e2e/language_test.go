package e2e

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/proto"
)

// TestOtherLanguages opens what a person meets every evening, and what those who run
// Mangrove look at, in Arabic and in German, on a phone and on a computer: in that
// language, from the right side, accessible, with nothing that reaches out of the
// window or is cut off, and with no sentence left in English.
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
	ada.leavesTraces()
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
		english := sentencesInEnglish(t, tt.language)
		for _, page := range []struct{ name, path string }{
			{"read", chapter + "?page=2"}, {"home", "/"}, {"library", "/library"}, {"library-list", "/library?view=list"}, {"series", "/sites/sample/pepper-and-carrot"},
			{"search", "/search?q=pepper"}, {"add", "/add"}, {"saved", "/saved"}, {"collections", "/collections"}, {"me", "/me"}, {"move-in", "/move-in"}, {"move", "/sites/sample/pepper-and-carrot/move"}, {"worklist", "/worklist"}, {"lanes", "/lanes"}, {"people", "/settings/people"}, {"nothing", "/nowhere"},
			{"scraper", "/settings/scraper"}, {"scraper-ended", "/settings/scraper?show=ended"}, {"job", "/jobs/1"}, {"incidents", "/incidents"}, {"incidents-all", "/incidents?show=all"}, {"incident", "/incidents/1"},
			{"health", "/settings/health"}, {"notifications", "/settings/notifications"}, {"notifications-remove", "/settings/notifications?remove=1"}, {"unreadable", "/settings/scraper/unreadable"},
		} {
			v.seen(page.name+"-"+tt.language, page.path)
			v.speaks(page.path, tt.language, tt.direction)
			v.fits(page.path)
			v.saysNothingOf(english, page.path)
		}
		v.open("/library")
		v.until("the library is in its language", `(word) => document.querySelector('h1').textContent === word`, tt.library)
		// The pages of a title run as the title does, whatever the language.
		v.open(chapter + "?page=2")
		v.until("the pages have a direction of their own", `() => getComputedStyle(document.getElementById('stage')).direction === 'ltr'`)
	}
}

// leavesTraces makes the operator's pages say something: downloads on hold, a Site that
// is paused, somebody who is told, a file that cannot be read, and a chapter whose
// bytes rotted, which is an incident.
func (v *visitor) leavesTraces() {
	v.t.Helper()
	m := v.m
	m.shelve(2)
	m.putDamaged()
	rotten, err := filepath.Glob(filepath.Join(m.library(), "*", "*.cbz"))
	if err != nil {
		v.t.Fatal(err)
	}
	slices.Reverse(rotten) // the first chapter is read below
	for _, path := range rotten {
		if strings.Contains(path, "Title ") {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			v.t.Fatal(err)
		}
		data[len(data)/2] ^= 0xff
		if err := os.WriteFile(path, data, 0o644); err != nil {
			v.t.Fatal(err)
		}
		break
	}
	if out, err := m.run("library", "verify"); err == nil {
		v.t.Errorf("a rotten file was not found: %s", out)
	}
	for path, form := range map[string]url.Values{
		"/settings/scraper/hold": nil, "/lanes/sample/pause": nil,
		"/settings/notifications": {"name": {"Pager"}, "address": {"generic+http://127.0.0.1:9/x?disabletls=yes"}, "kind": {"parked", "storage", "refused", "canary", "quarantined", "failing", "chapters"}, "days": {"3"}},
	} {
		status, err := v.ask(`async (path, form) => (await fetch(path, { method: 'POST', body: new URLSearchParams(form) })).status`, path, form.Encode())
		v.ok("post to "+path, err)
		if status.Int() != 200 {
			v.t.Errorf("%s is answered with %d", path, status.Int())
		}
	}
	m.eventually("the traces are there", func() (bool, string) {
		v.open("/settings/scraper/unreadable")
		files, err := v.ask(`() => document.querySelector('main').textContent`)
		if err != nil || !strings.Contains(files.Str(), "Title 2 2.cbz") {
			return false, files.Str()
		}
		v.open("/incidents")
		incidents, err := v.ask(`() => document.querySelectorAll('#incidents .in').length`)
		return err == nil && incidents.Int() > 0, incidents.JSON("", "")
	})
}

// sentencesInEnglish are the messages that this language says otherwise, as patterns of
// what a page would show: a name, a date or a number may stand for each of their
// values. What is mostly values says too little to be told from a title.
func sentencesInEnglish(t *testing.T, language string) (patterns []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "reader", "internal", "language", "messages", language+".json"))
	if err != nil {
		t.Fatal(err)
	}
	messages := map[string]any{}
	if err := json.Unmarshal(data, &messages); err != nil {
		t.Fatal(err)
	}
	verb, own := regexp.MustCompile(`%[sd]`), map[string]bool{}
	for _, message := range messages {
		if text, ok := message.(string); ok {
			own[text] = true // a word of this language, whatever it means in English
		}
	}
	for key := range messages {
		fixed := strings.Fields(verb.ReplaceAllString(key, " "))
		if own[key] || verb.MatchString(key) && len(fixed) < 3 || len(strings.Join(fixed, "")) < 3 {
			continue
		}
		patterns = append(patterns, strings.ReplaceAll(strings.ReplaceAll(regexp.QuoteMeta(key), "%s", ".{1,80}"), "%d", "[0-9.,]+"))
	}
	if len(patterns) < 500 {
		t.Fatalf("only %d sentences to look for", len(patterns))
	}
	return patterns
}

// saysNothingOf fails the test for each of these sentences that the page shows or reads
// aloud. What is typed, what a program said and what names it is English everywhere.
func (v *visitor) saysNothingOf(english []string, path string) {
	v.t.Helper()
	found, err := v.ask(`(patterns) => {
		const english = new RegExp('^(?:' + patterns.join('|') + ')$', 's'), out = new Set();
		const say = (text) => { const t = text.replace(/\s+/g, ' ').trim(); if (t.length > 2 && english.test(t)) out.add(t); };
		const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		while (nodes.nextNode()) if (!nodes.currentNode.parentElement.closest('code, pre, kbd, script, style, svg, bdi, .exact, [lang=en], #stage')) say(nodes.currentNode.data);
		for (const el of document.querySelectorAll('body *')) for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'data-confirm']) if (el.hasAttribute(name)) say(el.getAttribute(name));
		return [...out];
	}`, english)
	v.ok("look for English", err)
	for _, f := range found.Arr() {
		v.t.Errorf("%s for %s still says %q", path, v.name, f.Str())
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
