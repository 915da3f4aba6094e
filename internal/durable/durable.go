// Package durable makes files appear complete or not at all: temp beside the
// final name, length checked, synced, closed, renamed, folder synced. It also
// holds advisory file locks. It refuses to write in place, and it knows nothing
// of what the files mean.
package durable

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"mangrove/internal/failpoint"
	"mangrove/internal/fault"
)

// WriteFile makes path hold data: after it returns nil, the file survives a
// power loss whole; before, the old file (or none) stands. Failures are of
// class storage.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return WriteFileBy(besides(path), path, data, perm)
}

// WriteFileBy is WriteFile where what is half written lies at pending, on the same
// file system, and what stood there is taken away: for a folder in which nobody is
// to see it.
func WriteFileBy(pending, path string, data []byte, perm fs.FileMode) error {
	if err := writePending(pending, data, perm, true); err != nil {
		return err
	}
	if err := Rename(pending, path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// ReplaceFile is WriteFile without any sync: for a file that a crash of the
// process must leave whole but that may be lost with the machine, such as a
// checkpoint that is revalidated before it is believed.
func ReplaceFile(path string, data []byte, perm fs.FileMode) error {
	tmp := besides(path)
	if err := writePending(tmp, data, perm, false); err != nil {
		return err
	}
	return Rename(tmp, path)
}

// besides names the file that takes path's place, in its folder.
func besides(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp-"+rand.Text())
}

// writePending makes a file that is to take another's place. Its mode is perm less
// what the operator's umask takes away.
func writePending(name string, data []byte, perm fs.FileMode, sync bool) error {
	f, err := CreatePending(name, perm)
	if err != nil {
		return err
	}
	return fill(f, data, sync)
}

// WritePending makes path a new file that holds data, without any sync: for one
// that does not count before it has its final name.
func WritePending(path string, data []byte, perm fs.FileMode) error {
	f, err := CreatePending(path, perm)
	if err != nil {
		return err
	}
	failpoint.Torn(failpoint.PageHalf, f, data)
	return fill(f, data, false)
}

// CreatePending creates a new file for writing and reading. What stood there under
// the name, a link included, is taken away: nothing is ever written through it.
func CreatePending(path string, perm fs.FileMode) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, Classify("create", path, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	return f, Classify("create", path, err)
}

// fill writes a file that was just created and closes it. One that fails is taken
// away: a failed sync says nothing by being repeated, so nothing of it is kept.
func fill(f *os.File, data []byte, sync bool) error {
	failpoint.Torn(failpoint.FileHalf, f, data)
	err := failpoint.Fail(failpoint.Write, f.Name())
	n := len(data)
	if err == nil {
		n, err = f.Write(data)
	}
	if err == nil && n != len(data) {
		err = fmt.Errorf("wrote %d of %d bytes", n, len(data))
	}
	if err == nil && sync {
		err = Sync(f)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return Classify("write", f.Name(), err)
}

// Sync makes what was written to f durable. After a failure f is worth nothing,
// also when a second call succeeds: the caller discards it and writes it anew.
func Sync(f *os.File) error {
	err := failpoint.Fail(failpoint.Sync, f.Name())
	if err == nil {
		err = f.Sync()
	}
	return Classify("sync", f.Name(), err)
}

// Rename gives a pending file its name, in the place of what stood there. A file
// that cannot have it is taken away. It does not sync.
func Rename(pending, path string) error {
	err := failpoint.Fail(failpoint.Rename, path)
	if err == nil {
		err = os.Rename(pending, path)
	}
	if err != nil {
		_ = os.Remove(pending)
	}
	return Classify("rename", path, err)
}

// MakeFolders makes those folders of the relative path rel that are missing below
// root, which must be there. None may be a link: it would lead what is written
// out of root; that is of class conflict.
func MakeFolders(root, rel string) error {
	dir := root
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		dir = filepath.Join(dir, part)
		err := failpoint.Fail(failpoint.Mkdir, dir)
		if err == nil {
			err = os.Mkdir(dir, 0o777)
		}
		if errors.Is(err, fs.ErrExist) {
			err = IsFolder(dir)
		}
		if err != nil {
			return Classify("create", dir, err)
		}
	}
	return nil
}

// IsFolder returns nil when dir is a folder and no link to one. Another thing there
// is of class conflict; one that is not there wraps fs.ErrNotExist.
func IsFolder(dir string) error {
	st, err := os.Lstat(dir)
	if err == nil && !st.IsDir() {
		return fault.Newf(fault.Conflict, "write into", dir, "it is no folder")
	}
	return Classify("look at", dir, err)
}

// SyncDir makes the names in dir durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return Classify("open", dir, err)
	}
	err = Sync(d)
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return Classify("sync", dir, err)
}

// ErrExists is returned by RenameNoReplace when the final name is taken.
var ErrExists = errors.New("the name is taken")

// RenameNoReplace renames from to to and never replaces a file that stands
// there: it fails with ErrExists (class conflict) instead. Where the file
// system cannot do that in one step it links and unlinks (PUB-1). It does not
// sync; the caller syncs the folder.
func RenameNoReplace(from, to string) error {
	err := failpoint.Fail(failpoint.Rename, to)
	if err == nil {
		err = unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	}
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		if err = os.Link(from, to); err == nil {
			err = os.Remove(from)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Conflict, "publish", to, ErrExists)
	}
	return Classify("rename", to, err)
}

// Classify turns a failed file operation into a storage fault, the one place
// where an errno is judged. It returns nil for nil.
func Classify(op, path string, err error) error {
	if err == nil {
		return nil
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return err
	}
	// The path once: said twice, it pushes the reason out of a line.
	if at, ok := err.(*fs.PathError); ok {
		path, err = at.Path, at.Err
	}
	return fault.New(fault.Storage, op, path, err)
}

// Reason words a storage failure for a person: what is wrong with the disk.
func Reason(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "no space left"
	case errors.Is(err, syscall.EDQUOT):
		return "disk quota used up"
	case errors.Is(err, syscall.EROFS):
		return "file system is read-only"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, syscall.EXDEV):
		return "another file system"
	case errors.Is(err, syscall.EIO):
		return "disk reported an input/output error"
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	}
	return err.Error()
}

// Lock is an advisory lock on a file, held until Unlock or the end of the
// process, however it ends: a stale file is no obstacle (SUP-7).
type Lock struct{ f *flock.Flock }

// ErrLocked is returned by TakeLock when another live process holds the lock.
var ErrLocked = errors.New("held by another process")

// TakeLock takes the lock on path at once or fails with ErrLocked. It leaves our
// process id in the file, for Holder: only the kernel's lock decides.
func TakeLock(path string) (*Lock, error) {
	f := flock.New(path, flock.SetPermissions(0o600))
	ok, err := f.TryLock()
	if err != nil {
		return nil, Classify("lock", path, err)
	}
	if !ok {
		return nil, fmt.Errorf("lock %s: %w", path, ErrLocked)
	}
	// Only read by a person; a torn number costs nothing.
	if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		_ = f.Unlock()
		return nil, Classify("lock", path, err)
	}
	return &Lock{f}, nil
}

// Holder is the process id that whoever last took the lock on path left in it, 0
// when there is none to be read. It is a word for a person: it proves nothing.
func Holder(path string) int {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	text := make([]byte, 20)
	n, _ := f.Read(text)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

// Unlock releases the lock. The file stays: removing it would let two
// processes lock two files of one name.
func (l *Lock) Unlock() error { return l.f.Unlock() }
