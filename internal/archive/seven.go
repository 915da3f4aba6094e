package archive

import (
	"errors"
	"io"

	"github.com/bodgit/sevenzip"

	"mangrove/internal/unreadable"
)

// seven reads 7z archives.
type seven struct {
	s     *source
	files []*sevenzip.File
}

// list checks the header with our own eyes before the library sees it: it makes
// room for whatever a header claims.
func (z *seven) list() ([]entry, error) {
	const op = "list archive"
	if err := checkSeven(z.s.disk(-1), z.s.size); err != nil {
		return nil, z.s.packedFailed(op, err)
	}
	r, err := sevenzip.NewReader(z.s.disk(-1), z.s.size)
	if err != nil {
		return nil, z.s.packedFailed(op, err)
	}
	z.files = r.File
	list := make([]entry, 0, len(r.File))
	for _, f := range r.File {
		size := int64(-1)
		if f.UncompressedSize < 1<<62 {
			size = int64(f.UncompressedSize)
		}
		list = append(list, entry{name: f.Name, size: size, crc: f.CRC32, plain: f.Mode().IsRegular()})
	}
	return list, nil
}

// each opens the wanted entries in turn; the library keeps the place in a solid
// block from one to the next, so that none is unpacked twice.
func (z *seven) each(wanted func(int) bool, visit func(int, io.Reader) error) error {
	for i, f := range z.files {
		if !wanted(i) {
			continue
		}
		r, err := f.Open()
		if err != nil {
			// The other blocks of the archive may still be good.
			err = visit(i, failedReader{err})
		} else {
			err = errors.Join(visit(i, r), r.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// failedReader answers every read with the error of an entry that does not open.
type failedReader struct{ err error }

func (f failedReader) Read([]byte) (int, error) { return 0, f.err }

// sevenReason classifies an error of the library.
func sevenReason(err error) unreadable.Reason {
	var read *sevenzip.ReadError
	if errors.As(err, &read) && read.Encrypted {
		return unreadable.Encrypted
	}
	return unreadable.Corrupt
}
