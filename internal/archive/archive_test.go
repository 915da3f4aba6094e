package archive_test

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/archive"
	"mangrove/internal/cbz"
	"mangrove/internal/fault"
	"mangrove/internal/picture"
	"mangrove/internal/unreadable"
)

func openRoot(t testing.TB, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func testFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func put(t testing.TB, dir, name string, data []byte) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// zipped packs files into a ZIP in this order, by the method.
func zipped(t testing.TB, method uint16, files ...file) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// file is one entry of an archive made here.
type file struct {
	name string
	data []byte
}

// TestEveryKind reads the same three pages out of every kind of archive: found in
// natural order, without litter, each page again by itself and all in one way
// through.
func TestEveryKind(t *testing.T) {
	t.Parallel()
	jpg := testFile(t, "page 2.jpg")
	files := []file{
		{"page 10.jpg", jpg}, {"__MACOSX/._page 10.jpg", []byte("x")}, {"page 2.jpg", jpg}, {"Thumbs.db", []byte("x")}, {".DS_Store", []byte("x")},
		{"page 1.jpg", jpg}, {"ComicInfo.xml", []byte("<ComicInfo><Series>Sliver</Series></ComicInfo>")},
	}
	dir := t.TempDir()
	for _, f := range files {
		put(t, dir, "folder/"+f.name, f.data)
	}
	put(t, dir, "folder/notes.txt", []byte("x"))
	put(t, dir, "folder/empty.jpg", nil)
	if err := os.Symlink("page 1.jpg", filepath.Join(dir, "folder", "page 3.jpg")); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "stored.cbz", zipped(t, zip.Store, files...))
	put(t, dir, "packed.zip", zipped(t, zip.Deflate, files...))
	put(t, dir, "misnamed.cb7", zipped(t, zip.Store, files...))
	put(t, dir, "rar.cbr", rar5(files...))
	put(t, dir, "misnamed.cbz", rar5(files...))
	for _, name := range []string{"solid.cb7", "stored.cb7", "lzma.cb7"} {
		put(t, dir, name, testFile(t, name))
	}
	put(t, dir, "misnamed.cbr", testFile(t, "solid.cb7"))
	root := openRoot(t, dir)
	for name, kind := range map[string]archive.Kind{
		"folder": archive.Folder, "stored.cbz": archive.ZIP, "packed.zip": archive.ZIP, "misnamed.cb7": archive.ZIP, "rar.cbr": archive.RAR,
		"misnamed.cbz": archive.RAR, "solid.cb7": archive.SevenZip, "stored.cb7": archive.SevenZip, "lzma.cb7": archive.SevenZip,
		"misnamed.cbr": archive.SevenZip,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			id, err := archive.Peek(ctx, root, name)
			if err != nil || id.Kind != kind || id.Pages != 3 || id.Digest == "" || id.Info == nil || id.Info.Series != "Sliver" {
				t.Fatalf("Peek: %+v, %v", id, err)
			}
			c, err := archive.Index(ctx, root, name)
			if err != nil || c.Kind != kind || len(c.Notes) != 0 {
				t.Fatalf("Index: %+v, %v", c, err)
			}
			var names []string
			want := map[int64][]byte{}
			for _, p := range c.Pages {
				names = append(names, p.Name)
				if p.MediaType != "image/jpeg" || p.Width != 992 {
					t.Errorf("page %+v, want a JPEG of 992 pixels", p)
				}
				body := read(t, root, name, p)
				if !bytes.HasPrefix(body, jpg[:len(jpg)-4]) {
					t.Errorf("%q reads as other bytes", p.Name)
				}
				want[p.Offset] = body
			}
			if diff := cmp.Diff([]string{"page 1.jpg", "page 2.jpg", "page 10.jpg"}, names); diff != "" {
				t.Errorf("pages (-want +got):\n%s", diff)
			}
			if kind != archive.RAR && kind != archive.SevenZip {
				return
			}
			last := int64(-1)
			err = archive.Unpack(ctx, root, name, func(offset int64, r io.Reader) error {
				body, err := io.ReadAll(r)
				if err == nil && want[offset] != nil && !bytes.Equal(body, want[offset]) || offset <= last {
					t.Errorf("entry %d after %d reads otherwise in one way through", offset, last)
				}
				last = offset
				delete(want, offset)
				return err
			})
			if err != nil || len(want) > 0 {
				t.Errorf("Unpack: %v, %d pages were not visited", err, len(want))
			}
		})
	}
}

func read(t testing.TB, root *os.Root, name string, p cbz.Page) []byte {
	t.Helper()
	r, err := archive.OpenPage(context.Background(), root, name, p)
	if err != nil {
		t.Fatalf("OpenPage %q: %v", p.Name, err)
	}
	defer func() { _ = r.Close() }()
	body, err := io.ReadAll(r)
	if err != nil || int64(len(body)) != p.Size {
		t.Fatalf("page %q: %d of %d bytes, %v", p.Name, len(body), p.Size, err)
	}
	return body
}

// TestUnreadable gives the reason for each way not to be readable, whatever the
// kind, the same at a look and at a reading.
// It shows B59, B60, B62.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	jpg := testFile(t, "page 2.jpg")
	one := file{"1.jpg", jpg}
	solid := testFile(t, "solid.cb7")
	spoilt := bytes.Clone(solid)
	spoilt[60] ^= 0xff
	many := make([]file, cbz.MaxEntries+1)
	for i := range many {
		many[i] = file{name: strings.Repeat("n", 1+i%3)}
	}
	for _, tt := range []struct {
		name string
		data []byte
		want unreadable.Reason
	}{
		{"empty.cbz", nil, unreadable.Empty},
		{"a picture.cbz", jpg, unreadable.NotAnArchive},
		{"a PDF.cbr", []byte("%PDF-1.7\n"), unreadable.NotAnArchive},
		{"cut.cbz", zipped(t, zip.Store, one)[:200], unreadable.Corrupt},
		{"locked.cbz", testFile(t, "encrypted.cbz"), unreadable.Encrypted},
		{"lzma.cbz", testFile(t, "lzma.cbz"), unreadable.Unsupported},
		{"out.cbz", zipped(t, zip.Store, one, file{"../2.jpg", jpg}), unreadable.UnsafeNames},
		{"twice.cbz", zipped(t, zip.Store, one, one), unreadable.DuplicateNames},
		{"text.cbz", zipped(t, zip.Store, file{"a.txt", []byte("x")}), unreadable.NoPages},
		{"zeros.cbz", zipped(t, zip.Deflate, file{"1.jpg", make([]byte, 10<<20)}), unreadable.TooLarge},

		{"out.cbr", rar5(one, file{"../2.jpg", jpg}), unreadable.UnsafeNames},
		{"twice.cbr", rar5(one, one), unreadable.DuplicateNames},
		{"text.cbr", rar5(file{"a.txt", []byte("x")}), unreadable.NoPages},
		{"deep.cbr", rar5(file{strings.Repeat("d/", 200) + "1.jpg", jpg}), unreadable.TooLarge},
		{"many.cbr", rar5(many...), unreadable.TooLarge},
		{"cut.cbr", rar5(one)[:60], unreadable.Corrupt},
		{"locked.cbr", rar5Locked(), unreadable.Encrypted},
		{"part.cbr", rar5Part(one), unreadable.Unsupported},
		{"claims.cbr", rar5Claims(one, 3<<30), unreadable.TooLarge},
		{"magic.cbr", []byte("Rar!\x1a\x07\x01\x00"), unreadable.Corrupt},

		{"locked.cb7", testFile(t, "encrypted.cb7"), unreadable.Encrypted},
		{"locked list.cb7", testFile(t, "encrypted-list.cb7"), unreadable.Encrypted},
		{"ppmd.cb7", testFile(t, "ppmd.cb7"), unreadable.Unsupported},
		{"cut.cb7", solid[:len(solid)-40], unreadable.Corrupt},
		{"spoilt.cb7", spoilt, unreadable.Corrupt},
		{"magic.cb7", []byte("7z\xbc\xaf\x27\x1c\x00\x04"), unreadable.Corrupt},
		{"claims files.cb7", seven(0x05, 0xf0, 0xff, 0xff, 0xff, 0xff), unreadable.TooLarge},
		{"claims blocks.cb7", seven(0x04, 0x07, 0x0b, 0xf0, 0xff, 0xff, 0xff, 0x0f, 0x00), unreadable.TooLarge},
		{"claims memory.cb7", seven(0x04, 0x07, 0x0b, 0x01, 0x00, 0x01, 0x21, 0x21, 0x01, 40, 0x0c, 0x01), unreadable.TooLarge},
		{"claims outs.cb7", seven(0x04, 0x07, 0x0b, 0x01, 0x00, 0x01, 0x11, 0x00, 0x01, 0xf0, 0xff, 0xff, 0xff, 0x0f), unreadable.TooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, tt.name, tt.data)
			root := openRoot(t, dir)
			_, peekErr := archive.Peek(t.Context(), root, tt.name)
			_, indexErr := archive.Index(t.Context(), root, tt.name)
			for what, err := range map[string]error{"Peek": peekErr, "Index": indexErr} {
				if unreadable.Of(err) != tt.want || !fault.Is(err, fault.Invalid) {
					t.Errorf("%s: %v, reason %q, want %q", what, err, unreadable.Of(err), tt.want)
				}
			}
		})
	}
}

func TestFolders(t *testing.T) {
	t.Parallel()
	jpg := testFile(t, "page 2.jpg")
	dir := t.TempDir()
	put(t, dir, "none/a.txt", []byte("x"))
	put(t, dir, "book/1.jpg", jpg)
	root := openRoot(t, dir)
	if _, err := archive.Peek(t.Context(), root, "none"); unreadable.Of(err) != unreadable.NoPages {
		t.Errorf("a folder without pictures: %v", err)
	}
	if _, err := archive.Peek(t.Context(), root, "gone"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a folder that is gone: %v", err)
	}
	before, err := archive.Peek(t.Context(), root, "book")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "book"), filepath.Join(dir, "renamed")); err != nil {
		t.Fatal(err)
	}
	after, err := archive.Peek(t.Context(), root, "renamed")
	if err != nil || after.Digest != before.Digest {
		t.Errorf("a renamed folder is another one: %v", err)
	}
	c, err := archive.Index(t.Context(), root, "renamed")
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "renamed/1.jpg", append(bytes.Clone(jpg), 0))
	if changed, err := archive.Peek(t.Context(), root, "renamed"); err != nil || changed.Digest == before.Digest {
		t.Errorf("a folder with another page is the same one: %v", err)
	}
	for _, p := range []cbz.Page{c.Pages[0], {Name: "../secret.jpg"}, {Name: `..\secret.jpg`}, {Name: ".hidden.jpg"}, {Name: "gone.jpg"}} {
		if r, err := archive.OpenPage(t.Context(), root, "renamed", p); err == nil {
			_ = r.Close()
			t.Errorf("%q was opened", p.Name)
		}
	}
}

// sharedArchives is a folder of real archives that stands beside some checkouts.
const sharedArchives = "../../../shared/data/archives"

// TestSharedArchives says of every real archive what is found in it: its kind and
// number of pages, or why it cannot be read.
func TestSharedArchives(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(sharedArchives); err != nil {
		t.Skip("the shared archives are not beside this checkout")
	}
	type want struct {
		pages  int
		reason unreadable.Reason
	}
	special := map[string]want{
		"comictagger_Apache-2.0/fake_cbr.cbr": {0, unreadable.NoPages}, // its pictures are text

		"derived-from-pepper-and-carrot_CC-BY/absolute-and-dotdot.cbz":            {0, unreadable.UnsafeNames},
		"derived-from-pepper-and-carrot_CC-BY/case-and-hidden.cbz":                {2, ""},
		"derived-from-pepper-and-carrot_CC-BY/crc-mismatch.cbz":                   {4, ""}, // one of them is broken
		"derived-from-pepper-and-carrot_CC-BY/duplicate-names.cbz":                {0, unreadable.DuplicateNames},
		"derived-from-pepper-and-carrot_CC-BY/natural-sort.cbz":                   {6, ""},
		"derived-from-pepper-and-carrot_CC-BY/normal.cbz":                         {4, ""},
		"derived-from-pepper-and-carrot_CC-BY/shift-jis-names.cbz":                {2, ""},
		"derived-from-pepper-and-carrot_CC-BY/truncated-no-central-directory.cbz": {0, unreadable.Corrupt},
		"derived-from-pepper-and-carrot_CC-BY/very-long-name.cbz":                 {1, ""},
		"derived-from-pepper-and-carrot_CC-BY/zip-bomb-50MB-entry.cbz":            {0, unreadable.TooLarge},
		"derived-from-pepper-and-carrot_CC-BY/zip-in-cbr-clothes.cbr":             {1, ""},

		"go-archive-zip_BSD/comment-truncated.zip":         {0, unreadable.Corrupt},
		"go-archive-zip_BSD/test-badbase.zip":              {1, ""},
		"go-archive-zip_BSD/test-baddirsz.zip":             {1, ""},
		"go-archive-zip_BSD/test-prefix.zip":               {1, ""},
		"go-archive-zip_BSD/test-trailing-junk.zip":        {1, ""},
		"go-archive-zip_BSD/test.zip":                      {1, ""},
		"go-archive-zip_BSD/readme.notzip":                 {0, unreadable.NotAnArchive},
		"go-archive-zip_BSD/gophercolor16x16.png":          {0, unreadable.NotAnArchive},
		"go-archive-zip_BSD/go-no-datadesc-sig.zip.base64": {0, unreadable.NotAnArchive},
		"go-archive-zip_BSD/LICENSE":                       {0, unreadable.NotAnArchive},
		"readium_BSD-3/childrens-literature.epub":          {1, ""},
		"readium_BSD-3/not-a.zip":                          {0, unreadable.NotAnArchive},
		"readium_BSD-3/test-comicinfo.cbz":                 {3, ""},
		"readium_BSD-3/test.zip":                           {2, ""},
		"stump_MIT/book.epub":                              {1, ""},
		"stump_MIT/book-image-format-test.zip":             {4, ""}, // JPEG XL is not shown
		"stump_MIT/nested-macos-compressed.cbz":            {3, ""},
		"comicinfo-xml/02_sample.xml":                      {0, unreadable.NotAnArchive},
		"comicinfo-xsd_MIT/ComicInfo-v1.0.xsd":             {0, unreadable.NotAnArchive},
		"comicinfo-xsd_MIT/ComicInfo-v2.0.xsd":             {0, unreadable.NotAnArchive},
		"comicinfo-xsd_MIT/ComicInfo-v2.1-draft.xsd":       {0, unreadable.NotAnArchive},
		"comicinfo-xsd_MIT/DOCUMENTATION.md":               {0, unreadable.NotAnArchive},
		"comicinfo-xsd_MIT/LICENSE":                        {0, unreadable.NotAnArchive},
	}
	root := openRoot(t, sharedArchives)
	seen := 0
	for _, folder := range []string{
		"comicinfo-xml", "comicinfo-xsd_MIT", "comictagger_Apache-2.0", "derived-from-pepper-and-carrot_CC-BY", "go-archive-zip_BSD",
		"readium_BSD-3", "stump_MIT",
	} {
		entries, err := os.ReadDir(filepath.Join(sharedArchives, folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			name := path.Join(folder, e.Name())
			w, ok := special[name]
			if !ok {
				w.reason = unreadable.NoPages // archives of texts and folders
			}
			seen++
			c, err := archive.Index(t.Context(), root, name)
			if len(c.Pages) != w.pages || unreadable.Of(err) != w.reason || (err == nil) != (w.reason == "") {
				t.Errorf("%s: %d pages, %v; want %d pages, reason %q", name, len(c.Pages), err, w.pages, w.reason)
				continue
			}
			for _, p := range c.Pages {
				if p.Width == 0 {
					continue // broken, and a note says so
				}
				if info, err := picture.Check(read(t, root, name, p)); err != nil || info.Width != p.Width {
					t.Errorf("%s: page %+v reads as %+v, %v", name, p, info, err)
				}
			}
		}
	}
	if seen < len(special) {
		t.Errorf("only %d archives were seen", seen)
	}
}

// FuzzIndex feeds the opener: whatever the bytes, it ends within its limits with
// pages that can be read or with a reason.
func FuzzIndex(f *testing.F) {
	jpg := testFile(f, "page 2.jpg")
	f.Add(zipped(f, zip.Deflate, file{"1.jpg", jpg}))
	f.Add(rar5(file{"1.jpg", jpg}, file{"2.jpg", jpg}))
	f.Add(rar5Locked())
	for _, name := range []string{"solid.cb7", "stored.cb7", "lzma.cb7", "encrypted.cb7"} {
		f.Add(testFile(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		put(t, dir, "x", data)
		root := openRoot(t, dir)
		_, peekErr := archive.Peek(t.Context(), root, "x")
		c, err := archive.Index(t.Context(), root, "x")
		for _, err := range []error{peekErr, err} {
			if err != nil && (!fault.Is(err, fault.Invalid) || unreadable.Of(err) == "") {
				t.Errorf("class %q and reason %q: %v", fault.Of(err), unreadable.Of(err), err)
			}
		}
		for _, p := range c.Pages {
			r, err := archive.OpenPage(t.Context(), root, "x", p)
			if err != nil {
				continue
			}
			if n, err := io.Copy(io.Discard, r); n > p.Size || err == nil && n != p.Size {
				t.Errorf("page %+v gave %d bytes, %v", p, n, err)
			}
			_ = r.Close()
		}
	})
}
