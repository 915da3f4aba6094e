package picture

import "encoding/binary"

// walkAVIF follows the boxes of ISO/IEC 14496-12 and 23008-12 as AVIF uses
// them: every box and every extent of every item must lie inside the data. The
// size is that of the primary item, or of the first track in a file that holds
// only a sequence.
func walkAVIF(data []byte) (Info, error) {
	const kind = "AVIF"
	var meta heifMeta
	var moov, sawMeta bool
	var trackW, trackH int
	at := 0
	for at < len(data) {
		b, ok := nextBox(data, at, len(data))
		if !ok {
			// A box that reaches past the end is a cut file, unless its name is
			// none that stands at the top: then it is junk after the image.
			if at+8 <= len(data) && !topLevel(string(data[at+4:at+8])) || at+8 > len(data) && data[at] != 0 {
				break
			}
			return Info{}, cutShort(kind, data)
		}
		if at > 0 && (b.name == "ftyp" || !topLevel(b.name)) {
			break // another file, or junk, after this one
		}
		switch b.name {
		case "meta":
			if sawMeta {
				return Info{}, damaged(kind, at, "a second description")
			}
			sawMeta = true
			if err := meta.parse(data, b); err != nil {
				return Info{}, err
			}
		case "moov":
			moov = true
			trackW, trackH = trackSize(data, b, 0)
		}
		at = b.end
	}
	info := Info{Trailing: int64(len(data) - at), Animated: moov && hasBrand(data, "avis")}
	if !sawMeta && !moov {
		return Info{}, cutShort(kind, data)
	}
	if sawMeta && meta.primary != 0 {
		if err := meta.extentsInside(data[:at]); err != nil {
			return Info{}, err
		}
		if err := meta.checkItems(data[:at]); err != nil {
			return Info{}, err
		}
		size, ok := meta.size()
		if !ok {
			return Info{}, unknownForm(kind, "no size of its own")
		}
		info.Width, info.Height = size.w, size.h
		return info, nil
	}
	if trackW == 0 || trackH == 0 {
		return Info{}, unknownForm(kind, "no size of its own")
	}
	info.Width, info.Height = trackW, trackH
	return info, nil
}

// box is one box: its four-letter name and where its content starts and ends.
type box struct {
	name       string
	start, end int
}

// nextBox reads the box header at data[at]; ok is false when the box does not
// fit before limit.
func nextBox(data []byte, at, limit int) (b box, ok bool) {
	if at+8 > limit {
		return box{}, false
	}
	size := uint64(binary.BigEndian.Uint32(data[at:]))
	b = box{name: string(data[at+4 : at+8]), start: at + 8}
	switch size {
	case 0: // to the end of the file
		b.end = limit
		return b, true
	case 1: // 64-bit size
		if at+16 > limit {
			return box{}, false
		}
		size = binary.BigEndian.Uint64(data[at+8:])
		b.start = at + 16
	}
	if size < uint64(b.start-at) || size > uint64(limit-at) {
		return box{}, false
	}
	b.end = at + int(size)
	return b, true
}

// topLevel lists the boxes that stand at the top of such a file.
func topLevel(name string) bool {
	switch name {
	case "ftyp", "meta", "mdat", "moov", "moof", "mfra", "sidx", "styp", "free", "skip", "uuid", "pdin", "udta", "emsg", "prft", "imda":
		return true
	}
	return false
}

// trackSize finds the size of the first AV1 track under a moov box.
func trackSize(data []byte, parent box, depth int) (w, h int) {
	for at := parent.start; at < parent.end && depth < 8; {
		b, ok := nextBox(data, at, parent.end)
		if !ok {
			return 0, 0
		}
		at = b.end
		switch b.name {
		case "trak", "mdia", "minf", "stbl":
			if w, h = trackSize(data, b, depth+1); w != 0 {
				return w, h
			}
		case "stsd":
			entry, ok := nextBox(data, min(b.start+8, b.end), b.end)
			if ok && entry.name == "av01" && entry.end-entry.start >= 28 {
				return int(binary.BigEndian.Uint16(data[entry.start+24:])), int(binary.BigEndian.Uint16(data[entry.start+26:]))
			}
		}
	}
	return 0, 0
}
