package publish_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"mangrove/internal/cbz"
	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/internal/smalldisk"
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
	for _, pattern := range []string{".mangrove-probe", ".mangrove/.probe*", ".mangrove/staging/*", ".mangrove/staging/.*"} {
		if left, _ := filepath.Glob(filepath.Join(library, pattern)); len(left) != 0 {
			t.Errorf("the probe left %v", left)
		}
	}
	file := filepath.Join(library, "file")
	if err := durable.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := publish.Probe(file); !fault.Is(err, fault.Storage) {
		t.Errorf("a library that is no folder: %v, want class storage", err)
	}
}

// Staging on another file system is refused with both paths: nothing is copied
// into place (PUB-1, F74, S-060).
func TestProbeRefusesStagingElsewhere(t *testing.T) {
	t.Parallel()
	library := t.TempDir()
	staging := filepath.Join(library, ".mangrove", "staging")
	if err := os.MkdirAll(staging, 0o755); err != nil {
		t.Fatal(err)
	}
	unmount := smalldisk.Mount(t, staging, "size=1m")
	err := publish.Probe(library)
	if !fault.Is(err, fault.Storage) || !strings.Contains(err.Error(), staging+" is on another file system than "+library) {
		t.Errorf("got %v, want class storage and both paths", err)
	}
	// And by a rename that nobody probed for, nothing half stands there.
	s := staged(t, library, "1")
	if _, err := publish.Publish(t.Context(), library, folder, name, cbz.ComicInfo{}, s); !fault.Is(err, fault.Storage) {
		t.Errorf("got %v, want class storage", err)
	}
	if got := visible(t, library); len(got) != 0 {
		t.Errorf("the folder shows %v", got)
	}
	unmount()
	if err := publish.Probe(library); err != nil {
		t.Errorf("on one file system: %v", err)
	}
}

func TestProbeRefusesALink(t *testing.T) {
	t.Parallel()
	library, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(library, ".mangrove")); err != nil {
		t.Fatal(err)
	}
	if err := publish.Probe(library); !fault.Is(err, fault.Storage) {
		t.Errorf("got %v, want class storage", err)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
		t.Errorf("made outside: %v, %v", left, err)
	}
}

// A chapter behind a link is neither adopted nor removed (F90).
func TestWhatLiesBehindALinkIsLeftAlone(t *testing.T) {
	t.Parallel()
	elsewhere, library := t.TempDir(), t.TempDir()
	s := staged(t, elsewhere, "1")
	if _, err := publish.Publish(t.Context(), elsewhere, folder, name, cbz.ComicInfo{}, s); err != nil {
		t.Fatal(err)
	}
	m, _ := s.Manifest()
	theirs := filepath.Join(elsewhere, folder, name)
	if err := os.Symlink(filepath.Dir(theirs), filepath.Join(library, folder)); err != nil {
		t.Fatal(err)
	}
	if _, found, err := publish.Adopt(library, folder, name, m.Fingerprint); !fault.Is(err, fault.Conflict) {
		t.Errorf("adopted %v through a folder's link, %v; want class conflict", found, err)
	}
	if err := publish.Remove(library, folder+"/"+name); !fault.Is(err, fault.Conflict) {
		t.Errorf("removed through a folder's link with %v, want class conflict", err)
	}
	if err := errors.Join(os.Remove(filepath.Join(library, folder)), os.Mkdir(filepath.Join(library, folder), 0o755), os.Symlink(theirs, filepath.Join(library, folder, name))); err != nil {
		t.Fatal(err)
	}
	if _, found, err := publish.Adopt(library, folder, name, m.Fingerprint); !fault.Is(err, fault.Conflict) {
		t.Errorf("adopted %v through a file's link, %v; want class conflict", found, err)
	}
	if _, err := os.Stat(theirs); err != nil {
		t.Errorf("the file behind the link: %v", err)
	}
}

// TestHostileTitles publishes under titles that no file system takes as they are
// (S-020, S-021, S-022, S-023, S-024).
func TestHostileTitles(t *testing.T) {
	t.Parallel()
	library := t.TempDir()
	long := strings.Repeat("転", 85)
	titles := []string{
		"I give up ><", "What/If?", "CON", "aux.txt", `a:b|c*d"e`, "And Then...", "..", ".", "a/../../etc", "Wait ", long, long + "転", long + "転1", long + "転2",
		"ガーデン", norm.NFD.String("ガーデン"), "Café Noir", norm.NFD.String("Café Noir"), "Ash", "ASH", "a\x00b", "\x1b[2J", "--help",
	}
	paths := map[string]string{}
	for i, title := range titles {
		key := fmt.Sprint("t\x00", i)
		folder, name := cbz.FolderName(title, key), cbz.ChapterName(title, "1", "", title, key+"\x001")
		s := staged(t, library, fmt.Sprint(i))
		for round := range 2 { // again as after a restart: it is there already
			file, err := publish.Publish(t.Context(), library, folder, name, cbz.ComicInfo{Series: title}, s)
			if err != nil || file.Adopted != (round == 1) {
				t.Fatalf("%q, round %d: %+v, %v", title, round, file, err)
			}
			folded := strings.ToLower(norm.NFC.String(folder))
			if other, twice := paths[folded]; twice && round == 0 {
				t.Errorf("%q and %q share %q", title, other, folder)
			}
			paths[folded] = title
		}
	}
	files := 0
	err := filepath.WalkDir(library, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".cbz") {
			files++
		}
		return err
	})
	if err != nil || files != len(titles) {
		t.Errorf("%d files below the library, %v; want %d", files, err, len(titles))
	}
}
