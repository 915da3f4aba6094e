package publish_test

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"mangrove/internal/cbz"
	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/publish"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/staging"
)

const folder, name = "Pepper [1]", "Pepper - c001 [2].cbz"

// staged is a stage with every page there.
func staged(t *testing.T, library, chapter string) *staging.Stage {
	t.Helper()
	m, err := staging.NewManifest(source.Key{Site: "sample", SeriesID: "pepper"}, chapter, []source.Page{{URL: "http://x/1"}, {URL: "http://x/2"}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := staging.Open(library, m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for i := range m.Pages {
		var buf bytes.Buffer
		if err := png.Encode(&buf, image.NewGray(image.Rect(0, 0, 4+i, 4))); err != nil {
			t.Fatal(err)
		}
		if err := s.Accept(i, buf.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func visible(t *testing.T, library string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(library, folder))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestPublishThenAdopt(t *testing.T) {
	library := t.TempDir()
	s := staged(t, library, "1")
	first, err := publish.Publish(t.Context(), library, folder, name, cbz.ComicInfo{Series: "Pepper"}, s)
	if err != nil {
		t.Fatal(err)
	}
	if got := visible(t, library); len(got) != 1 || got[0] != name {
		t.Fatalf("the folder shows %v, want only the chapter", got)
	}
	f, err := os.Open(filepath.Join(library, folder, name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	a, err := cbz.Open(f, first.Size)
	if err != nil || len(a.Pages) != 2 || a.Manifest == nil || len(a.Manifest.Pages) != 2 {
		t.Fatalf("the archive does not open as published: %+v, %v", a, err)
	}
	// As after a kill between the rename and the commit.
	again, err := publish.Publish(t.Context(), library, folder, name, cbz.ComicInfo{Series: "Pepper"}, s)
	if err != nil || !again.Adopted || again.Path != first.Path || again.Size != first.Size || again.Pages != 2 {
		t.Errorf("second time: %+v, %v; want the same file adopted", again, err)
	}
}

func TestAnotherFileThereIsAConflictAndBothStay(t *testing.T) {
	library := t.TempDir()
	for _, content := range []string{"somebody's own file", ""} {
		path := filepath.Join(library, folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		s := staged(t, library, "1")
		if _, err := publish.Publish(t.Context(), library, folder, name, cbz.ComicInfo{}, s); !fault.Is(err, fault.Conflict) {
			t.Errorf("got %v, want class conflict", err)
		}
		if got, _ := os.ReadFile(path); string(got) != content {
			t.Errorf("the file that stood there was changed to %q", got)
		}
		if len(s.Missing()) != 0 {
			t.Error("the staged pages are gone")
		}
	}
}

func TestADifferentReleaseIsNotAdopted(t *testing.T) {
	library := t.TempDir()
	if _, err := publish.Publish(t.Context(), library, folder, name, cbz.ComicInfo{}, staged(t, library, "1")); err != nil {
		t.Fatal(err)
	}
	if _, err := publish.Publish(t.Context(), library, folder, name, cbz.ComicInfo{}, staged(t, library, "2")); !fault.Is(err, fault.Conflict) {
		t.Errorf("got %v, want class conflict", err)
	}
}

func TestALinkLeadsNothingOutOfTheLibrary(t *testing.T) {
	library, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(library, folder)); err != nil {
		t.Fatal(err)
	}
	if _, err := publish.Publish(t.Context(), library, folder, name, cbz.ComicInfo{}, staged(t, library, "1")); !fault.Is(err, fault.Conflict) {
		t.Errorf("got %v, want class conflict", err)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
		t.Errorf("something was written outside: %v, %v", left, err)
	}
}

func TestProbe(t *testing.T) {
	library := t.TempDir()
	if err := publish.Probe(library); err != nil {
		t.Errorf("this file system publishes in the other tests: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(library, ".mangrove", ".probe*")); len(left) != 0 {
		t.Errorf("the probe left %v", left)
	}
	file := filepath.Join(library, "file")
	if err := durable.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := publish.Probe(file); !fault.Is(err, fault.Storage) {
		t.Errorf("a library that is no folder: %v, want class storage", err)
	}
}
