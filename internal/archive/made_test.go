package archive_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// rar5 makes a RAR 5 archive of files that are stored as they are.
func rar5(files ...file) []byte { return rarOf(0, 0, files...) }

// rar5Part makes the first part of a set.
func rar5Part(files ...file) []byte { return rarOf(1, 0, files...) }

// rar5Claims makes an archive whose one file claims to be larger than it is.
func rar5Claims(f file, size uint64) []byte { return rarOf(0, size, f) }

// rar5Locked makes an archive whose list needs a password.
func rar5Locked() []byte {
	out := []byte("Rar!\x1a\x07\x01\x00")
	return append(out, rarBlock(4, 0, nil, append([]byte{0, 0, 15}, make([]byte, 16)...))...)
}

func rarOf(flags, claims uint64, files ...file) []byte {
	out := []byte("Rar!\x1a\x07\x01\x00")
	out = append(out, rarBlock(1, 0, nil, vint(nil, flags))...)
	for _, f := range files {
		size := uint64(len(f.data))
		if claims > 0 {
			size = claims
		}
		fields := vint(nil, 4) // the checksum is known
		fields = vint(fields, size)
		fields = vint(fields, 0o100644)
		fields = binary.LittleEndian.AppendUint32(fields, crc32.ChecksumIEEE(f.data))
		fields = vint(fields, 0) // stored
		fields = vint(fields, 1) // made on Unix
		fields = vint(fields, uint64(len(f.name)))
		fields = append(fields, f.name...)
		out = append(out, rarBlock(2, 2, vint(nil, uint64(len(f.data))), fields)...)
		out = append(out, f.data...)
	}
	return append(out, rarBlock(5, 0, nil, vint(nil, flags))...)
}

// rarBlock makes one header.
func rarBlock(kind, flags uint64, dataSize, fields []byte) []byte {
	body := vint(nil, kind)
	body = vint(body, flags)
	body = append(append(body, dataSize...), fields...)
	sized := append(vint(nil, uint64(len(body))), body...)
	return append(binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(sized)), sized...)
}

// vint appends a number in groups of seven bits.
func vint(to []byte, v uint64) []byte { return binary.AppendUvarint(to, v) }

// seven makes a 7z archive of nothing but a list that begins like this.
func seven(list ...byte) []byte {
	list = append(append([]byte{0x01}, list...), make([]byte, 32)...)
	var start bytes.Buffer
	for _, v := range []any{uint64(0), uint64(len(list)), crc32.ChecksumIEEE(list)} {
		_ = binary.Write(&start, binary.LittleEndian, v) // a buffer takes it
	}
	out := append([]byte("7z\xbc\xaf\x27\x1c\x00\x04"), binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(start.Bytes()))...)
	return append(append(out, start.Bytes()...), list...)
}
