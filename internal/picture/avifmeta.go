package picture

import "encoding/binary"

// maxItems bounds the items and properties of one AVIF file; a grid of the
// largest image we take has far fewer.
const maxItems = 4_096

// heifMeta is what a meta box says: which item is the image, how large it is
// and where the bytes of all items lie.
type heifMeta struct {
	primary uint32
	sizes   map[int]imageSize // by property index, from one
	owned   []int             // property indices of the primary item
	idat    box
	extents []extent
	av1     map[uint32]bool // the items that are AV1 bitstreams
	foreign bool            // an item whose place only a decoder can work out
}

type imageSize struct{ w, h int }

// extent is a run of bytes of an item, in the file or in the idat box.
type extent struct {
	item           uint32
	inIdat         bool
	offset, length uint64
}

func (m *heifMeta) parse(data []byte, meta box) error {
	const kind = "AVIF"
	m.sizes, m.av1 = map[int]imageSize{}, map[uint32]bool{}
	var iprp box
	for at := meta.start + 4; at < meta.end; {
		b, ok := nextBox(data, at, meta.end)
		if !ok {
			return damaged(kind, at, "a box that reaches past its end")
		}
		body := data[b.start:b.end]
		switch b.name {
		case "pitm":
			r := reader{data: body}
			if r.full() == 0 {
				m.primary = uint32(r.uint(2))
			} else {
				m.primary = uint32(r.uint(4))
			}
			if r.short {
				return damaged(kind, at, "no primary picture")
			}
		case "iloc":
			if !m.parseLocations(body) {
				return damaged(kind, at, "a broken table of places")
			}
		case "iinf":
			if !m.parseItems(data, b) {
				return damaged(kind, at, "a broken list of items")
			}
		case "idat":
			m.idat = b
		case "iprp":
			iprp = b
		}
		at = b.end
	}
	for at := iprp.start; at < iprp.end; {
		b, ok := nextBox(data, at, iprp.end)
		if !ok {
			return damaged(kind, at, "a box that reaches past its end")
		}
		var err error
		switch b.name {
		case "ipco":
			err = m.parseProperties(data, b)
		case "ipma":
			if !m.parseOwners(data[b.start:b.end]) {
				err = damaged(kind, at, "a broken table of properties")
			}
		}
		if err != nil {
			return err
		}
		at = b.end
	}
	return nil
}

// parseItems reads which items are AV1 bitstreams (iinf, with its infe).
func (m *heifMeta) parseItems(data []byte, iinf box) bool {
	r := reader{data: data[iinf.start:iinf.end]}
	countBytes := 2
	if r.full() > 0 {
		countBytes = 4
	}
	r.uint(countBytes)
	for at := iinf.end - len(r.data); at < iinf.end; {
		b, ok := nextBox(data, at, iinf.end)
		if !ok {
			return false
		}
		at = b.end
		if b.name != "infe" {
			continue
		}
		entry := reader{data: data[b.start:b.end]}
		idBytes := 2
		switch version := entry.full(); {
		case version < 2:
			continue // it has no type
		case version > 2:
			idBytes = 4
		}
		id := uint32(entry.uint(idBytes))
		entry.uint(2) // protection
		if entry.uint(4) == 'a'<<24|'v'<<16|'0'<<8|'1' {
			m.av1[id] = true
		}
		if entry.short || len(m.av1) > maxItems {
			return false
		}
	}
	return !r.short
}

// parseProperties reads the sizes in the ipco box. Each is held against the
// caps: a decoder may meet any of them.
func (m *heifMeta) parseProperties(data []byte, ipco box) error {
	index := 0
	for at := ipco.start; at < ipco.end; {
		b, ok := nextBox(data, at, ipco.end)
		if index++; !ok || index > maxItems {
			return damaged("AVIF", at, "a broken list of properties")
		}
		if b.name == "ispe" && b.end-b.start >= 12 {
			s := imageSize{int(binary.BigEndian.Uint32(data[b.start+4:])), int(binary.BigEndian.Uint32(data[b.start+8:]))}
			if err := checkSize(s.w, s.h); err != nil {
				return err
			}
			m.sizes[index] = s
		}
		at = b.end
	}
	return nil
}

// parseOwners reads which properties belong to the primary item (ipma).
func (m *heifMeta) parseOwners(body []byte) bool {
	r := reader{data: body}
	head := r.uint(4)
	version, wide := head>>24, head&1 == 1
	for n := r.uint(4); n > 0 && !r.short; n-- {
		idBytes := 2
		if version > 0 {
			idBytes = 4
		}
		id := uint32(r.uint(idBytes))
		for k := r.uint(1); k > 0 && !r.short; k-- {
			index := 0
			if wide {
				index = int(r.uint(2) & 0x7fff)
			} else {
				index = int(r.uint(1) & 0x7f)
			}
			if id == m.primary && len(m.owned) < maxItems {
				m.owned = append(m.owned, index)
			}
		}
	}
	return !r.short
}

// parseLocations reads the iloc box, versions 0 to 2.
func (m *heifMeta) parseLocations(body []byte) bool {
	r := reader{data: body}
	version := r.full()
	sizes := r.uint(2)
	offsetSize, lengthSize, baseSize, indexSize := int(sizes>>12), int(sizes>>8&15), int(sizes>>4&15), 0
	if version > 0 {
		indexSize = int(sizes & 15)
	}
	idBytes := 2
	if version == 2 {
		idBytes = 4
	}
	items := r.uint(idBytes)
	places := 0 // counted, since a place may take no bytes at all
	if version > 2 || items > maxItems || offsetSize > 8 || lengthSize > 8 || baseSize > 8 || indexSize > 8 {
		return false
	}
	for ; items > 0; items-- {
		id := uint32(r.uint(idBytes))
		var method uint64
		if version > 0 {
			method = r.uint(2) & 15
		}
		r.uint(2) // data reference: the file itself
		base := r.uint(baseSize)
		count := r.uint(2)
		for ; count > 0; count-- {
			r.uint(indexSize)
			e := extent{item: id, inIdat: method == 1, offset: r.uint(offsetSize), length: r.uint(lengthSize)}
			if places++; r.short || places > 16*maxItems || e.offset > 1<<62 || base > 1<<62 {
				return false
			}
			e.offset += base
			if method > 1 {
				m.foreign = true
				continue
			}
			m.extents = append(m.extents, e)
		}
	}
	return !r.short
}

// extentsInside checks that every byte of every item is in data, which ends
// where the boxes end.
func (m *heifMeta) extentsInside(data []byte) error {
	const kind = "AVIF"
	found := false
	for _, e := range m.extents {
		start, end := uint64(0), uint64(len(data))
		if e.inIdat {
			start, end = uint64(m.idat.start), uint64(m.idat.end)
		}
		room := end - start
		if e.offset > room || e.length > room-e.offset {
			return cutShort(kind, data)
		}
		if e.item == m.primary && room-e.offset > 0 {
			found = true
		}
	}
	switch {
	case found:
		return nil
	case m.foreign:
		return unknownForm(kind, "its picture spread over other items")
	}
	return damaged(kind, 0, "no place is given for its picture")
}

// size returns the size of the primary item.
func (m *heifMeta) size() (imageSize, bool) {
	for _, index := range m.owned {
		if s, ok := m.sizes[index]; ok {
			return s, true
		}
	}
	return imageSize{}, false
}

// reader takes big-endian numbers off a slice; short is set, and zero returned,
// once it has run out.
type reader struct {
	data  []byte
	short bool
}

func (r *reader) uint(n int) uint64 {
	if n > len(r.data) {
		r.short, r.data = true, nil
		return 0
	}
	var v uint64
	for _, b := range r.data[:n] {
		v = v<<8 | uint64(b)
	}
	r.data = r.data[n:]
	return v
}

// full reads the head of a full box and returns its version.
func (r *reader) full() uint64 { return r.uint(4) >> 24 }
