package checkpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

var (
	site = source.Site{Key: "t", WorkPrefix: "t-"}
	key  = source.Key{Site: "t", SeriesID: "s"}
)

func TestWhatIsSavedIsLoaded(t *testing.T) {
	t.Parallel()
	path := Path(t.TempDir(), site, key)
	want := Checkpoint{Version: version, JobID: 7, Site: "t", SeriesID: "s", Published: []string{"1"}, Chapter: "2", Staging: "ab", PagesDone: 3, PagesTotal: 4}
	for range 2 {
		if err := Save(path, want); err != nil {
			t.Fatal(err)
		}
	}
	got, there := Load(path)
	if d := cmp.Diff(want, got); !there || d != "" {
		t.Errorf("there %v (-want +got):\n%s", there, d)
	}
	if err := Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, there := Load(path); there {
		t.Error("a removed checkpoint is there")
	}
}

// What cannot be read says nothing (F82).
func TestABrokenCheckpointIsNone(t *testing.T) {
	t.Parallel()
	path := Path(t.TempDir(), site, key)
	if err := Save(path, Checkpoint{JobID: 7}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"empty": "", "null": "null", "a list": "[]", "zeros": strings.Repeat("\x00", 100), "another version": `{"version":99,"job_id":7}`, "of no Job": `{"version":1}`,
		"followed by another": string(whole) + string(whole), "too large": string(whole) + strings.Repeat(" ", maxSize), "a word for a number": `{"version":1,"job_id":"7"}`,
	} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if c, there := Load(path); there {
			t.Errorf("%s: read as %+v", name, c)
		}
	}
	for cut := range len(whole) {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		if c, there := Load(path); there {
			t.Errorf("cut after %d of %d bytes: read as %+v", cut, len(whole), c)
		}
	}
}

// A link leads no checkpoint out of the library, and a library that is away is
// not made (F76, F90).
func TestACheckpointStaysInTheLibrary(t *testing.T) {
	t.Parallel()
	for _, at := range []string{".mangrove", ".mangrove/work", ".mangrove/work/t-s"} {
		library, outside := t.TempDir(), t.TempDir()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(library, at)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, filepath.Join(library, at)); err != nil {
			t.Fatal(err)
		}
		if err := Save(Path(library, site, key), Checkpoint{JobID: 7}); !fault.Is(err, fault.Conflict) {
			t.Errorf("a link at %s: %v, want class conflict", at, err)
		}
		if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
			t.Errorf("a link at %s: written outside: %v, %v", at, left, err)
		}
	}
	away := filepath.Join(t.TempDir(), "away")
	if err := Save(Path(away, site, key), Checkpoint{JobID: 7}); !fault.Is(err, fault.Storage) {
		t.Errorf("without a library: %v, want class storage", err)
	}
	if _, err := os.Stat(away); err == nil {
		t.Error("the library was made")
	}
}
