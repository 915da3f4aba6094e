package archive

import (
	"errors"
	"io"

	"github.com/nwaples/rardecode/v2"

	"mangrove/internal/unreadable"
)

// volumeName is what a RAR archive is called to the library, whatever its name.
const volumeName = "archive.rar"

// errOtherPart says that an archive goes on in another file.
var errOtherPart = errors.New("it is one part of a set")

// rar reads RAR archives.
type rar struct{ s *source }

// list reads the headers alone and leaps over what lies between them.
func (r *rar) list() ([]entry, error) {
	const op = "list archive"
	files, err := rardecode.List(volumeName, rardecode.FileSystem(r.s.disk(maxListing)), rardecode.BufferSize(1<<10),
		rardecode.MaxDictionarySize(maxDictionary))
	if err != nil {
		return nil, r.s.packedFailed(op, err)
	}
	list := make([]entry, 0, len(files))
	for _, f := range files {
		if f.Encrypted || f.HeaderEncrypted {
			return nil, unreadable.New(unreadable.Encrypted, op, "the archive is encrypted")
		}
		e := entry{name: f.Name, size: f.UnPackedSize, plain: !f.IsDir && f.LinkType == rardecode.LinkTypeNone && f.Mode().IsRegular()}
		if f.UnKnownSize {
			e.size = -1
		}
		list = append(list, e)
	}
	return list, nil
}

// each goes through the archive. An entry of a solid one is unpacked whether it is
// wanted or not: the next is packed by what it says.
func (r *rar) each(wanted func(int) bool, visit func(int, io.Reader) error) error {
	in, err := rardecode.NewReader(r.s.disk(-1), rardecode.MaxDictionarySize(maxDictionary))
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		_, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !wanted(i) {
			continue
		}
		if err := visit(i, in); err != nil {
			return err
		}
	}
}

// rarReason classifies an error of the library.
func rarReason(err error) unreadable.Reason {
	is := func(list ...error) bool {
		for _, e := range list {
			if errors.Is(err, e) {
				return true
			}
		}
		return false
	}
	switch {
	case is(rardecode.ErrArchiveEncrypted, rardecode.ErrArchivedFileEncrypted, rardecode.ErrBadPassword, rardecode.ErrUnknownEncryptMethod):
		return unreadable.Encrypted
	case is(rardecode.ErrDictionaryTooLarge):
		return unreadable.TooLarge
	case is(errOtherPart, rardecode.ErrMultiVolume, rardecode.ErrBadVolumeNumber, rardecode.ErrUnknownVersion, rardecode.ErrUnsupportedDecoder,
		rardecode.ErrUnknownDecoder, rardecode.ErrMultipleDecoders):
		return unreadable.Unsupported
	}
	return unreadable.Corrupt
}
