package picture

import (
	"encoding/binary"
	"hash/crc32"
)

// walkPNG follows the chunks of the PNG specification (third edition) from IHDR
// to IEND and recomputes every checksum.
func walkPNG(data []byte) (Info, error) {
	const kind = "PNG"
	var info Info
	var palette, pixels bool
	var colour byte
	at := 8
	for first := true; ; first = false {
		if at+12 > len(data) {
			return Info{}, cutShort(kind, data)
		}
		length := int64(binary.BigEndian.Uint32(data[at:]))
		name := string(data[at+4 : at+8])
		if length > 1<<31-1 {
			return Info{}, damaged(kind, at, "a chunk of %d bytes", length)
		}
		if int64(at)+12+length > int64(len(data)) {
			return Info{}, cutShort(kind, data)
		}
		end := at + 8 + int(length)
		body := data[at+8 : end]
		if crc32.ChecksumIEEE(data[at+4:end]) != binary.BigEndian.Uint32(data[end:]) {
			return Info{}, damaged(kind, at, "the checksum of %q is wrong", name)
		}
		if first != (name == "IHDR") {
			return Info{}, damaged(kind, at, "the header is not the first chunk")
		}
		switch name {
		case "IHDR":
			if len(body) != 13 {
				return Info{}, damaged(kind, at, "a header of %d bytes", length)
			}
			// A side over 2^31 is caught by the caps, as it fits an int.
			info.Width = int(binary.BigEndian.Uint32(body))
			info.Height = int(binary.BigEndian.Uint32(body[4:]))
			if err := checkSize(info.Width, info.Height); err != nil {
				return Info{}, err
			}
			colour = body[9]
			if !legalPNG(body[8], colour) || body[10] != 0 || body[11] != 0 || body[12] > 1 {
				return Info{}, damaged(kind, at, "a header that no decoder knows")
			}
		case "PLTE":
			if len(body) == 0 || len(body)%3 != 0 || len(body) > 3*256 {
				return Info{}, damaged(kind, at, "a palette of %d bytes", length)
			}
			palette = true
		case "IDAT":
			if colour == 3 && !palette {
				return Info{}, damaged(kind, at, "no palette")
			}
			if !pixels && len(body) >= 2 && binary.BigEndian.Uint16(body)%31 != 0 {
				return Info{}, damaged(kind, at, "the compressed data has no zlib header")
			}
			pixels = pixels || len(body) > 0
		case "acTL":
			info.Animated = len(body) == 8 && binary.BigEndian.Uint32(body) > 1
		case "IEND":
			if !pixels {
				return Info{}, damaged(kind, at, "it ends without any picture data")
			}
			info.Trailing = int64(len(data) - end - 4)
			return info, nil
		default:
			if name[0]&0x20 == 0 { // upper case: a decoder must know it
				return Info{}, damaged(kind, at, "the unknown chunk %q", name)
			}
		}
		at = end + 4
	}
}

// legalPNG is table 11 of the specification: bit depths by colour type.
func legalPNG(depth, colour byte) bool {
	switch colour {
	case 0:
		return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16
	case 3:
		return depth == 1 || depth == 2 || depth == 4 || depth == 8
	case 2, 4, 6:
		return depth == 8 || depth == 16
	}
	return false
}
