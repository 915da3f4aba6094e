package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mangrove/internal/cbz"
)

// sidecar is the file beside the chapters that says what is known of the Series.
const sidecar = "mangrove.json"

// chapter is one chapter as a Site has it: what must arrive in the library.
type chapter struct {
	id, number, title string
	// files are its pages in order.
	files []string
}

func (c chapter) read(t *testing.T, i int) []byte {
	t.Helper()
	data, err := os.ReadFile(c.files[i])
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// episodes are the chapters in a folder of Pepper&Carrot, as the sample Site
// lists them: every file of ep01 to ep05 by name.
func episodes(t *testing.T, folder string) []chapter {
	t.Helper()
	var out []chapter
	for i, title := range []string{"Potion of Flight", "Rainbow potions", "The secret ingredients", "Stroke of genius", "Special holiday episode"} {
		files, err := filepath.Glob(filepath.Join(folder, fmt.Sprintf("ep%02d", i+1), "*.*"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) > 0 {
			out = append(out, chapter{fmt.Sprintf("episode-%d", i+1), fmt.Sprint(i + 1), title, files})
		}
	}
	return out
}

// shipped are the chapters of the built-in sample Site.
func shipped(t *testing.T) []chapter {
	t.Helper()
	out := episodes(t, filepath.Join(root, "scraper", "internal", "source", "sample", "samplesite", "content"))
	if len(out) != 3 {
		t.Fatalf("the sample Site ships %d episodes, want 3", len(out))
	}
	return out
}

// seriesFolder is the one folder of the library that a person sees.
func (m *mangrove) seriesFolder() string {
	m.t.Helper()
	entries, err := os.ReadDir(m.library())
	if err != nil {
		m.t.Fatal(err)
	}
	var seen []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			seen = append(seen, e.Name())
		}
	}
	if len(seen) != 1 || !strings.HasPrefix(seen[0], "Pepper&Carrot") {
		m.t.Fatalf("the library shows %q, want one folder of Pepper&Carrot", seen)
	}
	return filepath.Join(m.library(), seen[0])
}

// holds fails unless the library holds exactly these chapters, each once and
// whole, its pages byte for byte and in order, and nothing else.
func (m *mangrove) holds(want []chapter) {
	t := m.t
	t.Helper()
	folder := m.seriesFolder()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]*cbz.Archive{}
	for _, e := range entries {
		if e.Name() == sidecar {
			continue
		}
		if strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), ".cbz") {
			t.Errorf("the folder of the Series shows %q, want chapters alone", e.Name())
			continue
		}
		a := openArchive(t, filepath.Join(folder, e.Name()))
		if byID[a.Manifest.ChapterID] != nil {
			t.Errorf("%s is there twice", a.Manifest.ChapterID)
		}
		byID[a.Manifest.ChapterID] = a
	}
	for _, c := range want {
		a := byID[c.id]
		if a == nil {
			t.Errorf("%s is not in the library", c.id)
			continue
		}
		if a.Info == nil || a.Info.Series != "Pepper&Carrot" || a.Info.Number != c.number || a.Info.Title != c.title || a.Info.PageCount != len(c.files) {
			t.Errorf("%s: ComicInfo %+v", c.id, a.Info)
		}
		if len(a.Pages) != len(c.files) {
			t.Errorf("%s has %d pages, want %d", c.id, len(a.Pages), len(c.files))
			continue
		}
		for i := range c.files {
			if got, want := pageOf(t, a, i), c.read(t, i); !bytes.Equal(got, want) {
				t.Errorf("%s page %d: %d bytes, not the %d bytes of %s", c.id, i+1, len(got), len(want), filepath.Base(c.files[i]))
			}
		}
	}
	if len(byID) != len(want) {
		t.Errorf("the library holds %d chapters, want %d", len(byID), len(want))
	}
	// Stages and checkpoints of what is done go, though after the commit.
	m.eventually("nothing is left in staging and work", func() (bool, string) {
		var left []string
		for _, dir := range []string{"staging", "work"} {
			found, err := filepath.Glob(filepath.Join(m.library(), ".mangrove", dir, "*"))
			if err != nil {
				t.Fatal(err)
			}
			left = append(left, found...)
		}
		return len(left) == 0, strings.Join(left, "\n")
	})
}

// openArchive opens a chapter, as ours and as any program would.
func openArchive(t *testing.T, path string) *cbz.Archive {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a, err := cbz.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(path), err)
	}
	if a.Manifest == nil || len(a.Notes) > 0 {
		t.Fatalf("%s: manifest %v, notes %q", filepath.Base(path), a.Manifest, a.Notes)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(path), err)
	}
	for _, f := range z.File {
		if f.Method != zip.Store {
			t.Errorf("%s: %s is compressed", filepath.Base(path), f.Name)
		}
	}
	return a
}

func pageOf(t *testing.T, a *cbz.Archive, i int) []byte {
	t.Helper()
	r, err := a.OpenPage(i)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return data
}

// published is what tells one file from another that took its place.
type published struct {
	name     string
	size     int64
	modified time.Time
}

// files lists the chapters in the library, to be compared later.
func (m *mangrove) files() map[string]published {
	m.t.Helper()
	// What is hidden is the scraper's own: it tries the folder of stages at each start.
	found, err := filepath.Glob(filepath.Join(m.library(), "[^.]*", "*"))
	if err != nil {
		m.t.Fatal(err)
	}
	out := map[string]published{}
	for _, path := range found {
		if filepath.Base(path) == sidecar {
			continue // written anew with what its Site says
		}
		info, err := os.Stat(path)
		if err != nil {
			m.t.Fatal(err)
		}
		out[path] = published{info.Name(), info.Size(), info.ModTime()}
	}
	return out
}

// lookOn looks into the library all the while, as another program does: a
// chapter that can be seen is whole at its first sight. The returned function
// ends the looking and says how many chapters were seen.
func (m *mangrove) lookOn() func() int {
	stop, done := make(chan struct{}), make(chan struct{})
	seen := map[string]bool{}
	go func() {
		defer close(done)
		for {
			found, _ := filepath.Glob(filepath.Join(m.library(), "[^.]*", "*"))
			for _, path := range found {
				if seen[path] {
					continue
				}
				seen[path] = true
				data, err := os.ReadFile(path)
				if filepath.Base(path) == sidecar {
					delete(seen, path) // no chapter, and written anew
					if !json.Valid(data) {
						m.t.Errorf("%s was to be seen and not whole: %q", path, data)
					}
					continue
				}
				if err == nil {
					_, err = cbz.Open(bytes.NewReader(data), int64(len(data)))
				}
				if err != nil {
					m.t.Errorf("%s was to be seen and not whole: %v", path, err)
				}
			}
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	end := sync.OnceValue(func() int {
		close(stop)
		<-done
		return len(seen)
	})
	m.t.Cleanup(func() { end() })
	return end
}
