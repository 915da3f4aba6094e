package inventory

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
	"unicode/utf8"

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
	err := w.visit(ctx, "", 0)
	return w.out, err
}

func (w *walker) visit(ctx context.Context, dir string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(w.out.folders) >= maxFolders {
		return fault.Newf(fault.Storage, "look at", "the library", "it has more than %d folders", maxFolders)
	}
	at := dir
	if at == "" {
		at = "."
	}
	st, err := w.root.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist) && dir != "":
		return nil // gone since its name was read
	case err == nil && !st.IsDir() && dir != "":
		return nil // a link by now
	case errors.Is(err, fs.ErrPermission) && dir != "":
		w.out.closed = append(w.out.closed, dir)
		return nil
	case err != nil:
		return durable.Classify("look at", at, err)
	}
	f, ok := w.known[dir]
	if !ok || !f.sure || f.mod != st.ModTime().UnixNano() || w.again(dir) {
		f = folder{mod: st.ModTime().UnixNano(), sure: time.Since(st.ModTime()) > settled}
		if f.subs, err = w.read(dir, at); err != nil {
			if errors.Is(err, fs.ErrPermission) && dir != "" {
				w.out.closed = append(w.out.closed, dir)
				return nil
			}
			return durable.Classify("read", at, err)
		}
	}
	w.out.folders[dir] = f
	if depth == maxDepth {
		return nil
	}
	for _, name := range f.subs {
		if err := w.visit(ctx, path.Join(dir, name), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// read lists one folder: its archives with their stamps, and its folders.
func (w *walker) read(dir, at string) (subs []string, err error) {
	f, err := w.root.Open(at)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	files := map[string]Stamp{}
	for _, e := range entries {
		name := e.Name()
		archive := e.Type().IsRegular() && strings.EqualFold(path.Ext(name), ".cbz")
		switch {
		case strings.HasPrefix(name, "."), !archive && !e.IsDir():
		case !utf8.ValidString(name):
			// The database and the contract hold text; the file stays as it is.
			w.out.odd++
		case e.IsDir():
			subs = append(subs, name)
		default:
			st, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // gone since the folder was read
			}
			if err != nil {
				return nil, err
			}
			if w.count++; w.count > maxFiles {
				return nil, fault.Newf(fault.Storage, "look at", "the library", "it has more than %d files", maxFiles)
			}
			files[name] = stampOf(st)
		}
	}
	w.out.files[dir] = files
	return subs, nil
}
