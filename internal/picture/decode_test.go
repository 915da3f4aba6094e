package picture

import (
	"context"
	"errors"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"mangrove/internal/fault"
)

func TestDecodeShipped(t *testing.T) {
	t.Parallel()
	d := NewDecoder(2)
	for _, name := range []string{"sliver.jpg", "sliver.png", "star.gif", "title.webp", "title.avif"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := shipped(t, name)
			info, err := Check(data)
			if err != nil {
				t.Fatal(err)
			}
			img, err := d.Decode(t.Context(), data)
			if errors.Is(err, ErrNoDecoder) {
				t.Skip("this build decodes no AVIF")
			}
			if err != nil {
				t.Fatalf("Decode: %v", err)
			}
			if got, want := img.Bounds().Size(), image.Pt(info.Width, info.Height); got != want {
				t.Errorf("Decode gives %v, Check says %v", got, want)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	d := NewDecoder(1)
	jpg := shipped(t, "sliver.jpg")
	for _, tt := range []struct {
		name string
		data []byte
	}{
		{"cut", jpg[:len(jpg)-1]},
		{"over the caps", pngOf(30000, 30000)},
		{"right structure, wrong pixels", pngOf(100, 100)},
		{"not an image", []byte("<html>")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := d.Decode(t.Context(), tt.data); !fault.Is(err, fault.Page) {
				t.Errorf("Decode: %v, want a fault of class page", err)
			}
		})
	}
	t.Run("stopped", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := d.Decode(ctx, jpg); !errors.Is(err, context.Canceled) {
			t.Errorf("Decode: %v, want %v", err, context.Canceled)
		}
	})
	t.Run("stopped while waiting", func(t *testing.T) {
		t.Parallel()
		full := NewDecoder(1)
		full.slots <- struct{}{}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := full.Decode(ctx, jpg); !errors.Is(err, context.Canceled) {
				t.Errorf("Decode: %v, want %v", err, context.Canceled)
			}
		})
		cancel()
		wg.Wait()
	})
}

func TestDecoderCheckJudgesUnknownForms(t *testing.T) {
	t.Parallel()
	d := NewDecoder(1)
	// A hierarchical JPEG in structure, which no decoder here reads.
	odd := []byte("\xff\xd8\xff\xde\x00\x0b\x08\x00\x01\x00\x01\x01\x01\x11\x00" +
		"\xff\xc5\x00\x0b\x08\x00\x01\x00\x01\x01\x01\x11\x00\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00a\xff\xd9")
	if _, err := Check(odd); !errors.Is(err, ErrUnknownForm) {
		t.Fatalf("Check: %v, want %v", err, ErrUnknownForm)
	}
	if _, err := d.Check(t.Context(), odd); !fault.Is(err, fault.Page) || errors.Is(err, ErrUnknownForm) {
		t.Errorf("Decoder.Check: %v, want the decoder's own refusal", err)
	}
	if info, err := d.Check(t.Context(), shipped(t, "sliver.png")); err != nil || info.Width != 992 {
		t.Errorf("Decoder.Check of a whole PNG: %+v, %v", info, err)
	}
}

// TestDecodeSharedPages decodes every real page that Check takes. Known to
// fail are one PNG with a bad inner checksum and AVIF files with two tables of
// properties, which this libavif refuses.
func TestDecodeSharedPages(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes some sixty pages")
	}
	t.Parallel()
	d := NewDecoder(2)
	fails := map[string]bool{
		"invalid-zlib.png": true,
		"plum-blossom-large.profile0.8bpc.yuv420.alpha-full.avif":             true,
		"plum-blossom-small.profile1.10bpc.yuv444.alpha-full.avif":            true,
		"plum-blossom-small.profile2.12bpc.yuv422.alpha-full.monochrome.avif": true,
	}
	err := filepath.WalkDir(sharedPages, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := Check(data)
		if err != nil {
			return nil
		}
		img, err := d.Decode(t.Context(), data)
		switch {
		case errors.Is(err, ErrNoDecoder):
		case fails[entry.Name()] != (err != nil):
			t.Errorf("%s: Decode: %v", entry.Name(), err)
		case err == nil && img.Bounds().Size() != image.Pt(info.Width, info.Height):
			t.Errorf("%s: decoded to %v, checked as %+v", entry.Name(), img.Bounds(), info)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the shared pages are not beside this checkout")
	}
	if err != nil {
		t.Fatal(err)
	}
}
