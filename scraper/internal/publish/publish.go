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
	"syscall"

	"mangrove/internal/cbz"
	"mangrove/internal/durable"
	"mangrove/internal/failpoint"
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

// Probe finds out whether the library's file system can publish: a rename from
// staging into the library that never replaces, or link and unlink. A file system
// that can do neither would let one chapter silently take another's place, and
// staging on another one would have to be copied, so downloads are refused.
// Every refusal is of class storage.
func Probe(library string) error {
	staging := filepath.Join(library, ".mangrove", "staging")
	if err := durable.MakeFolders(library, ".mangrove/staging"); err != nil {
		if fault.Is(err, fault.Conflict) {
			return fault.Newf(fault.Storage, "probe", staging, "it is no folder of the library's own")
		}
		return err
	}
	from, to := filepath.Join(staging, ".probe-from"), filepath.Join(library, ".mangrove-probe")
	defer func() { _ = os.Remove(from); _ = os.Remove(to) }()
	_ = os.Remove(to)
	for round, wantTaken := range []bool{false, true} {
		if err := durable.WritePending(from, []byte("probe"), 0o666); err != nil {
			return err
		}
		err := durable.RenameNoReplace(from, to)
		switch {
		case errors.Is(err, syscall.EXDEV):
			return fault.Newf(fault.Storage, "probe", library, "%s is on another file system than %s; nothing is copied into place", staging, library)
		case wantTaken && !errors.Is(err, durable.ErrExists):
			return fault.Newf(fault.Storage, "probe", library, "the file system replaces files that stand (round %d: %v)", round, err)
		case !wantTaken && err != nil:
			return err
		}
	}
	return durable.SyncDir(library)
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
	// A full disk is not made fuller by what is written anew in any case.
	defer func() { _ = os.Remove(archive) }()
	if err != nil {
		return File{}, err
	}
	if err := ctx.Err(); err != nil {
		return File{}, err
	}
	failpoint.Reach(failpoint.ArchiveSynced)
	dir := filepath.Join(library, folder)
	if err := makeFolder(library, dir); err != nil {
		return File{}, err
	}
	failpoint.Reach(failpoint.FolderMade)
	if err := durable.RenameNoReplace(archive, filepath.Join(dir, name)); err != nil {
		return File{}, err
	}
	failpoint.Reach(failpoint.ChapterRenamed)
	if err := durable.SyncDir(dir); err != nil {
		// A second sync could succeed and say nothing: the chapter is taken back,
		// and renamed anew once the disk is well.
		_ = os.Remove(filepath.Join(dir, name))
		return File{}, err
	}
	failpoint.Reach(failpoint.FolderSynced)
	return File{Path: folder + "/" + name, Size: size, Pages: len(m.Pages)}, nil
}

// Adopt looks for the chapter under its final name. found is false when nothing
// stands there; a file with another fingerprint is of class conflict.
func Adopt(library, folder, name, fingerprint string) (file File, found bool, err error) {
	path := filepath.Join(library, folder, name)
	// What lies behind a link is not the library's.
	err = durable.IsFolder(filepath.Dir(path))
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, false, nil
	}
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EISDIR) {
		return File{}, true, fault.Newf(fault.Conflict, "publish", folder+"/"+name, "it is no file; it was left alone")
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
	if err := durable.Sync(f); err != nil {
		return File{}, true, err
	}
	if err := durable.SyncDir(filepath.Dir(path)); err != nil {
		return File{}, true, err
	}
	return File{Path: folder + "/" + name, Size: st.Size(), Pages: len(a.Manifest.Pages), Adopted: true}, true, nil
}

func write(path string, info cbz.ComicInfo, m cbz.Manifest, s Source) (int64, error) {
	f, err := durable.CreatePending(path, 0o666)
	if err != nil {
		return 0, err
	}
	if err = failpoint.Fail(failpoint.Write, path); err == nil {
		err = cbz.Write(f, info, m, func(page int) (io.ReadCloser, error) {
			failpoint.Reach(failpoint.ArchiveHalf)
			return s.OpenPage(page)
		})
	}
	if err == nil {
		failpoint.Reach(failpoint.ArchiveWritten)
		err = durable.Sync(f)
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
	err := failpoint.Fail(failpoint.Mkdir, dir)
	if err == nil {
		err = os.Mkdir(dir, 0o777)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		// A link would lead the chapter out of the library.
		if err := durable.IsFolder(dir); err != nil {
			return err
		}
		// Empty, it may be of a process that died before the sync.
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			return durable.Classify("read", dir, err)
		}
	case err != nil:
		return durable.Classify("create", dir, err)
	}
	if err := durable.SyncDir(library); err != nil {
		_ = os.Remove(dir) // empty, and made anew once the disk is well
		return err
	}
	return nil
}

// LocalName reports whether name is a plain file or folder name that stays in
// its place.
func LocalName(name string) bool {
	return name != "" && filepath.IsLocal(name) && !strings.ContainsAny(name, `/\`) && !strings.HasPrefix(name, ".")
}
