package e2e

import "testing"

// TestQueueMovesByItself looks at the queue while a Series arrives: the progress
// moves on the page as it stands, a Job pauses between two chapters and goes on
// from there.
func TestQueueMovesByItself(t *testing.T) {
	turn(t)
	chapters := shipped(t)
	site := startShelf(t, chapters)
	third, second := site.hold(chapters[0], 2), site.hold(chapters[1], 0)
	m := newMangrove(t, site.settings()...)
	m.start()
	ada := m.visit("ada", desktop)
	ada.claim()
	ada.open("/settings/scraper")
	ada.until("nothing is being fetched", `() => document.querySelector('#q-now')?.textContent.includes('Nothing is being fetched')`)
	ada.stay()

	// Another window follows; this one is not touched.
	bea := m.visit("bea", phone)
	bea.signIn()
	bea.open("/library")
	bea.followTheSample()
	site.asked(chapters[0], 2)
	before := ada.until("the page count moves", `() => document.querySelector('#q-now progress')?.value`).Num()
	ada.until("it says which chapter and page", `() => /Chapter 1, page \d+ of \d+ · 1 of 3/.test(document.querySelector('#q-now .row-meta')?.textContent)`)
	_, err := ada.ask(`() => { window.buttons = document.querySelector('#q-now form'); }`)
	ada.ok("look at the buttons", err)
	third()
	after := ada.until("the bar moves on", `(before) => { const now = document.querySelector('#q-now progress')?.value; return now > before && now; }`, before).Num()
	if after <= before {
		t.Errorf("the bar went from %v to %v", before, after)
	}
	if same, err := ada.ask(`() => window.buttons.isConnected`); err != nil || !same.Bool() {
		t.Errorf("the buttons of the row were replaced while its bar moved: a click on one could be lost (%v)", err)
	}
	site.asked(chapters[1], 0)
	ada.until("the second chapter is under way", `() => document.querySelector('#q-now .row-meta')?.textContent.includes('2 of 3')`)
	ada.click("#q-now button[value=pause]")
	ada.until("the pause is said", `() => document.querySelector('#q-said').textContent.includes('is paused')`)
	ada.until("it stands in the queue, paused", `() => document.querySelector('#q-queue .job .exact')?.textContent === 'paused' && !document.querySelector('#q-now .job')`)
	second()
	ada.click("#q-queue button[value=resume]")
	ada.until("it goes on and ends", `() => !document.querySelector('#q-queue .job') && document.querySelector('#q-now')?.textContent.includes('Nothing is being fetched')`)
	ada.stayed()

	bea.jobDone("Done, 3 chapters")
	bea.tap(`#series-acts-phone a[href="#facts"]`)
	bea.click(`#series-following a[href="/jobs/1"]`)
	bea.until("the Job's page lists what it fetched", `() => location.pathname === '/jobs/1' && [...document.querySelectorAll('.job-ch')].filter((c) => c.textContent.includes('In the library')).length === 3`)
	bea.until("nothing is wider than the screen", `() => document.documentElement.scrollWidth <= innerWidth`)
	m.holds(chapters)
	ada.contented(false)
	bea.contented(false)
}
