package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mangrove/internal/cbz"
	"mangrove/internal/picture"
	"mangrove/internal/unreadable"
)

// entry is one entry of a RAR or 7z archive, in the order in which they lie.
type entry struct {
	name string
	// size is in bytes once unpacked, -1 when it is not known.
	size int64
	crc  uint32
	// plain is false for folders and links.
	plain bool
}

// packed is a RAR or 7z archive: its entries can only be read one after another.
type packed interface {
	// list names all entries and unpacks none.
	list() ([]entry, error)
	// each unpacks the wanted entries in the order in which they lie.
	each(wanted func(i int) bool, visit func(i int, r io.Reader) error) error
}

func (s *source) packed() packed {
	if s.kind == RAR {
		return &rar{s: s}
	}
	return &seven{s: s}
}

// listed lists an archive and holds the list against the limits.
func (s *source) listed(op string) (p packed, list []entry, err error) {
	p = s.packed()
	err = guard(op, func() error {
		list, err = p.list()
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if len(list) > cbz.MaxEntries {
		return nil, nil, unreadable.New(unreadable.TooLarge, op, "%d entries is over the limit of %d", len(list), cbz.MaxEntries)
	}
	var total int64
	names := make([]string, 0, len(list))
	for _, e := range list {
		if depth(e.name) > maxDepth {
			return nil, nil, unreadable.New(unreadable.TooLarge, op, "%q lies more than %d folders deep", cbz.ShownName(e.name), maxDepth)
		}
		if total += max(e.size, 0); e.size > cbz.MaxTotal || total > cbz.MaxTotal {
			return nil, nil, unreadable.New(unreadable.TooLarge, op, "its entries declare more than the limit of %d bytes", cbz.MaxTotal)
		}
		if e.plain {
			names = append(names, e.name)
		}
	}
	// A little over what the smallest pictures pack to.
	if total/cbz.MaxRatio > s.size+100<<10 {
		return nil, nil, unreadable.New(unreadable.TooLarge, op, "it unpacks to more than %d times its size", cbz.MaxRatio)
	}
	return p, list, cbz.CheckNames(op, names)
}

// candidate reports whether an entry may be a page.
func candidate(e entry) bool {
	return e.plain && e.size != 0 && e.size <= cbz.MaxPage && !cbz.Litter(e.name) && !isInfo(e.name)
}

func isInfo(name string) bool {
	return strings.EqualFold(name[strings.LastIndexAny(name, `/\`)+1:], cbz.ComicInfoName)
}

// peekPacked implements Peek. The first page's first bytes are unpacked: an
// archive that needs a password shows it there.
func peekPacked(ctx context.Context, s *source) (id cbz.Identity, err error) {
	const op = "look at archive"
	p, list, err := s.listed(op)
	if err != nil {
		return id, err
	}
	first, info, before := -1, -1, int64(0)
	for i, e := range list {
		switch {
		case e.plain && isInfo(e.name) && !cbz.Litter(e.name):
			if info < 0 && before <= maxBefore && e.size <= maxInfo {
				info = i
			}
		case candidate(e) && cbz.PictureName(e.name):
			id.Pages++
			if first < 0 {
				first = i
			}
		}
		before += max(e.size, 0)
	}
	if id.Pages == 0 {
		return id, unreadable.New(unreadable.NoPages, op, "the archive holds no pages")
	}
	err = guard(op, func() error {
		return p.each(func(i int) bool { return i == first || i == info }, func(i int, r io.Reader) error {
			if i == info {
				// An odd one is no reason to refuse the pages.
				id.Info, _ = cbz.ParseComicInfo(io.LimitReader(r, maxInfo+1))
			} else if _, err := io.ReadFull(r, make([]byte, min(list[i].size, 64))); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				return err
			}
			if i >= first && i >= info {
				return errEnough
			}
			return ctx.Err()
		})
	})
	if err != nil && !errors.Is(err, errEnough) {
		return id, s.packedFailed(op, err)
	}
	id.Digest, err = s.digest(list)
	return id, err
}

// errEnough ends a way through an archive early.
var errEnough = errors.New("enough was read")

// digest is what an archive without checksums of its own is known by: its list,
// its size, and its first and last bytes.
func (s *source) digest(list []entry) (string, error) {
	h := sha256.New()
	for _, e := range list {
		_, _ = fmt.Fprintf(h, "%q %d %d\n", e.name, e.size, e.crc) // a hash cannot fail
	}
	_ = binary.Write(h, binary.BigEndian, s.size)
	d := s.disk(-1)
	for _, at := range []int64{0, max(0, s.size-64<<10)} {
		if _, err := io.Copy(h, io.NewSectionReader(d, at, 64<<10)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// indexPacked implements Index: one way through the archive, each picture walked.
func indexPacked(ctx context.Context, s *source) (pages []cbz.Page, notes []string, err error) {
	const op = "open archive"
	p, list, err := s.listed(op)
	if err != nil {
		return nil, nil, err
	}
	note := func(format string, args ...any) {
		if len(notes) < 50 {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	for _, e := range list {
		if e.plain && e.size > cbz.MaxPage && !cbz.Litter(e.name) {
			note("%q is left out: %d bytes is over the limit of %d", cbz.ShownName(e.name), e.size, cbz.MaxPage)
		}
	}
	var buf bytes.Buffer
	names := map[int64]string{}
	bad := 0
	err = guard(op, func() error {
		return p.each(func(i int) bool { return candidate(list[i]) }, func(i int, r io.Reader) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			media, err := readPicture(r, &buf)
			if err != nil {
				if s.fatal(err) {
					return err
				}
				bad++
				note("%q is left out: it cannot be unpacked", cbz.ShownName(list[i].name))
				return nil
			}
			if media == "" {
				return nil
			}
			page := cbz.Page{Name: cbz.ShownName(list[i].name), Offset: int64(i), Size: int64(buf.Len()), MediaType: media}
			if info, err := picture.Check(buf.Bytes()); err == nil {
				page.Width, page.Height = info.Width, info.Height
			} else {
				note("%q is broken: %v", page.Name, err)
			}
			names[page.Offset] = list[i].name
			pages = append(pages, page)
			return nil
		})
	})
	if err != nil {
		return nil, nil, s.packedFailed(op, err)
	}
	if len(pages) == 0 {
		if bad > 0 {
			return nil, nil, unreadable.New(unreadable.Corrupt, op, "none of its entries can be unpacked")
		}
		return nil, nil, unreadable.New(unreadable.NoPages, op, "the archive holds no pages")
	}
	slices.SortStableFunc(pages, func(a, b cbz.Page) int { return cbz.CompareNames(names[a.Offset], names[b.Offset]) })
	return pages, notes, nil
}

// readPicture reads an entry into buf, whole if it is a picture, and says of what
// media type: "" for anything else.
func readPicture(r io.Reader, buf *bytes.Buffer) (media string, err error) {
	buf.Reset()
	if _, err := io.CopyN(buf, r, 64); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if media = picture.Sniff(buf.Bytes()); media == "" {
		return "", nil
	}
	if _, err := buf.ReadFrom(io.LimitReader(r, cbz.MaxPage+1-int64(buf.Len()))); err != nil {
		return "", err
	}
	if buf.Len() > cbz.MaxPage {
		return "", unreadable.New(unreadable.TooLarge, "read page", "it is over the limit of %d bytes", cbz.MaxPage)
	}
	return media, nil
}

// readPacked implements OpenPage.
func readPacked(ctx context.Context, s *source, page cbz.Page) (io.ReadCloser, error) {
	const op = "open page"
	var buf bytes.Buffer
	var media string
	p, list, err := s.listed(op)
	if err != nil {
		return nil, err
	}
	if page.Offset < 0 || page.Offset >= int64(len(list)) || !candidate(list[page.Offset]) {
		return nil, unreadable.New(unreadable.Corrupt, op, "there is no entry %d", page.Offset)
	}
	err = guard(op, func() error {
		return p.each(func(i int) bool { return int64(i) == page.Offset }, func(_ int, r io.Reader) (err error) {
			if media, err = readPicture(r, &buf); err != nil {
				return err
			}
			return errors.Join(errEnough, ctx.Err())
		})
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && !errors.Is(err, errEnough):
		return nil, s.packedFailed(op, err)
	case int64(buf.Len()) != page.Size || media != page.MediaType:
		return nil, unreadable.New(unreadable.Corrupt, op, "entry %d is no longer what it was", page.Offset)
	}
	return io.NopCloser(&buf), nil
}

// unpack implements Unpack.
func unpack(ctx context.Context, s *source, visit func(offset int64, r io.Reader) error) error {
	const op = "unpack archive"
	p, list, err := s.listed(op)
	if err != nil {
		return err
	}
	err = guard(op, func() error {
		return p.each(func(i int) bool { return candidate(list[i]) }, func(i int, r io.Reader) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return visit(int64(i), io.LimitReader(r, cbz.MaxPage))
		})
	})
	if err != nil {
		return s.packedFailed(op, err)
	}
	return nil
}

// fatal reports whether an error concerns more than the entry it was met in.
func (s *source) fatal(err error) bool {
	return isStorage(err) || s.reasonOf(err) != unreadable.Corrupt
}

// reasonOf classifies an error of a library.
func (s *source) reasonOf(err error) unreadable.Reason {
	switch {
	case unreadable.Of(err) != "":
		return unreadable.Of(err)
	case errors.Is(err, errListing):
		return unreadable.TooLarge
	case s.kind == RAR:
		return rarReason(err)
	}
	return sevenReason(err)
}

// packedFailed classifies an error of a way through an archive, once.
func (s *source) packedFailed(op string, err error) error {
	if isStorage(err) || unreadable.Of(err) != "" || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return unreadable.New(s.reasonOf(err), op, "%w", err)
}
