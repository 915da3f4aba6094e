package pages

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/image/draw"

	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/reader/internal/catalog"
)

// The widths a cover is made in. No other is served: a size from outside would
// fill the disk.
const (
	SmallCover = 320
	LargeCover = 640
)

const (
	// coverQuality is JPEG's.
	coverQuality = 84
	// maxSource bounds what is decoded for a cover.
	maxSource = 32 << 20
)

// Decoder turns a whole image into pixels.
type Decoder interface {
	Decode(ctx context.Context, data []byte) (image.Image, error)
}

// Covers makes covers once and keeps them as files.
type Covers struct {
	dir     string
	decoder Decoder
	// slots bounds how many are made at once: a library page asks for many.
	slots chan struct{}

	mu     sync.Mutex
	making map[string]chan struct{}
}

// NewCovers keeps covers in dir, made when first needed.
func NewCovers(dir string, decoder Decoder) *Covers {
	return &Covers{dir: dir, decoder: decoder, slots: make(chan struct{}, 2), making: map[string]chan struct{}{}}
}

// Source answers the bytes of the image a cover is made from.
type Source func(ctx context.Context) ([]byte, error)

// PageSource reads one page of a book.
func (l *Library) PageSource(p catalog.Placed) Source {
	return func(ctx context.Context) ([]byte, error) {
		if p.Stored {
			return l.readStored(p)
		}
		content, err := l.open(ctx, p)
		if err != nil {
			return nil, err
		}
		defer func() { _ = content.Close() }()
		return io.ReadAll(io.LimitReader(content, maxSource+1))
	}
}

// readStored reads a page that lies in its file as it is.
func (l *Library) readStored(p catalog.Placed) ([]byte, error) {
	if p.Size > maxSource {
		return nil, fault.Newf(fault.Page, "read", p.Path, "page %d has more than %d bytes", p.Position, maxSource)
	}
	f, err := l.Open(p.Path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data := make([]byte, p.Size)
	if _, err := f.ReadAt(data, p.Offset); err != nil {
		return nil, durable.Classify("read", p.Path, err)
	}
	return data, nil
}

// Serve answers the cover called key in one of the two widths. Key must change
// when the source does.
func (c *Covers) Serve(w http.ResponseWriter, r *http.Request, key string, width int, source Source) error {
	if width != SmallCover && width != LargeCover {
		return fault.Newf(fault.NotFound, "serve", "a cover", "width %d", width)
	}
	sum := sha256.Sum256([]byte(key))
	base := hex.EncodeToString(sum[:])
	path := filepath.Join(c.dir, base+"-"+strconv.Itoa(width)+".jpg")
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := c.once(r.Context(), base, source); err != nil {
			return err
		}
		f, err = os.Open(path)
	}
	if err != nil {
		return durable.Classify("open", path, err)
	}
	defer func() { _ = f.Close() }()
	Guard(w.Header(), "image/jpeg")
	w.Header().Set("ETag", `"`+base[:32]+"-"+strconv.Itoa(width)+`"`)
	w.Header().Set("Cache-Control", immutable)
	http.ServeContent(w, r, "", time.Time{}, f)
	return nil
}

// once makes both widths of one cover, however many ask for it meanwhile.
func (c *Covers) once(ctx context.Context, base string, source Source) error {
	for {
		c.mu.Lock()
		busy, ok := c.making[base]
		if !ok {
			break
		}
		c.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return ctx.Err()
		}
		if _, err := os.Stat(filepath.Join(c.dir, base+"-"+strconv.Itoa(SmallCover)+".jpg")); err == nil {
			return nil
		}
	}
	done := make(chan struct{})
	c.making[base] = done
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.making, base)
		c.mu.Unlock()
		close(done)
	}()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return c.make(ctx, base, source)
}

func (c *Covers) make(ctx context.Context, base string, source Source) error {
	data, err := source(ctx)
	if err != nil {
		return err
	}
	if len(data) > maxSource {
		return fault.Newf(fault.Page, "make", "a cover", "the page has more than %d bytes", maxSource)
	}
	img, err := c.decoder.Decode(ctx, data)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// Whatever is wrong, it is wrong with this picture alone; the page shows
		// the mark in its place.
		return fault.New(fault.Page, "make", "a cover", err)
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return durable.Classify("create", c.dir, err)
	}
	crop := coverCrop(img.Bounds())
	// The large one first: the small one is what tells others that all is made,
	// and it is made of the large one, at a fraction of what the page would cost.
	for _, width := range []int{LargeCover, SmallCover} {
		img = scale(img, crop, width)
		crop = img.Bounds()
		var out bytes.Buffer
		if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: coverQuality}); err != nil {
			return fault.New(fault.Page, "make", "a cover", err)
		}
		path := filepath.Join(c.dir, base+"-"+strconv.Itoa(width)+".jpg")
		if err := durable.WriteFile(path, out.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// coverCrop is the part of a page that stands as a cover: the whole of it where
// the shape is near a cover's (2:3), the top of a long strip, the middle of a
// wide picture without its foot, where a title would be cut at both ends.
func coverCrop(b image.Rectangle) image.Rectangle {
	w, h := b.Dx(), b.Dy()
	switch {
	case h > 2*w:
		h = w * 3 / 2
		return image.Rect(b.Min.X, b.Min.Y, b.Min.X+w, b.Min.Y+h)
	case w > h:
		h = max(h*5/6, 1)
		narrow := max(h*2/3, 1)
		left := b.Min.X + (w-narrow)/2
		return image.Rect(left, b.Min.Y, left+narrow, b.Min.Y+h)
	}
	return b
}

func scale(img image.Image, crop image.Rectangle, width int) image.Image {
	width = min(width, crop.Dx())
	height := max(1, crop.Dy()*width/crop.Dx())
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	// White behind transparent pages, as paper.
	draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src)
	draw.CatmullRom.Scale(out, out.Bounds(), img, crop, draw.Over, nil)
	return out
}
