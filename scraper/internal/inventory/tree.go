package inventory

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"mangrove/internal/cbz"
	"mangrove/internal/durable"
	"mangrove/internal/fault"
)

// Bounds of the tree. What lies deeper is not looked at; a library beyond them is
// an error, for nothing there may be taken for gone.
const (
	maxDepth   = 4
	maxFolders = 100_000
	maxFiles   = 2_000_000
)

// settled is how old a folder's last change must be for its time to tell of the
// next one: a file system's clock ticks coarsely.
const settled = 2 * time.Second

// Stamp is how a file is known to be the one that was read before.
type Stamp struct {
	// Size is in bytes, Mod the time of its last change in nanoseconds since 1970.
	Size, Mod int64
}

func stampOf(st fs.FileInfo) Stamp { return Stamp{st.Size(), st.ModTime().UnixNano()} }

// folder is what is remembered of a folder between two looks.
type folder struct {
	mod  int64
	subs []string
	// sure is false when its time may not tell of the next change.
	sure bool
	// archives is true when it directly holds some, or other books; pictures is the stamp of those it
	// directly holds, of size 0 when it holds none.
	archives bool
	pictures Stamp
	// book is true when it is itself a chapter.
	book bool
}

// tree is the library as one look sees it. Paths are relative to its root, with
// forward slashes; the root itself is "".
type tree struct {
	// folders are all that are there, files those of the folders that were read,
	// by folder and name.
	folders map[string]folder
	files   map[string]map[string]Stamp
	// closed are folders that may not be read: nothing is known of them.
	closed []string
	// odd counts files whose names cannot be stored.
	odd int
}

// walker reads a tree. Folders that are known and have not changed are believed.
type walker struct {
	root  *os.Root
	known map[string]folder
	// again says of a folder that it is read though its time has not changed.
	again func(dir string) bool
	out   tree
	count int
}

// walk reads the tree below root. Links are never followed, hidden names never
// looked at.
func walk(ctx context.Context, root *os.Root, known map[string]folder, again func(string) bool) (tree, error) {
	w := &walker{root: root, known: known, again: again, out: tree{folders: map[string]folder{}, files: map[string]map[string]Stamp{}}}
	_, err := w.visit(ctx, "", 0)
	return w.out, err
}

// visit looks at a folder and those in it; holds is true when there is anything to
// read in them. A folder of pictures is a chapter when nothing else to read lies in
// it: beside archives or chapters its pictures are covers and the like.
func (w *walker) visit(ctx context.Context, dir string, depth int) (holds bool, err error) {
	f, there, err := w.folder(ctx, dir)
	if err != nil || !there {
		return false, err
	}
	holds = f.archives
	w.out.folders[dir] = f
	if depth < maxDepth {
		for _, name := range f.subs {
			below, err := w.visit(ctx, path.Join(dir, name), depth+1)
			if err != nil {
				return false, err
			}
			holds = holds || below
		}
	}
	f.book = dir != "" && !holds && f.pictures.Size > 0
	w.out.folders[dir] = f
	return holds || f.book, w.books(dir, f)
}

// books lists the chapters among the folders of a folder, with its files. Its own
// time does not tell of them, so that it is read when one of them has changed.
func (w *walker) books(dir string, f folder) error {
	files, read := w.out.files[dir]
	found := map[string]Stamp{}
	for _, name := range f.subs {
		sub := path.Join(dir, name)
		now, before := w.out.folders[sub], w.known[sub]
		if now.book {
			found[name] = now.pictures
		}
		if !read && (now.book != before.book || now.book && now.pictures != before.pictures) {
			if _, err := w.read(dir, atOf(dir)); err != nil {
				return w.unreadable(dir, err)
			}
			files, read = w.out.files[dir], true
		}
	}
	if read {
		maps.Copy(files, found)
	}
	return nil
}

// unreadable takes in that a folder cannot be read: nothing is known of one that is
// closed to us, and any other failure ends the look.
func (w *walker) unreadable(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) && dir != "" {
		w.out.closed = append(w.out.closed, dir)
		return nil
	}
	return durable.Classify("read", atOf(dir), err)
}

// atOf is a folder's name for the file system.
func atOf(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// folder looks at one folder, and reads it unless it is known and has not changed.
// there is false for one that is gone, a link or closed.
func (w *walker) folder(ctx context.Context, dir string) (f folder, there bool, err error) {
	if err := ctx.Err(); err != nil {
		return f, false, err
	}
	if len(w.out.folders) >= maxFolders {
		return f, false, fault.Newf(fault.Storage, "look at", "the library", "it has more than %d folders", maxFolders)
	}
	at := atOf(dir)
	st, err := w.root.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist) && dir != "":
		return f, false, nil // gone since its name was read
	case err == nil && !st.IsDir() && dir != "":
		return f, false, nil // a link by now
	case errors.Is(err, fs.ErrPermission) && dir != "":
		w.out.closed = append(w.out.closed, dir)
		return f, false, nil
	case err != nil:
		return f, false, durable.Classify("look at", at, err)
	}
	f, ok := w.known[dir]
	if !ok || !f.sure || f.mod != st.ModTime().UnixNano() || w.again(dir) {
		if f, err = w.read(dir, at); err != nil {
			return f, false, w.unreadable(dir, err)
		}
		f.mod, f.sure = st.ModTime().UnixNano(), time.Since(st.ModTime()) > settled
		f.pictures.Mod = max(f.pictures.Mod, f.mod)
	}
	return f, true, nil
}

// suffixes are the endings of the files that are looked into. What they are, their
// bytes say.
var suffixes = []string{".cbz", ".cbr", ".cb7", ".zip", ".rar", ".7z"}

// others are the endings of books that are not read here. A picture beside one is
// its cover and no chapter.
var others = []string{".pdf", ".epub", ".mobi", ".azw", ".azw3", ".cbt", ".djvu"}

// read lists one folder: its archives with their stamps, its folders, and what
// pictures it holds.
func (w *walker) read(dir, at string) (out folder, err error) {
	f, err := w.root.Open(at)
	if err != nil {
		return out, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	entries, err := f.ReadDir(-1)
	if err != nil {
		return out, err
	}
	files := map[string]Stamp{}
	for _, e := range entries {
		name := e.Name()
		archive := e.Type().IsRegular() && slices.Contains(suffixes, strings.ToLower(path.Ext(name)))
		picture := e.Type().IsRegular() && cbz.PictureName(name)
		switch {
		case e.Type().IsRegular() && !cbz.Litter(name) && slices.Contains(others, strings.ToLower(path.Ext(name))):
			out.archives = true
		case cbz.Litter(name), !archive && !picture && !e.IsDir():
		case !utf8.ValidString(name):
			// The database and the contract hold text; the file stays as it is.
			w.out.odd++
		case e.IsDir():
			out.subs = append(out.subs, name)
		default:
			st, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // gone since the folder was read
			}
			if err != nil {
				return out, err
			}
			if w.count++; w.count > maxFiles {
				return out, fault.Newf(fault.Storage, "look at", "the library", "it has more than %d files", maxFiles)
			}
			if picture {
				out.pictures.Size += st.Size()
				out.pictures.Mod = max(out.pictures.Mod, st.ModTime().UnixNano())
				continue
			}
			out.archives = true
			files[name] = stampOf(st)
		}
	}
	w.out.files[dir] = files
	return out, nil
}
