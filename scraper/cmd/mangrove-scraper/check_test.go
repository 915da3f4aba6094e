package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mangrove/internal/config"
	"mangrove/internal/fakesite"
	"mangrove/scraper/internal/inventory"
)

// checked runs the check and returns its parts by name.
func checked(t *testing.T, cfg config.Config) map[string]part {
	t.Helper()
	var out bytes.Buffer
	if err := check(t.Context(), cfg, &out); err != nil {
		t.Fatal(err)
	}
	got := map[string]part{}
	for decode := json.NewDecoder(&out); decode.More(); {
		var p part
		if err := decode.Decode(&p); err != nil {
			t.Fatal(err)
		}
		got[p.Part] = p
	}
	return got
}

// TestCheckSaysWhatIsNotWell, part by part, and writes nothing (OBS-4).
func TestCheckSaysWhatIsNotWell(t *testing.T) {
	db, cfg, _ := newDesk(t)
	cfg.LibraryDir = filepath.Join(cfg.DataDir, "library")
	if err := inventory.NewMarker(cfg.LibraryDir, db).Establish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(sitesDir(cfg), 0o700); err != nil {
		t.Fatal(err)
	}
	before := listing(t, cfg.DataDir)
	for name, p := range checked(t, cfg) {
		if !p.Well && name != "chromium" {
			t.Errorf("%s is not well: %s", name, p.Said)
		}
	}
	if after := listing(t, cfg.DataDir); after != before {
		t.Errorf("it left\n%s\nwhere there was\n%s", after, before)
	}

	fake := fakesite.Start(t)
	scripted := strings.Replace(describe(strings.TrimPrefix(fake.URL, "http://"), "Scripted", "one"), "series:\n", "browser: true\nseries:\n", 1)
	for name, text := range map[string]string{"bad.yaml": "name: [", "scripted.yaml": scripted} {
		if err := os.WriteFile(filepath.Join(sitesDir(cfg), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.SetFreeSpaceFloor(t.Context(), 1<<60); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cfg.LibraryDir, inventory.MarkerName), []byte("another\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Chromium = "/nonexistent/chromium"
	got := checked(t, cfg)
	for name, want := range map[string]string{
		"library": "its marker file is that of another library", "space": "downloads stop under 1073741824.0 GiB",
		"chromium": "needed by scripted", "sites": "one description is not read: bad.yaml",
	} {
		if p := got[name]; p.Well || !strings.Contains(p.Said, want) {
			t.Errorf("%s: well %t, %q, want it to say %q", name, p.Well, p.Said, want)
		}
	}
	if !got["database"].Well {
		t.Errorf("the database: %s", got["database"].Said)
	}

	// Without the database the rest is still looked at.
	cfg.DatabaseURLScraper = "postgres://nobody@127.0.0.1:1/none"
	got = checked(t, cfg)
	if p := got["database"]; p.Well || !strings.Contains(p.Said, "does not answer") {
		t.Errorf("database: %+v", p)
	}
	if p := got["library"]; !p.Well || !strings.Contains(p.Said, "only the database knows") {
		t.Errorf("library: %+v", p)
	}
	if err := os.Remove(filepath.Join(cfg.LibraryDir, inventory.MarkerName)); err != nil {
		t.Fatal(err)
	}
	if p := checked(t, cfg)["library"]; p.Well || !strings.Contains(p.Said, "is the library mounted?") {
		t.Errorf("library: %+v", p)
	}
}

// listing is every path below dir.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		b.WriteString(path + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
