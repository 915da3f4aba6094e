package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"
)

// ErrNoDecoder is in the chain of an error of Decode when this build cannot
// decode AVIF: it was built without the tag nodynamic (avif_decode.go says why).
var ErrNoDecoder = errors.New("this build decodes no AVIF")

// Decoder decodes whole images, a bounded number at once: one takes up to
// 160 MiB and a second of processor time.
type Decoder struct {
	slots chan struct{}
}

// NewDecoder returns a Decoder that runs at most n decodes at once; n below one
// counts as one. A process makes one and hands it around.
func NewDecoder(n int) *Decoder {
	return &Decoder{slots: make(chan struct{}, max(n, 1))}
}

// Decode returns the pixels of data, of an animation its first frame, in the
// orientation they are stored in. It checks the structure and the caps first.
// An image that cannot be decoded is of class fault.Page; when ctx ends while
// waiting or decoding, the error is that of ctx. An AVIF once begun is not
// interrupted.
func (d *Decoder) Decode(ctx context.Context, data []byte) (image.Image, error) {
	if _, err := Check(data); err != nil && !errors.Is(err, ErrUnknownForm) {
		return nil, err
	}
	return d.decode(ctx, data)
}

// Check is the package's Check, with a full decode to judge the legal forms
// that the walk does not know.
func (d *Decoder) Check(ctx context.Context, data []byte) (Info, error) {
	info, err := Check(data)
	if !errors.Is(err, ErrUnknownForm) {
		return info, err
	}
	img, err := d.decode(ctx, data)
	if err != nil {
		return Info{}, err
	}
	size := img.Bounds().Size()
	if err := checkSize(size.X, size.Y); err != nil {
		return Info{}, err
	}
	ext := map[string]string{jpegType: ".jpg", avifType: ".avif"}
	return Info{MediaType: Sniff(data), Ext: ext[Sniff(data)], Width: size.X, Height: size.Y}, nil
}

func (d *Decoder) decode(ctx context.Context, data []byte) (img image.Image, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case d.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() {
		<-d.slots
		// The decoders are others' code on hostile bytes: a panic is a bad page.
		if p := recover(); p != nil {
			img, err = nil, bad("the decoder gave up: %v", p)
		}
	}()
	r := &ctxReader{ctx: ctx, r: bytes.NewReader(data)}
	switch mediaType := Sniff(data); mediaType {
	case jpegType:
		img, err = decodeCapped(r, data, jpeg.DecodeConfig, jpeg.Decode)
	case pngType:
		img, err = decodeCapped(r, data, png.DecodeConfig, png.Decode)
	case gifType:
		img, err = decodeCapped(r, data, gif.DecodeConfig, gif.Decode)
	case webpType:
		still := firstWebPFrame(data)
		r.r = bytes.NewReader(still)
		img, err = decodeCapped(r, still, webp.DecodeConfig, webp.Decode)
	case avifType:
		img, err = decodeAVIF(data)
	default:
		return nil, bad("not an image but %s", describe(data))
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, ErrNoDecoder):
		return nil, fmt.Errorf("decode image: %w", err)
	case err != nil:
		return nil, bad("it cannot be decoded: %w", err)
	}
	return img, nil
}

// decodeCapped asks the decoder's own idea of the size before it decodes, so
// that a file on which walker and decoder disagree stays under the caps.
func decodeCapped(
	r io.Reader, data []byte,
	config func(io.Reader) (image.Config, error),
	decode func(io.Reader) (image.Image, error),
) (image.Image, error) {
	c, err := config(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if err := checkSize(c.Width, c.Height); err != nil {
		return nil, err
	}
	return decode(r)
}

// firstWebPFrame returns data, or for an animation a still file of its first
// frame, as the decoder knows no animations. data has passed walkWebP.
func firstWebPFrame(data []byte) []byte {
	if len(data) < 30 || string(data[12:16]) != "VP8X" || data[20]&0x02 == 0 {
		return data
	}
	for at := 12; at+8 <= len(data); {
		length := int(binary.LittleEndian.Uint32(data[at+4:]))
		if at+8+length > len(data) {
			return data
		}
		if p := data[at+8 : at+8+length]; string(data[at:at+4]) == "ANMF" && length >= 16 {
			// The frame keeps its own size: VP8X with only the alpha flag, then
			// the frame's chunks.
			head := []byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00")
			head = append(head, data[20]&0x10, 0, 0, 0)
			head = append(head, p[6:12]...)
			still := append(head, p[16:]...)
			binary.LittleEndian.PutUint32(still[4:], uint32(len(still)-8))
			return still
		}
		at += 8 + length + length%2
	}
	return data
}

// ctxReader ends a decode soon after its context ends.
type ctxReader struct {
	ctx context.Context
	r   *bytes.Reader
}

func (c *ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
