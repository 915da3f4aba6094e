package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// TestAPersonIsInvited is the way of an invitation from one browser to another:
// the link carries the code behind the "#", and the address bar forgets it.
func TestAPersonIsInvited(t *testing.T) {
	turn(t)
	m := newMangrove(t)
	m.start()
	ada := m.visit("ada", desktop)
	ada.claim()
	ada.open("/settings/people")
	ada.fill("#inv-name", "Kim")
	ada.click("section[aria-labelledby=new] button[type=submit]")
	link := ada.until("a link to pass on", `() => document.querySelector('#code .cmd code')?.textContent`).Str()
	path, found := strings.CutPrefix(link, m.url(""))
	if !found || !strings.HasPrefix(path, "/join#") {
		t.Fatalf("the link is %s", link)
	}
	kim := m.visit("kim", phone)
	kim.open(path)
	kim.until("the link has filled in name and code", `() => document.getElementById('name').value === 'Kim' && document.getElementById('code').value.length === 19 && location.hash === ''`)
	kim.fill("#pw", "otters hold hands")
	kim.click("button[type=submit]")
	kim.at("/")
	kim.open("/settings/people")
	kim.until("a member does not find the people", `() => document.querySelector('h1').textContent === 'There is no such page'`)
	kim.open("/me")
	kim.until("one sign-in, this one", `() => document.querySelectorAll('.pill.tone-ok').length === 1 && !document.querySelector('[name=others]')`)
}

// TestTenTabs is S-079: each page wants a stream, and over HTTP/1.1 a browser
// has six connections for all of them.
func TestTenTabs(t *testing.T) {
	turn(t)
	m := newMangrove(t)
	m.start()
	ada := m.visit("ada", desktop)
	ada.claim()
	for i := range 10 {
		tab, err := ada.page.Browser().Page(proto.TargetCreateTarget{URL: "about:blank"})
		if err != nil {
			t.Fatal(err)
		}
		at := time.Now()
		// A tab that waits for a connection waits for ever.
		tab = tab.Timeout(patience)
		if err := tab.Navigate(m.url([]string{"/library", "/worklist", "/lanes", "/"}[i%4])); err != nil {
			t.Fatalf("tab %d: %v after %v", i, err, time.Since(at))
		}
		if err := tab.WaitLoad(); err != nil {
			t.Fatalf("tab %d: %v after %v", i, err, time.Since(at))
		}
	}
}
