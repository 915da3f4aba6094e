// Package publish makes one whole chapter visible in the library by one rename
// on one file system (PUB-1): the archive is written in staging, synced,
// renamed without replacing, and the folder synced before anyone commits. It
// copies nothing into place and replaces nothing that stands there.
package publish

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mangrove/internal/cbz"
	"mangrove/internal/durable"
	"mangrove/internal/fault"
)

// Source is a stage with every page there.
type Source interface {
	Manifest() (cbz.Manifest, bool)
	OpenPage(page int) (io.ReadCloser, error)
	Dir() string
}

// File is a published chapter.
type File struct {
	// Path is relative to the library root, with forward slashes.
	Path string
	Size int64
	// Pages is the page count.
	Pages int
	// Adopted is true when the file stood there already with this fingerprint.
	Adopted bool
}

// Probe finds out whether the library's file system can publish: a rename that
// never replaces, or link and unlink. A file system that can do neither would
// let one chapter silently take another's place, so downloads are refused.
func Probe(library string) error {
	dir := filepath.Join(library, ".mangrove")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return durable.Classify("create", dir, err)
	}
	from, to := filepath.Join(dir, ".probe-from"), filepath.Join(dir, ".probe-to")
	defer func() { _ = os.Remove(from); _ = os.Remove(to) }()
	_ = os.Remove(to)
	for round, wantTaken := range []bool{false, true} {
		if err := os.WriteFile(from, []byte("probe"), 0o644); err != nil {
			return durable.Classify("write", from, err)
		}
		err := durable.RenameNoReplace(from, to)
		switch {
		case wantTaken && !errors.Is(err, durable.ErrExists):
			return fault.Newf(fault.Storage, "probe", library, "the file system replaces files that stand (round %d: %v)", round, err)
		case !wantTaken && err != nil:
			return err
		}
	}
	return durable.SyncDir(dir)
}

// Publish makes s visible as folder/name. A file that stands there with the
// same fingerprint is this chapter, renamed by a process that died before its
// commit: it is synced and adopted (JOB-6). Any other file there is a conflict,
// and both are kept.
func Publish(ctx context.Context, library, folder, name string, info cbz.ComicInfo, s Source) (File, error) {
	m, whole := s.Manifest()
	if !whole {
		return File{}, fault.Newf(fault.Unknown, "publish", name, "a page is missing")
	}
	if file, found, err := Adopt(library, folder, name, m.Fingerprint); found || err != nil {
		return file, err
	}
	archive := filepath.Join(s.Dir(), ".chapter.cbz.part")
	size, err := write(archive, info, m, s)
	if err != nil {
		return File{}, err
	}
	if err := ctx.Err(); err != nil {
		return File{}, err
	}
	dir := filepath.Join(library, folder)
	if err := makeFolder(library, dir); err != nil {
		return File{}, err
	}
	if err := durable.RenameNoReplace(archive, filepath.Join(dir, name)); err != nil {
		return File{}, err
	}
	if err := durable.SyncDir(dir); err != nil {
		return File{}, err
	}
	return File{Path: folder + "/" + name, Size: size, Pages: len(m.Pages)}, nil
}

// Adopt looks for the chapter under its final name. found is false when nothing
// stands there; a file with another fingerprint is of class conflict.
func Adopt(library, folder, name, fingerprint string) (file File, found bool, err error) {
	path := filepath.Join(library, folder, name)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, false, nil
	}
	if err != nil {
		return File{}, false, durable.Classify("open", path, err)
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return File{}, false, durable.Classify("stat", path, err)
	}
	a, err := cbz.Open(f, st.Size())
	if err != nil || a.Manifest == nil || a.Manifest.Fingerprint != fingerprint {
		return File{}, true, fault.Newf(fault.Conflict, "publish", folder+"/"+name, "another file stands there; it was left alone")
	}
	if err := f.Sync(); err != nil {
		return File{}, true, durable.Classify("sync", path, err)
	}
	if err := durable.SyncDir(filepath.Dir(path)); err != nil {
		return File{}, true, err
	}
	return File{Path: folder + "/" + name, Size: st.Size(), Pages: len(a.Manifest.Pages), Adopted: true}, true, nil
}

func write(path string, info cbz.ComicInfo, m cbz.Manifest, s Source) (int64, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return 0, durable.Classify("create", path, err)
	}
	err = cbz.Write(f, info, m, s.OpenPage)
	if err == nil {
		err = f.Sync()
	}
	st, serr := f.Stat()
	if cerr := f.Close(); err == nil {
		err = errors.Join(serr, cerr)
	}
	if err != nil {
		return 0, durable.Classify("write", path, err)
	}
	return st.Size(), nil
}

// makeFolder makes a Series folder and makes its name durable.
func makeFolder(library, dir string) error {
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		// A link would lead the chapter out of the library.
		if st, err := os.Lstat(dir); err != nil || !st.IsDir() {
			return fault.Newf(fault.Conflict, "publish into", dir, "it is no folder")
		}
		return nil
	}
	if err != nil {
		return durable.Classify("create", dir, err)
	}
	return durable.SyncDir(library)
}

// LocalName reports whether name is a plain file or folder name that stays in
// its place.
func LocalName(name string) bool {
	return name != "" && filepath.IsLocal(name) && !strings.ContainsAny(name, `/\`) && !strings.HasPrefix(name, ".")
}
