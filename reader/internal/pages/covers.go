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

// Covers makes covers once and keeps them as files, within a limit. A page never
// waits for one: what is not made in a moment is made behind it, and asked for again.
type Covers struct {
	store   *coverStore
	decoder Decoder
	// slots bounds how many are made at once: a library page asks for many.
	slots chan struct{}
	// patience is how long a request waits for its cover.
	patience time.Duration

	mu     sync.Mutex
	making map[string]*making
}

// making is a cover under way; err is set before done is closed.
type making struct {
	done chan struct{}
	err  error
}

const (
	// patience is short: a browser has six connections, and pictures that wait would
	// hold up the next page.
	patience = 250 * time.Millisecond
	// patient is how long a program waits that is no browser, and would not ask again.
	patient = 10 * time.Second
	// mostWaiting bounds how many covers wait to be made. Who asks for more is told to
	// come back.
	mostWaiting = 300
	// makingTime bounds one cover, its source included.
	makingTime = 2 * time.Minute
	// noCover ends the name of a file that says that no cover can be made.
	noCover = ".none"
)

// NotYetError means that a cover is being made and will be there when it is asked
// for again.
type NotYetError struct{}

func (*NotYetError) Error() string { return "the cover is being made" }

// NewCovers keeps covers in dir, made when first needed, in at most limit bytes; 0
// is no limit.
func NewCovers(dir string, limit int64, decoder Decoder) *Covers {
	return &Covers{
		store: &coverStore{dir: dir, limit: limit}, decoder: decoder, slots: make(chan struct{}, 2), patience: patience, making: make(map[string]*making),
	}
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
	path := c.path(base, width)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		wait := patient
		if r.Header.Get("Sec-Fetch-Dest") == "image" {
			wait = c.patience
		}
		if err := c.await(r.Context(), base, wait, source); err != nil {
			return err
		}
		f, err = os.Open(path)
	}
	if err != nil {
		return durable.Classify("open", path, err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil {
		c.store.look(path, info)
	}
	Guard(w.Header(), "image/jpeg")
	w.Header().Set("ETag", `"`+base[:32]+"-"+strconv.Itoa(width)+`"`)
	w.Header().Set("Cache-Control", immutable)
	http.ServeContent(w, r, "", time.Time{}, f)
	return nil
}

func (c *Covers) path(base string, width int) string {
	return filepath.Join(c.store.dir, base+"-"+strconv.Itoa(width)+".jpg")
}

// await has both widths of a cover made once, however many ask for it, and waits a
// moment for it. NotYetError is in the chain when that was not enough.
func (c *Covers) await(ctx context.Context, base string, wait time.Duration, source Source) error {
	none := filepath.Join(c.store.dir, base+noCover)
	if info, err := os.Stat(none); err == nil {
		c.store.look(none, info)
		return fault.Newf(fault.NotFound, "make", "a cover", "it was tried before")
	}
	c.mu.Lock()
	m, under := c.making[base]
	if !under {
		if len(c.making) >= mostWaiting {
			c.mu.Unlock()
			return &NotYetError{}
		}
		m = &making{done: make(chan struct{})}
		c.making[base] = m
		// It is made to its end, also when nobody waits for it any more.
		go c.run(context.WithoutCancel(ctx), base, source, m)
	}
	c.mu.Unlock()
	enough := time.NewTimer(wait)
	defer enough.Stop()
	select {
	case <-m.done:
		return m.err
	case <-enough.C:
		return &NotYetError{}
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Covers) run(ctx context.Context, base string, source Source, m *making) {
	ctx, cancel := context.WithTimeout(ctx, makingTime)
	defer cancel()
	c.slots <- struct{}{}
	defer func() {
		<-c.slots
		if p := recover(); p != nil {
			m.err = fault.Newf(fault.Unknown, "make", "a cover", "panic: %v", p)
		}
		c.mu.Lock()
		delete(c.making, base)
		c.mu.Unlock()
		close(m.done)
	}()
	if _, err := os.Stat(c.path(base, SmallCover)); err == nil {
		return // it was made while this one waited
	}
	if m.err = c.make(ctx, base, source); fault.Is(m.err, fault.Page) {
		// The picture is what it is, and so is the answer: it is not tried again.
		if err := durable.WriteFile(filepath.Join(c.store.dir, base+noCover), []byte(m.err.Error()), 0o600); err == nil {
			c.store.added(block)
		}
	}
}

func (c *Covers) make(ctx context.Context, base string, source Source) error {
	if err := os.MkdirAll(c.store.dir, 0o700); err != nil {
		return durable.Classify("create", c.store.dir, err)
	}
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
	crop := coverCrop(img.Bounds())
	var written int64
	// The large one first: the small one is what tells others that all is made,
	// and it is made of the large one, at a fraction of what the page would cost.
	for _, width := range []int{LargeCover, SmallCover} {
		img = scale(img, crop, width)
		crop = img.Bounds()
		var out bytes.Buffer
		if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: coverQuality}); err != nil {
			return fault.New(fault.Page, "make", "a cover", err)
		}
		if err := durable.WriteFile(c.path(base, width), out.Bytes(), 0o600); err != nil {
			return err
		}
		written += cost(int64(out.Len()))
	}
	c.store.added(written)
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
