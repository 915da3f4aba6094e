package sidecar

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

func shown() (source.Key, source.Series) {
	return source.Key{Site: "sample", SeriesID: "pepper-and-carrot"}, source.Series{
		ID: "pepper-and-carrot", Title: "Pepper & Carrot", NativeTitle: "ペッパー＆キャロット", AltTitles: []string{"P&C"}, Authors: []string{"David Revoy"}, Description: "A witch.\nAnd her cat.",
		URL: "https://example.org/en", Status: "ongoing", Tags: []string{"Comedy"}, License: "CC BY 4.0", Direction: "ltr",
	}
}

func TestWhatIsKeptIsLoaded(t *testing.T) {
	library := t.TempDir()
	key, series := shown()
	if err := Keep(library, "Pepper", Of(key, series), none); !fault.Is(err, fault.Storage) {
		t.Errorf("a folder that is not there: %v, want it not to be made", err)
	}
	dir := filepath.Join(library, "Pepper")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Keep(library, "Pepper", Of(key, series), none); err != nil {
		t.Fatal(err)
	}
	got, ok := Load(library, "Pepper")
	if !ok || got.Key() != key {
		t.Fatalf("loaded %+v, %v", got, ok)
	}
	if diff := cmp.Diff(series, got.Series()); diff != "" {
		t.Errorf("what was kept is not what is loaded (-want +got):\n%s", diff)
	}
	data, err := os.ReadFile(filepath.Join(dir, Name))
	if err != nil || !strings.Contains(string(data), `"title": "Pepper & Carrot"`) {
		t.Errorf("a person cannot read it: %s, %v", data, err)
	}
	// The same again writes nothing; other facts do.
	before, _ := os.Stat(filepath.Join(dir, Name))
	if err := Keep(library, "Pepper", Of(key, series), none); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.Stat(filepath.Join(dir, Name)); !os.SameFile(before, after) {
		t.Error("the same facts were written anew")
	}
	series.Status = "completed"
	if err := Keep(library, "Pepper", Of(key, series), none); err != nil {
		t.Fatal(err)
	}
	if got, _ := Load(library, "Pepper"); got.Status != "completed" {
		t.Errorf("new facts were not kept: %+v", got)
	}
}

// none is the chapters of a Series that has not moved: nobody asks for them.
func none() (map[string]string, error) { panic("asked for") }

// TestAMovedSeriesNamesItsFiles: what its files say of themselves is of before.
func TestAMovedSeriesNamesItsFiles(t *testing.T) {
	library := t.TempDir()
	if err := os.Mkdir(filepath.Join(library, "F"), 0o755); err != nil {
		t.Fatal(err)
	}
	key, series := shown()
	if err := Keep(library, "F", Of(key, series), none); err != nil {
		t.Fatal(err)
	}
	now := source.Key{Site: "mangadex", SeriesID: "4711"}
	for _, files := range []map[string]string{{"c1.cbz": "n1"}, {"c1.cbz": "n1", "c2.cbz": "n2"}} {
		if err := Keep(library, "F", Of(now, series), func() (map[string]string, error) { return files, nil }); err != nil {
			t.Fatal(err)
		}
		got, ok := Load(library, "F")
		if !ok || got.Key() != now || !cmp.Equal(got.Files, files) {
			t.Errorf("after the move: %+v, %v; want the files %v", got, ok, files)
		}
	}
}

// TestWhatOthersPutThereIsLeftAlone: the folder is a person's too.
func TestWhatOthersPutThereIsLeftAlone(t *testing.T) {
	key, series := shown()
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(path string) error{
		"a text":        func(p string) error { return os.WriteFile(p, []byte("mine"), 0o600) },
		"a folder":      func(p string) error { return os.Mkdir(p, 0o700) },
		"a link":        func(p string) error { return os.Symlink(outside, p) },
		"of the future": func(p string) error { return os.WriteFile(p, []byte(`{"version":2}`), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			library := t.TempDir()
			path := filepath.Join(library, "F", Name)
			if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			if err := Keep(library, "F", Of(key, series), none); !fault.Is(err, fault.Conflict) {
				t.Errorf("Keep: %v, want a conflict", err)
			}
			if got, ok := Load(library, "F"); ok {
				t.Errorf("it was written over: %+v", got)
			}
		})
	}
	if data, err := os.ReadFile(outside); err != nil || string(data) != "mine" {
		t.Errorf("what the link leads to is %q, %v", data, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"site":"s","series_id":"i","title":"T"}`))
	f.Add([]byte(`{"version":1,"site":"s","series_id":"i","title":"T\u0000"}`))
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, ok := parse(data)
		if !ok {
			return
		}
		if s.Site == "" || s.SeriesID == "" || s.Title == "" || strings.ContainsRune(s.Title, 0) || len(s.Title) > maxShort {
			t.Errorf("believed: %+v", s)
		}
	})
}

// What anybody may have written is believed whole or not at all.
func TestWhatWasAdoptedIsBelievedWithinBounds(t *testing.T) {
	t.Parallel()
	const well = `{"path":"Own/1.cbz","folder":"Own","own":"h","site":"sample","series_id":"s","chapter_id":"c"}`
	for text, want := range map[string]bool{
		`{"version":1,"series":[],"files":[` + well + `]}`:                                                           true,
		`{"version":1,"series":[{"site":"sample","series_id":"s","title":"S"}],"files":[` + well + `]}`:              true,
		`{"version":2,"series":[],"files":[` + well + `]}`:                                                           false,
		`{"version":1,"series":[{"site":"","series_id":"s","title":"S"}],"files":[` + well + `]}`:                    false,
		`{"version":1,"series":[{"site":"sample","series_id":"s","title":"S","status":"x"}],"files":[` + well + `]}`: false,
		`{"version":1,"files":[` + strings.Replace(well, `"c"`, `""`, 1) + `]}`:                                      false,
		`{"version":1,"files":[` + strings.Replace(well, "Own/", "Own\\u0000/", 1) + `]}`:                            false,
		`{"version":1,"files":[` + strings.Replace(well, "Own/", strings.Repeat("x", 3000), 1) + `]}`:                false,
		`{`: false, ``: false,
	} {
		library := t.TempDir()
		if err := os.Mkdir(filepath.Join(library, hidden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(library, hidden, adoptedName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, ok := LoadAdopted(library); ok != want {
			t.Errorf("believed %v: %.120s", ok, text)
		}
	}
}
