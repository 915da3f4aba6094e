package cbz

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"

	"mangrove/internal/fault"
	"mangrove/internal/unreadable"
)

// checkEntries holds what the list of entries says against the limits, and reads
// nothing of the entries themselves.
func checkEntries(op string, files []*zip.File) error {
	if len(files) > MaxEntries {
		return unreadable.New(unreadable.TooLarge, op, "%d entries is over the limit of %d", len(files), MaxEntries)
	}
	var total uint64
	names := make([]string, 0, len(files))
	for _, f := range files {
		name := ShownName(f.Name)
		if f.UncompressedSize64 > MaxTotal || total+f.UncompressedSize64 > MaxTotal {
			return unreadable.New(unreadable.TooLarge, op, "its entries declare more than the limit of %d bytes", MaxTotal)
		}
		total += f.UncompressedSize64
		if f.Method == zip.Store && f.Flags&1 == 0 && f.CompressedSize64 != f.UncompressedSize64 {
			return unreadable.New(unreadable.Corrupt, op, "%q lies about its size", name)
		}
		if f.UncompressedSize64 > ratioFloor && f.UncompressedSize64/MaxRatio > f.CompressedSize64 {
			return unreadable.New(unreadable.TooLarge, op, "%q unpacks to more than %d times its size", name, MaxRatio)
		}
		if Litter(f.Name) || !f.Mode().IsRegular() {
			continue
		}
		if f.Flags&1 != 0 {
			return unreadable.New(unreadable.Encrypted, op, "the archive is encrypted")
		}
		if f.Method != zip.Store && f.Method != zip.Deflate {
			return unreadable.New(unreadable.Unsupported, op, "%q is packed by method %d, which is not supported", name, f.Method)
		}
		names = append(names, f.Name)
	}
	return CheckNames(op, names)
}

// CheckNames refuses an archive with an entry whose name reaches out of it, or with
// two entries of one name: which of them is meant, nobody can tell. Litter may be
// called as it likes.
func CheckNames(op string, names []string) error {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if Litter(name) {
			continue
		}
		if why := UnsafeName(name); why != "" {
			return unreadable.New(unreadable.UnsafeNames, op, "the name of %q has %s", ShownName(name), why)
		}
		key := slashed(name)
		if seen[key] {
			return unreadable.New(unreadable.DuplicateNames, op, "%q is in it twice", ShownName(name))
		}
		seen[key] = true
	}
	return nil
}

// checkPlaces holds where the entries lie against each other: entries that share
// bytes are how a small archive unpacks to a huge one.
func checkPlaces(op string, files []*zip.File, size int64) error {
	type span struct{ start, end int64 }
	var spans []span
	for _, f := range files {
		if f.CompressedSize64 == 0 {
			continue
		}
		start, err := f.DataOffset()
		if err != nil {
			return broken(op, "an entry has no beginning", err)
		}
		if f.CompressedSize64 > uint64(size) || start > size-int64(f.CompressedSize64) {
			return unreadable.New(unreadable.Corrupt, op, "%q reaches past the end of the archive", ShownName(f.Name))
		}
		// 30 bytes and the name are the least that a local header takes.
		spans = append(spans, span{start - 30 - int64(len(f.Name)), start + int64(f.CompressedSize64)})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	for i := 1; i < len(spans); i++ {
		if spans[i].start < spans[i-1].end {
			return unreadable.New(unreadable.Corrupt, op, "two entries share the same bytes")
		}
	}
	return nil
}

// notZip words the error of an archive that cannot be listed.
func notZip(op string, f io.ReaderAt, size int64, err error) error {
	if isStorage(err) {
		return err
	}
	if errors.Is(err, errTooLong) {
		return unreadable.New(unreadable.TooLarge, op, "the list of entries is over the limit of %d bytes", maxDirectory)
	}
	head := make([]byte, min(size, 8))
	n, _ := f.ReadAt(head, 0) // only to word the error
	head = head[:n]
	switch {
	case size == 0:
		return unreadable.New(unreadable.Empty, op, "the archive is empty")
	case bytes.HasPrefix(head, []byte("Rar!")):
		return unreadable.New(unreadable.NotAnArchive, op, "not a ZIP but a RAR archive")
	case bytes.HasPrefix(head, []byte("7z\xbc\xaf\x27\x1c")):
		return unreadable.New(unreadable.NotAnArchive, op, "not a ZIP but a 7z archive")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return unreadable.New(unreadable.Corrupt, op, "the archive is damaged or cut short: %w", err)
	}
	return unreadable.New(unreadable.NotAnArchive, op, "not a ZIP archive: %w", err)
}

// openEntry opens one entry for reading, bounded by the size it declares.
func openEntry(op string, f *zip.File) (io.ReadCloser, error) {
	r, err := f.Open()
	if err != nil {
		return nil, broken(op, "an entry cannot be opened", err)
	}
	return &entryReader{op: op, r: r, left: f.UncompressedSize64}, nil
}

// entryReader gives out at most the declared bytes of an entry, and an error of
// ours when there are more, fewer, or other ones than the checksum says.
type entryReader struct {
	op   string
	r    io.ReadCloser
	left uint64
}

func (e *entryReader) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if uint64(n) > e.left {
		return 0, unreadable.New(unreadable.Corrupt, e.op, "an entry is larger than it declares")
	}
	e.left -= uint64(n)
	if err != nil && err != io.EOF {
		return n, broken(e.op, "an entry cannot be unpacked", err)
	}
	return n, err
}

func (e *entryReader) Close() error { return e.r.Close() }

// errTooLong says that listing the archive took more bytes than it may.
var errTooLong = errors.New("the list of entries is too long")

// diskReader marks the errors of the disk, so that they are not taken for
// damage, and bounds what is read while the archive is listed: a directory can
// be made to list a million entries in a few MiB.
type diskReader struct {
	f    io.ReaderAt
	left int64 // bytes that may still be read; negative means no bound
}

func (d *diskReader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 { // the archive sent us there, the disk is innocent
		return 0, zip.ErrFormat
	}
	if d.left >= 0 {
		if int64(len(p)) > d.left {
			return 0, errTooLong
		}
		d.left -= int64(len(p))
	}
	n, err := d.f.ReadAt(p, off)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		err = storage("read archive", err)
	}
	return n, err
}

func isStorage(err error) bool { return fault.Is(err, fault.Storage) }
