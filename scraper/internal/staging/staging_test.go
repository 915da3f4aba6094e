package staging

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

var key = source.Key{Site: "sample", SeriesID: "pepper"}

// drawing is a whole image whose bytes differ by n.
func drawing(t *testing.T, n int) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 8, 8))
	img.Set(n%8, n/8%8, color.White)
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func manifest(t *testing.T, chapter string, n int) Manifest {
	t.Helper()
	var pages []source.Page
	for i := range n {
		pages = append(pages, source.Page{URL: fmt.Sprintf("http://x/%s/%d.png?token=abc", chapter, i)})
	}
	m, err := NewManifest(key, chapter, pages)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func open(t *testing.T, library string, m Manifest) *Stage {
	t.Helper()
	s, err := Open(library, m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestResumeKeepsWhatIsWhole(t *testing.T) {
	library := t.TempDir()
	m := manifest(t, "1", 4)
	s := open(t, library, m)
	for i := range 3 {
		if err := s.Accept(i, drawing(t, i)); err != nil {
			t.Fatal(err)
		}
	}
	// What kill -9 and a bad disk leave: a flipped bit, a cut file, a half page
	// under its pending name, a torn journal line.
	flip := filepath.Join(s.Dir(), "001.png")
	data, err := os.ReadFile(flip)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	for name, content := range map[string][]byte{flip: data, filepath.Join(s.Dir(), ".004.png.part"): drawing(t, 3)[:20]} {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(s.Dir(), "002.png"), 30); err != nil {
		t.Fatal(err)
	}
	journal, err := os.OpenFile(filepath.Join(s.Dir(), "pages.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.WriteString(`{"page":3,"name":"004.p`); err != nil {
		t.Fatal(err)
	}
	_ = journal.Close()

	again := open(t, library, m)
	if d := cmp.Diff([]int{0, 1, 3}, again.Missing()); d != "" {
		t.Errorf("missing after the resume:\n%s", d)
	}
	for _, i := range again.Missing() {
		if err := again.Accept(i, drawing(t, i)); err != nil {
			t.Fatal(err)
		}
	}
	// A record that follows the torn line must not be lost with it.
	if third := open(t, library, m); len(third.Missing()) != 0 {
		t.Errorf("missing after a second resume: %v", third.Missing())
	}
}

func TestAChangedManifestHasItsOwnStage(t *testing.T) {
	library := t.TempDir()
	first, second := open(t, library, manifest(t, "1", 2)), open(t, library, manifest(t, "1", 3))
	if first.Dir() == second.Dir() {
		t.Fatal("two releases share a stage")
	}
	if err := first.Accept(0, drawing(t, 0)); err != nil {
		t.Fatal(err)
	}
	if got := open(t, library, manifest(t, "1", 3)).Done(); got != 0 {
		t.Errorf("a page of one release counts for the other (%d done)", got)
	}
	if err := Remove(library, manifest(t, "1", 3).Fingerprint()); err != nil {
		t.Fatal(err)
	}
	left, err := List(library)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{manifest(t, "1", 2).Fingerprint()}, left); d != "" {
		t.Errorf("removing one stage touched the other:\n%s", d)
	}
}

func TestNotAnImageLeavesNoTrace(t *testing.T) {
	s := open(t, t.TempDir(), manifest(t, "1", 1))
	for name, data := range map[string][]byte{"html": []byte("<html>Rate limited</html>"), "empty": {}, "cut": drawing(t, 0)[:40]} {
		if err := s.Accept(0, data); !fault.Is(err, fault.Page) {
			t.Errorf("%s: got %v, want class page", name, err)
		}
	}
	if _, whole := s.Manifest(); whole || s.Done() != 0 {
		t.Error("a page that is none counts")
	}
}

func TestRemoveTakesOnlyAFingerprint(t *testing.T) {
	for _, bad := range []string{"", "..", "../../etc", "abc"} {
		if err := Remove(t.TempDir(), bad); err == nil {
			t.Errorf("Remove(%q) went through", bad)
		}
	}
}

func TestManifestBounds(t *testing.T) {
	if _, err := NewManifest(key, "1", nil); !fault.Is(err, fault.Parser) {
		t.Errorf("no page: %v, want class parser", err)
	}
	if _, err := NewManifest(key, "1", make([]source.Page, MaxPages+1)); !fault.Is(err, fault.Parser) {
		t.Errorf("too many pages: %v, want class parser", err)
	}
	a := manifest(t, "1", 2)
	b := a
	b.Pages = []string{a.Pages[0] + a.Pages[1]}
	if a.Fingerprint() == b.Fingerprint() {
		t.Error("parts of a manifest run together")
	}
	for _, p := range a.Pages {
		if bytes.ContainsRune([]byte(p), '?') {
			t.Errorf("a signed query is part of the manifest: %s", p)
		}
	}
}

// Two manifests have one fingerprint only if they are the same manifest.
func TestFingerprintsTellManifestsApart(t *testing.T) {
	draw := rapid.Custom(func(t *rapid.T) Manifest {
		part := rapid.StringMatching(`[ab0-9:]{0,3}`)
		return Manifest{
			Key:       source.Key{Site: part.Draw(t, "site"), SeriesID: part.Draw(t, "series")},
			ChapterID: part.Draw(t, "chapter"), Pages: rapid.SliceOfN(part, 0, 3).Draw(t, "pages"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
		same := cmp.Equal(a, b) || (a.Key == b.Key && a.ChapterID == b.ChapterID && len(a.Pages)+len(b.Pages) == 0)
		if (a.Fingerprint() == b.Fingerprint()) != same {
			t.Fatalf("%+v and %+v", a, b)
		}
	})
}

// A link in staging leads nothing out of the library, and is no page (F90).
func TestALinkLeadsNothingOutOfStaging(t *testing.T) {
	t.Parallel()
	m := manifest(t, "1", 2)
	stage := filepath.Join(folder, m.Fingerprint())
	for _, at := range []string{".mangrove", folder, stage, filepath.Join(stage, "pages.jsonl")} {
		library, outside := t.TempDir(), t.TempDir()
		to := outside
		if filepath.Ext(at) != "" && at != ".mangrove" {
			to = filepath.Join(outside, "journal")
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(library, at)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(library, at)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(library, m); !fault.Is(err, fault.Conflict) {
			t.Errorf("a link at %s: %v, want class conflict", at, err)
		}
		if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
			t.Errorf("a link at %s: made outside: %v, %v", at, left, err)
		}
		// Nor is a stage removed that lies elsewhere.
		if to == outside && at != stage {
			theirs := filepath.Join(outside, "staging", m.Fingerprint())
			if at == folder {
				theirs = filepath.Join(outside, m.Fingerprint())
			}
			if err := os.MkdirAll(theirs, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := Remove(library, m.Fingerprint()); !fault.Is(err, fault.Conflict) {
				t.Errorf("a link at %s: removed with %v, want class conflict", at, err)
			}
			if _, err := os.Stat(theirs); err != nil {
				t.Errorf("a link at %s: a folder outside was removed", at)
			}
		}
	}
	library, outside := t.TempDir(), t.TempDir()
	s := open(t, library, m)
	victim := filepath.Join(outside, "victim")
	if err := os.WriteFile(victim, drawing(t, 0), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(s.Dir(), ".001.png.part")); err != nil {
		t.Fatal(err)
	}
	if err := s.Accept(0, drawing(t, 0)); err != nil {
		t.Fatal(err)
	}
	if err := s.Accept(1, drawing(t, 1)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.Dir(), "001.png")); err != nil {
		t.Fatal(err)
	}
	// The same bytes, but not here.
	if err := os.Symlink(victim, filepath.Join(s.Dir(), "001.png")); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{0}, open(t, library, m).Missing()); d != "" {
		t.Errorf("missing with a link in a page's place:\n%s", d)
	}
	if _, err := s.OpenPage(0); err == nil {
		t.Error("a page was read through a link")
	}
}

// Stages of other releases are left alone, a hundred runs long (F85).
func TestOldStagesAreLeftAlone(t *testing.T) {
	t.Parallel()
	library := t.TempDir()
	old := manifest(t, "old", 2)
	kept := open(t, library, old)
	if err := kept.Accept(0, drawing(t, 7)); err != nil {
		t.Fatal(err)
	}
	for run := range 100 {
		m := manifest(t, fmt.Sprint(run), 1)
		s, err := Open(library, m)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Accept(0, drawing(t, run)); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := Remove(library, m.Fingerprint()); err != nil {
			t.Fatal(err)
		}
	}
	left, err := List(library)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{old.Fingerprint()}, left); d != "" || open(t, library, old).Done() != 1 {
		t.Errorf("after a hundred runs:\n%s", d)
	}
}
