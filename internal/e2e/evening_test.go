package e2e

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/config"
)

// TestFirstEvening is the way of a person from an empty folder to a chapter
// read, put down and taken up again, on a computer and on a phone.
func TestFirstEvening(t *testing.T) {
	turn(t)
	m := newMangrove(t)
	m.start()
	stopLooking := m.lookOn()
	ada := m.visit("ada", desktop)
	ada.claim()
	ada.followTheSample()
	ada.chaptersHere(1)
	ada.stayed()

	ada.chaptersHere(3)
	ada.jobDone("Done, 3 chapters")
	ada.stayed()
	if n := stopLooking(); n != 3 {
		t.Errorf("%d chapters were seen to arrive, want 3", n)
	}
	chapters := shipped(t)
	m.holds(chapters)

	ada.openChapter("1")
	first := ada.shown()
	second := ada.next(first)
	ada.clickAt(0.9, 0.5)
	third := ada.turned(second)
	ada.clickAt(0.1, 0.5)
	if back := ada.turned(third); back != second {
		t.Errorf("a click at the left edge leads to %q, want %q", back, second)
	}
	place := ada.readAddress()
	ada.ok("reload", ada.page.Reload())
	if again := ada.shown(); again != second {
		t.Errorf("after a reload the page is %q, want %q", again, second)
	}
	if again := ada.readAddress(); again != place {
		t.Errorf("after a reload the address is %s, want %s", again, place)
	}
	goesOn := ada.homeContinues("Pepper&Carrot")
	ada.open("/library")
	ada.until("the library shows the title", `() => document.querySelector('#shelf a.item .item-title')?.textContent === 'Pepper&Carrot'`)

	phoneAt := m.onAPhone(goesOn)
	m.isPrivate()
	m.tellsPrometheus(chapters)
	ada.contented(false)

	// The operator goes to bed.
	before := m.files()
	if code := m.stop(); code != config.ExitOK {
		t.Errorf("mangrove up ended with %d after SIGINT, want 0", code)
	}
	if left := m.left(); len(left) > 0 {
		t.Errorf("left running after the stop: %v", left)
	}
	m.start()
	m.serving()
	next := m.visit("next-day", desktop)
	next.signIn()
	if href := next.homeContinues("Pepper&Carrot"); href != phoneAt {
		t.Errorf("after a restart Home continues at %s, want %s", href, phoneAt)
	}
	next.open("/sites/sample/pepper-and-carrot")
	next.until("the Series is still followed", `() => document.querySelector('#series-following h2')?.textContent === 'Following'`)
	next.chaptersHere(3)
	next.until("the Series can be polled", `() => document.querySelector('#series-following form[action$="/poll"]') !== null`)
	polls := strings.Count(m.log("scraper"), `"msg":"polled"`)
	next.click(`#series-following form[action$="/poll"] button`)
	m.eventually("the scraper has polled again", func() (bool, string) {
		log := m.log("scraper")
		return strings.Count(log, `"msg":"polled"`) > polls, lastLines(log, 10)
	})
	next.until("nothing has to be downloaded", `() => document.querySelector('#series-state')?.textContent.includes('Up to date') &&
		document.querySelector('#scraper-line').textContent.includes('nothing to do just now')`)
	if diff := cmp.Diff(before, m.files(), cmp.AllowUnexported(published{})); diff != "" {
		t.Errorf("the library changed over a restart (-before +after):\n%s", diff)
	}
	m.holds(chapters)
	next.contented(false)
	next.wouldNotice()
}

// homeContinues goes Home and returns where it offers to go on.
func (v *visitor) homeContinues(title string) string {
	v.t.Helper()
	v.open("/")
	return v.until("Home offers to continue", `(title) => {
		const hero = document.querySelector('a.hero');
		return hero && hero.textContent.includes(title) && hero.textContent.includes('Continue') && hero.getAttribute('href');
	}`, title).Str()
}

// onAPhone goes on reading with a finger where the computer was left, and
// returns where it was put down.
func (m *mangrove) onAPhone(goesOn string) string {
	t := m.t
	t.Helper()
	v := m.visit("phone", phone)
	v.signIn()
	if href := v.homeContinues("Pepper&Carrot"); href != goesOn {
		t.Errorf("the phone continues at %s, the computer at %s", href, goesOn)
	}
	v.tap("a.hero")
	first := v.shown()
	v.until("the hint for fingers is shown", `() => !document.querySelector('#zones').hidden`)
	v.tapAt(0.5, 0.5)
	v.until("a tap takes the hint away", `() => document.querySelector('#zones').hidden`)
	v.tapAt(0.85, 0.5)
	second := v.turned(first)
	v.tapAt(0.5, 0.5)
	v.until("a tap in the middle brings the bars", `() => document.querySelector('#read').classList.contains('bars') &&
		document.querySelector('.read-foot').getBoundingClientRect().top < innerHeight`)
	v.tapAt(0.5, 0.5)
	v.until("another takes them away", `() => !document.querySelector('#read').classList.contains('bars')`)
	v.swipe(0.8, 0.2)
	third := v.turned(second)
	v.swipe(0.2, 0.8)
	if back := v.turned(third); back != second {
		t.Errorf("a swipe to the right leads to %q, want %q", back, second)
	}
	// At once: the browser makes no click of a tap that follows a flick.
	v.tapAt(0.85, 0.5)
	if on := v.turned(second); on != third {
		t.Errorf("a tap right after a swipe leads to %q, want %q", on, third)
	}
	v.tapAt(0.15, 0.5)
	v.turned(third)
	v.until("nothing is wider than the screen", `() => document.documentElement.scrollWidth <= innerWidth`)
	at := v.readAddress()
	v.saved(at)
	v.contented(false)
	return at
}

// isPrivate asks the operator's questions of a running installation (features D22).
func (m *mangrove) isPrivate() {
	t := m.t
	t.Helper()
	m.serving()
	if n := len(m.processes()); n < 4 {
		t.Errorf("only %d processes were found; the supervisor, the database and two services run", n)
	}
	if _, out := m.status(); !strings.Contains(out, "\nbudget: 3 failures within an hour park a service\n") {
		t.Errorf("status does not say what the budget is:\n%s", out)
	}
	known := map[string]bool{m.address: false, m.env[config.Health]: false, m.env[config.Metrics]: false}
	for _, address := range m.listening() {
		if !address.Addr().IsLoopback() {
			t.Errorf("a process of ours listens on %s", address)
		}
		if _, ok := known[address.String()]; ok {
			known[address.String()] = true
		}
	}
	for address, seen := range known {
		if _, err := netip.ParseAddrPort(address); err != nil || !seen {
			t.Errorf("nobody of ours was seen to listen on %s (%v)", address, err)
		}
	}
}
