package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheLibraryOutlivesItsDatabase: with the database gone, the folder alone brings
// back the Series, its chapters and their addresses, and nothing is fetched again
// (F13).
func TestTheLibraryOutlivesItsDatabase(t *testing.T) {
	turn(t)
	site := startShelf(t, shipped(t))
	m := newMangrove(t, site.settings()...)
	m.start()
	ada := m.visit("ada", desktop)
	ada.claim()
	ada.followTheSample()
	ada.chaptersHere(3)
	ada.jobDone("Done, 3 chapters")
	chapters := func(v *visitor) string {
		t.Helper()
		return v.until("all chapters can be read", `() => {
			const all = [...document.querySelectorAll('#chapters li.ch > a[href^="/read/"]')];
			return all.length === 3 && all.map((a) => a.pathname + ' ' + a.textContent.trim()).join('\n');
		}`).Str()
	}
	before := chapters(ada)
	m.stop()
	if err := os.RemoveAll(filepath.Join(m.data, "postgres")); err != nil {
		t.Fatal(err)
	}
	asked := site.Ledger().Count(imagePath(site.chapters[0], 0))

	m.start()
	eve := m.visit("eve", desktop)
	eve.claim()
	out, err := m.run("library", "rebuild")
	if err != nil || !strings.Contains(out, "the library holds 3 chapters") {
		t.Fatalf("rebuild: %v\n%s", err, out)
	}
	eve.open("/sites/sample/pepper-and-carrot")
	if after := chapters(eve); after != before {
		t.Errorf("the chapters are\n%s\nand were\n%s", after, before)
	}
	eve.until("what is known of the Series is back", `() => document.body.textContent.includes('By David Revoy')`)
	eve.open(strings.Fields(before)[0])
	eve.until("a page is shown", `() => [...document.images].some((i) => i.complete && i.naturalWidth > 100)`)
	eve.open("/sites/sample/pepper-and-carrot")
	eve.click(`form[action="/sites/sample/pepper-and-carrot/follow"] button`)
	eve.until("the Series is followed", `() => document.querySelector('#series-following h2')?.textContent === 'Following'`)
	eve.until("it was read on its Site", `() => /up to date/.test(document.querySelector('#series-following')?.textContent || '')`)
	if again := site.Ledger().Count(imagePath(site.chapters[0], 0)); again != asked {
		t.Errorf("a page was fetched again: %d times, was %d", again, asked)
	}
}
