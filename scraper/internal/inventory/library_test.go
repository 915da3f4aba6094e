package inventory_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"mangrove/internal/cbz"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/store"
)

// shelf is a library folder, its Scanner and a real store.
type shelf struct {
	root  string
	db    *store.Store
	admin *pgx.Conn
	lib   *inventory.Library
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	urls := pgtest.New(t)
	s := &shelf{root: t.TempDir(), db: store.New(pgtest.Pool(t, urls.Scraper, store.Schema, nil))}
	var err error
	if s.admin, err = pgx.Connect(t.Context(), urls.Admin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.admin.Close(t.Context()) })
	s.restart(t)
	return s
}

// restart is a new process over the same folder and database.
func (s *shelf) restart(t *testing.T) {
	t.Helper()
	m := inventory.NewMarker(s.root, s.db)
	if err := m.Establish(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.lib = inventory.NewLibrary(s.root, m, s.db)
}

func (s *shelf) path(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// page is a whole image, w pixels wide.
func page(t *testing.T, w int) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, w, 2))))
	return b.Bytes()
}

// put writes an archive of a chapter; with site "" it is another program's, which
// has no manifest.
func (s *shelf) put(t *testing.T, name, site, chapter string, pages int) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
	m := cbz.Manifest{Fingerprint: "f-" + chapter, Site: site, SeriesID: "pepper", ChapterID: chapter}
	data := page(t, 3+len(chapter))
	sum := sha256.Sum256(data)
	for i := range pages {
		m.Pages = append(m.Pages, cbz.PageRecord{Name: string(rune('a'+i)) + ".png", Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), MediaType: "image/png", Width: 3 + len(chapter), Height: 2})
	}
	f, err := os.Create(s.path(name))
	must(t, err)
	must(t, cbz.Write(f, cbz.ComicInfo{Series: "Pepper", Number: chapter}, m, func(int) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }))
	must(t, f.Close())
	if site == "" {
		foreign(t, s.path(name))
	}
}

// scan looks once and answers what the store knows then: path to state.
func (s *shelf) scan(t *testing.T, deep bool) (map[string]string, int) {
	t.Helper()
	_, changed, err := s.lib.Scan(t.Context(), deep)
	must(t, err)
	return s.states(t), changed
}

func (s *shelf) states(t *testing.T) map[string]string {
	t.Helper()
	rows, err := s.db.FilesIn(t.Context(), nil)
	must(t, err)
	out := map[string]string{}
	for _, r := range rows {
		out[r.Path] = r.State
	}
	return out
}

func (s *shelf) want(t *testing.T, deep bool, changed int, want map[string]string) {
	t.Helper()
	got, n := s.scan(t, deep)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("what the store knows (-want +got):\n%s", d)
	}
	if n != changed {
		t.Errorf("%d changes, want %d", n, changed)
	}
}

// TestARestoredDatabaseAdoptsItsFiles shows F88.
func TestARestoredDatabaseAdoptsItsFiles(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "Pepper/1.cbz", "sample", "1", 2)
	s.put(t, "Pepper/2.cbz", "sample", "2", 3)
	must(t, os.WriteFile(s.path("Pepper/broken.cbz"), []byte("PK\x03\x04 cut short"), 0o644))
	must(t, os.WriteFile(s.path("Pepper/empty.cbz"), nil, 0o644))
	must(t, os.WriteFile(s.path("Pepper/\xff.cbz"), []byte("x"), 0o644))
	must(t, os.MkdirAll(s.path(".mangrove/staging"), 0o755))
	s.put(t, ".mangrove/staging/hidden.cbz", "sample", "9", 1)
	s.want(t, false, 2, map[string]string{"Pepper/1.cbz": "published", "Pepper/2.cbz": "published"})
	changes, err := s.db.ChangesAfter(t.Context(), 0, 10)
	must(t, err)
	if len(changes) != 2 || changes[0].Revision != 1 || changes[1].Revision != 2 {
		t.Fatalf("%+v, want a revision each", changes)
	}
	if c := changes[1]; c.Key.Site != "sample" || c.Key.SeriesID != "pepper" || c.Chapter.ID != "2" || c.Chapter.Number != "2" || c.Pages != 3 || c.Fingerprint != "f-2" || c.SeriesTitle != "Pepper" {
		t.Errorf("adopted as %+v", c)
	}
	counts, changed, err := s.lib.Scan(t.Context(), true)
	must(t, err)
	if changed != 0 || counts.Files != 2 || counts.PassedOver != 3 || counts.Bytes != changes[0].Size+changes[1].Size {
		t.Errorf("a second look: %+v, %d changes", counts, changed)
	}
}

// TestAFileThatIsGoneComesBack shows INV-5.
func TestAFileThatIsGoneComesBack(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "Pepper/1.cbz", "sample", "1", 2)
	s.put(t, "Pepper/2.cbz", "sample", "2", 2)
	s.scan(t, false)
	s.restart(t) // as the last, so that its whole tree is compared
	aside := filepath.Join(t.TempDir(), "aside")
	must(t, os.Rename(s.path("Pepper/1.cbz"), aside))
	s.want(t, false, 1, map[string]string{"Pepper/1.cbz": "missing", "Pepper/2.cbz": "published"})
	s.want(t, true, 0, map[string]string{"Pepper/1.cbz": "missing", "Pepper/2.cbz": "published"})
	must(t, os.Rename(aside, s.path("Pepper/1.cbz")))
	s.want(t, false, 1, map[string]string{"Pepper/1.cbz": "published", "Pepper/2.cbz": "published"})
	// A whole folder.
	must(t, os.Rename(s.path("Pepper"), aside))
	s.want(t, false, 2, map[string]string{"Pepper/1.cbz": "missing", "Pepper/2.cbz": "missing"})
}

// TestAnotherProgramRenames shows INV-6.
func TestAnotherProgramRenames(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "Pepper/1.cbz", "sample", "1", 2)
	s.put(t, "Other/x.cbz", "", "x", 2)
	s.scan(t, false)
	before, err := s.db.ChangesAfter(t.Context(), 0, 10)
	must(t, err)
	must(t, os.MkdirAll(s.path("Pepper & Carrot"), 0o755))
	must(t, os.Rename(s.path("Pepper/1.cbz"), s.path("Pepper & Carrot/first.cbz")))
	must(t, os.Rename(s.path("Other"), s.path("Others")))
	s.want(t, false, 2, map[string]string{"Pepper & Carrot/first.cbz": "published", "Others/x.cbz": "published"})
	after, err := s.db.ChangesAfter(t.Context(), 2, 10)
	must(t, err)
	for _, b := range before {
		found := false
		for _, a := range after {
			found = found || a.Key == b.Key && a.Chapter.ID == b.Chapter.ID && a.Fingerprint == b.Fingerprint
		}
		if !found {
			t.Errorf("%s is not the same chapter any more: %+v", b.Path, after)
		}
	}
}

// TestAnotherProgramsFilesAreCatalogued shows INV-6.
func TestAnotherProgramsFilesAreCatalogued(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "Akira/Akira v02 c011 - Rain.cbz", "", "11", 2)
	s.put(t, "loose.cbz", "", "1", 1)
	s.scan(t, false)
	changes, err := s.db.ChangesAfter(t.Context(), 0, 10)
	must(t, err)
	if len(changes) != 2 {
		t.Fatalf("%+v, want two", changes)
	}
	c := changes[0]
	if c.Key != (inventoryKey("Akira")) || c.SeriesTitle != "Akira" || c.Chapter.Number != "11" || c.Chapter.Volume != "2" || c.Chapter.Title != "Rain" || c.Pages != 2 {
		t.Errorf("catalogued as %+v", c)
	}
	if changes[1].Key != inventoryKey("loose") {
		t.Errorf("catalogued as %+v", changes[1])
	}
	// Written over: the same chapter with other pages, found by a deep look.
	s.put(t, "Akira/Akira v02 c011 - Rain.cbz", "", "11", 5)
	_, n := s.scan(t, true)
	again, err := s.db.ChangesAfter(t.Context(), 2, 10)
	must(t, err)
	if n != 1 || len(again) != 1 || again[0].Chapter.ID != c.Chapter.ID || again[0].Pages != 5 {
		t.Errorf("after it was written over: %d, %+v", n, again)
	}
}

// TestAWarmLookReadsNoFile shows INV-6.
func TestAWarmLookReadsNoFile(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "Pepper/1.cbz", "sample", "1", 2)
	s.scan(t, false)
	// Unreadable now: a look that read it would say so.
	must(t, os.Truncate(s.path("Pepper/1.cbz"), fileSize(t, s.path("Pepper/1.cbz"))))
	st, err := os.Stat(s.path("Pepper/1.cbz"))
	must(t, err)
	garbage := bytes.Repeat([]byte("x"), int(st.Size()))
	must(t, os.WriteFile(s.path("Pepper/1.cbz"), garbage, 0o644))
	must(t, os.Chtimes(s.path("Pepper/1.cbz"), st.ModTime(), st.ModTime()))
	_, err = s.admin.Exec(t.Context(), "UPDATE scraper.library_files SET mtime_ns = $1", st.ModTime().UnixNano())
	must(t, err)
	s.restart(t)
	counts, changed, err := s.lib.Scan(t.Context(), true)
	if err != nil || changed != 0 || counts.Files != 1 || counts.PassedOver != 0 {
		t.Errorf("%+v, %d, %v; want it believed by size and time", counts, changed, err)
	}
}

// TestALinkIsNotFollowed shows F90.
func TestALinkIsNotFollowed(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	outside := t.TempDir()
	s.put(t, "Pepper/1.cbz", "sample", "1", 2)
	must(t, os.Rename(s.path("Pepper/1.cbz"), filepath.Join(outside, "1.cbz")))
	must(t, os.Symlink(filepath.Join(outside, "1.cbz"), s.path("Pepper/1.cbz")))
	must(t, os.Symlink(outside, s.path("Linked")))
	must(t, os.Symlink("Pepper", s.path("Again")))
	s.want(t, false, 0, map[string]string{})
}

func TestASecondCopyIsPassedOver(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "A/1.cbz", "sample", "1", 2)
	s.scan(t, false)
	s.put(t, "B/1.cbz", "sample", "1", 2)
	counts, changed, err := s.lib.Scan(t.Context(), false)
	if err != nil || changed != 0 || counts.PassedOver != 1 {
		t.Errorf("%+v, %d, %v", counts, changed, err)
	}
	// Once the first is gone, the second is the chapter.
	must(t, os.Remove(s.path("A/1.cbz")))
	s.scan(t, false)
	got, _ := s.scan(t, false)
	if d := cmp.Diff(map[string]string{"B/1.cbz": "published"}, got); d != "" {
		t.Error(d)
	}
}

// TestALibraryThatIsNotThereLosesNothing shows INV-5, features F10, S-058, S-113.
func TestALibraryThatIsNotThereLosesNothing(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "Pepper/1.cbz", "sample", "1", 2)
	s.scan(t, false)
	aside := filepath.Join(t.TempDir(), "aside")
	must(t, os.Rename(s.root, aside))
	for name, make := range map[string]func(){
		"missing": func() {},
		"empty":   func() { must(t, os.Mkdir(s.root, 0o755)) },
		"another": func() {
			must(t, os.Mkdir(s.root, 0o755))
			must(t, os.WriteFile(s.path(inventory.MarkerName), []byte("another\n"), 0o644))
		},
	} {
		make()
		_, _, err := s.lib.Scan(t.Context(), false)
		if err == nil || !inventory.NotThere(err) {
			t.Errorf("%s: %v, want it not there", name, err)
		}
		must(t, os.RemoveAll(s.root))
	}
	if d := cmp.Diff(map[string]string{"Pepper/1.cbz": "published"}, s.states(t)); d != "" {
		t.Error(d)
	}
	must(t, os.Rename(aside, s.root))
	s.want(t, false, 0, map[string]string{"Pepper/1.cbz": "published"})
}

// A library that was always empty is well; it is its marker that says so (S-113).
func TestAnEmptyLibraryIsThere(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.want(t, true, 0, map[string]string{})
	must(t, os.Remove(s.path(inventory.MarkerName)))
	if _, _, err := s.lib.Scan(t.Context(), false); !inventory.NotThere(err) {
		t.Errorf("without its marker: %v", err)
	}
}

func TestMostOfALibraryGoneAtOnceIsLookedAtTwice(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for i := range 20 {
		s.put(t, "Pepper/"+strings.Repeat("i", i+1)+".cbz", "sample", strings.Repeat("1", i+1), 1)
	}
	s.scan(t, false)
	for i := range 11 {
		must(t, os.Remove(s.path("Pepper/"+strings.Repeat("i", i+1)+".cbz")))
	}
	_, changed, err := s.lib.Scan(t.Context(), false)
	if err == nil || inventory.NotThere(err) || changed != 0 {
		t.Errorf("the first look: %d, %v", changed, err)
	}
	if c, err := s.db.LibraryCounts(t.Context()); err != nil || c.Missing != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, n := s.scan(t, false); n != 11 {
		t.Errorf("the second look marked %d, want 11", n)
	}
}

// A file that is published while the folder is being listed is not missing.
func TestWhatIsPublishedMeanwhileIsNotMissing(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "Pepper/1.cbz", "sample", "1", 2)
	s.scan(t, false)
	n, err := s.db.ApplyInventory(t.Context(), inventory.Changes{Head: 0, Gone: []string{"Pepper/1.cbz"}})
	if err != nil || n != 0 || s.states(t)["Pepper/1.cbz"] != "published" {
		t.Errorf("%d, %v, %v", n, err, s.states(t))
	}
}
