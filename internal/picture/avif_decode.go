//go:build nodynamic

package picture

import (
	"bytes"
	"fmt"
	"image"
	"slices"

	"github.com/gen2brain/avif"
)

// decodeAVIF decodes with libavif compiled to WebAssembly, which is memory-safe
// on hostile bytes and the same on every machine. Without the tag nodynamic the
// library would load whatever libavif the machine has when the process starts;
// so only a build with that tag links it (go build -tags nodynamic).
func decodeAVIF(data []byte) (image.Image, error) {
	c, err := avif.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if err := checkSize(c.Width, c.Height); err != nil {
		return nil, err
	}
	img, err := avif.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	// The pixels are a view of the whole WebAssembly memory: keep only them.
	switch img := img.(type) {
	case *image.RGBA:
		img.Pix = slices.Clone(img.Pix)
		return img, nil
	case *image.RGBA64:
		return img, nil
	}
	return nil, fmt.Errorf("pixels of kind %T", img)
}
