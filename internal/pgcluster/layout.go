package pgcluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// MaxSocketPath is the longest path of a unix socket in bytes; the system call
// holds 108 with the closing zero.
const MaxSocketPath = 107

const socketName = ".s.PGSQL.5432"

// Layout is one cluster's folder: mode 0700, owned by the server's user, with
// the database and the socket in folders of their own.
type Layout struct{ Root string }

// Data is the folder of the database itself.
func (l Layout) Data() string { return filepath.Join(l.Root, "data") }

// Run is the folder of the socket.
func (l Layout) Run() string { return filepath.Join(l.Root, "run") }

// Socket is the socket's path.
func (l Layout) Socket() string { return filepath.Join(l.Run(), socketName) }

// FolderError says what is wrong with which folder, so that the caller can name
// the setting it came from.
type FolderError struct{ Folder, Problem string }

func (e *FolderError) Error() string { return e.Folder + " " + e.Problem }

// CheckSocket refuses a layout whose socket path is too long to be bound.
func (l Layout) CheckSocket() error {
	if n := len(l.Socket()); n > MaxSocketPath {
		return &FolderError{l.Root, fmt.Sprintf("makes the database's socket path %d bytes long, at most %d are possible; choose a path at least %d bytes shorter",
			n, MaxSocketPath, n-MaxSocketPath)}
	}
	return nil
}

// CheckReachable refuses a root that o could not enter: every folder above it
// must be traversable by that user. Folders that do not exist yet are not
// judged. Mode bits alone are read, not access lists.
func (l Layout) CheckReachable(o Owner) error {
	at := "/"
	for _, part := range append([]string{""}, strings.Split(strings.Trim(filepath.Dir(l.Root), "/"), "/")...) {
		at = filepath.Join(at, part)
		info, err := os.Stat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("look at %s: %w", at, err)
		}
		if !info.IsDir() {
			return &FolderError{at, "is not a folder"}
		}
		if !traversable(info, o) {
			return &FolderError{at, fmt.Sprintf("cannot be entered by the user %s, who runs the database (its mode is %04o); choose a folder outside it, or run: chmod o+x %s",
				o.Name, info.Mode().Perm(), at)}
		}
	}
	return nil
}

func traversable(info fs.FileInfo, o Owner) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	switch perm := info.Mode().Perm(); {
	case st.Uid == o.UID:
		return perm&0o100 != 0
	case st.Gid == o.GID:
		return perm&0o010 != 0
	default:
		return perm&0o001 != 0
	}
}

// CheckOwner refuses a root that stands already and belongs to another user.
func (l Layout) CheckOwner(o Owner) error {
	for _, dir := range []string{l.Root, l.Data()} {
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("look at %s: %w", dir, err)
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != o.UID {
			return &FolderError{dir, fmt.Sprintf("belongs to %s, but the database would run as %s; run: sudo chown -R %s %s",
				UserName(st.Uid), o.Name, o.Name, l.Root)}
		}
	}
	return nil
}

// CheckVersion refuses a cluster made by another major version. A cluster that
// does not exist yet is fine.
func (l Layout) CheckVersion(major int) error {
	data, err := os.ReadFile(filepath.Join(l.Data(), "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the cluster's version: %w", err)
	}
	made := strings.TrimSpace(string(data))
	if made != strconv.Itoa(major) {
		return &FolderError{l.Data(), fmt.Sprintf("was made by PostgreSQL %s and the installed programs are %d; install PostgreSQL %s beside them and set MANGROVE_POSTGRES_BIN to its folder, or carry the data over with pg_upgrade",
			made, major, made)}
	}
	return nil
}

// Exists reports whether the cluster was made.
func (l Layout) Exists() bool {
	_, err := os.Stat(filepath.Join(l.Data(), "PG_VERSION"))
	return err == nil
}

// MakeFolders makes the root and the socket's folder with mode 0700, owned by
// o. The folder above must exist.
func (l Layout) MakeFolders(o Owner) error {
	for _, dir := range []string{l.Root, l.Run()} {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make the database's folder: %w", err)
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("close the database's folder: %w", err)
		}
		if os.Geteuid() == 0 {
			if err := os.Lchown(dir, int(o.UID), int(o.GID)); err != nil {
				return fmt.Errorf("hand the database's folder to %s: %w", o.Name, err)
			}
		}
	}
	return nil
}
