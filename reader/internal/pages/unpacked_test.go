package pages_test

import (
	"bytes"
	"context"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"mangrove/internal/unreadable"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/pages"
	"mangrove/reader/internal/pages/pagestest"
)

// solid puts a solid 7z archive of three pages into the library.
func solid(t *testing.T, dir, name string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "internal", "archive", "testdata", "solid.cb7"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func served(t *testing.T, l *pages.Library, p catalog.Placed) []byte {
	t.Helper()
	rec := httptest.NewRecorder()
	if err := l.Serve(rec, httptest.NewRequest("GET", "/", nil), p); err != nil {
		t.Fatalf("page %d: %v", p.Position, err)
	}
	if rec.Code != 200 || int64(rec.Body.Len()) != p.Size || rec.Header().Get("Content-Type") != "image/jpeg" {
		t.Fatalf("page %d: %d with %d bytes of %q, want %d", p.Position, rec.Code, rec.Body.Len(), rec.Header().Get("Content-Type"), p.Size)
	}
	return rec.Body.Bytes()
}

func all(t *testing.T, l *pages.Library, name, fingerprint string) (out []catalog.Placed) {
	t.Helper()
	list, err := l.Index(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		out = append(out, catalog.Placed{Page: p, Path: name, Fingerprint: fingerprint, Here: true})
	}
	return out
}

// TestASolidArchiveIsGoneThroughOnce: whoever asks for one page has unpacked all
// before it, and the archive itself is not opened for them again.
func TestASolidArchiveIsGoneThroughOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	solid(t, dir, "x.cbr")
	plain := pages.NewLibrary(dir)
	list := all(t, plain, "x.cbr", "f")
	var want [][]byte
	last := list[0]
	for _, p := range list {
		want = append(want, served(t, plain, p))
		if p.Offset > last.Offset {
			last = p
		}
	}
	l := pages.NewLibrary(dir)
	u := pages.NewUnpacked(filepath.Join(t.TempDir(), "unpacked"), 1<<20)
	defer u.Close()
	l.UnpackInto(u)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { served(t, l, last) })
	}
	wg.Wait()
	if err := os.Remove(filepath.Join(dir, "x.cbr")); err != nil {
		t.Fatal(err)
	}
	for i, p := range list {
		if got := served(t, l, p); !bytes.Equal(got, want[i]) {
			t.Errorf("page %d reads otherwise once it is unpacked", i)
		}
	}
}

// TestUnpackedPagesAreBounded: what was read longest ago makes room, and what does
// not fit at all is served all the same.
// It shows S-114.
func TestUnpackedPagesAreBounded(t *testing.T) {
	t.Parallel()
	dir, kept := t.TempDir(), t.TempDir()
	solid(t, dir, "a.cb7")
	solid(t, dir, "b.cb7")
	l := pages.NewLibrary(dir)
	a, b := all(t, l, "a.cb7", "a"), all(t, l, "b.cb7", "b")
	var size int64
	for _, p := range a {
		size += p.Size
	}
	u := pages.NewUnpacked(kept, size+1)
	defer u.Close()
	l.UnpackInto(u)
	for _, p := range append(a, b...) {
		served(t, l, p)
	}
	if n := onDisk(t, kept); n > size+1 || n == 0 {
		t.Errorf("%d bytes are kept, want at most %d", n, size+1)
	}
	small := pages.NewUnpacked(filepath.Join(t.TempDir(), "small"), 10)
	defer small.Close()
	l.UnpackInto(small)
	for _, p := range a {
		served(t, l, p)
	}
}

func onDisk(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		st, err := d.Info()
		if err == nil {
			n += st.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestServeAFolderOfPictures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, name := range []string{"1.png", "2.png", "10.png"} {
		if err := os.MkdirAll(filepath.Join(dir, "Ash", "1"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "Ash", "1", name), pagestest.Page(t, i, 40, 60), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := pages.NewLibrary(dir)
	for i, p := range all(t, l, "Ash/1", "f") {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Range", "bytes=0-3")
		rec := httptest.NewRecorder()
		if err := l.Serve(rec, r, p); err != nil || rec.Code != 206 || rec.Body.String() != "\x89PNG" {
			t.Errorf("page %d: %d %q, %v", i, rec.Code, rec.Body, err)
		}
		rec = httptest.NewRecorder()
		if err := l.Serve(rec, httptest.NewRequest("GET", "/", nil), p); err != nil || !bytes.Equal(rec.Body.Bytes(), pagestest.Page(t, i, 40, 60)) {
			t.Errorf("page %d reads otherwise: %v", i, err)
		}
		data, err := l.PageSource(p)(t.Context())
		if err != nil || !bytes.Equal(data, pagestest.Page(t, i, 40, 60)) {
			t.Errorf("page %d as a cover reads otherwise: %v", i, err)
		}
	}
	if _, err := l.Index(t.Context(), "Ash"); unreadable.Of(err) != unreadable.NoPages {
		t.Errorf("a folder of folders: %v", err)
	}
}
