package picture

import "encoding/binary"

// walkWebP follows the RIFF chunks of RFC 9649: the simple lossy and lossless
// files, and the extended one, animated or not.
func walkWebP(data []byte) (Info, error) {
	const kind = "WebP"
	size := int64(binary.LittleEndian.Uint32(data[4:]))
	end := 8 + size
	if end > int64(len(data)) {
		return Info{}, cutShort(kind, data)
	}
	if size < 4+8 {
		return Info{}, damaged(kind, 4, "it says it has %d bytes", size)
	}
	info := Info{Trailing: int64(len(data)) - end}
	if size%2 == 1 && info.Trailing > 0 {
		info.Trailing-- // the padding that an odd size leaves uncounted
	}
	w := webpWalk{body: data[:end]}
	if err := w.chunks(12, int(end), false); err != nil {
		return Info{}, err
	}
	switch {
	case w.frames == 0:
		return Info{}, damaged(kind, 12, "it ends without any picture data")
	case !w.extended:
		info.Width, info.Height = w.width, w.height
	default:
		info.Width, info.Height = w.canvasW, w.canvasH
		if !w.animation && (w.width != w.canvasW || w.height != w.canvasH) {
			return Info{}, damaged(kind, 12, "a picture of %d x %d on a canvas of %d x %d", w.width, w.height, w.canvasW, w.canvasH)
		}
	}
	info.Animated = w.animation && w.frames > 1
	return info, nil
}

// webpWalk is the state of one walk through a WebP file.
type webpWalk struct {
	body             []byte
	extended         bool
	animation        bool
	canvasW, canvasH int
	width, height    int // of the last bitstream
	frames           int
}

// chunks walks body[at:end]; inFrame is true inside an ANMF chunk.
func (w *webpWalk) chunks(at, end int, inFrame bool) error {
	const kind = "WebP"
	for first := true; at < end; first = false {
		if at+8 > end {
			return damaged(kind, at, "a chunk without a length")
		}
		name := string(w.body[at : at+4])
		length := int64(binary.LittleEndian.Uint32(w.body[at+4:]))
		start := at + 8
		if int64(start)+length > int64(end) {
			return damaged(kind, at, "the chunk %q reaches past its end", name)
		}
		payload := w.body[start : start+int(length)]
		var err error
		switch name {
		case "VP8 ":
			err = w.lossy(payload, start)
		case "VP8L":
			err = w.lossless(payload, start)
		case "VP8X":
			if len(payload) < 10 || inFrame || !first {
				return damaged(kind, at, "a misplaced header")
			}
			w.extended = true
			w.animation = payload[0]&0x02 != 0
			w.canvasW, w.canvasH = 1+uint24(payload[4:]), 1+uint24(payload[7:])
			err = checkSize(w.canvasW, w.canvasH)
		case "ANMF":
			if len(payload) < 16+8 || inFrame || !w.animation {
				return damaged(kind, at, "a misplaced frame")
			}
			before := w.frames
			if err := w.chunks(start+16, start+len(payload), true); err != nil {
				return err
			}
			x, y := 2*uint24(payload), 2*uint24(payload[3:])
			if w.frames != before+1 || x+w.width > w.canvasW || y+w.height > w.canvasH {
				return damaged(kind, at, "a frame that does not fit the canvas")
			}
			if w.frames > maxFrames {
				return bad("the WebP has more than %d frames", maxFrames)
			}
		}
		if err != nil {
			return err
		}
		if !inFrame && (name == "VP8 " || name == "VP8L") && (w.frames > 1 || w.animation) {
			return damaged(kind, at, "a second picture")
		}
		at = start + int(length+length%2)
	}
	return nil
}

// lossy reads the frame header of RFC 6386, 9.1.
func (w *webpWalk) lossy(p []byte, at int) error {
	if len(p) < 10 || p[0]&1 != 0 || p[3] != 0x9d || p[4] != 0x01 || p[5] != 0x2a {
		return damaged("WebP", at, "no key frame")
	}
	if part := (uint24(p) >> 5) + 10; part > len(p) {
		return damaged("WebP", at, "its first part reaches past its end")
	}
	return w.bitstream(int(binary.LittleEndian.Uint16(p[6:]))&0x3fff, int(binary.LittleEndian.Uint16(p[8:]))&0x3fff)
}

// lossless reads the header of RFC 9649, 3.4.
func (w *webpWalk) lossless(p []byte, at int) error {
	if len(p) < 6 || p[0] != 0x2f || p[4]>>5 != 0 {
		return damaged("WebP", at, "no lossless header")
	}
	bits := binary.LittleEndian.Uint32(p[1:])
	return w.bitstream(1+int(bits&0x3fff), 1+int(bits>>14&0x3fff))
}

func (w *webpWalk) bitstream(width, height int) error {
	w.width, w.height = width, height
	w.frames++
	return checkSize(width, height)
}

func uint24(p []byte) int { return int(p[0]) | int(p[1])<<8 | int(p[2])<<16 }
