package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/internal/unreadable"
)

// source is an opened file or folder.
type source struct {
	root *os.Root
	name string
	kind Kind
	file *os.File
	size int64
}

func (s *source) close() { _ = s.file.Close() } // nothing was written

// open opens what lies at name and looks at its first bytes. A link is not
// followed out of root.
func open(root *os.Root, name string) (*source, error) {
	f, err := root.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil, fault.New(fault.NotFound, "open", name, err)
	case err != nil:
		return nil, durable.Classify("open", name, err)
	}
	st, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, durable.Classify("look at", name, err)
	}
	s := &source{root: root, name: name, file: f, size: st.Size()}
	switch {
	case st.IsDir():
		s.kind = Folder
	case !st.Mode().IsRegular():
		s.close()
		return nil, fault.Newf(fault.Invalid, "open", name, "it is no plain file")
	default:
		head := make([]byte, 8)
		n, err := f.ReadAt(head, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			s.close()
			return nil, durable.Classify("read", name, err)
		}
		s.kind = kindOf(head[:n])
	}
	return s, nil
}

// kindOf knows an archive by its first bytes. What is neither RAR nor 7z is tried
// as a ZIP, which may begin with anything.
func kindOf(head []byte) Kind {
	switch {
	case bytes.HasPrefix(head, []byte("Rar!\x1a\x07")):
		return RAR
	case bytes.HasPrefix(head, []byte(sevenMagic)):
		return SevenZip
	}
	return ZIP
}

// errListing says that listing an archive took more bytes than it may.
var errListing = errors.New("the list of entries is too long")

// disk reads a file and marks the disk's own errors, so that they are not taken
// for damage. It bounds the bytes read while left is not negative.
type disk struct {
	f    *os.File
	size int64
	at   int64
	left int64
}

func (s *source) disk(left int64) *disk { return &disk{f: s.file, size: s.size, left: left} }

// ReadAt implements io.ReaderAt.
func (d *disk) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 { // the archive sent us there, the disk is innocent
		return 0, io.ErrUnexpectedEOF
	}
	if d.left >= 0 {
		if d.left == 0 && len(p) > 0 {
			return 0, errListing
		}
		p = p[:min(int64(len(p)), d.left)]
	}
	n, err := d.f.ReadAt(p, off)
	if d.left >= 0 {
		d.left -= int64(n)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = durable.Classify("read", d.f.Name(), err)
	}
	return n, err
}

// Read implements io.Reader.
func (d *disk) Read(p []byte) (int, error) {
	n, err := d.ReadAt(p, d.at)
	d.at += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// Seek implements io.Seeker.
func (d *disk) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += d.at
	case io.SeekEnd:
		offset += d.size
	}
	if offset < 0 {
		return 0, io.ErrUnexpectedEOF
	}
	d.at = offset
	return offset, nil
}

// Open lets a disk stand as the one file of a file system: the other parts of a
// set are not looked for.
func (d *disk) Open(name string) (fs.File, error) {
	if name != volumeName {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errOtherPart}
	}
	return d, nil
}

// Stat implements fs.File.
func (d *disk) Stat() (fs.FileInfo, error) { return d.f.Stat() }

// Close implements fs.File. The source closes the file.
func (d *disk) Close() error { return nil }

// guard turns a panic of work into damage of the archive: the libraries that unpack
// are fed by strangers.
func guard(op string, work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = unreadable.New(unreadable.Corrupt, op, "unpacking gave up: %s", fmt.Sprint(p))
		}
	}()
	return work()
}

// isStorage reports whether the disk is to blame.
func isStorage(err error) bool { return fault.Is(err, fault.Storage) }

// depth is how many folders an entry lies in.
func depth(name string) (n int) {
	for range bytes.SplitSeq([]byte(path.Dir(name)), []byte("/")) {
		n++
	}
	return n
}
