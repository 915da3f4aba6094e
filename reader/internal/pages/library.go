// Package pages serves the pages of a book out of its file: stored entries
// straight from the file by range, so that the kernel copies them, others
// unpacked; and covers, made once from a first page. It opens files only inside
// the library folder (os.Root) and writes only into its own folders of covers and
// of unpacked pages. It refuses to decide who may look.
package pages

import (
	"context"
	"errors"
	"io"
	"os"

	"mangrove/internal/archive"
	"mangrove/internal/cbz"
	"mangrove/internal/durable"
	"mangrove/reader/internal/catalog"
)

// Library opens files of the library folder. The folder may be away for a
// while (a network drive), so it is opened anew each time.
type Library struct {
	dir string
	// unpacked keeps the pages of RAR and 7z archives; without one each is unpacked
	// anew.
	unpacked *Unpacked
}

// NewLibrary answers the library in dir.
func NewLibrary(dir string) *Library { return &Library{dir: dir} }

// Open opens one file of the library; nothing outside the folder is reached,
// whatever path says and wherever links point.
func (l *Library) Open(path string) (*os.File, error) {
	root, err := l.root()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	f, err := root.Open(path)
	if err != nil {
		return nil, durable.Classify("open", path, err)
	}
	return f, nil
}

func (l *Library) root() (*os.Root, error) {
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return nil, durable.Classify("open", "the library folder", err)
	}
	return root, nil
}

// Index finds the pages in the comic archive, or the folder of pictures, at path.
// One that cannot be read is of class invalid with a reason (package unreadable).
func (l *Library) Index(ctx context.Context, path string) ([]catalog.Page, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	root, err := l.root()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	found, err := archive.Index(ctx, root, path)
	if err != nil {
		return nil, err
	}
	out := make([]catalog.Page, 0, len(found.Pages))
	for i, p := range found.Pages {
		out = append(out, catalog.Page{
			Position: i, Name: p.Name, Offset: p.Offset, Size: p.Size, Stored: p.Stored, MediaType: p.MediaType,
			Width: p.Width, Height: p.Height,
		})
	}
	return out, nil
}

// open opens a page that does not lie in its file as it is.
func (l *Library) open(ctx context.Context, p catalog.Placed) (io.ReadCloser, error) {
	root, err := l.root()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return archive.OpenPage(ctx, root, p.Path, cbz.Page{Name: p.Name, Offset: p.Offset, Size: p.Size, MediaType: p.MediaType})
}

// forReading is open for somebody who reads on: the next pages are asked for soon,
// and a RAR or 7z archive is gone through once for all of them.
func (l *Library) forReading(ctx context.Context, p catalog.Placed) (io.ReadCloser, error) {
	if l.unpacked == nil {
		return l.open(ctx, p)
	}
	if f, err := lookUp(l.unpacked.folder(p), p); err == nil {
		return f, nil
	}
	root, err := l.root()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	kind, err := archive.KindOf(root, p.Path)
	if err != nil {
		return nil, err
	}
	if kind != archive.RAR && kind != archive.SevenZip {
		return l.open(ctx, p)
	}
	f, err := l.unpacked.open(ctx, l, p)
	if errors.Is(err, errNoRoom) {
		return l.open(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}
