package pages

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/reader/internal/catalog"
)

// Guard sets the headers of every image that came from outside (C13): the type
// is our own finding, nothing may sniff another, and opened directly it can run
// nothing.
func Guard(h http.Header, mediaType string) {
	h.Set("Content-Type", mediaType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Disposition", "inline")
}

// Serve answers one page. Errors come back before anything is written.
func (l *Library) Serve(w http.ResponseWriter, r *http.Request, p catalog.Placed) error {
	if !p.Here {
		return fault.Newf(fault.NotFound, "serve", p.Path, "the file is gone")
	}
	h := w.Header()
	etag := `"` + p.Fingerprint + "-" + strconv.Itoa(p.Position) + `"`
	if p.Stored {
		f, err := l.Open(p.Path)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		part, err := newPart(f, p.Offset, p.Size)
		if err != nil {
			return err
		}
		Guard(h, p.MediaType)
		h.Set("ETag", etag)
		h.Set("Cache-Control", immutable)
		http.ServeContent(w, r, "", time.Time{}, part)
		return nil
	}
	content, err := l.forReading(r.Context(), p)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	Guard(h, p.MediaType)
	h.Set("ETag", etag)
	h.Set("Cache-Control", immutable)
	if f, ok := content.(io.ReadSeeker); ok {
		http.ServeContent(w, r, "", time.Time{}, f)
		return nil
	}
	if r.Header.Get("If-None-Match") == etag {
		h.Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	if r.Method != http.MethodHead {
		// What fails now has been half sent; the browser sees it cut short.
		_, _ = io.Copy(w, content)
	}
	return nil
}

// immutable: the address names the fingerprint, and a changed file has another.
const immutable = "private, max-age=31536000, immutable"

// part is a range of a file that still is a file: io.Copy finds its file
// descriptor and lets the kernel send it, which a SectionReader would hide.
type part struct {
	*os.File
	start, size, at int64
}

func newPart(f *os.File, start, size int64) (*part, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, durable.Classify("open", f.Name(), err)
	}
	if start < 0 || size <= 0 || start+size > info.Size() {
		return nil, fault.Newf(fault.Page, "serve", f.Name(), "the file is shorter than when it was indexed")
	}
	if _, err := f.Seek(start, io.SeekStart); err != nil {
		return nil, durable.Classify("read", f.Name(), err)
	}
	// A disk that fails fails here, while it can still be said (F73).
	if _, err := f.ReadAt(make([]byte, 1), start); err != nil {
		return nil, durable.Classify("read", f.Name(), err)
	}
	return &part{File: f, start: start, size: size}, nil
}

// Seek moves within the range.
func (p *part) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += p.at
	case io.SeekEnd:
		offset += p.size
	}
	if offset < 0 {
		return 0, fmt.Errorf("seek to %d", offset)
	}
	if _, err := p.File.Seek(p.start+offset, io.SeekStart); err != nil {
		return 0, err
	}
	p.at = offset
	return offset, nil
}

// Read reads within the range.
func (p *part) Read(b []byte) (int, error) {
	if p.at >= p.size {
		return 0, io.EOF
	}
	b = b[:min(int64(len(b)), p.size-p.at)]
	n, err := p.File.Read(b)
	p.at += int64(n)
	return n, err
}
