package inventory_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// write puts bytes into the library, an hour old.
func (s *shelf) write(t *testing.T, name string, data []byte) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
	must(t, os.WriteFile(s.path(name), data, 0o644))
	s.age(t, name)
}

// age makes a file an hour old: it is not being written any more.
func (s *shelf) age(t *testing.T, name string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(s.path(name), old, old))
}

// logged is what the change log says of each file, "gone" ones left out.
func (s *shelf) logged(t *testing.T) map[string]string {
	t.Helper()
	changes, err := s.db.ChangesAfter(t.Context(), 0, 500)
	must(t, err)
	out := map[string]string{}
	for _, c := range changes {
		if c.State != "published" {
			continue
		}
		said := c.Kind + " of " + c.Key.SeriesID + ", chapter " + c.Chapter.Number
		if c.Unreadable != "" {
			said += ": " + c.Unreadable
		}
		if (c.Pages == 0) != (c.Unreadable != "") {
			t.Errorf("%s: %d pages and %q", c.Path, c.Pages, c.Unreadable)
		}
		out[c.Path] = said
	}
	return out
}

// TestUnreadableBesideTheRest: what cannot be read is known with its reason, and
// heals when it can.
func TestUnreadableBesideTheRest(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "Ash/Chapter 1.cbz", "", "1", 2)
	good, err := os.ReadFile(s.path("Ash/Chapter 1.cbz"))
	must(t, err)
	s.write(t, "Ash/Chapter 2.cbz", nil)
	s.write(t, "Ash/Chapter 3.cbr", []byte("%PDF-1.7"))
	s.write(t, "Ash/Chapter 4.cb7", good) // misnamed
	s.write(t, "Ash/Chapter 5.cbz", good[:len(good)-30])
	s.write(t, "Ash/Chapter 6.cbr", []byte("Rar!\x1a\x07\x01\x00cut"))
	s.write(t, "Ash/cover.jpg", page(t, 9))
	s.write(t, "Ash/notes.txt", []byte("x"))
	s.scan(t, true)
	want := map[string]string{
		"Ash/Chapter 1.cbz": "zip of Ash, chapter 1",
		"Ash/Chapter 2.cbz": "zip of Ash, chapter 2: empty",
		"Ash/Chapter 3.cbr": "zip of Ash, chapter 3: not-an-archive",
		"Ash/Chapter 4.cb7": "zip of Ash, chapter 4",
		"Ash/Chapter 5.cbz": "zip of Ash, chapter 5: corrupt",
		"Ash/Chapter 6.cbr": "rar of Ash, chapter 6: corrupt",
	}
	if d := cmp.Diff(want, s.logged(t)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, changed := s.scan(t, true); changed != 0 {
		t.Errorf("a second deep look found %d changes", changed)
	}
	// One is mended, one renamed, and one that was good is damaged.
	s.put(t, "Ash/Chapter 5.cbz", "", "5", 3)
	must(t, os.Rename(s.path("Ash/Chapter 6.cbr"), s.path("Ash/Chapter 7.cbr")))
	s.write(t, "Ash/Chapter 1.cbz", good[:100])
	must(t, os.Remove(s.path("Ash/Chapter 4.cb7")))
	s.scan(t, true)
	want["Ash/Chapter 1.cbz"] += ": corrupt"
	want["Ash/Chapter 5.cbz"] = "zip of Ash, chapter 5"
	want["Ash/Chapter 7.cbr"] = want["Ash/Chapter 6.cbr"]
	delete(want, "Ash/Chapter 6.cbr")
	delete(want, "Ash/Chapter 4.cb7")
	if d := cmp.Diff(want, s.logged(t)); d != "" {
		t.Errorf("after the changes (-want +got):\n%s", d)
	}
}

// TestHalfWrittenIsNotDamaged: a file that is still being written is not called
// damaged, neither a new one nor one that was good.
func TestHalfWrittenIsNotDamaged(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "Ash/1.cbz", "", "1", 2)
	good, err := os.ReadFile(s.path("Ash/1.cbz"))
	must(t, err)
	s.scan(t, true)
	must(t, os.WriteFile(s.path("Ash/1.cbz"), good[:50], 0o644))
	must(t, os.WriteFile(s.path("Ash/2.cbz"), good[:50], 0o644))
	counts, changed, err := s.lib.Scan(t.Context(), true)
	must(t, err)
	if changed != 0 || counts.Unsettled != 2 || counts.PassedOver != 2 {
		t.Errorf("%d changes, %+v; want none, and two unsettled", changed, counts)
	}
	s.age(t, "Ash/1.cbz")
	s.age(t, "Ash/2.cbz")
	counts, changed, err = s.lib.Scan(t.Context(), false)
	must(t, err)
	if changed != 2 || counts.Unsettled != 0 {
		t.Errorf("an hour later: %d changes, %+v; want both called damaged", changed, counts)
	}
}

// TestFoldersOfPictures: a folder of pictures is a chapter where nothing else to
// read lies in it, and only then.
func TestFoldersOfPictures(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	old := func(names ...string) {
		for _, n := range names {
			s.age(t, n)
		}
	}
	for _, name := range []string{
		"Ash/Chapter 1.5/001.png", "Ash/Chapter 1.5/002.png", "Ash/Chapter 2/1.png", "Ash/cover.png", "One-shot/1.png", "Elm/art/1.png", "Elm/folder.png",
		"Fir/cover.png", "cover.png", "Ash/__MACOSX/1.png", "Ash/.hidden/1.png",
	} {
		s.write(t, name, page(t, 5+len(name)))
	}
	s.write(t, "Fir/book.epub", []byte("PK"))
	s.put(t, "Oak/1.cbz", "", "1", 1)
	s.write(t, "Oak/cover.png", page(t, 4))
	old("Ash/Chapter 1.5", "Ash/Chapter 2", "Ash", "One-shot", "Elm/art", "Elm", "Oak/1.cbz", "Oak", "")
	s.scan(t, true)
	want := map[string]string{
		"Ash/Chapter 1.5": "folder of Ash, chapter 1.5",
		"Ash/Chapter 2":   "folder of Ash, chapter 2",
		"One-shot":        "folder of One-shot, chapter ",
		"Elm/art":         "folder of Elm, chapter ",
		"Oak/1.cbz":       "zip of Oak, chapter 1",
	}
	if d := cmp.Diff(want, s.logged(t)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, changed := s.scan(t, false); changed != 0 {
		t.Errorf("nothing changed, and %d changes were found", changed)
	}
	// A page more in a folder whose parent's time does not tell; a chapter renamed; an
	// archive that makes the pictures beside it covers; a folder that is gone.
	s.write(t, "Ash/Chapter 2/2.png", page(t, 7))
	old("Ash")
	must(t, os.Rename(s.path("One-shot"), s.path("Renamed")))
	s.put(t, "Elm/art/1.cbz", "", "9", 2)
	must(t, os.RemoveAll(s.path("Ash/Chapter 1.5")))
	before := len(want)
	if _, changed := s.scan(t, false); changed != before {
		t.Errorf("%d changes, want %d", changed, before)
	}
	delete(want, "Ash/Chapter 1.5")
	delete(want, "Elm/art")
	want["Renamed"] = want["One-shot"]
	delete(want, "One-shot")
	want["Elm/art/1.cbz"] = "zip of Elm/art, chapter 1"
	if d := cmp.Diff(want, s.logged(t)); d != "" {
		t.Errorf("after the changes (-want +got):\n%s", d)
	}
	s.restart(t)
	if _, changed := s.scan(t, true); changed != 0 {
		t.Errorf("a new process found %d changes", changed)
	}
}
