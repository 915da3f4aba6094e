//go:build faults

package faults

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"mangrove/scraper/internal/job"
)

func body(t *testing.T, h http.Handler, path string) []byte {
	t.Helper()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
	if rec.Code != http.StatusOK {
		t.Fatalf("%s: status %d", path, rec.Code)
	}
	return rec.Body.Bytes()
}

// one is the one file that a pattern below the library names.
func (w *world) one(pattern string) string {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.library, pattern))
	if err != nil || len(found) != 1 {
		w.t.Fatalf("%s is %v (%v), want one", pattern, found, err)
	}
	return found[0]
}

// TestDamageBetweenRuns changes what a killed scraper left, before the next one
// finds it (F80, F82, F83).
func TestDamageBetweenRuns(t *testing.T) {
	t.Parallel()
	const checkpoint = ".mangrove/work/sample-pepper-and-carrot/checkpoint.json"
	write := func(content string) func(*world) {
		return func(w *world) {
			if err := os.WriteFile(w.one(checkpoint), []byte(content), 0o644); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		damage func(w *world)
		page   int // that is fetched again; -1 for none
	}{
		{"F80 a flipped bit", func(w *world) {
			path := w.one(".mangrove/staging/*/003.png")
			data, err := os.ReadFile(path)
			if err != nil {
				w.t.Fatal(err)
			}
			data[len(data)/2] ^= 1
			if err := os.WriteFile(path, data, 0o644); err != nil {
				w.t.Fatal(err)
			}
		}, 2},
		{"F82 null", write("null"), -1},
		{"F82 another version", write(`{"version":99,"job_id":1}`), -1},
		{"F82 a list", write("[]"), -1},
		{"F83 no checkpoint", func(w *world) {
			if err := os.Remove(w.one(checkpoint)); err != nil {
				w.t.Fatal(err)
			}
		}, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 2, 4)
			w.walk("archive.half:2")
			w.eye.away.Store(true)
			tt.damage(w)
			w.start("")
			w.until("the damage is mended", func(context.Context) bool { return len(w.site.digests) > 0 && w.site.pagesAsked() > 4 })
			w.eye.away.Store(false)
			again := 0
			if tt.page >= 0 {
				again = 1
			}
			w.done(again)
			for p := range 4 {
				want := 1
				if p == tt.page {
					want = 2
				}
				if n := w.site.Count(imagePath("c-1", p)); n != want {
					t.Errorf("page %d was asked for %d times, want %d", p+1, n, want)
				}
			}
		})
	}
}

// TestAChangedListBetweenRuns has its own stage, and the old one is kept (F84).
func TestAChangedListBetweenRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 4)
	w.walk("archive.half:2")
	old := filepath.Dir(w.one(".mangrove/staging/*/001.png"))
	w.site.series.Chapters, w.site.digests = nil, map[string][]string{}
	w.site.add(t, "c-1", "1", 5)
	w.site.serve()
	w.start("")
	// The pages of the first list are asked for once more: releases are never mixed.
	w.done(4)
	for _, name := range []string{"001.png", "002.png", "003.png", "004.png"} {
		if _, err := os.Stat(filepath.Join(old, name)); err != nil {
			t.Errorf("a page of the old stage is gone: %v", err)
		}
	}
}

// TestFoldersVanish takes a folder away under a publication that has stopped in
// mid-step: no panic, and once downloads go on the chapter is there (F77).
func TestFoldersVanish(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, fault, folder string
		again               int
	}{
		{"the Series", "folder.made:1=STOP", "Kill Bill*", 0},
		{"the stage", "archive.synced:1=STOP", ".mangrove/staging/*", 4},
		{"the stage of a half page", "page.written:1=STOP", ".mangrove/staging/*", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, 4)
			w.start(tt.fault)
			w.follow()
			w.until("the scraper has stopped", func(context.Context) bool {
				stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(w.cmd.Process.Pid), "stat"))
				return err == nil && strings.Contains(string(stat), ") T ")
			})
			w.eye.away.Store(true)
			if err := os.RemoveAll(w.one(tt.folder)); err != nil {
				t.Fatal(err)
			}
			w.eye.mu.Lock()
			clear(w.eye.staged)
			w.eye.mu.Unlock()
			w.eye.away.Store(false)
			if err := w.cmd.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			var last jobRow
			w.until("the Job rests", func(context.Context) bool {
				all := w.jobs()
				last = all[len(all)-1]
				_, held := w.holds()["storage"]
				return held || slices.Contains([]string{string(job.Quarantined), string(job.Done)}, last.State)
			})
			if last.State == string(job.Quarantined) {
				t.Fatalf("the Job is %+v; an operator could only Retry it", last)
			}
			w.release()
			w.done(tt.again)
		})
	}
}

// TestModes: what the operator's umask gives to others, they get, and no more (S-061).
func TestModes(t *testing.T) {
	t.Parallel()
	for umask, want := range map[string][2]os.FileMode{"002": {0o775, 0o664}, "027": {0o750, 0o640}} {
		t.Run(umask, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, 2)
			if err := os.Remove(w.library); err != nil {
				t.Fatal(err)
			}
			w.umask = umask
			w.walk("chapter.renamed:1")
			seen := 0
			err := filepath.WalkDir(w.library, func(path string, d os.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := d.Info()
				if err != nil {
					return err
				}
				seen++
				mode := want[1]
				if d.IsDir() {
					mode = want[0]
				}
				if info.Mode().Perm() != mode {
					t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), mode)
				}
				return nil
			})
			if err != nil || seen < 10 {
				t.Errorf("%d files and folders, %v", seen, err)
			}
			w.start("")
			w.done(0)
		})
	}
}
