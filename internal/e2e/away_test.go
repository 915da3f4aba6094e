package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestReadingWithoutTheScraper takes the scraper away while somebody reads:
// the library, the pages and the progress are the reader's alone (OWN-2).
// It shows P2, features H1.
func TestReadingWithoutTheScraper(t *testing.T) {
	turn(t)
	m := newMangrove(t)
	m.start()
	ada := m.visit("ada", upright)
	ada.claim()
	ada.followTheSample()
	ada.chaptersHere(3)
	ada.jobDone("Done, 3 chapters")

	before := m.serving()
	release := m.takeScraperLock(before["scraper"].pid)
	ada.until("the scraper is unreachable, and since when", `() =>
		/^Scraper: unreachable since \d\d:\d\d$/.test(document.querySelector('#series-notices #away')?.textContent) &&
		/Scraper: unreachable\s*since \d\d:\d\d/.test(document.querySelector('#scraper-line').textContent)`)
	ada.stayed()
	m.eventually("the supervisor says why", func() (bool, string) {
		all, out := m.status()
		return all["scraper"].state == "blocked", out
	})

	bea := m.visit("bea", upright)
	bea.signIn()
	bea.open("/library")
	bea.until("the library shows the title with its cover", `() => {
		const img = document.querySelector('#shelf a.item img');
		return img && img.complete && img.naturalWidth > 0;
	}`)
	bea.click("#shelf a.item")
	bea.until("the Series page says it too", `() => document.querySelector('#series-notices #away')?.textContent.startsWith('Scraper: unreachable since ')`)
	bea.chaptersHere(3)
	bea.openChapter("2")
	words := bea.shown()
	for range 3 {
		words = bea.next(words)
	}
	bea.saved(bea.readAddress())

	release()
	ada.until("the page is whole again", `() => document.querySelector('#series-notices #away') === null &&
		document.querySelector('#scraper-line').textContent.includes('Scraper is working')`)
	ada.until("the place read meanwhile is offered", `() => document.querySelector('#series-acts-wide, #series-acts-phone').textContent.includes('Continue chapter 2, page 4')`)
	ada.stayed()
	after := m.serving()
	for _, name := range []string{"reader", "postgres"} {
		if after[name] != before[name] {
			t.Errorf("%s is %+v, was %+v; want it undisturbed", name, after[name], before[name])
		}
	}
	ada.contented(false)
	bea.contented(false)
}

// takeScraperLock kills the scraper and takes the lock it held, so that the
// next one finds it taken and gives up, until the returned function is called.
func (m *mangrove) takeScraperLock(pid int) (release func()) {
	m.t.Helper()
	f, err := os.OpenFile(filepath.Join(m.data, "scraper", "scraper.lock"), os.O_RDWR, 0)
	if err != nil {
		m.t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		m.t.Fatal(err)
	}
	m.eventually("the lock of the killed scraper is free", func() (bool, string) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		return err == nil, fmt.Sprint(err)
	})
	return func() { _ = f.Close() }
}
