//go:build faults

package faults

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"mangrove/internal/fakesite"
)

// needRoot skips a test that mounts or changes users, and says so in the table.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		note(func(s *score) { s.skipped = append(s.skipped, t.Name()+": needs root") })
		t.Skip("needs root")
	}
}

// mount mounts over a folder and returns what takes it away again.
func mount(t *testing.T, source, dir, kind string, flags uintptr, options string) (unmount func()) {
	t.Helper()
	needRoot(t)
	if err := unix.Mount(source, dir, kind, flags, options); err != nil {
		note(func(s *score) { s.skipped = append(s.skipped, t.Name()+": "+err.Error()) })
		t.Skipf("mount: %v", err)
	}
	var once sync.Once
	unmount = func() {
		once.Do(func() {
			if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(unmount)
	return unmount
}

func tmpfs(t *testing.T, dir, options string) (unmount func()) {
	t.Helper()
	return mount(t, "tmpfs", dir, "tmpfs", 0, options)
}

func bind(t *testing.T, from, dir string) (unmount func()) {
	t.Helper()
	return mount(t, from, dir, "", unix.MS_BIND, "")
}

func remount(t *testing.T, dir string, readOnly bool) {
	t.Helper()
	flags := uintptr(unix.MS_REMOUNT)
	if readOnly {
		flags |= unix.MS_RDONLY
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", flags, ""); err != nil {
		t.Fatal(err)
	}
}

// fillBytes writes until there is no room.
func fillBytes(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for size := 1 << 20; size > 0; {
		if _, err = f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk did not fill up: %w", err)
	}
	return nil
}

// fillNames makes files until there is no name left.
func fillNames(dir string) error {
	for i := range 100_000 {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(".filler", i)))
		if errors.Is(err, syscall.ENOSPC) {
			return nil
		}
		if err != nil {
			return err
		}
		_ = f.Close()
	}
	return errors.New("the names did not run out")
}

// noFloor lets downloads use a small disk to its end.
func (w *world) noFloor() {
	w.t.Helper()
	if _, err := w.db.Exec(context.Background(), "INSERT INTO scraper.settings (key, value) VALUES ('free_space_floor', '0')"); err != nil {
		w.t.Fatal(err)
	}
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
