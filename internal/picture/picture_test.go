package picture

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fault"
)

// sharedPages is a folder of real pages that stands beside some checkouts.
const sharedPages = "../../../shared/data/pages"

func TestCheckShipped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file string
		want Info
	}{
		{"sliver.jpg", Info{jpegType, ".jpg", 992, 20, 0, false}},
		{"sliver.png", Info{pngType, ".png", 992, 20, 0, false}},
		{"title.webp", Info{webpType, ".webp", 992, 265, 0, false}},
		{"title.avif", Info{avifType, ".avif", 992, 265, 0, false}},
		{"star.gif", Info{gifType, ".gif", 159, 159, 0, true}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			data := shipped(t, tt.file)
			got, err := Check(data)
			if err != nil {
				t.Fatalf("Check: %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Check (-want +got):\n%s", diff)
			}
			for n := range data {
				if info, err := Check(data[:n]); err == nil {
					t.Fatalf("cut after %d of %d bytes passes as %+v", n, len(data), info)
				} else if !fault.Is(err, fault.Page) {
					t.Fatalf("cut after %d bytes: class %q, want %q", n, fault.Of(err), fault.Page)
				}
			}
			tail := append(bytes.Clone(data), "<html>an advertisement</html>"...)
			tt.want.Trailing = int64(len(tail) - len(data))
			if got, err := Check(tail); err != nil || got != tt.want {
				t.Errorf("with bytes after the end: %+v, %v; want %+v", got, err, tt.want)
			}
			if got, err := Check(append(bytes.Clone(data), data...)); err != nil || got.Width != tt.want.Width {
				t.Errorf("joined with itself: %+v, %v; want it accepted", got, err)
			}
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	jpg, png, gif := shipped(t, "sliver.jpg"), shipped(t, "sliver.png"), shipped(t, "star.gif")
	sof := bytes.Index(jpg, []byte("\xff\xc0\x00"))
	avif := shipped(t, "title.avif")
	seq := bytes.Index(avif, []byte("\x12\x00\x0a\x07")) + 4 // the AV1 sequence header
	patch := func(data []byte, at int, with ...byte) []byte {
		out := bytes.Clone(data)
		copy(out[at:], with)
		return out
	}
	for _, tt := range []struct {
		name string
		data []byte
		says string
	}{
		{"nothing", nil, "zero bytes"},
		{"one byte", []byte{0xff}, "not an image"},
		{"only a jpeg start", []byte("\xff\xd8\xff"), "cut short"},
		{"html", []byte("\n <!DOCTYPE html><title>Sorry</title>"), "not an image but HTML"},
		{"svg", []byte(`<?xml version="1.0"?><svg xmlns="x"><script/></svg>`), "SVG"},
		{"json", []byte(`{"error":"gone"}`), "JSON"},
		{"text", []byte("Too many requests\n"), "text"},
		{"tiff", []byte("II*\x00\x08\x00\x00\x00"), "TIFF"},
		{"bmp", []byte("BM\x00\x00\x00\x00"), "BMP"},
		{"jpeg xl", []byte("\xff\x0a\x00"), "JPEG XL"},
		{"heic", []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"), "HEIC"},
		{"noise", []byte{1, 2, 3, 0xfe}, "neither"},
		{"too many bytes", make([]byte, MaxBytes+1), "limit of 32 MiB"},
		{"jpeg of 65535 x 65535", patch(jpg, sof+5, 0xff, 0xff, 0xff, 0xff), "65535 x 65535 is over the limit of 40 million pixels"},
		{"jpeg of no height", patch(jpg, sof+5, 0, 0), "992 x 0 has no pixels"},
		{"jpeg without a picture", []byte("\xff\xd8\xff\xd9"), "without any picture"},
		{"png of 30000 x 30000", pngOf(30000, 30000), "30000 x 30000 is over the limit of 40 million pixels"},
		{"png of 2^32-1", pngOf(0xffffffff, 0xffffffff), "over the limit"},
		{"png too wide", pngOf(MaxSide+1, 1), "limit of 65500 pixels a side"},
		{"png of no width", pngOf(0, 5), "0 x 5 has no pixels"},
		{"png with a flipped bit", patch(png, 60, png[60]^1), "checksum"},
		{"avif whose bitstream is huge", patch(avif, seq, 0x18, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xc0), "65536 x 65536 is over the limit"},
		{"avif without a picture header", patch(avif, seq-2, 0x12), "does not begin with its header"},
		{"gif of no width", patch(gif, 6, 0, 0), "0 x 159"},
		{"gif of 2001 frames", gifOf(maxFrames + 1), "more than 2000 frames"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			info, err := Check(tt.data)
			var e *fault.Error
			if !errors.As(err, &e) || e.Class != fault.Page {
				t.Fatalf("Check = %+v, %v; want a fault of class page", info, err)
			}
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Check says %q, want it to say %q", err, tt.says)
			}
			if info != (Info{}) {
				t.Errorf("a refused image has the facts %+v", info)
			}
		})
	}
}

func TestCheckTakesWhatIsLegal(t *testing.T) {
	t.Parallel()
	tiny, err := base64.StdEncoding.DecodeString("UklGRh4AAABXRUJQVlA4TBEAAAAvAAAAAAfQv/71r/+BiOh/AAA=")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		data []byte
		want Info
	}{
		{"a long strip", pngOf(800, 20000), Info{pngType, ".png", 800, 20000, 0, false}},
		{"one pixel", pngOf(1, 1), Info{pngType, ".png", 1, 1, 0, false}},
		{"the tallest", pngOf(600, MaxSide), Info{pngType, ".png", 600, MaxSide, 0, false}},
		{"a gif of many frames", gifOf(maxFrames), Info{gifType, ".gif", 1, 1, 0, true}},
		{"a jpeg that tells its height late", []byte("\xff\xd8\xff\xc0\x00\x0b\x08\x00\x00\x00\x05\x01\x01\x11\x00" +
			"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00ab\xff\x00\xff\xd0c\xff\xdc\x00\x04\x00\x07\xff\xff\xd9"), Info{jpegType, ".jpg", 5, 7, 0, false}},
		{"a one-pixel lossless webp", tiny, Info{webpType, ".webp", 1, 1, 0, false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Check(tt.data)
			if err != nil || got != tt.want {
				t.Errorf("Check = %+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}

// TestCheckSharedPages walks every real page: each passes, but for those whose
// name or maker says that it is broken.
func TestCheckSharedPages(t *testing.T) {
	t.Parallel()
	refused := map[string]string{
		"html-named.jpg":             "HTML",
		"zero-byte.jpg":              "zero bytes",
		"truncated.jpg":              "cut short",
		"solid-30000x30000-1bit.png": "million pixels",
		"invalid-crc32.png":          "checksum",
		"invalid-noend.png":          "cut short",
		"invalid-trunc.png":          "cut short",
	}
	kinds := map[string]string{"webp-named.jpg": webpType, "jpeg-named.png": jpegType}
	types := map[string]string{".jpg": jpegType, ".jpeg": jpegType, ".png": pngType, ".gif": gifType, ".webp": webpType, ".avif": avifType, ".avifs": avifType}
	animated := map[string]bool{"animated.gif": true, "animated.webp": true, "star.gif": true, "star-8bpc.avifs": true}
	seen := 0
	err := filepath.WalkDir(sharedPages, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || types[filepath.Ext(path)] == "" {
			return err
		}
		seen++
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := filepath.Base(path)
		got, err := Check(data)
		if says, no := refused[name]; no {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %+v, %v; want a refusal that says %q", name, got, err, says)
			}
			return nil
		}
		want := types[filepath.Ext(path)]
		if k, ok := kinds[name]; ok {
			want = k
		}
		if err != nil || got.MediaType != want || got.Animated != animated[name] {
			t.Errorf("%s: %+v, %v; want %s, animated %v", name, got, err, want, animated[name])
		}
		if _, err := Check(data[:len(data)-1-int(got.Trailing)]); err == nil {
			t.Errorf("%s without its last byte passes", name)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the shared pages are not beside this checkout")
	}
	if err != nil || seen == 0 {
		t.Fatalf("walk: %v after %d pages", err, seen)
	}
}

func FuzzCheck(f *testing.F) {
	for _, name := range []string{"sliver.jpg", "sliver.png", "star.gif", "title.webp", "title.avif"} {
		f.Add(shipped(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := Check(data)
		if err != nil {
			if !fault.Is(err, fault.Page) {
				t.Errorf("class %q, want page: %v", fault.Of(err), err)
			}
			return
		}
		if checkSize(info.Width, info.Height) != nil || info.Trailing < 0 || info.Trailing >= int64(len(data)) ||
			info.MediaType != Sniff(data) || info.Ext == "" {
			t.Errorf("accepted as %+v", info)
		}
		if _, err := Check(data[:len(data)-int(info.Trailing)]); err != nil {
			t.Errorf("whole without its tail fails: %v", err)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	for _, name := range []string{"sliver.jpg", "sliver.png", "star.gif", "title.webp", "title.avif"} {
		data := shipped(b, name)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Check(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func shipped(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// pngOf is a PNG whose header says w x h and whose structure is right.
func pngOf(w, h uint32) []byte {
	out := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(name string, body []byte) {
		out = binary.BigEndian.AppendUint32(out, uint32(len(body)))
		start := len(out)
		out = append(append(out, name...), body...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[start:]))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	chunk("IHDR", append(head, 8, 0, 0, 0, 0))
	chunk("IDAT", []byte{0x78, 0x9c, 0})
	chunk("IEND", nil)
	return out
}

// gifOf is a one-pixel GIF of n frames.
func gifOf(n int) []byte {
	out := []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff")
	for range n {
		out = append(out, ",\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00"...)
	}
	return append(out, ';')
}
