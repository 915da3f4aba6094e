package e2e

import (
	"fmt"
	"testing"

	"mangrove/internal/config"
)

// Without Mangrove a page says so at the address that was wanted, says when it tries
// again, and opens what was wanted by itself once Mangrove is back.
func TestThePageWithoutAConnectionTriesAgain(t *testing.T) {
	turn(t)
	m := newMangrove(t)
	m.start()
	ada := m.visit("ada", phone)
	ada.claim()
	ada.readsAloud("light")
	ada.served("/collections")
	mo := m.visit("mo", desktop)
	mo.signIn()
	mo.served("/me")
	if code := m.stop(); code != config.ExitOK {
		t.Errorf("mangrove up ended with %d", code)
	}
	ada.open("/library?view=list")
	ada.until("it says that it tries again, and when", `() => document.querySelector('h1').textContent === 'Mangrove cannot be reached' && /^Tried again in \d+ seconds?$/.test(document.querySelector('#next-try').textContent)`)
	ada.says("what is kept has its place", `() => document.querySelector('#kept-none').checkVisibility() && location.search === '?view=list'`)
	ada.axe("the page without a connection")
	mo.open("/me")
	mo.until("it says so here too", `() => /^Tried again in \d+ seconds?$/.test(document.querySelector('#next-try').textContent)`)
	ada.until("one try has failed, and the next waits longer", `() => { const m = /in (\d+) second/.exec(document.querySelector('#next-try').textContent); return m && Number(m[1]) > 5 }`)
	m.start()
	m.serving()
	ada.until("what was wanted opens by itself", `() => location.pathname + location.search === '/library?view=list' && document.querySelector('#shelf') !== null`)
	// The device says that it is connected again.
	_, err := mo.ask(`() => { dispatchEvent(new Event('online')) }`)
	mo.ok("connect again", err)
	mo.until("that is tried at once", `() => location.pathname === '/me' && document.querySelector('form[action="/sign-out"]') !== null`)
	ada.contented(true)
	mo.contented(true)
}

// served opens a page until the worker serves its window: one that began to load before
// the worker was there is served from the next page on.
func (v *visitor) served(path string) {
	v.t.Helper()
	v.m.eventually("the worker serves "+path, func() (bool, string) {
		v.open(path)
		served, err := v.ask(`async () => (await navigator.serviceWorker.ready) && navigator.serviceWorker.controller !== null`)
		return err == nil && served.Bool(), fmt.Sprint(served, err)
	})
}
