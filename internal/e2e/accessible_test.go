package e2e

import (
	_ "embed"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// axe is axe-core 4.14.1, kept whole and unchanged beside its licence (MPL-2.0); it
// runs in tests only and no page is served with it.
//
//go:embed testdata/axe/axe.min.js
var axe string

// pagesToSee are the pages that are looked at, by the name of their picture: those of
// a Series and of one of its chapters among them.
func pagesToSee(series, chapter string) []struct{ name, path string } {
	return []struct{ name, path string }{
		{"home", "/"}, {"library", "/library"}, {"library-list", "/library?view=list"}, {"library-empty", "/library?q=nothingofthename"},
		{"collections", "/collections"}, {"collection", "/collections/1"}, {"import-planned", "/move-in/1"}, {"import-adopted", "/move-in/2"}, {"search-empty", "/search?q=nothingofthename"},
		{"series", series}, {"read", chapter + "?page=3"}, {"search", "/search?q=pepper"},
		{"add", "/add"}, {"saved", "/saved"}, {"me", "/me"}, {"move-in", "/move-in"}, {"worklist", "/worklist"}, {"lanes", "/lanes"}, {"scraper", "/settings/scraper"},
		{"job", "/jobs/1"}, {"incidents", "/incidents"}, {"health", "/settings/health"}, {"people", "/settings/people"},
		{"notifications", "/settings/notifications"}, {"unreadable", "/settings/scraper/unreadable"}, {"move", "/sites/sample/pepper-and-carrot/move"}, {"nothing", "/nowhere"},
	}
}

// golden are the pages whose pictures are kept, by name.
var golden = []string{"home", "library", "series", "read", "search", "collections", "worklist", "lanes", "scraper", "incidents", "health"}

// TestEveryPageIsAccessible runs axe-core over every page, on a computer in the dark
// and on a phone in the light: no serious or critical finding (READ-4). With the
// variable SCREENSHOTS it also leaves a picture of each in that folder.
func TestEveryPageIsAccessible(t *testing.T) {
	turn(t)
	m := newMangrove(t)
	m.start()
	ada := m.visit("ada", desktop)
	ada.readsAloud("dark")
	ada.seen("claim", "/claim")
	ada.claim()
	ada.followTheSample()
	ada.chaptersHere(3)
	ada.jobDone("Done, 3 chapters")
	chapter := ada.until("a chapter can be read", `() => document.querySelector('#chapters li.ch > a[href^="/read/"]')?.pathname`).Str()
	if os.Getenv("SCREENSHOTS") != "" {
		m.fillShelf(t)
		m.eventually("the shelf is filled", func() (bool, string) {
			ada.open("/library")
			text, err := ada.ask(`() => document.querySelector('main').textContent`)
			return err == nil && strings.Contains(text.Str(), fmt.Sprintf("%d titles", len(shelfTitles)+1)), text.Str()
		})
	} else {
		m.shelve(2)
		m.putDamaged()
		m.eventually("the damaged file is listed", func() (bool, string) {
			ada.open("/settings/scraper/unreadable")
			text, err := ada.ask(`() => document.querySelector('main').textContent`)
			return err == nil && strings.Contains(text.Str(), "Title 2 2.cbz"), text.Str()
		})
	}
	ada.movesInTwice()
	ada.collects()
	mo := m.visit("mo", phone)
	mo.readsAloud("light")
	mo.seen("sign-in", "/sign-in")
	mo.signIn()
	// What is said once to somebody new is not in the pictures.
	ada.begin(chapter)
	mo.begin(chapter)
	for _, page := range pagesToSee("/sites/sample/pepper-and-carrot", chapter) {
		ada.seen(page.name, page.path)
		mo.seen(page.name, page.path)
	}
}

// putDamaged puts a damaged file beside the titles that were shelved, as old as one that
// nobody is still copying.
func (m *mangrove) putDamaged() {
	m.t.Helper()
	damaged := filepath.Join(m.library(), "Title 2", "Title 2 2.cbz")
	err := os.WriteFile(damaged, []byte("PK\x03\x04 and no more"), 0o644)
	if err == nil {
		err = os.Chtimes(damaged, time.Unix(1, 0), time.Unix(1, 0))
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// movesInTwice leaves two imports, one that is only planned, with a Series of each
// word, and one that was adopted.
func (v *visitor) movesInTwice() {
	v.t.Helper()
	const file = `{"format":"mangrove follows and progress","version":1,"written":"2026-01-02T03:04:05Z","people":[{"name":"ada","series":[
		{"title":"Title 1","site":"elsewhere","series_id":""},{"title":"Of a Site that is read nowhere","site":"elsewhere","series_id":"2"},{"title":"","site":"","series_id":""}]}]}`
	for _, last := range []bool{false, true} {
		v.open("/move-in")
		to, err := v.ask(`async (text) => {
			const form = new FormData();
			form.append('file', new File([text], 'mine.json'));
			return new URL((await fetch('/move-in', { method: 'POST', body: form })).url).pathname;
		}`, file)
		v.ok("move in", err)
		v.open(to.Str())
		if last {
			_, err := v.ask(`async (to) => { await fetch(to + '/adopt', { method: 'POST' }) }`, to.Str())
			v.ok("adopt", err)
			v.open(to.Str())
			v.until("it is adopted", `() => document.querySelector('main').textContent.includes('Undo')`)
		}
	}
}

// collects puts the sample into a new collection.
func (v *visitor) collects() {
	v.t.Helper()
	_, err := v.ask(`async () => {
		await fetch('/sites/sample/pepper-and-carrot/collections', { method: 'POST', body: new URLSearchParams({ name: 'For rainy days' }) });
	}`)
	v.ok("put a Series into it", err)
}

// readsAloud makes every page of a window testable, in a colour scheme.
func (v *visitor) readsAloud(scheme string) {
	v.t.Helper()
	_, err := v.page.EvalOnNewDocument(axe)
	v.ok("take axe along", err)
	v.ok("choose a colour scheme", proto.EmulationSetEmulatedMedia{Features: []*proto.EmulationMediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}.Call(v.page))
}

// seen opens a page, tests it, and takes its picture if pictures are wanted.
func (v *visitor) seen(name, path string) {
	v.t.Helper()
	v.open(path)
	v.until("its pictures are there", `() => [...document.images].every((i) => i.complete || i.loading === 'lazy')`)
	status, err := v.ask(`() => performance.getEntriesByType('navigation')[0].responseStatus`)
	v.ok("ask how it was answered", err)
	if there := status.Int() == http.StatusOK; there == strings.HasPrefix(name, "nothing") {
		v.t.Errorf("%s for %s is answered with %d", path, v.name, status.Int())
	}
	v.axe(path)
	if dir := os.Getenv("SCREENSHOTS"); dir != "" && slices.Contains(golden, name) {
		where := map[bool]string{true: "phone", false: "desktop"}[strings.HasPrefix(v.name, "mo")]
		quality := 82
		image, err := v.page.Screenshot(false, &proto.PageCaptureScreenshot{Format: proto.PageCaptureScreenshotFormatJpeg, Quality: &quality})
		v.ok("take a picture", err)
		v.ok("keep it", os.WriteFile(filepath.Join(dir, name+"-"+where+".jpg"), image, 0o644))
	}
}

// axe tests the page as it is now.
func (v *visitor) axe(what string) {
	v.t.Helper()
	found, err := v.ask(`async () => {
		const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
		const got = await axe.run(document, { resultTypes: ['violations'], runOnly: { type: 'tag', values: tags } });
		return got.violations.filter((f) => f.impact === 'serious' || f.impact === 'critical')
			.map((f) => f.id + ': ' + f.nodes.slice(0, 3).map((n) => n.target.join(' ') + ' (' + n.failureSummary.replace(/\s+/g, ' ') + ')').join('; '));
	}`)
	v.ok("test "+what, err)
	for _, f := range found.Arr() {
		v.t.Errorf("%s for %s: %s", what, v.name, f.Str())
	}
}
