package pages_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // to look at the covers made
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mangrove/internal/fault"
	"mangrove/internal/picture"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/pages"
	"mangrove/reader/internal/pages/pagestest"
)

// placed indexes an archive and answers page n of it.
func placed(t *testing.T, l *pages.Library, path string, n int) catalog.Placed {
	t.Helper()
	list, err := l.Index(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Placed{Page: list[n], Path: path, Fingerprint: "abc", Here: true}
}

func TestServeStoredPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pagestest.Book(t, dir, "S/1.cbz", 3)
	l := pages.NewLibrary(dir)
	p := placed(t, l, "S/1.cbz", 1)
	want := pagestest.Page(t, 1, 40, 60)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := l.Serve(w, r, p); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	for _, tt := range []struct {
		name, header, value string
		status              int
		body                []byte
	}{
		{"whole", "", "", 200, want},
		{"a range", "Range", "bytes=2-9", 206, want[2:10]},
		{"the end", "Range", "bytes=-5", 206, want[len(want)-5:]},
		{"beyond", "Range", "bytes=999999-", 416, nil},
		{"upside down", "Range", "bytes=9-1", 416, nil},
		{"a thousand ranges", "Range", "bytes=0-" + strings.Repeat(",0-", 999), 200, want},
		{"unchanged", "If-None-Match", `"abc-1"`, 304, []byte{}},
		{"another version", "If-None-Match", `"abd-1"`, 200, want},
		{"a long tag", "If-None-Match", `"` + strings.Repeat("x", 60<<10) + `"`, 200, want},
	} {
		r, err := http.NewRequest(http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.header != "" {
			r.Header.Set(tt.header, tt.value)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != tt.status || tt.body != nil && !bytes.Equal(body, tt.body) {
			t.Errorf("%s: got %d with %d bytes, want %d with %d", tt.name, resp.StatusCode, len(body), tt.status, len(tt.body))
		}
		if resp.StatusCode == 200 {
			for name, want := range map[string]string{
				"Content-Type": "image/png", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'",
				"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "private, max-age=31536000, immutable", "Etag": `"abc-1"`,
			} {
				if got := resp.Header.Get(name); got != want {
					t.Errorf("%s: %s is %q, want %q", tt.name, name, got, want)
				}
			}
		}
	}
}

func TestServePackedPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	want := pagestest.Page(t, 1, 40, 60)
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "1.png", Method: zip.Deflate})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(want)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.cbz"), out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	l := pages.NewLibrary(dir)
	p := placed(t, l, "x.cbz", 0)
	if p.Stored {
		t.Fatal("a packed page counts as stored")
	}
	rec := httptest.NewRecorder()
	if err := l.Serve(rec, httptest.NewRequest(http.MethodGet, "/", nil), p); err != nil {
		t.Fatal(err)
	}
	if rec.Code != 200 || !bytes.Equal(rec.Body.Bytes(), want) {
		t.Errorf("got %d with %d bytes", rec.Code, rec.Body.Len())
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("If-None-Match", `"abc-0"`)
	rec = httptest.NewRecorder()
	if err := l.Serve(rec, r, p); err != nil || rec.Code != 304 || rec.Body.Len() != 0 {
		t.Errorf("unchanged: got %d with %d bytes, %v", rec.Code, rec.Body.Len(), err)
	}
}

func TestNothingOutsideTheLibrary(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	pagestest.Book(t, outside, "secret.cbz", 1)
	dir := filepath.Join(outside, "library")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../secret.cbz", filepath.Join(dir, "link.cbz")); err != nil {
		t.Fatal(err)
	}
	l := pages.NewLibrary(dir)
	for _, path := range []string{"../secret.cbz", "link.cbz", filepath.Join(outside, "secret.cbz"), "a/../../secret.cbz", "", "."} {
		if _, err := l.Index(context.Background(), path); err == nil {
			t.Errorf("%q was opened", path)
		}
	}
}

func TestAShorterFileIsNoPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pagestest.Book(t, dir, "1.cbz", 3)
	l := pages.NewLibrary(dir)
	p := placed(t, l, "1.cbz", 2)
	if err := os.Truncate(filepath.Join(dir, "1.cbz"), p.Offset+1); err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	if err := l.Serve(rec, httptest.NewRequest(http.MethodGet, "/", nil), p); !fault.Is(err, fault.Page) || rec.Body.Len() > 0 {
		t.Errorf("got %v after %d bytes", err, rec.Body.Len())
	}
	p.Here = false
	if err := l.Serve(rec, httptest.NewRequest(http.MethodGet, "/", nil), p); !fault.Is(err, fault.NotFound) {
		t.Errorf("a removed book: %v", err)
	}
}

// TestCovers shows S-065.
func TestCovers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		width, height int
		wantW, wantH  int
	}{
		{"a page", 800, 1200, 320, 480},
		{"a long strip", 800, 4000, 320, 480},
		{"a wide picture", 1200, 800, 320, 480},
		{"a small page", 100, 150, 100, 150},
		{"a line", 900, 1, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := pages.NewCovers(filepath.Join(t.TempDir(), "covers"), 0, picture.NewDecoder(1))
			var made atomic.Int32
			source := func(context.Context) ([]byte, error) {
				made.Add(1)
				return pagestest.Page(t, 1, tt.width, tt.height), nil
			}
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					rec := httptest.NewRecorder()
					if err := c.Serve(rec, httptest.NewRequest(http.MethodGet, "/", nil), "k", pages.SmallCover, source); err != nil {
						t.Error(err)
						return
					}
					cfg, kind, err := image.DecodeConfig(rec.Body)
					if err != nil || kind != "jpeg" || cfg.Width != tt.wantW || abs(cfg.Height-tt.wantH) > 1 {
						t.Errorf("got a %s of %dx%d, want %dx%d (%v)", kind, cfg.Width, cfg.Height, tt.wantW, tt.wantH, err)
					}
				})
			}
			wg.Wait()
			if made.Load() != 1 {
				t.Errorf("made %d times, want once", made.Load())
			}
		})
	}
}

func abs(n int) int { return max(n, -n) }

// TestAnotherCoverHasAnotherTag: who keeps the cover of before is given the new one,
// and who keeps the new one is told so (S-064).
func TestAnotherCoverHasAnotherTag(t *testing.T) {
	t.Parallel()
	c := pages.NewCovers(filepath.Join(t.TempDir(), "covers"), 0, picture.NewDecoder(1))
	tag := ""
	for _, tt := range []struct {
		key  string
		want int
	}{{"page of the first book", http.StatusOK}, {"page of the first book", http.StatusNotModified}, {"page of another book", http.StatusOK}} {
		rec, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("If-None-Match", tag)
		if err := c.Serve(rec, r, tt.key, pages.SmallCover, func(context.Context) ([]byte, error) { return pagestest.Page(t, 1, 40, 60), nil }); err != nil {
			t.Fatal(err)
		}
		if rec.Code != tt.want {
			t.Errorf("%s with %q: %d, want %d", tt.key, tag, rec.Code, tt.want)
		}
		tag = rec.Header().Get("ETag")
	}
}

func TestCoverSizesAreFixed(t *testing.T) {
	t.Parallel()
	c := pages.NewCovers(t.TempDir(), 0, picture.NewDecoder(1))
	for _, width := range []int{0, -1, 321, 1 << 30} {
		err := c.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil), "k", width, nil)
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("width %d: %v", width, err)
		}
	}
}

func TestABrokenCoverIsNotKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := pages.NewCovers(dir, 0, picture.NewDecoder(1))
	err := c.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil), "k", pages.SmallCover,
		func(context.Context) ([]byte, error) { return []byte("<svg onload=alert(1)>"), nil })
	if err == nil {
		t.Error("an SVG became a cover")
	}
	left, _ := os.ReadDir(dir)
	for _, e := range left {
		if filepath.Ext(e.Name()) == ".jpg" {
			t.Errorf("left behind: %v", e)
		}
	}
}

// asked is what a browser asks for an image with.
func asked() *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Sec-Fetch-Dest", "image")
	return r
}

func TestAPageNeverWaitsForACover(t *testing.T) {
	t.Parallel()
	c := pages.NewCovers(filepath.Join(t.TempDir(), "covers"), 0, picture.NewDecoder(1))
	open := make(chan struct{})
	source := func(context.Context) ([]byte, error) {
		<-open
		return pagestest.Page(t, 1, 40, 60), nil
	}
	ctx, gone := context.WithCancel(t.Context())
	err := c.Serve(httptest.NewRecorder(), asked().WithContext(ctx), "k", pages.SmallCover, source)
	var notYet *pages.NotYetError
	if !errors.As(err, &notYet) {
		t.Fatalf("a browser got %v, want that it is being made", err)
	}
	// Nobody waits any more, and it is made all the same.
	gone()
	close(open)
	rec := httptest.NewRecorder()
	if err := c.Serve(rec, httptest.NewRequest(http.MethodGet, "/", nil), "k", pages.SmallCover, source); err != nil || rec.Body.Len() == 0 {
		t.Errorf("afterwards: %v, %d bytes", err, rec.Body.Len())
	}
}

func TestABrokenPictureIsTriedOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "covers")
	var tried atomic.Int32
	source := func(context.Context) ([]byte, error) { tried.Add(1); return []byte("<svg>"), nil }
	for range 3 {
		// Also by the program that starts next.
		c := pages.NewCovers(dir, 0, picture.NewDecoder(1))
		for range 3 {
			if err := c.Serve(httptest.NewRecorder(), asked(), "k", pages.SmallCover, source); err == nil {
				t.Error("an SVG became a cover")
			}
		}
	}
	if tried.Load() != 1 {
		t.Errorf("tried %d times, want once", tried.Load())
	}
	// What was away is asked for again.
	c := pages.NewCovers(dir, 0, picture.NewDecoder(1))
	away := func(context.Context) ([]byte, error) { tried.Add(1); return nil, fault.New(fault.Away, "ask", "", nil) }
	for range 2 {
		if err := c.Serve(httptest.NewRecorder(), asked(), "other", pages.SmallCover, away); !fault.Is(err, fault.Away) {
			t.Errorf("got %v", err)
		}
	}
	if tried.Load() != 3 {
		t.Errorf("one that was away was asked for %d times, want 2", tried.Load()-1)
	}
}

// TestCoversStayWithinTheirLimit shows S-114.
func TestCoversStayWithinTheirLimit(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "covers")
	const limit = 64 << 10
	c := pages.NewCovers(dir, limit, picture.NewDecoder(1))
	first := ""
	for n := range 40 {
		source := func(context.Context) ([]byte, error) { return pagestest.Page(t, n, 40, 60), nil }
		if err := c.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil), fmt.Sprint(n), pages.SmallCover, source); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			first = entries[0].Name()
			old := time.Now().Add(-48 * time.Hour)
			for _, e := range entries {
				if err := os.Chtimes(filepath.Join(dir, e.Name()), old, old); err != nil {
					t.Fatal(err)
				}
			}
		}
		if size := int64(len(entries)) * 4096; size > limit+8192 {
			t.Fatalf("after %d covers %d bytes lie there", n+1, size)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, first)); err == nil {
		t.Error("the one that nobody looked at for longest is still there")
	}
}

func TestUploads(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "kept")
	u := pages.NewUploads(dir, picture.NewDecoder(1))
	digest, err := u.Keep(t.Context(), pagestest.Page(t, 1, 900, 1300))
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	if err := u.Serve(rec, asked(), digest); err != nil || rec.Header().Get("Content-Type") != "image/jpeg" {
		t.Errorf("serving it: %v %v", err, rec.Header())
	}
	if cfg, _, err := image.DecodeConfig(rec.Body); err != nil || cfg.Width != pages.LargeCover {
		t.Errorf("%+v %v", cfg, err)
	}
	for name, data := range map[string][]byte{
		"nothing": nil, "an SVG": []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), "a cut picture": pagestest.Page(t, 1, 90, 130)[:200],
		"too much": make([]byte, pages.MaxUpload+1),
	} {
		if _, err := u.Keep(t.Context(), data); !fault.Is(err, fault.Page) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "../kept", strings.Repeat("a", 63), digest + ".jpg"} {
		if err := u.Serve(httptest.NewRecorder(), asked(), name); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: %v", name, err)
		}
	}
	// What is in use stays, and what was just kept; the rest goes.
	later := time.Now().Add(25 * time.Hour)
	for _, tt := range []struct {
		used []string
		at   time.Time
		left int
	}{{nil, time.Now(), 1}, {[]string{digest}, later, 1}, {nil, later, 0}} {
		if err := u.Sweep(tt.used, tt.at); err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(dir); len(left) != tt.left {
			t.Errorf("used %v: %d are left, want %d", tt.used, len(left), tt.left)
		}
	}
}
