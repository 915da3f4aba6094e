package cbz

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fault"
	"mangrove/internal/picture"
)

func TestWriteAndOpen(t *testing.T) {
	t.Parallel()
	m, pages := chapter(t)
	info := ComicInfo{
		Title: "Potion of Flight", Series: "Pepper&Carrot", Number: "10.5", Volume: 1, Summary: "A <witch>\x00 & a cat.",
		Year: 2014, Month: 5, Day: 10, Writer: "David Revoy", Translator: "One, Two", Tags: "magic, cat",
		Web: "https://example.org/a?b&c", LanguageISO: "en", Manga: MangaRightToLeft, ScanInformation: "scaled",
	}
	data := write(t, info, m, pages)
	if again := write(t, info, m, pages); !bytes.Equal(data, again) {
		t.Error("equal input gives two different archives")
	}
	a, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	if len(a.Notes) > 0 {
		t.Errorf("notes on our own archive: %q", a.Notes)
	}
	if diff := cmp.Diff(&m, a.Manifest); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
	want := info
	want.XMLName.Local = "ComicInfo"
	want.Summary = "A <witch> & a cat."
	want.PageCount = len(pages)
	for i, r := range m.Pages {
		want.Pages = append(want.Pages, InfoPage{i, r.Size, r.Width, r.Height})
	}
	if diff := cmp.Diff(&want, a.Info); diff != "" {
		t.Errorf("ComicInfo (-want +got):\n%s", diff)
	}
	if len(a.Pages) != len(pages) {
		t.Fatalf("%d pages, want %d", len(a.Pages), len(pages))
	}
	for i, p := range a.Pages {
		r := m.Pages[i]
		if !p.Stored || p.Name != r.Name || p.MediaType != r.MediaType || p.Width != r.Width || p.Height != r.Height {
			t.Errorf("page %d is %+v, want %+v", i, p, r)
		}
		if !bytes.Equal(data[p.Offset:p.Offset+p.Size], pages[i]) {
			t.Errorf("page %d is not byte for byte at its offset", i)
		}
		if got := readPage(t, a, i); !bytes.Equal(got, pages[i]) {
			t.Errorf("page %d reads back as other bytes", i)
		}
	}
}

// TestWriteStreams checks what a reader without the central directory needs.
func TestWriteStreams(t *testing.T) {
	t.Parallel()
	m, pages := chapter(t)
	data := write(t, ComicInfo{}, m, pages)
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
		if f.Flags&8 != 0 || f.Method != zip.Store {
			t.Errorf("%s: flags %#x, method %d; want no data descriptor, stored", f.Name, f.Flags, f.Method)
		}
		offset, err := f.DataOffset()
		if err != nil {
			t.Fatal(err)
		}
		local := data[offset-int64(30+len(f.Name)):]
		if string(local[:4]) != "PK\x03\x04" || bytes.Equal(local[14:18], make([]byte, 4)) || bytes.Equal(local[22:26], make([]byte, 4)) {
			t.Errorf("%s: the local header holds no checksum or size", f.Name)
		}
	}
	want := []string{ComicInfoName, "0001.jpg", "0002.webp", "0003.jpg", ManifestName}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	errGone := fault.Newf(fault.Storage, "open", "page", "gone")
	for _, tt := range []struct {
		name  string
		spoil func(info *ComicInfo, m *Manifest, pages [][]byte)
		open  error
		want  fault.Class
	}{
		{"other bytes", func(_ *ComicInfo, _ *Manifest, p [][]byte) { p[1] = bytes.Clone(p[1]); p[1][9] ^= 1 }, nil, fault.Page},
		{"a byte less", func(_ *ComicInfo, _ *Manifest, p [][]byte) { p[1] = p[1][:len(p[1])-1] }, nil, fault.Page},
		{"a byte more", func(_ *ComicInfo, _ *Manifest, p [][]byte) { p[1] = append(bytes.Clone(p[1]), 0) }, nil, fault.Page},
		{"a page that cannot be opened", nil, errGone, fault.Storage},
		{"no pages", func(_ *ComicInfo, m *Manifest, _ [][]byte) { m.Pages = nil }, nil, fault.Invalid},
		{"a path", func(_ *ComicInfo, m *Manifest, _ [][]byte) { m.Pages[0].Name = "../0001.jpg" }, nil, fault.Invalid},
		{"a hidden page", func(_ *ComicInfo, m *Manifest, _ [][]byte) { m.Pages[0].Name = ".0001.jpg" }, nil, fault.Invalid},
		{"the manifest's name", func(_ *ComicInfo, m *Manifest, _ [][]byte) { m.Pages[2].Name = ManifestName }, nil, fault.Invalid},
		{"two pages of one name", func(_ *ComicInfo, m *Manifest, _ [][]byte) { m.Pages[1].Name = m.Pages[0].Name }, nil, fault.Invalid},
		{"out of order", func(_ *ComicInfo, m *Manifest, _ [][]byte) { m.Pages[1].Name = "0004.webp" }, nil, fault.Invalid},
		{"a huge page", func(_ *ComicInfo, m *Manifest, _ [][]byte) { m.Pages[0].Size = MaxPage + 1 }, nil, fault.Invalid},
		{"a wrong word", func(i *ComicInfo, _ *Manifest, _ [][]byte) { i.Manga = "rtl" }, nil, fault.Invalid},
		{"a thirteenth month", func(i *ComicInfo, _ *Manifest, _ [][]byte) { i.Month = 13 }, nil, fault.Invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, pages := chapter(t)
			var info ComicInfo
			if tt.spoil != nil {
				tt.spoil(&info, &m, pages)
			}
			err := Write(io.Discard, info, m, func(i int) (io.ReadCloser, error) {
				if tt.open != nil {
					return nil, tt.open
				}
				return io.NopCloser(bytes.NewReader(pages[i])), nil
			})
			if !fault.Is(err, tt.want) {
				t.Errorf("Write: %v, want class %q", err, tt.want)
			}
		})
	}
	t.Run("a full disk", func(t *testing.T) {
		t.Parallel()
		m, pages := chapter(t)
		full := errors.New("no space")
		err := Write(brokenWriter{full}, ComicInfo{}, m, func(i int) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(pages[i])), nil
		})
		if !errors.Is(err, full) {
			t.Errorf("Write: %v, want the writer's own error", err)
		}
	})
}

// TestComicInfoFitsTheSchema holds a full file against the XSD of version 2.1.
func TestComicInfoFitsTheSchema(t *testing.T) {
	t.Parallel()
	xmllint, err := exec.LookPath("xmllint")
	if err != nil {
		t.Skip("xmllint is not installed")
	}
	full := ComicInfo{
		Title: "T", Series: "S", Number: "1", Volume: 2, Summary: "s", Notes: "n", Year: 2014, Month: 5, Day: 10,
		Writer: "w", Penciller: "p", Translator: "t", Genre: "g", Tags: "a, b", Web: "https://example.org/", PageCount: 2,
		LanguageISO: "en", Manga: MangaRightToLeft, ScanInformation: "i",
		Pages: []InfoPage{{0, 10, 20, 30}, {1, 0, 0, 0}},
	}
	for name, info := range map[string]ComicInfo{"full": full, "empty": {}, "odd text": {Title: "\x00\x1b\ufffe\xff]]>&<"}} {
		data, err := info.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "ComicInfo.xml")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(xmllint, "--nonet", "--noout", "--schema", "testdata/ComicInfo-v2.1-draft.xsd", path).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s\n%s", name, err, out, data)
		}
	}
}

type brokenWriter struct{ err error }

func (b brokenWriter) Write([]byte) (int, error) { return 0, b.err }

// chapter is a chapter of three pages and the manifest that fits them.
func chapter(t testing.TB) (Manifest, [][]byte) {
	t.Helper()
	m := Manifest{Fingerprint: strings.Repeat("ab", 32), Site: "sample", SeriesID: "pepper", ChapterID: "episode-1"}
	var pages [][]byte
	for i, file := range []string{"sliver.jpg", "title.webp", "sliver.jpg"} {
		data, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		info, err := picture.Check(data)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		m.Pages = append(m.Pages, PageRecord{
			Name: fmt.Sprintf("%04d%s", i+1, info.Ext), Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:]),
			MediaType: info.MediaType, Width: info.Width, Height: info.Height,
		})
		pages = append(pages, data)
	}
	return m, pages
}

func write(t testing.TB, info ComicInfo, m Manifest, pages [][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	err := Write(&b, info, m, func(i int) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(pages[i])), nil })
	if err != nil {
		t.Fatalf("Write: %v", err)
	}
	return b.Bytes()
}

func readPage(t testing.TB, a *Archive, i int) []byte {
	t.Helper()
	r, err := a.OpenPage(i)
	if err != nil {
		t.Fatalf("OpenPage(%d): %v", i, err)
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read page %d: %v", i, err)
	}
	return data
}
