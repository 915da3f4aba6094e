package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/ulikunitz/xz/lzma"

	"mangrove/internal/cbz"
	"mangrove/internal/unreadable"
)

// sevenMagic begins every 7z archive.
const sevenMagic = "7z\xbc\xaf\x27\x1c"

// The bounds of a 7z header.
const (
	// maxSevenHeader is its length in bytes, packed and unpacked.
	maxSevenHeader = 4 << 20
	// maxCoders is how many coders a folder may chain, and streams each may have.
	maxCoders = 8
)

// The ids of a 7z header that are looked at.
const (
	sevenEnd, sevenHeader, sevenProperties, sevenAdditional, sevenMain, sevenFiles = 0x00, 0x01, 0x02, 0x03, 0x04, 0x05
	sevenPack, sevenUnpack, sevenSub, sevenSize, sevenDigests                      = 0x06, 0x07, 0x08, 0x09, 0x0a
	sevenFolder, sevenUnpackSize, sevenUnpackStreams, sevenEncoded                 = 0x0b, 0x0c, 0x0d, 0x17
)

// checkSeven reads the header of a 7z archive and refuses one that claims more
// than our limits, asks for more memory, needs a password or is packed by a method
// that is not read. The library checks the rest.
func checkSeven(r io.ReaderAt, size int64) error {
	const op = "list archive"
	var start [32]byte
	if _, err := r.ReadAt(start[:], 0); err != nil {
		return unreadable.New(unreadable.Corrupt, op, "it ends within its beginning: %w", err)
	}
	// The library takes a later beginning where the first one's sum is wrong.
	if crc32.ChecksumIEEE(start[12:]) != binary.LittleEndian.Uint32(start[8:]) {
		return unreadable.New(unreadable.Corrupt, op, "the checksum of its beginning is wrong")
	}
	offset, length := binary.LittleEndian.Uint64(start[12:]), binary.LittleEndian.Uint64(start[20:])
	switch {
	case length > maxSevenHeader:
		return unreadable.New(unreadable.TooLarge, op, "a list of %d bytes is over the limit of %d", length, maxSevenHeader)
	case length == 0:
		return unreadable.New(unreadable.NoPages, op, "the archive holds no entries")
	case offset > uint64(size) || offset+length+32 > uint64(size):
		return unreadable.New(unreadable.Corrupt, op, "its list lies past its end: it is cut short")
	}
	data := make([]byte, length)
	if _, err := r.ReadAt(data, 32+int64(offset)); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	h := &sevenReader{data: data}
	switch id := h.byte(); id {
	case sevenHeader:
		h.header()
	case sevenEncoded:
		packed, folder := h.streams()
		if h.err == nil {
			data, h.err = unpackSevenHeader(r, size, packed, folder)
		}
		if h.err == nil {
			h.data = data
			if h.byte() != sevenHeader {
				h.fail(unreadable.Corrupt, "its packed list is none")
			}
			h.header()
		}
	default:
		h.fail(unreadable.Corrupt, "its list begins with %#x", id)
	}
	return h.err
}

// coder is one step of how a stream is packed.
type coder struct{ id, properties []byte }

// unpackSevenHeader unpacks a packed header within the limits.
func unpackSevenHeader(r io.ReaderAt, size int64, p packedStreams, folders []sevenFolderInfo) ([]byte, error) {
	const op = "list archive"
	if len(folders) != 1 || len(folders[0].coders) != 1 || len(folders[0].sizes) != 1 || len(p.sizes) != 1 {
		return nil, unreadable.New(unreadable.Unsupported, op, "its list is packed in more than one step")
	}
	length := folders[0].sizes[0]
	if length > maxSevenHeader || p.sizes[0] > maxSevenHeader {
		return nil, unreadable.New(unreadable.TooLarge, op, "a list of %d bytes is over the limit of %d", length, maxSevenHeader)
	}
	if p.at > uint64(size) {
		return nil, unreadable.New(unreadable.Corrupt, op, "its list lies past its end")
	}
	in := io.NewSectionReader(r, 32+int64(p.at), int64(p.sizes[0]))
	out, err := unpackSmall(folders[0].coders[0], in, length)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(out, int64(length)))
	if err == nil && uint64(len(data)) != length {
		err = io.ErrUnexpectedEOF
	}
	return data, err
}

// unpackSmall opens the reader of one coder.
func unpackSmall(c coder, in io.Reader, length uint64) (io.Reader, error) {
	switch {
	case bytes.Equal(c.id, methodCopy):
		return in, nil
	case bytes.Equal(c.id, methodLZMA):
		head := binary.LittleEndian.AppendUint64(bytes.Clone(c.properties), length)
		return lzma.NewReader(io.MultiReader(bytes.NewReader(head), in))
	case bytes.Equal(c.id, methodLZMA2):
		return lzma.Reader2Config{DictCap: int(max(lzma2Dictionary(c.properties[0]), lzma.MinDictCap))}.NewReader2(in)
	}
	return nil, unreadable.New(unreadable.Unsupported, "list archive", "its list is packed by method %x", c.id)
}

// The methods that are read. PPMd, Zstandard, Brotli and LZ4 are not: no comic
// program offers them, and each is more code that strangers feed.
var (
	methodCopy    = []byte{0x00}
	methodDelta   = []byte{0x03}
	methodLZMA    = []byte{0x03, 0x01, 0x01}
	methodLZMA2   = []byte{0x21}
	methodX86     = []byte{0x03, 0x03, 0x01, 0x03}
	methodDeflate = []byte{0x04, 0x01, 0x08}
	methodBzip2   = []byte{0x04, 0x02, 0x02}
	methodAES     = []byte{0x06, 0xf1, 0x07, 0x01}
)

// check refuses a coder that is not read or that would take too much memory.
func (h *sevenReader) check(c coder) {
	is := func(id []byte) bool { return bytes.Equal(c.id, id) }
	switch {
	case is(methodAES):
		h.fail(unreadable.Encrypted, "the archive is encrypted")
	case is(methodLZMA):
		if len(c.properties) != 5 {
			h.fail(unreadable.Corrupt, "LZMA has %d properties", len(c.properties))
		} else if size := binary.LittleEndian.Uint32(c.properties[1:]); size > maxDictionary {
			h.fail(unreadable.TooLarge, "unpacking takes a dictionary of %d bytes, over the limit of %d", size, maxDictionary)
		}
	case is(methodLZMA2):
		if len(c.properties) != 1 || c.properties[0] > 40 {
			h.fail(unreadable.Corrupt, "LZMA2 has other properties")
		} else if size := lzma2Dictionary(c.properties[0]); size > maxDictionary {
			h.fail(unreadable.TooLarge, "unpacking takes a dictionary of %d bytes, over the limit of %d", size, maxDictionary)
		}
	case is(methodCopy), is(methodDelta), is(methodX86), is(methodDeflate), is(methodBzip2):
	default:
		h.fail(unreadable.Unsupported, "it is packed by method %x, which is not supported", c.id)
	}
}

// lzma2Dictionary is the size that a property of LZMA2 stands for.
func lzma2Dictionary(p byte) uint64 { return (2 | uint64(p&1)) << (p/2 + 11) }

// sevenReader reads a header. The first error stays, and all that follows it
// reads as zero.
type sevenReader struct {
	data []byte
	err  error
}

func (h *sevenReader) fail(reason unreadable.Reason, format string, args ...any) {
	if h.err == nil {
		h.err = unreadable.New(reason, "list archive", format, args...)
	}
	h.data = nil
}

func (h *sevenReader) bytes(n uint64) []byte {
	if n > uint64(len(h.data)) {
		h.fail(unreadable.Corrupt, "its list ends too early")
		return nil
	}
	out := h.data[:n]
	h.data = h.data[n:]
	return out
}

func (h *sevenReader) byte() byte {
	if b := h.bytes(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// number reads a number of variable length: the leading ones of the first byte
// count the bytes that follow.
func (h *sevenReader) number() uint64 {
	first := h.byte()
	more := bits.LeadingZeros8(^first)
	var v uint64
	for i, b := range h.bytes(uint64(more)) {
		v |= uint64(b) << (8 * i)
	}
	if more < 7 {
		v |= uint64(first&(0x7f>>more)) << (8 * more)
	}
	return v
}

// count reads a number that something is made room for.
func (h *sevenReader) count(limit uint64) int {
	n := h.number()
	if n > limit {
		h.fail(unreadable.TooLarge, "its list claims %d of what there may be %d", n, limit)
		return 0
	}
	return int(n)
}

// header walks the main header.
func (h *sevenReader) header() {
	for h.err == nil {
		switch id := h.byte(); id {
		case sevenEnd:
			return
		case sevenProperties:
			for h.err == nil && h.byte() != sevenEnd {
				h.bytes(h.number())
			}
		case sevenAdditional, sevenMain:
			h.streams()
		case sevenFiles:
			h.count(cbz.MaxEntries)
			for h.err == nil && h.byte() != sevenEnd {
				h.bytes(h.number())
			}
		default:
			h.fail(unreadable.Corrupt, "its list holds %#x", id)
		}
	}
}

// packedStreams is where packed streams lie.
type packedStreams struct {
	at    uint64
	sizes []uint64
}

// sevenFolderInfo is how one block is packed, and the sizes of what its coders
// give out.
type sevenFolderInfo struct {
	coders []coder
	outs   int
	sizes  []uint64
	// digest is true when its checksum stands with it.
	digest bool
}

// streams walks the description of streams.
func (h *sevenReader) streams() (p packedStreams, folders []sevenFolderInfo) {
	for h.err == nil {
		switch id := h.byte(); id {
		case sevenEnd:
			return p, folders
		case sevenPack:
			p = h.pack()
		case sevenUnpack:
			folders = h.unpack()
		case sevenSub:
			h.sub(folders)
		default:
			h.fail(unreadable.Corrupt, "its list of streams holds %#x", id)
		}
	}
	return p, folders
}

func (h *sevenReader) pack() (p packedStreams) {
	p.at = h.number()
	n := h.count(cbz.MaxEntries * maxCoders)
	for h.err == nil {
		switch id := h.byte(); id {
		case sevenEnd:
			return p
		case sevenSize:
			for range n {
				p.sizes = append(p.sizes, h.number())
			}
		case sevenDigests:
			h.digests(n)
		default:
			h.fail(unreadable.Corrupt, "its packed streams hold %#x", id)
		}
	}
	return p
}

// digests walks checksums of n things and says which of them have one.
func (h *sevenReader) digests(n int) []bool {
	defined, count := make([]bool, n), 0
	var some []byte
	all := h.byte() != 0
	if !all {
		some = h.bytes(uint64(n+7) / 8)
	}
	for i := range defined {
		if defined[i] = all || h.err == nil && some[i/8]&(0x80>>(i%8)) != 0; defined[i] {
			count++
		}
	}
	h.bytes(4 * uint64(count))
	return defined
}

func (h *sevenReader) unpack() (folders []sevenFolderInfo) {
	for h.err == nil {
		switch id := h.byte(); id {
		case sevenEnd:
			return folders
		case sevenFolder:
			n := h.count(cbz.MaxEntries)
			if h.byte() != 0 {
				h.fail(unreadable.Unsupported, "its list lies in another place")
			}
			for range n {
				if h.err == nil {
					folders = append(folders, h.folder())
				}
			}
		case sevenUnpackSize:
			for i := range folders {
				for range folders[i].outs {
					folders[i].sizes = append(folders[i].sizes, h.number())
				}
			}
		case sevenDigests:
			for i, defined := range h.digests(len(folders)) {
				folders[i].digest = defined
			}
		default:
			h.fail(unreadable.Corrupt, "its blocks hold %#x", id)
		}
	}
	return folders
}

func (h *sevenReader) folder() (f sevenFolderInfo) {
	ins := 0
	for range h.count(maxCoders) {
		flags := h.byte()
		c := coder{id: h.bytes(uint64(flags & 0x0f))}
		in, out := 1, 1
		if flags&0x10 != 0 {
			in, out = h.count(maxCoders), h.count(maxCoders)
		}
		if flags&0x20 != 0 {
			c.properties = h.bytes(h.number())
		}
		if h.err == nil {
			h.check(c)
		}
		ins, f.outs, f.coders = ins+in, f.outs+out, append(f.coders, c)
	}
	if f.outs == 0 {
		h.fail(unreadable.Corrupt, "a block of it gives out nothing")
		return f
	}
	for range f.outs - 1 {
		h.number()
		h.number()
	}
	if packed := ins - (f.outs - 1); packed > 1 {
		for range packed {
			h.number()
		}
	}
	return f
}

// sub walks how the blocks are cut into files.
func (h *sevenReader) sub(folders []sevenFolderInfo) {
	files := len(folders)
	each := make([]int, len(folders))
	for i := range each {
		each[i] = 1
	}
	for h.err == nil {
		switch id := h.byte(); id {
		case sevenEnd:
			return
		case sevenUnpackStreams:
			files = 0
			for i := range each {
				each[i] = h.count(cbz.MaxEntries)
				if files += each[i]; files > cbz.MaxEntries {
					h.fail(unreadable.TooLarge, "its list claims more than %d files", cbz.MaxEntries)
				}
			}
		case sevenSize:
			for _, n := range each {
				for range n - 1 {
					h.number()
				}
			}
		case sevenDigests:
			// One file of a block whose checksum stands with the block has none here.
			n := files
			for i, f := range folders {
				if each[i] == 1 && f.digest {
					n--
				}
			}
			h.digests(n)
		default:
			h.fail(unreadable.Corrupt, "its files hold %#x", id)
		}
	}
}
