package e2e

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKilledInTheMiddle kills one program, or all, while two pages are on the
// wire: nothing that was accepted is asked for again, nothing is published twice
// or in part, and nobody else is disturbed (JOB-6, PUB-1, SUP-1).
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
	t.Run("at publication", func(t *testing.T) {
		turn(t)
		site, m, ada, release := underWay(t)
		before := m.serving()
		visible := m.nextPublication()
		release()
		visible()
		if err := syscall.Kill(before["scraper"].pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		ada.chaptersHere(3)
		ada.jobDone("Done, 3 chapters")
		ada.stayed()
		m.holds(site.chapters)
		// The chapter after it may have been begun, two pages at once.
		again := site.askedAgain()
		for _, path := range again {
			if !strings.HasPrefix(path, "/images/"+site.chapters[2].id+"/") {
				t.Errorf("%s was asked for again, though its chapter was whole", path)
			}
		}
		if len(again) > 2 {
			t.Errorf("asked for again: %q; two were on the wire at most", again)
		}
		ada.contented(false)
	})
	t.Run("database", func(t *testing.T) {
		turn(t)
		site, m, ada, release := underWay(t)
		before := m.serving()
		if err := syscall.Kill(before["postgres"].pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		release() // the chapter is whole while nobody can write that down
		ada.chaptersHere(3)
		ada.jobDone("Done, 3 chapters")
		ada.stayed()
		after := m.serving()
		for _, name := range []string{"scraper", "reader"} {
			if after[name] != before[name] {
				t.Errorf("%s is %+v, was %+v; want it undisturbed", name, after[name], before[name])
			}
		}
		m.holds(site.chapters)
		site.askedOnce()
		ada.contented(true)
	})
	// S-095, features D37: a stop waits for no Site, and the next start goes on at that page.
	t.Run("asked to stop", func(t *testing.T) {
		turn(t)
		site, m, ada, release := underWay(t)
		began := time.Now()
		if code := m.stop(); code != 0 {
			t.Errorf("the stop ended with %d", code)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("the stop took %s", took)
		}
		release()
		m.start()
		for name, s := range m.serving() {
			if s.failures != 0 {
				t.Errorf("the stop of %s counts as a failure", name)
			}
		}
		ada.chaptersHere(3)
		ada.jobDone("Done, 3 chapters")
		m.holds(site.chapters)
		site.askedOnce(inFlight(site)...)
		ada.contented(true)
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
	ada.until("three pages of chapter 2 are there", threeOfEight)
	return site, m, ada, func() { fourth(); fifth() }
}

// threeOfEight holds once a Series page shows three pages of chapter 2.
const threeOfEight = `() => [...document.querySelectorAll('#chapters li.ch')]
	.some((li) => li.textContent.startsWith('Chapter 2') && li.querySelector('.state').textContent.includes('3 of 8 pages'))`

// inFlight are the pages that underWay holds.
func inFlight(s *shelf) []string {
	return []string{imagePath(s.chapters[1], 3), imagePath(s.chapters[1], 4)}
}

// nextPublication watches the folder of the Series, which is there already. The
// returned function returns at the instant the next chapter becomes visible.
func (m *mangrove) nextPublication() (visible func()) {
	m.t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		m.t.Fatal(err)
	}
	events := os.NewFile(uintptr(fd), "inotify")
	m.t.Cleanup(func() { _ = events.Close() })
	// A rename where the file system knows one that replaces nothing, else a link.
	if _, err := syscall.InotifyAddWatch(fd, m.seriesFolder(), syscall.IN_MOVED_TO|syscall.IN_CREATE); err != nil {
		m.t.Fatal(err)
	}
	if err := events.SetReadDeadline(time.Now().Add(patience)); err != nil {
		m.t.Fatal(err)
	}
	return func() {
		m.t.Helper()
		if _, err := events.Read(make([]byte, 4096)); err != nil {
			m.t.Fatalf("no chapter became visible: %v", err)
		}
	}
}
