package e2e

import (
	"syscall"
	"testing"
)

// TestKilledInTheMiddle kills what downloads while two pages are on the wire:
// nothing that was accepted is asked for again, nothing is published twice or
// in part, and nobody else is disturbed (JOB-6, PUB-1, SUP-1).
func TestKilledInTheMiddle(t *testing.T) {
	t.Run("scraper", func(t *testing.T) {
		turn(t)
		site, m, ada, release := underWay(t)
		before := m.serving()
		if err := syscall.Kill(before["scraper"].pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		release()
		ada.chaptersHere(3)
		ada.jobDone("Done, 3 chapters")
		ada.until("the scraper is said to work", `() => document.querySelector('#scraper-line').textContent.includes('Scraper is working')`)
		ada.stayed()
		after := m.serving()
		if after["scraper"].pid == before["scraper"].pid || after["scraper"].failures != 1 {
			t.Errorf("the scraper is %+v, was %+v; want another process and one failure", after["scraper"], before["scraper"])
		}
		for _, name := range []string{"reader", "postgres"} {
			if after[name] != before[name] {
				t.Errorf("%s is %+v, was %+v; want it undisturbed", name, after[name], before[name])
			}
		}
		m.holds(site.chapters)
		site.askedOnce(inFlight(site)...)
		ada.contented(false)
	})
	t.Run("everything", func(t *testing.T) {
		turn(t)
		site, m, ada, release := underWay(t)
		m.killAll()
		release()
		m.start()
		m.serving()
		ada.chaptersHere(3)
		ada.jobDone("Done, 3 chapters")
		ada.stayed()
		m.holds(site.chapters)
		site.askedOnce(inFlight(site)...)
		ada.openChapter("2")
		ada.contented(true)
	})
}

// underWay brings a download to where its fourth and fifth page of chapter 2
// are on the wire and the three before are accepted.
func underWay(t *testing.T) (*shelf, *mangrove, *visitor, func()) {
	t.Helper()
	site := startShelf(t, shipped(t))
	middle := site.chapters[1]
	fourth, fifth := site.hold(middle, 3), site.hold(middle, 4)
	m := newMangrove(t, site.settings()...)
	m.start()
	m.lookOn()
	ada := m.visit("ada", desktop)
	ada.claim()
	ada.followTheSample()
	site.asked(middle, 3)
	site.asked(middle, 4)
	ada.until("three pages of chapter 2 are there", `() => [...document.querySelectorAll('#chapters li.ch')]
		.some((li) => li.textContent.startsWith('Chapter 2') && li.querySelector('.state').textContent.includes('3 of 8 pages'))`)
	return site, m, ada, func() { fourth(); fifth() }
}

// inFlight are the pages that underWay holds.
func inFlight(s *shelf) []string {
	return []string{imagePath(s.chapters[1], 3), imagePath(s.chapters[1], 4)}
}
