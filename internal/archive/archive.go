// Package archive reads comic archives made by others: ZIP, RAR and 7z, and
// folders of pictures, each known by its bytes and never by its name's ending. It
// lists pages in natural order, leaves litter out, and says in one word (package
// unreadable) why one cannot be read. Everything in an archive is hostile: entries,
// sizes, ratios, depths and dictionaries are bounded before they are believed, and
// no name from inside one becomes a path. It refuses to write, to extract, to try
// passwords, to look for the other parts of a set, and to open what lies inside
// another archive.
package archive

import (
	"context"
	"io"
	"os"

	"mangrove/internal/cbz"
	"mangrove/internal/unreadable"
)

// Kind is the word for what holds the pages, as stored in the database.
type Kind string

// The words.
const (
	ZIP      Kind = "zip"
	RAR      Kind = "rar"
	SevenZip Kind = "7z"
	Folder   Kind = "folder"
)

// Kinds lists every word once.
func Kinds() []Kind { return []Kind{ZIP, RAR, SevenZip, Folder} }

// The limits beside those of package cbz, which hold for every kind.
const (
	// maxDepth is how many folders deep an entry may lie.
	maxDepth = 128
	// maxDictionary is the most memory that unpacking may ask for at once.
	maxDictionary = 256 << 20
	// maxListing bounds the bytes read to list a RAR archive, whose headers lie
	// between its files.
	maxListing = 16 << 20
	// maxBefore bounds what is unpacked only to come to a ComicInfo.xml.
	maxBefore = 64 << 20
	// maxInfo is the longest ComicInfo.xml.
	maxInfo = 1 << 20
)

// Identity is what lies at a name, as far as its list of entries tells.
type Identity struct {
	cbz.Identity
	Kind Kind
}

// Contents are the pages of what lies at a name.
type Contents struct {
	Kind Kind
	// Pages are in natural order. The Offset of a page of a RAR or 7z archive is the
	// number of its entry, from zero; a page of a folder has none.
	Pages []cbz.Page
	// Notes say in plain sentences what was left out or is wrong with a page.
	Notes []string
}

// Peek looks at the archive or folder called name below root and reads no page
// whole, so that a library of many is looked through quickly. What cannot be read
// is of class invalid with a reason (package unreadable), what is gone of class
// not-found; a failing disk is of class storage. The kind is told with an error
// too, where it is known.
func Peek(ctx context.Context, root *os.Root, name string) (Identity, error) {
	s, err := open(root, name)
	if err != nil {
		return Identity{}, err
	}
	defer s.close()
	id := Identity{Kind: s.kind}
	switch s.kind {
	case Folder:
		id.Identity, err = peekFolder(ctx, s)
	case RAR, SevenZip:
		id.Identity, err = peekPacked(ctx, s)
	default:
		id.Identity, err = cbz.Peek(s.file, s.size)
	}
	return id, err
}

// Index finds the pages of the archive or folder called name below root, and
// walks each of them once. Errors are as Peek's.
func Index(ctx context.Context, root *os.Root, name string) (Contents, error) {
	s, err := open(root, name)
	if err != nil {
		return Contents{}, err
	}
	defer s.close()
	c := Contents{Kind: s.kind}
	switch s.kind {
	case Folder:
		c.Pages, c.Notes, err = indexFolder(ctx, s)
	case RAR, SevenZip:
		c.Pages, c.Notes, err = indexPacked(ctx, s)
	default:
		a, openErr := cbz.Open(s.file, s.size)
		if openErr != nil {
			return c, openErr
		}
		c.Pages, c.Notes = a.Pages, a.Notes
	}
	return c, err
}

// KindOf is the kind of what lies at name below root.
func KindOf(root *os.Root, name string) (Kind, error) {
	s, err := open(root, name)
	if err != nil {
		return "", err
	}
	s.close()
	return s.kind, nil
}

// OpenPage opens one page that Index found. A RAR or 7z archive is
// gone through up to its entry: for reading on, Unpack goes through it once. What
// is no longer as it was is of class invalid.
func OpenPage(ctx context.Context, root *os.Root, name string, p cbz.Page) (io.ReadCloser, error) {
	s, err := open(root, name)
	if err != nil {
		return nil, err
	}
	var r io.ReadCloser
	switch s.kind {
	case Folder:
		defer s.close()
		return openPicture(s, p)
	case RAR, SevenZip:
		defer s.close()
		return readPacked(ctx, s, p)
	default:
		r, err = cbz.OpenAt(s.file, s.size, p)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return &pageReader{r, s}, nil
}

// Unpack goes once through the RAR or 7z archive called name below root, in the
// order in which its entries lie, and hands each that may be a page to visit with
// the Offset that its page has. What visit leaves unread is skipped; its error ends
// the work.
func Unpack(ctx context.Context, root *os.Root, name string, visit func(offset int64, r io.Reader) error) error {
	s, err := open(root, name)
	if err != nil {
		return err
	}
	defer s.close()
	if s.kind != RAR && s.kind != SevenZip {
		return unreadable.New(unreadable.NotAnArchive, "unpack", "it is no RAR or 7z archive")
	}
	return unpack(ctx, s, visit)
}

// pageReader closes the archive with the page.
type pageReader struct {
	io.ReadCloser
	s *source
}

func (p *pageReader) Close() error {
	defer p.s.close()
	return p.ReadCloser.Close()
}
