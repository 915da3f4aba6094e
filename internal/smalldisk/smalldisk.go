// Package smalldisk gives a test a file system of its own, small enough to fill,
// to be taken away or made read-only. That needs root: without it the test is
// skipped and says so. No program imports it, and it leaves no mount behind.
package smalldisk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Mount lays a file system in memory over dir, with tmpfs's options ("size=4m"),
// and returns what takes it away before the test's end does.
func Mount(t testing.TB, dir, options string) (unmount func()) {
	t.Helper()
	return mount(t, "tmpfs", dir, "tmpfs", 0, options)
}

// Bind shows the folder from at dir as well.
func Bind(t testing.TB, from, dir string) (unmount func()) {
	t.Helper()
	return mount(t, from, dir, "", unix.MS_BIND, "")
}

func mount(t testing.TB, source, dir, kind string, flags uintptr, options string) (unmount func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount")
	}
	if err := unix.Mount(source, dir, kind, flags, options); err != nil {
		t.Skipf("this machine does not let root mount: %v", err)
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

// ReadOnly takes the right to write on what Mount laid over dir, or gives it back.
// It fails while a file there is open for writing.
func ReadOnly(t testing.TB, dir string, readOnly bool) {
	t.Helper()
	flags := uintptr(unix.MS_REMOUNT)
	if readOnly {
		flags |= unix.MS_RDONLY
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", flags, ""); err != nil {
		t.Fatal(err)
	}
}

// Fill makes files below dir until not one more byte has room. Freed removes them.
func Fill(dir string) error {
	f, err := os.Create(filepath.Join(dir, filler))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for size := 1 << 20; size > 0; {
		if _, err = f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return full(err)
}

// FillNames makes files until there is no name left.
func FillNames(dir string) error {
	for i := range 100_000 {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(filler, i)))
		if err != nil {
			return full(err)
		}
		_ = f.Close()
	}
	return full(nil)
}

const filler = ".filler"

func full(err error) error {
	if !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk did not fill up: %w", err)
	}
	return nil
}

// Free makes room again.
func Free(t testing.TB, dir string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, filler+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
}
