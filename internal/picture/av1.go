package picture

import "bytes"

// checkItems holds the frame size inside every AV1 item against the caps. The
// boxes may claim a small picture while the bitstream makes a decoder allocate
// a huge one.
func (m *heifMeta) checkItems(data []byte) error {
	seen := map[uint32]bool{}
	for i, e := range m.extents {
		if !m.av1[e.item] || seen[e.item] {
			continue
		}
		seen[e.item] = true
		var parts [][]byte
		var total uint64
		for _, more := range m.extents[i:] {
			if more.item != e.item {
				continue
			}
			part := m.bytes(data, more)
			// Overlapping extents could repeat the same bytes without end.
			if total += uint64(len(part)); total > uint64(len(data)) {
				return damaged("AVIF", 0, "an item larger than the file")
			}
			parts = append(parts, part)
		}
		item := parts[0]
		if len(parts) > 1 {
			item = bytes.Join(parts, nil)
		}
		if err := checkAV1(item); err != nil {
			return err
		}
	}
	return nil
}

// bytes returns an extent that extentsInside has accepted.
func (m *heifMeta) bytes(data []byte, e extent) []byte {
	if e.inIdat {
		data = data[m.idat.start:m.idat.end]
	}
	data = data[e.offset:]
	if e.length > 0 {
		data = data[:e.length]
	}
	return data
}

// checkAV1 walks the open bitstream units of the AV1 specification, 5.3, and
// checks each sequence header; the first unit that is no delimiter must be one.
func checkAV1(item []byte) error {
	const kind = "AVIF"
	found := false
	for at := 0; at < len(item); {
		head := item[at]
		unit := int(head >> 3 & 15)
		at++
		if head&0x04 != 0 { // an extension byte
			at++
		}
		size := len(item) - at
		if head&0x02 != 0 { // a size of its own, seven bits a byte
			n, shift, whole := 0, 0, false
			for at < len(item) && shift < 35 {
				b := item[at]
				at++
				n |= int(b&0x7f) << shift
				if shift += 7; b < 0x80 {
					whole = true
					break
				}
			}
			if size = n; !whole {
				return damaged(kind, at, "a unit of the picture has no length")
			}
		}
		if size < 0 || size > len(item)-at {
			return damaged(kind, at, "a unit of the picture reaches past its end")
		}
		switch unit {
		case 1:
			w, h, ok := av1Size(item[at : at+size])
			if !ok {
				return damaged(kind, at, "no size in the picture")
			}
			if err := checkSize(w, h); err != nil {
				return err
			}
			found = true
		case 2: // temporal delimiter
		default:
			if !found {
				return damaged(kind, at, "the picture does not begin with its header")
			}
		}
		at += size
	}
	if !found {
		return damaged(kind, 0, "the picture has no header")
	}
	return nil
}

// av1Size reads the largest frame size off a sequence header (5.5.1).
func av1Size(header []byte) (w, h int, ok bool) {
	r := bitReader{data: header}
	r.take(3) // profile
	r.take(1) // still picture
	if reduced := r.take(1) == 1; reduced {
		r.take(5) // level
	} else {
		decoderModel, delayBits := false, 0
		if r.take(1) == 1 { // timing info
			r.take(32)
			r.take(32)
			if r.take(1) == 1 { // equal picture interval: a uvlc
				zeros := 0
				for r.take(1) == 0 && !r.short && zeros < 32 {
					zeros++
				}
				r.take(zeros % 32)
			}
			if decoderModel = r.take(1) == 1; decoderModel {
				delayBits = r.take(5) + 1
				r.take(32)
				r.take(10)
			}
		}
		displayDelay := r.take(1) == 1
		for points := r.take(5) + 1; points > 0; points-- {
			r.take(12)
			if level := r.take(5); level > 7 {
				r.take(1) // tier
			}
			if decoderModel && r.take(1) == 1 {
				r.take(delayBits)
				r.take(delayBits)
				r.take(1)
			}
			if displayDelay && r.take(1) == 1 {
				r.take(4)
			}
		}
	}
	wBits, hBits := r.take(4)+1, r.take(4)+1
	w, h = r.take(wBits)+1, r.take(hBits)+1
	return w, h, !r.short
}

// bitReader takes bits off a slice, the highest first; short is set, and zero
// returned, once it has run out.
type bitReader struct {
	data  []byte
	at    int
	short bool
}

func (r *bitReader) take(n int) int {
	if r.at+n > 8*len(r.data) {
		r.short = true
		return 0
	}
	v := 0
	for range n {
		v = v<<1 | int(r.data[r.at/8]>>(7-r.at%8)&1)
		r.at++
	}
	return v
}
