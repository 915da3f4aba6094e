//go:build faults

package faults

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"mangrove/internal/fakesite"
	"mangrove/internal/smalldisk"
)

// needRoot skips a test that mounts or changes users, and says so in the table.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		note(func(s *score) { s.skipped = append(s.skipped, t.Name()+": needs root") })
		t.Skip("needs root")
	}
}

// tmpfs is smalldisk.Mount, with a line in the table when it cannot be.
func tmpfs(t *testing.T, dir, options string) (unmount func()) {
	t.Helper()
	needRoot(t)
	return smalldisk.Mount(t, dir, options)
}

// give makes everything of this world another user's, who runs the scraper from now on.
func (w *world) give(uid int) {
	w.t.Helper()
	err := filepath.WalkDir(w.data, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, uid)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.uid = uint32(uid)
}

// holdList waits until the page list of a chapter is asked for, after first, and
// keeps the answer back until letGo: then the scraper holds no file open.
func (w *world) holdList(chapter string, first ...func()) (letGo func()) {
	w.t.Helper()
	path := "/series/pepper-and-carrot/" + chapter
	gate := make(chan struct{})
	pages := w.site.pages()
	page := fakesite.HTML(string(body(w.t, pages, path)))
	page.Hold = gate
	before := w.site.Count(path)
	w.site.On(path, page)
	for _, do := range first {
		do()
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	if err := w.site.WaitCount(ctx, path, before+1); err != nil {
		w.t.Fatalf("the list of %s was not asked for: %v", chapter, err)
	}
	return func() {
		w.site.Handle(path, pages)
		close(gate)
	}
}
