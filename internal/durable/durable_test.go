package durable

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mangrove/internal/fault"
	"mangrove/internal/smalldisk"
)

func TestWriteFileReplacesWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	for _, want := range []string{"first", "second, longer", ""} {
		if err := WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("read back %q, %v; want %q", got, err, want)
		}
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if len(left) != 0 {
		t.Errorf("temporary files left behind: %v", left)
	}
}

func TestWriteFileIntoMissingFolderIsStorage(t *testing.T) {
	err := WriteFile(filepath.Join(t.TempDir(), "no", "such", "file"), nil, 0o600)
	if !fault.Is(err, fault.Storage) || Reason(err) != "does not exist" {
		t.Errorf("got %v (%s), want a storage fault saying that the folder does not exist", err, Reason(err))
	}
}

func TestRenameNoReplaceKeepsBoth(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	for path, data := range map[string]string{from: "new", to: "old"} {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := RenameNoReplace(from, to)
	if !errors.Is(err, ErrExists) || !fault.Is(err, fault.Conflict) {
		t.Fatalf("got %v, want ErrExists of class conflict", err)
	}
	for path, want := range map[string]string{from: "new", to: "old"} {
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Errorf("%s holds %q, want %q", path, got, want)
		}
	}
	if err := os.Remove(to); err != nil {
		t.Fatal(err)
	}
	if err := RenameNoReplace(from, to); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(to); string(got) != "new" {
		t.Errorf("after the rename %s holds %q, want new", to, got)
	}
}

func TestLockIsExclusiveAndAStaleFileIsNoObstacle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scraper.lock")
	if err := os.WriteFile(path, []byte("left by a dead process"), 0o600); err != nil {
		t.Fatal(err)
	}
	first, err := TakeLock(path)
	if err != nil {
		t.Fatalf("a stale file is an obstacle: %v", err)
	}
	if _, err := TakeLock(path); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) {
		t.Errorf("second lock: got %v, want ErrLocked naming the file", err)
	}
	if err := first.Unlock(); err != nil {
		t.Fatal(err)
	}
	again, err := TakeLock(path)
	if err != nil {
		t.Fatalf("after Unlock: %v", err)
	}
	_ = again.Unlock()
}

// A planted link leads nothing out of the folder that is written into (F90).
func TestNothingIsWrittenThroughALink(t *testing.T) {
	t.Parallel()
	root, outside := t.TempDir(), t.TempDir()
	victim := filepath.Join(outside, "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(path string) error{
		"pending":  func(path string) error { return WritePending(path, []byte("new"), 0o666) },
		"replaced": func(path string) error { return ReplaceFile(path, []byte("new"), 0o666) },
		"durable":  func(path string) error { return WriteFile(path, []byte("new"), 0o666) },
	} {
		path := filepath.Join(root, name)
		if err := os.Symlink(victim, path); err != nil {
			t.Fatal(err)
		}
		if err := write(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != "new" {
			t.Errorf("%s: the file holds %q, %v", name, got, err)
		}
	}
	if got, err := os.ReadFile(victim); err != nil || string(got) != "mine" {
		t.Errorf("what the link led to holds %q, %v", got, err)
	}
}

func TestMakeFolders(t *testing.T) {
	t.Parallel()
	root, outside := t.TempDir(), t.TempDir()
	for range 2 {
		if err := MakeFolders(root, "a/b/c"); err != nil {
			t.Fatal(err)
		}
	}
	if err := IsFolder(filepath.Join(root, "a", "b", "c")); err != nil {
		t.Error(err)
	}
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(root, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, rel := range []string{"link", "link/x", "a/../link/x", "file", "file/x"} {
		if err := MakeFolders(root, rel); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v, want class conflict", rel, err)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
		t.Errorf("made outside: %v, %v", left, err)
	}
	// A root that is away is not made: it may be a file system that is not mounted.
	if err := MakeFolders(filepath.Join(root, "away"), "x"); !fault.Is(err, fault.Storage) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a root: %v, want class storage", err)
	}
}

// What does not fit is taken away: it would only fill the disk (F67).
func TestAFileWithoutRoomLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	smalldisk.Mount(t, dir, "size=64k")
	for name, write := range map[string]func(path string, data []byte, perm os.FileMode) error{"pending": WritePending, "replaced": ReplaceFile, "durable": WriteFile} {
		path := filepath.Join(dir, name)
		if err := write(path, make([]byte, 1<<20), 0o666); !fault.Is(err, fault.Storage) || Reason(err) != "no space left" {
			t.Errorf("%s: %v (%s)", name, err, Reason(err))
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%s left %v, %v", name, left, err)
		}
	}
}

// A reason for a person is one line of bounded length: the path once.
func TestTheReasonNamesThePathOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing", "file")
	err := WriteFile(path, nil, 0o600)
	if n := strings.Count(err.Error(), "missing"); n != 1 {
		t.Errorf("%q names its folder %d times", err, n)
	}
}
