package durable

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mangrove/internal/fault"
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
