// Package picture answers one question: are these bytes one whole image, of
// which type and size (PUB-4)? It types by content, walks the structure of
// JPEG, PNG, GIF, WebP and AVIF to the end and, where pixels are needed,
// decodes in a bounded pool. It refuses to believe a name or a header, to fetch
// or store anything, to repair an image, and to load a library of the machine.
package picture

import (
	"errors"
	"fmt"

	"mangrove/internal/fault"
)

// The caps, chosen so that a long strip of 800 x 20,000 passes and one decoded
// image stays near 160 MiB.
const (
	// MaxPixels is the largest width times height.
	MaxPixels = 40_000_000
	// MaxSide is the largest width or height in pixels.
	MaxSide = 65_500
	// MaxBytes is the largest file.
	MaxBytes = 32 << 20

	// maxFrames bounds the walk through an animation.
	maxFrames = 2_000
)

// The media types that Check accepts.
const (
	jpegType = "image/jpeg"
	pngType  = "image/png"
	gifType  = "image/gif"
	webpType = "image/webp"
	avifType = "image/avif"
)

// ErrUnknownForm is in the chain of an error of Check when the image is legal
// as far as it was walked, but of a form the walker does not know: a full
// decode decides (Decoder.Check).
var ErrUnknownForm = errors.New("a form of image that only a full decode can judge")

// Info is what Check found out.
type Info struct {
	// MediaType is image/jpeg, image/png, image/gif, image/webp or image/avif.
	MediaType string
	// Ext is the file ending that goes with it: .jpg, .png, .gif, .webp, .avif.
	Ext string
	// Width and Height are in pixels, as stored: before any rotation that EXIF
	// or an AVIF property asks for. Of an animation they are the canvas.
	Width, Height int
	// Trailing counts the bytes after the end of the image; they are accepted.
	Trailing int64
	// Animated is true when there is more than one frame.
	Animated bool
}

// Check walks data to the end of the image it holds, without decoding it. The
// error is of class fault.Page and says in plain words what is wrong. A whole
// image of one pixel passes: whether that is a page is the caller's question.
// Damage inside compressed data is seen in a PNG (every chunk has a checksum)
// and not in the other formats, which have none.
func Check(data []byte) (Info, error) {
	if len(data) == 0 {
		return Info{}, bad("empty: zero bytes")
	}
	if len(data) > MaxBytes {
		return Info{}, bad("%d bytes is over the limit of %d MiB", len(data), MaxBytes>>20)
	}
	var info Info
	var err error
	mediaType := Sniff(data)
	switch mediaType {
	case jpegType:
		info, err = walkJPEG(data)
		info.Ext = ".jpg"
	case pngType:
		info, err = walkPNG(data)
		info.Ext = ".png"
	case gifType:
		info, err = walkGIF(data)
		info.Ext = ".gif"
	case webpType:
		info, err = walkWebP(data)
		info.Ext = ".webp"
	case avifType:
		info, err = walkAVIF(data)
		info.Ext = ".avif"
	default:
		return Info{}, bad("not an image but %s", describe(data))
	}
	if err == nil {
		err = checkSize(info.Width, info.Height)
	}
	if err != nil {
		return Info{}, err
	}
	info.MediaType = mediaType
	return info, nil
}

// checkSize holds a width and height against the caps.
func checkSize(w, h int) error {
	switch {
	case w <= 0 || h <= 0:
		return bad("%d x %d has no pixels", w, h)
	case w > MaxSide || h > MaxSide:
		if int64(w)*int64(h) <= MaxPixels {
			return bad("%d x %d is over the limit of %d pixels a side", w, h, MaxSide)
		}
		fallthrough
	case int64(w)*int64(h) > MaxPixels:
		return bad("%d x %d is over the limit of %d million pixels", w, h, MaxPixels/1_000_000)
	}
	return nil
}

// bad is the one way in which a page fails here.
func bad(format string, args ...any) error {
	return fault.Newf(fault.Page, "check image", "", format, args...)
}

// cutShort is the error of an image whose end is missing.
func cutShort(kind string, data []byte) error {
	return bad("the %s is cut short: it ends after %d bytes, before its own end", kind, len(data))
}

// damaged is the error of an image whose structure is wrong at a place.
func damaged(kind string, at int, format string, args ...any) error {
	return bad("the %s is damaged at byte %d: %s", kind, at, fmt.Sprintf(format, args...))
}

// unknownForm is the error that a full decode may overrule.
func unknownForm(kind, what string) error {
	return bad("the %s has %s: %w", kind, what, ErrUnknownForm)
}
