// Package pagestest makes comic archives for tests, of small drawn pages, so
// that no test needs a picture from outside.
package pagestest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"

	"mangrove/internal/cbz"
)

// Page draws one page: a plain colour that n decides, so that pages differ.
func Page(t testing.TB, n, width, height int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	c := color.RGBA{R: uint8(40 * n), G: uint8(255 - 30*n), B: 120, A: 255}
	for y := range height {
		for x := range width {
			img.SetRGBA(x, y, c)
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Book writes an archive of that many pages to path inside library and returns
// its fingerprint and size.
func Book(t testing.TB, library, path string, pages int) (fingerprint string, size int64) {
	t.Helper()
	var data [][]byte
	m := cbz.Manifest{Site: "sample", SeriesID: "s", ChapterID: path}
	h := sha256.New()
	_, _ = io.WriteString(h, path)
	for n := range pages {
		p := Page(t, n, 40, 60)
		sum := sha256.Sum256(p)
		_, _ = h.Write(sum[:])
		data = append(data, p)
		m.Pages = append(m.Pages, cbz.PageRecord{
			Name: fmt.Sprintf("%04d.png", n+1), Size: int64(len(p)), SHA256: hex.EncodeToString(sum[:]), MediaType: "image/png", Width: 40, Height: 60,
		})
	}
	m.Fingerprint = hex.EncodeToString(h.Sum(nil))
	var out bytes.Buffer
	err := cbz.Write(&out, cbz.ComicInfo{Title: path}, m, func(i int) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data[i])), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(library, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return m.Fingerprint, int64(out.Len())
}
