//go:build !nodynamic

package picture

import "image"

// decodeAVIF refuses: see avif_decode.go for the tag that a build needs. Check
// needs no decoder and is the same in every build.
func decodeAVIF([]byte) (image.Image, error) { return nil, ErrNoDecoder }
