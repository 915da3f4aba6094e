package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mangrove/internal/config"
	"mangrove/internal/fakesite"
)

// TestABackupIsRestored does what docs/operating.md says, on another machine: people,
// what they read and since when a Series fails are as they were, and nothing is fetched
// again (features H19).
func TestABackupIsRestored(t *testing.T) {
	turn(t)
	site := startShelf(t, shipped(t))
	m := newMangrove(t, site.settings()...)
	m.env[config.Library] = filepath.Join(m.top, "manga")
	m.start()
	ada := m.visit("ada", desktop)
	ada.claim()
	ada.followTheSample()
	ada.chaptersHere(3)
	ada.jobDone("Done, 3 chapters")
	site.On("/series/pepper-and-carrot", fakesite.Status(http.StatusNotFound))
	poll := func(v *visitor) {
		t.Helper()
		_, err := v.ask(`async () => { await fetch('/sites/sample/pepper-and-carrot/poll', { method: 'POST' }) }`)
		v.ok("poll it again", err)
	}
	const failing = `() => document.querySelector('.wl .since time')?.getAttribute('datetime')`
	poll(ada)
	m.eventually("it fails", func() (bool, string) {
		ada.open("/worklist")
		since, err := ada.ask(failing)
		return err == nil && since.Str() != "", since.Str()
	})
	since := ada.until("it says since when", failing).Str()
	if code := m.stop(); code != 0 {
		t.Fatalf("the stop ended with %d", code)
	}

	other := newMangrove(t, site.settings()...)
	other.env[config.Library] = filepath.Join(other.top, "manga")
	copied := filepath.Join(m.top, "mangrove.tar.gz")
	if err := os.Mkdir(other.data, 0o711); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"tar", "--numeric-owner", "--exclude=./run", "-C", m.data, "-czf", copied, "."},
		{"tar", "--numeric-owner", "-p", "-C", other.data, "-xzf", copied},
		{"cp", "-a", m.library(), other.library()},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
	}
	for _, path := range []string{m.data, m.library()} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	other.start()
	if out, err := other.run("check"); err != nil {
		t.Errorf("the restored one is not well: %v\n%s", err, out)
	}
	ada = other.visit("ada", desktop)
	ada.signIn()
	ada.open("/worklist")
	if got := ada.until("it fails still", failing).Str(); got != since {
		t.Errorf("it fails since %s, and failed since %s", got, since)
	}
	ada.open("/sites/sample/pepper-and-carrot")
	page := ada.until("the chapters can be read", `() => document.querySelectorAll('#chapters li.ch > a[href^="/read/"]').length === 3 && document.querySelector('#chapters li.ch > a[href^="/read/"]').pathname`).Str()
	ada.open(page)
	ada.until("a page is shown", `() => [...document.images].some((i) => i.complete && i.naturalWidth > 100)`)
	site.askedOnce()
}
