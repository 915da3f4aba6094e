// Package pages serves the pages of a book out of its file: stored entries
// straight from the file by range, so that the kernel copies them, others
// streamed; and covers, made once from a first page. It opens files only inside
// the library folder (os.Root) and writes only into its own covers folder. It
// refuses to decide who may look.
package pages

import (
	"context"
	"os"

	"mangrove/internal/cbz"
	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/reader/internal/catalog"
)

// Library opens files of the library folder. The folder may be away for a
// while (a network drive), so it is opened anew each time.
type Library struct{ dir string }

// NewLibrary answers the library in dir.
func NewLibrary(dir string) *Library { return &Library{dir} }

// Open opens one file of the library; nothing outside the folder is reached,
// whatever path says and wherever links point.
func (l *Library) Open(path string) (*os.File, error) {
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return nil, durable.Classify("open", "the library folder", err)
	}
	defer func() { _ = root.Close() }()
	f, err := root.Open(path)
	if err != nil {
		return nil, durable.Classify("open", path, err)
	}
	return f, nil
}

// Index finds the pages in the comic archive at path.
func (l *Library) Index(ctx context.Context, path string) ([]catalog.Page, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, archive, err := l.archive(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if len(archive.Pages) == 0 {
		return nil, fault.Newf(fault.Page, "read", path, "no page in it")
	}
	out := make([]catalog.Page, 0, len(archive.Pages))
	for i, p := range archive.Pages {
		out = append(out, catalog.Page{
			Position: i, Name: p.Name, Offset: p.Offset, Size: p.Size, Stored: p.Stored, MediaType: p.MediaType,
			Width: p.Width, Height: p.Height,
		})
	}
	return out, nil
}

func (l *Library) archive(path string) (*os.File, *cbz.Archive, error) {
	f, err := l.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, nil, durable.Classify("open", path, err)
	}
	archive, err := cbz.Open(f, info.Size())
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, archive, nil
}
