package cbz

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mangrove/internal/picture"
	"mangrove/internal/unreadable"
)

// Archive is an opened comic archive. It is safe for use by several goroutines
// if the io.ReaderAt below it is.
type Archive struct {
	// Pages are in natural order of their names.
	Pages []Page
	// Info is nil when there is no ComicInfo.xml that can be understood.
	Info *ComicInfo
	// Manifest is nil when the archive is not one of ours.
	Manifest *Manifest
	// Notes say in plain sentences what was left out or is wrong with a page.
	Notes []string

	files []*zip.File // by page
	// blame is why there is no page, once entries were left out.
	blame unreadable.Reason
}

// Page is one page of an Archive.
type Page struct {
	// Name is for people: it may stand twice, and is never a path to open.
	Name string
	// Offset is where the data starts within the file, and Size its length in
	// bytes, when Stored. Otherwise Size is the declared length once unpacked.
	Offset, Size int64
	// Stored is true when the bytes in the file are the page as it is.
	Stored bool
	// MediaType is one of those of picture.Info, by content.
	MediaType string
	// Width and Height are in pixels; both are zero when the page is broken,
	// and then a note says why.
	Width, Height int
}

// Open lists the archive in the first size bytes of f. An archive that cannot be
// read is an error of class invalid with a reason (package unreadable) that says
// why in one sentence; a failing disk is of class storage. Every entry that is an
// image by content is a page, but litter (__MACOSX, dot files) is left out. Pages that the manifest knows are
// believed as to size once their first bytes agree; others are read and walked
// once, here.
func Open(f io.ReaderAt, size int64) (*Archive, error) {
	const op = "open archive"
	disk := &diskReader{f: f, left: maxDirectory}
	z, err := zip.NewReader(disk, size)
	// An insecure name is a matter of the entry, judged below, whatever the
	// program's GODEBUG says.
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, notZip(op, f, size, err)
	}
	disk.left = -1
	a := &Archive{blame: unreadable.NoPages}
	candidates, err := a.candidates(op, z.File, size)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(candidates, func(x, y *zip.File) int { return CompareNames(x.Name, y.Name) })
	known := map[string]PageRecord{}
	if a.Manifest != nil {
		for _, record := range a.Manifest.Pages {
			known[record.Name] = record
		}
	}
	var buf bytes.Buffer
	for _, file := range candidates {
		page, ok, err := a.page(op, disk, file, known[file.Name], &buf)
		if err != nil {
			return nil, err
		}
		if ok {
			a.Pages = append(a.Pages, page)
			a.files = append(a.files, file)
		}
	}
	if len(a.Pages) == 0 {
		if len(a.Notes) > 0 {
			return nil, unreadable.New(a.blame, op, "the archive holds no page that can be shown: %s", a.Notes[0])
		}
		return nil, unreadable.New(unreadable.NoPages, op, "the archive holds no pages")
	}
	return a, nil
}

// OpenPage returns the bytes of page i, from zero, never more than it declares.
// A read error is of class invalid, or storage when the disk failed.
func (a *Archive) OpenPage(i int) (io.ReadCloser, error) {
	const op = "open page"
	if i < 0 || i >= len(a.Pages) {
		return nil, refused(op, "there is no page %d of %d", i+1, len(a.Pages))
	}
	return openEntry(op, a.files[i])
}

// candidates checks all entries against the limits, takes ComicInfo.xml and
// mangrove.json aside and returns those that may be pages.
func (a *Archive) candidates(op string, files []*zip.File, size int64) ([]*zip.File, error) {
	var out []*zip.File
	var info *zip.File
	if err := checkEntries(op, files); err != nil {
		return nil, err
	}
	if err := checkPlaces(op, files, size); err != nil {
		return nil, err
	}
	for _, f := range files {
		if Litter(f.Name) {
			continue
		}
		if !f.Mode().IsRegular() {
			a.note("%q is left out: it is no plain file", ShownName(f.Name))
			continue
		}
		switch base := baseName(f.Name); {
		case f.Name == ManifestName:
			m, err := readManifest(f)
			if err != nil {
				a.note("%v", err)
				continue
			}
			a.Manifest = m
		case strings.EqualFold(base, ComicInfoName):
			// Some makers put it in the only folder; the one at the top counts more.
			if info == nil || base == f.Name {
				info = f
			}
		default:
			out = append(out, f)
		}
	}
	if info != nil {
		var err error
		if a.Info, err = readInfo(info); err != nil {
			a.note("%v", err)
		}
	}
	return out, nil
}

// page looks at one candidate; ok is false when it is no image.
func (a *Archive) page(op string, disk io.ReaderAt, f *zip.File, record PageRecord, buf *bytes.Buffer) (p Page, ok bool, err error) {
	offset, err := f.DataOffset()
	if err != nil {
		return Page{}, false, broken(op, "an entry has no beginning", err)
	}
	p = Page{Name: ShownName(f.Name), Offset: offset, Size: int64(f.UncompressedSize64), Stored: f.Method == zip.Store}
	head := make([]byte, min(p.Size, 64))
	var r io.ReadCloser
	if p.Stored {
		_, err = disk.ReadAt(head, offset)
	} else if r, err = openEntry(op, f); err == nil {
		_, err = io.ReadFull(r, head)
		_ = r.Close() // nothing was written
	}
	if err != nil {
		if broken := broken(op, p.Name, err); isStorage(broken) {
			return Page{}, false, broken
		}
		a.note("%q is left out: it cannot be unpacked", p.Name)
		a.blame = unreadable.Corrupt
		return Page{}, false, nil
	}
	if p.MediaType = picture.Sniff(head); p.MediaType == "" {
		return Page{}, false, nil
	}
	if believable(record, p) {
		p.Width, p.Height = record.Width, record.Height
		return p, true, nil
	}
	info, err := walk(op, f, buf)
	if isStorage(err) {
		return Page{}, false, err
	}
	if err != nil {
		a.note("%q is broken: %v", p.Name, err)
		return p, true, nil
	}
	p.Width, p.Height = info.Width, info.Height
	return p, true, nil
}

// believable reports whether the manifest's record may stand for a walk of the
// page: a manifest comes from outside like the rest.
func believable(record PageRecord, p Page) bool {
	return p.Stored && record.Size == p.Size && record.MediaType == p.MediaType &&
		record.Width > 0 && record.Height > 0 && record.Width <= picture.MaxSide && record.Height <= picture.MaxSide &&
		record.Width*record.Height <= picture.MaxPixels
}

// walk reads one entry whole and checks the image in it.
func walk(op string, f *zip.File, buf *bytes.Buffer) (picture.Info, error) {
	if f.UncompressedSize64 > MaxPage {
		return picture.Info{}, refused(op, "%d bytes is over the limit of %d", f.UncompressedSize64, MaxPage)
	}
	r, err := openEntry(op, f)
	if err != nil {
		return picture.Info{}, err
	}
	defer func() { _ = r.Close() }() // nothing was written
	buf.Reset()
	if _, err := buf.ReadFrom(r); err != nil {
		return picture.Info{}, err
	}
	return picture.Check(buf.Bytes())
}

func readManifest(f *zip.File) (*Manifest, error) {
	const op = "read manifest"
	if f.UncompressedSize64 > maxManifest {
		return nil, refused(op, "it is over the limit of %d bytes", maxManifest)
	}
	r, err := openEntry(op, f)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // nothing was written
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, refused(op, "it is not understood: %w", err)
	}
	if m.Fingerprint == "" || len(m.Pages) > MaxEntries {
		return nil, refused(op, "it is not one of ours")
	}
	return &m, nil
}

// note keeps what went wrong without ending the work; a hostile archive cannot
// make the list long.
func (a *Archive) note(format string, args ...any) {
	if len(a.Notes) < 50 {
		a.Notes = append(a.Notes, fmt.Sprintf(format, args...))
	}
}

// OpenAt opens the page p that Open found in the archive in the first size bytes
// of f, and looks at no other one: its entry is known by where its data starts.
func OpenAt(f io.ReaderAt, size int64, p Page) (io.ReadCloser, error) {
	const op = "open page"
	disk := &diskReader{f: f, left: maxDirectory}
	z, err := zip.NewReader(disk, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, notZip(op, f, size, err)
	}
	disk.left = -1
	if err := checkEntries(op, z.File); err != nil {
		return nil, err
	}
	for _, e := range z.File {
		if int64(e.UncompressedSize64) != p.Size || p.Size > MaxPage || Litter(e.Name) {
			continue
		}
		offset, err := e.DataOffset()
		if err != nil {
			return nil, broken(op, "an entry has no beginning", err)
		}
		if offset == p.Offset {
			return openEntry(op, e)
		}
	}
	return nil, unreadable.New(unreadable.Corrupt, op, "%q is no longer where it was", p.Name)
}
