package main

import (
	"archive/zip"
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"mangrove/internal/config"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/store"
)

// putForeign puts another program's chapter into the library.
func putForeign(t *testing.T, library, name string) {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "1.png", Method: zip.Store})
	if err == nil {
		err = png.Encode(w, image.NewGray(image.Rect(0, 0, 4+len(name), 6)))
	}
	if err == nil {
		err = z.Close()
	}
	path := filepath.Join(library, filepath.FromSlash(name))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, out.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestAdoptedFilesOutliveTheirDatabase: what a person made a chapter of a Series is one
// again, can be given back, and its folder was not written into (features F11 and F13).
func TestAdoptedFilesOutliveTheirDatabase(t *testing.T) {
	db, cfg, _ := newDesk(t)
	ctx := t.Context()
	cfg.LibraryDir = t.TempDir()
	putForeign(t, cfg.LibraryDir, "Own/Own 7.5.cbz")
	putForeign(t, cfg.LibraryDir, "Own/Own 99.cbz")
	look := func(db *store.Store, cfg config.Config) {
		t.Helper()
		marker := inventory.NewMarker(cfg.LibraryDir, db)
		if err := marker.Establish(ctx); err != nil {
			t.Fatal(err)
		}
		if _, _, err := inventory.NewLibrary(cfg.LibraryDir, marker, db).Scan(ctx, true); err != nil {
			t.Fatal(err)
		}
	}
	look(db, cfg)
	key := knownSeries(t, db, "s")
	if files, listed, err := db.AdoptFolder(ctx, "Own", key, time.Now()); err != nil || files != 2 || listed != 1 {
		t.Fatalf("adopted %d files, %d of them listed, %v", files, listed, err)
	}
	if err := keepSidecars(ctx, cfg, db, zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	want := known(t, db)
	if len(want) != 2 || !strings.Contains(want[0], "sample/s c1 ") {
		t.Fatalf("the first database knows %q", want)
	}
	if left, err := filepath.Glob(filepath.Join(cfg.LibraryDir, "Own", "*")); err != nil || len(left) != 2 {
		t.Errorf("the other program's folder holds %v", left)
	}

	fresh, again, _ := newDesk(t)
	again.LibraryDir = cfg.LibraryDir
	for _, says := range []string{"2 files of other programs are chapters again", "0 entries were new or changed; 0 Series were restored; 1 folders"} {
		said, err := rebuild(ctx, again, fresh, &incident.Recorder{Log: zap.NewNop()})
		if err != nil || !strings.Contains(said, says) {
			t.Errorf("rebuilt: %q, %v; want %q", said, err, says)
		}
		if diff := cmp.Diff(want, known(t, fresh)); diff != "" {
			t.Errorf("what is known (-before +after):\n%s", diff)
		}
	}
	if n, err := fresh.ReturnFolder(ctx, "Own"); err != nil || n != 2 {
		t.Errorf("given back: %d, %v", n, err)
	}
	// What was given back is written down, and stays given back.
	if err := keepSidecars(ctx, again, fresh, zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	if n, err := adoptAgain(ctx, again, fresh); err != nil || n != 0 {
		t.Errorf("adopted once more: %d, %v", n, err)
	}
}
