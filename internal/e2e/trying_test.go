package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestALibraryAndADatabaseAreTried with the programs themselves: a copy of the library
// is tried and kept, a folder that is none is refused, and a trial of another
// Mangrove's database ends in the people and chapters there were (features H20).
func TestALibraryAndADatabaseAreTried(t *testing.T) {
	turn(t)
	chapters := shipped(t)
	site := startShelf(t, chapters)
	m := newMangrove(t, site.settings()...)
	m.start()
	ada := m.visit("ada", desktop)
	ada.claim()
	ada.followTheSample()
	ada.chaptersHere(3)
	ada.jobDone("Done, 3 chapters")

	old, moved, empty := m.library(), filepath.Join(m.top, "moved"), filepath.Join(m.top, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := m.run("settings", "try", "MANGROVE_LIBRARY", empty); err == nil || !strings.Contains(out, "copy the library there first") {
		t.Errorf("an empty folder: %v %s", err, out)
	}
	if out, err := exec.Command("cp", "-a", old, moved).CombinedOutput(); err != nil {
		t.Fatalf("copy the library: %v\n%s", err, out)
	}
	before := m.serving()
	if out, err := m.run("settings", "try", "MANGROVE_LIBRARY", moved); err != nil {
		t.Fatalf("try the copy: %v\n%s", err, out)
	}
	if err := os.Rename(old, old+".away"); err != nil { // a reader of the old one would show nothing
		t.Fatal(err)
	}
	ada.openChapter("2")
	if out, err := m.run("settings", "keep"); err != nil {
		t.Errorf("keep: %v\n%s", err, out)
	}
	if out, err := m.run("check"); err != nil || !strings.Contains(out, moved+" is marked") {
		t.Errorf("check (%v):\n%s", err, out)
	}

	other := newMangrove(t)
	other.start()
	if out, err := other.run("stop", "scraper"); err != nil {
		t.Fatalf("stop: %v\n%s", err, out)
	}
	address := "postgres://mangrove_admin@/mangrove?host=" + filepath.Join(other.data, "postgres", "run")
	if got := m.sends(); got != "/sign-in" {
		t.Errorf("a stranger is sent to %s", got)
	}
	out, err := m.run("settings", "try", "MANGROVE_DATABASE_URL", address, "--for", "10s")
	if err != nil {
		t.Fatalf("try the database: %v\n%s", err, out)
	}
	m.eventually("the reader reads the other database, in which there is nobody", func() (bool, string) {
		got := m.sends()
		return got == "/claim", got
	})
	m.eventually("it went back", func() (bool, string) {
		_, out := m.status()
		return strings.Contains(out, "MANGROVE_DATABASE_URL went back at") && m.sends() == "/sign-in", out
	})
	m.eventually("everything serves as before", func() (bool, string) {
		all, out := m.status()
		return all["scraper"].state == "serving" && all["reader"].state == "serving" && all["postgres"] == before["postgres"] && all["scraper"].failures+all["reader"].failures == 0, out
	})
	ada.open("/sites/sample/pepper-and-carrot")
	ada.openChapter("3")
	if got, err := os.ReadDir(filepath.Join(moved, filepath.Base(m.folderIn(moved)))); err != nil || len(got) != 4 { // three chapters and what is known of the Series
		t.Errorf("the library holds %v (%v)", got, err)
	}
	if code := m.stop(); code != 0 {
		t.Errorf("the stop ended with %d", code)
	}
	m.start()
	if out, err := m.run("check"); err != nil || !strings.Contains(out, moved+" is marked") {
		t.Errorf("check after a start (%v):\n%s", err, out)
	}
}

// sends is where the reader sends a stranger.
func (m *mangrove) sends() string {
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Get(m.url("/"))
	if err != nil {
		return err.Error()
	}
	_ = answer.Body.Close()
	to, _, _ := strings.Cut(answer.Header.Get("Location"), "?")
	return to
}

// folderIn is the one folder of a Series in a library.
func (m *mangrove) folderIn(library string) string {
	m.t.Helper()
	entries, err := os.ReadDir(library)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			return e.Name()
		}
	}
	m.t.Fatal("there is no Series in " + library)
	return ""
}
