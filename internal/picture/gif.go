package picture

import "encoding/binary"

// walkGIF follows the blocks of GIF89a from the screen descriptor to the
// trailer. More than maxFrames frames are refused.
func walkGIF(data []byte) (Info, error) {
	const kind = "GIF"
	var info Info
	if len(data) < 13 {
		return Info{}, cutShort(kind, data)
	}
	info.Width = int(binary.LittleEndian.Uint16(data[6:]))
	info.Height = int(binary.LittleEndian.Uint16(data[8:]))
	at := 13 + colourTable(data[10])
	frames := 0
	for {
		if at >= len(data) {
			return Info{}, cutShort(kind, data)
		}
		var empty, whole bool
		start := at
		switch data[at] {
		case 0x3b: // trailer
			if frames == 0 {
				return Info{}, damaged(kind, at, "it ends without any picture data")
			}
			info.Animated = frames > 1
			info.Trailing = int64(len(data) - at - 1)
			return info, nil
		case 0x21: // extension: label, then sub-blocks
			at, _, whole = subBlocks(data, at+2)
		case 0x2c: // image: descriptor, palette, code size, then sub-blocks
			if at+10 > len(data) {
				return Info{}, cutShort(kind, data)
			}
			w := int(binary.LittleEndian.Uint16(data[at+5:]))
			h := int(binary.LittleEndian.Uint16(data[at+7:]))
			if err := checkSize(w, h); err != nil {
				return Info{}, err
			}
			if frames++; frames > maxFrames {
				return Info{}, bad("the GIF has more than %d frames", maxFrames)
			}
			at, empty, whole = subBlocks(data, at+10+colourTable(data[at+9])+1)
			if whole && empty {
				return Info{}, damaged(kind, start, "a frame without data")
			}
		default:
			return Info{}, damaged(kind, at, "an unknown block %#02x", data[at])
		}
		if !whole {
			return Info{}, cutShort(kind, data)
		}
	}
}

// colourTable returns the length in bytes of the palette that flags announce.
func colourTable(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (1 + flags&0x07)
}

// subBlocks skips a chain of length-prefixed blocks and its terminator. empty
// says that the chain held nothing, whole that its end is within data.
func subBlocks(data []byte, at int) (next int, empty, whole bool) {
	empty = true
	for at < len(data) {
		n := int(data[at])
		at++
		if n == 0 {
			return at, empty, true
		}
		empty = false
		at += n
	}
	return at, empty, false
}
