package picture

import (
	"bytes"
	"encoding/binary"
)

// walkJPEG follows the markers of ITU-T T.81 annex B from SOI to EOI. Every
// kind of frame counts, arithmetic and lossless ones too; a hierarchical one is
// an unknown form.
func walkJPEG(data []byte) (Info, error) {
	const kind = "JPEG"
	var info Info
	var frames, scans int
	hierarchical := false
	at := 2
	for {
		// Like every decoder, skip stray bytes before a marker and fill bytes in it.
		skip := bytes.IndexByte(data[at:], 0xff)
		if skip < 0 {
			return Info{}, cutShort(kind, data)
		}
		at += skip
		for at < len(data) && data[at] == 0xff {
			at++
		}
		if at >= len(data) {
			return Info{}, cutShort(kind, data)
		}
		marker := data[at]
		at++
		switch {
		case marker == 0x00 || marker == 0x01 || marker >= 0xd0 && marker <= 0xd7:
			continue // stray stuffing, TEM and RST stand alone
		case marker == 0xd8:
			return Info{}, damaged(kind, at-2, "a second image starts inside the first")
		case marker == 0xd9:
			if frames == 0 || scans == 0 {
				return Info{}, damaged(kind, at-2, "it ends without any picture data")
			}
			if hierarchical {
				return Info{}, unknownForm(kind, "several frames")
			}
			info.Trailing = int64(len(data) - at)
			return info, nil
		}
		if at+2 > len(data) {
			return Info{}, cutShort(kind, data)
		}
		length := int(binary.BigEndian.Uint16(data[at:]))
		if length < 2 {
			return Info{}, damaged(kind, at, "a segment of length %d", length)
		}
		if at+length > len(data) {
			return Info{}, cutShort(kind, data)
		}
		segment := data[at+2 : at+length]
		start := at
		at += length
		switch {
		case marker == 0xde: // DHP
			hierarchical = true
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc: // SOFn
			if len(segment) < 6 {
				return Info{}, damaged(kind, start, "a frame header of %d bytes", length)
			}
			if frames++; frames > 1 {
				if !hierarchical {
					return Info{}, damaged(kind, start, "a second frame")
				}
				continue
			}
			info.Height = int(binary.BigEndian.Uint16(segment[1:]))
			info.Width = int(binary.BigEndian.Uint16(segment[3:]))
		case marker == 0xdc && len(segment) == 2 && info.Height == 0: // DNL gives the height late
			info.Height = int(binary.BigEndian.Uint16(segment))
		case marker == 0xda: // SOS
			if frames == 0 {
				return Info{}, damaged(kind, start, "picture data before the frame header")
			}
			scans++
			end := skipEntropy(data, at)
			if end == at {
				return Info{}, damaged(kind, at, "a scan without data")
			}
			at = end
		}
	}
}

// skipEntropy returns the place of the first marker after the coded data that
// starts at from: a 0xff followed by neither stuffing (00) nor a restart marker.
func skipEntropy(data []byte, from int) int {
	at := from
	for {
		next := bytes.IndexByte(data[at:], 0xff)
		if next < 0 {
			return len(data)
		}
		at += next
		if at+1 >= len(data) {
			return at
		}
		if c := data[at+1]; c != 0x00 && (c < 0xd0 || c > 0xd7) {
			return at
		}
		at += 2
	}
}
