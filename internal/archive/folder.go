package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"mangrove/internal/cbz"
	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/internal/picture"
	"mangrove/internal/unreadable"
)

// pictureFile is one file of a folder that may be a page.
type pictureFile struct {
	name string
	size int64
}

// pictures lists the plain files directly in a folder, in natural order, without
// litter, links and folders.
func (s *source) pictures(op string) (list []pictureFile, info string, err error) {
	entries, err := s.file.ReadDir(cbz.MaxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", durable.Classify("read", s.name, err)
	}
	if len(entries) > cbz.MaxEntries {
		return nil, "", unreadable.New(unreadable.TooLarge, op, "more than %d files", cbz.MaxEntries)
	}
	var total int64
	for _, e := range entries {
		if !e.Type().IsRegular() || cbz.Litter(e.Name()) {
			continue
		}
		if isInfo(e.Name()) {
			info = e.Name()
			continue
		}
		st, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone since the folder was read
		}
		if err != nil {
			return nil, "", durable.Classify("look at", path.Join(s.name, e.Name()), err)
		}
		if total += st.Size(); total > cbz.MaxTotal {
			return nil, "", unreadable.New(unreadable.TooLarge, op, "its files have more than %d bytes", cbz.MaxTotal)
		}
		if st.Size() > 0 {
			list = append(list, pictureFile{e.Name(), st.Size()})
		}
	}
	slices.SortFunc(list, func(a, b pictureFile) int { return cbz.CompareNames(a.name, b.name) })
	return list, info, nil
}

// openFile opens one plain file of a folder, never through a link.
func (s *source) openFile(name string) (*os.File, error) {
	p := path.Join(s.name, name)
	if st, err := s.root.Lstat(p); err != nil {
		return nil, fault.New(fault.NotFound, "open", p, err)
	} else if !st.Mode().IsRegular() {
		return nil, fault.Newf(fault.Invalid, "open", p, "it is no plain file")
	}
	f, err := s.root.Open(p)
	if err != nil {
		return nil, durable.Classify("open", p, err)
	}
	return f, nil
}

// peekFolder implements Peek. What a folder is known by is made of the names and
// sizes of its pictures, and of how each begins and ends.
func peekFolder(ctx context.Context, s *source) (id cbz.Identity, err error) {
	const op = "look at folder"
	list, info, err := s.pictures(op)
	if err != nil {
		return id, err
	}
	h := sha256.New()
	for _, p := range list {
		if !cbz.PictureName(p.name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return id, err
		}
		id.Pages++
		_, _ = fmt.Fprintf(h, "%q %d\n", p.name, p.size) // a hash cannot fail
		if err := s.ends(h, p); err != nil {
			return id, err
		}
	}
	if id.Pages == 0 {
		return id, unreadable.New(unreadable.NoPages, op, "the folder holds no pages")
	}
	id.Digest = hex.EncodeToString(h.Sum(nil))
	if info == "" {
		return id, nil
	}
	f, err := s.openFile(info)
	if err != nil {
		return id, nil // it is not needed
	}
	defer func() { _ = f.Close() }() // nothing was written
	// An odd one is no reason to refuse the pages.
	id.Info, _ = cbz.ParseComicInfo(io.LimitReader(f, maxInfo+1))
	return id, nil
}

// ends writes the first and the last bytes of a file.
func (s *source) ends(w io.Writer, p pictureFile) error {
	f, err := s.openFile(p.name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // nothing was written
	for _, at := range []int64{0, max(0, p.size-4<<10)} {
		if _, err := io.Copy(w, io.NewSectionReader(f, at, 4<<10)); err != nil {
			return durable.Classify("read", path.Join(s.name, p.name), err)
		}
	}
	return nil
}

// indexFolder implements Index.
func indexFolder(ctx context.Context, s *source) (pages []cbz.Page, notes []string, err error) {
	const op = "open folder"
	list, _, err := s.pictures(op)
	if err != nil {
		return nil, nil, err
	}
	var buf bytes.Buffer
	for _, p := range list {
		if !cbz.PictureName(p.name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		f, err := s.openFile(p.name)
		if err != nil {
			return nil, nil, err
		}
		media, err := readPicture(f, &buf)
		_ = f.Close() // nothing was written
		switch {
		case unreadable.Of(err) != "":
			notes = append(notes, fmt.Sprintf("%q is left out: %v", cbz.ShownName(p.name), err))
			continue
		case err != nil:
			return nil, nil, durable.Classify("read", path.Join(s.name, p.name), err)
		case media == "":
			continue
		}
		page := cbz.Page{Name: p.name, Size: int64(buf.Len()), MediaType: media}
		if info, err := picture.Check(buf.Bytes()); err == nil {
			page.Width, page.Height = info.Width, info.Height
		} else if len(notes) < 50 {
			notes = append(notes, fmt.Sprintf("%q is broken: %v", cbz.ShownName(p.name), err))
		}
		if cbz.ShownName(page.Name) != page.Name {
			notes = append(notes, fmt.Sprintf("%q is left out: its name cannot be stored", cbz.ShownName(p.name)))
			continue
		}
		pages = append(pages, page)
	}
	if len(pages) == 0 {
		return nil, nil, unreadable.New(unreadable.NoPages, op, "the folder holds no pages")
	}
	return pages, notes, nil
}

// openPicture implements OpenPage. The name of a page of a folder comes from the
// folder itself, yet it is never joined to another path than that of one file.
func openPicture(s *source, p cbz.Page) (io.ReadCloser, error) {
	if strings.ContainsAny(p.Name, `/\`) || cbz.Litter(p.Name) || cbz.UnsafeName(p.Name) != "" {
		return nil, unreadable.New(unreadable.UnsafeNames, "open page", "%q is no name of a page", cbz.ShownName(p.Name))
	}
	f, err := s.openFile(p.Name)
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err != nil || st.Size() != p.Size {
		_ = f.Close() // nothing was written
		return nil, unreadable.New(unreadable.Corrupt, "open page", "%q is no longer what it was", p.Name)
	}
	return f, nil
}
