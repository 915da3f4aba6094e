package cbz

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fault"
	"mangrove/internal/picture"
	"mangrove/internal/unreadable"
)

// sharedArchives is a folder of real archives that stands beside some checkouts.
const sharedArchives = "../../../shared/data/archives"

// entry is one entry of a test archive.
type entry struct {
	name   string
	data   []byte
	method uint16
	flags  uint16
	mode   fs.FileMode
	native bool // the name is not UTF-8
}

func pack(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: e.method, NonUTF8: e.native}
		if e.mode != 0 {
			h.SetMode(e.mode)
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.data); err != nil {
			t.Fatal(err)
		}
		h.Flags |= e.flags
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func openBytes(data []byte) (*Archive, error) { return Open(bytes.NewReader(data), int64(len(data))) }

func names(a *Archive) []string {
	var out []string
	for _, p := range a.Pages {
		out = append(out, p.Name)
	}
	return out
}

// TestOpenOrderAndLitter shows S-098, S-099, B61.
func TestOpenOrderAndLitter(t *testing.T) {
	t.Parallel()
	jpg := testFile(t, "sliver.jpg")
	files := func(names ...string) (out []entry) {
		for _, n := range names {
			out = append(out, entry{name: n, data: jpg})
		}
		return out
	}
	for _, tt := range []struct {
		name    string
		entries []entry
		want    []string
		notes   int
	}{
		{"natural order", files("10.jpg", "2.jpg", "1.jpg", "12.jpg", "11.jpg"), []string{"1.jpg", "2.jpg", "10.jpg", "11.jpg", "12.jpg"}, 0},
		{"no page 1", files("Something - 10.jpg", "Something - 2.jpg"), []string{"Something - 2.jpg", "Something - 10.jpg"}, 0},
		{"letters and other endings", files("p2.png", "p1a.jpg", "p1.jpg"), []string{"p1.jpg", "p1a.jpg", "p2.png"}, 0},
		{"capitals", files("Page10.JPG", "page2.jpg", "PAGE1.jpg"), []string{"PAGE1.jpg", "page2.jpg", "Page10.JPG"}, 0},
		{"folder by folder", files("c 10/1.jpg", "c 2/10.jpg", "c 2/9.jpg"), []string{"c 2/9.jpg", "c 2/10.jpg", "c 10/1.jpg"}, 0},
		{"litter", files("1.jpg", ".hidden.jpg", "__MACOSX/._1.jpg", "a/.b/2.jpg", "Thumbs.db", "@eaDir/1.jpg"), []string{"1.jpg"}, 0},
		{"backslashes", files(`a\10.jpg`, `a\2.jpg`, `__MACOSX\._2.jpg`), []string{`a\2.jpg`, `a\10.jpg`}, 0},
		{"twice the same litter", files(".a", "1.jpg", ".a"), []string{"1.jpg"}, 0},
		{"controls in a name", files("1\x1b[2J\u202e.jpg"), []string{"1\ufffd[2J\ufffd.jpg"}, 0},
		{"shift-jis", []entry{
			{name: "\x91\xe6\x82\x50\x98\x62/010.jpg", data: jpg, native: true},
			{name: "\x91\xe6\x82\x50\x98\x62/\x95\x5c002.jpg", data: jpg, native: true}, // \x5c is half of a character
		}, []string{"\ufffdP\ufffdb/010.jpg", "\ufffdP\ufffdb/\ufffd\\002.jpg"}, 0},
		{"a link", append(files("2.jpg"), entry{name: "1.jpg", data: jpg, mode: fs.ModeSymlink | 0o777}), []string{"2.jpg"}, 1},
		{"by content", []entry{{name: "2.txt", data: jpg}, {name: "1.jpg", data: []byte("<html>")}, {name: "3", data: jpg, method: zip.Deflate}}, []string{"2.txt", "3"}, 0},
		{"a broken page", []entry{{name: "1.jpg", data: jpg[:200]}, {name: "2.jpg", data: jpg}}, []string{"1.jpg", "2.jpg"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, err := openBytes(pack(t, tt.entries...))
			if err != nil {
				t.Fatalf("Open: %v", err)
			}
			if diff := cmp.Diff(tt.want, names(a)); diff != "" {
				t.Errorf("pages (-want +got):\n%s", diff)
			}
			if len(a.Notes) != tt.notes {
				t.Errorf("notes %q, want %d", a.Notes, tt.notes)
			}
			for i, p := range a.Pages {
				if !slices.Contains([]string{"1.jpg"}, p.Name) && p.Width != 992 {
					t.Errorf("page %+v, want a width of 992", p)
				}
				if got := readPage(t, a, i); !bytes.HasPrefix(jpg, got) {
					t.Errorf("page %d reads as other bytes", i)
				}
			}
		})
	}
}

// TestOpenRefuses shows B59, B60, B62.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	jpg := testFile(t, "sliver.jpg")
	plain := pack(t, entry{name: "1.jpg", data: jpg}, entry{name: "2.jpg", data: jpg})
	// central returns plain with bytes of the n-th central header changed.
	central := func(n, at int, with ...byte) []byte {
		out, from := bytes.Clone(plain), 0
		for range n + 1 {
			from += bytes.Index(out[from:], []byte("PK\x01\x02")) + 4
		}
		copy(out[from-4+at:], with)
		return out
	}
	many := make([]entry, MaxEntries+1)
	for i := range many {
		many[i].name = "a"
	}
	flood := make([]entry, 60_000)
	for i := range flood {
		flood[i].name = strings.Repeat("n", 60)
	}
	for _, tt := range []struct {
		name, says string
		reason     unreadable.Reason
		data       []byte
	}{
		{"nothing", "empty", unreadable.Empty, nil},
		{"noise", "not a ZIP archive", unreadable.NotAnArchive, []byte("hello")},
		{"rar", "RAR", unreadable.NotAnArchive, []byte("Rar!\x1a\x07\x01\x00")},
		{"7z", "7z", unreadable.NotAnArchive, []byte("7z\xbc\xaf\x27\x1c\x00\x04")},
		{"cut", "cut short", unreadable.Corrupt, plain[:len(plain)-40]},
		{"no images", "no pages", unreadable.NoPages, pack(t, entry{name: "readme.txt", data: []byte("hello")})},
		{"a step out", "out of its folder", unreadable.UnsafeNames, pack(t, entry{name: "1.jpg", data: jpg}, entry{name: "a/../../1.jpg", data: jpg})},
		{"a step out by backslash", "out of its folder", unreadable.UnsafeNames, pack(t, entry{name: `a\..\..\1.jpg`, data: jpg})},
		{"an absolute name", "absolute", unreadable.UnsafeNames, pack(t, entry{name: "/etc/1.jpg", data: jpg})},
		{"a drive", "drive", unreadable.UnsafeNames, pack(t, entry{name: `C:\1.jpg`, data: jpg})},
		{"twice the same name", "twice", unreadable.DuplicateNames, pack(t, entry{name: "a/1.jpg", data: jpg}, entry{name: `a\1.jpg`, data: jpg})},
		{"zeros", "more than 200 times", unreadable.TooLarge, pack(t, entry{name: "1.jpg", data: make([]byte, 10<<20), method: zip.Deflate})},
		{"too many entries", "limit of 5000", unreadable.TooLarge, pack(t, many...)},
		{"a flood of entries", "list of entries is over", unreadable.TooLarge, pack(t, flood...)},
		{"encrypted", "encrypted", unreadable.Encrypted, central(0, 8, 0x01, 0x08)},
		{"unknown method", "method 99", unreadable.Unsupported, central(0, 10, 99)},
		{"sizes that differ", "lies about its size", unreadable.Corrupt, central(0, 24, 0xff, 0xff)},
		{"a size of 4 GiB", "limit of 2147483648", unreadable.TooLarge, central(0, 20, 0xfe, 0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff)},
		{"two entries on the same bytes", "share the same bytes", unreadable.Corrupt, central(1, 42, 0, 0, 0, 0)},
		{"a place past the end", "no beginning", unreadable.Corrupt, central(1, 42, 0xff, 0xff, 0xff, 0x0f)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, err := openBytes(tt.data)
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.says) || unreadable.Of(err) != tt.reason {
				t.Errorf("Open = %v, %v, reason %q; want class invalid that says %q, reason %q", a, err, unreadable.Of(err), tt.says, tt.reason)
			}
		})
	}
}

func TestOpenTellsTheDiskFromTheArchive(t *testing.T) {
	t.Parallel()
	m, pages := chapter(t)
	data := write(t, ComicInfo{}, m, pages)
	if _, err := Open(failingDisk{data, 0}, int64(len(data))); !fault.Is(err, fault.Storage) || !errors.Is(err, syscall.EIO) {
		t.Errorf("Open on a failing disk: %v, want class storage", err)
	}
	foreign := pack(t, entry{name: "1.jpg", data: pages[0]}, entry{name: "2.webp", data: pages[1]})
	if _, err := Open(failingDisk{foreign, 2000}, int64(len(foreign))); !fault.Is(err, fault.Storage) {
		t.Errorf("Open on a disk that fails in the pages: %v, want class storage", err)
	}
}

// failingDisk fails for reads that touch bytes from bad to bad+4096.
type failingDisk struct {
	data []byte
	bad  int64
}

func (f failingDisk) ReadAt(p []byte, off int64) (int, error) {
	if off < f.bad+4096 && off+int64(len(p)) > f.bad {
		return 0, syscall.EIO
	}
	return bytes.NewReader(f.data).ReadAt(p, off)
}

// TestOpenDoubtsTheManifest: what a manifest claims is checked where it matters.
func TestOpenDoubtsTheManifest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		spoil func(m *Manifest)
	}{
		{"another type", func(m *Manifest) { m.Pages[0].MediaType = "text/html" }},
		{"an absurd size", func(m *Manifest) { m.Pages[0].Width = 1 << 40 }},
		{"no size", func(m *Manifest) { m.Pages[0].Height = 0 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, pages := chapter(t)
			tt.spoil(&m)
			a, err := openBytes(write(t, ComicInfo{}, m, pages))
			if err != nil {
				t.Fatal(err)
			}
			if p := a.Pages[0]; p.MediaType != "image/jpeg" || p.Width != 992 || p.Height != 20 {
				t.Errorf("page %+v, want what the walk finds", p)
			}
		})
	}
}

func TestOpenPageOutOfRange(t *testing.T) {
	t.Parallel()
	m, pages := chapter(t)
	a, err := openBytes(write(t, ComicInfo{}, m, pages))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{-1, 3, 1 << 40} {
		if _, err := a.OpenPage(i); !fault.Is(err, fault.Invalid) {
			t.Errorf("OpenPage(%d): %v, want class invalid", i, err)
		}
	}
}

// TestOpenSharedArchives opens every real archive: it opens, or is refused with
// a reason, and every page of it can be read or says why not.
func TestOpenSharedArchives(t *testing.T) {
	t.Parallel()
	refusals := map[string]string{
		"truncated-no-central-directory.cbz": "cut short",
		"zip-bomb-50MB-entry.cbz":            "more than 200 times",
		"no-images.cbz":                      "no pages",
		"book.rar":                           "RAR",
		"book-complex-tree.rar":              "RAR",
		"fake_cbr.cbr":                       "RAR",
		"not-a.zip":                          "not a ZIP",
		"duplicate-names.cbz":                "twice",
		"absolute-and-dotdot.cbz":            "absolute",
	}
	pages := map[string]int{
		"normal.cbz": 4, "crc-mismatch.cbz": 4, "natural-sort.cbz": 6, "case-and-hidden.cbz": 2,
		"shift-jis-names.cbz": 2, "zip-in-cbr-clothes.cbr": 1, "very-long-name.cbz": 1,
	}
	seen := 0
	err := filepath.WalkDir(sharedArchives, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		seen++
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := d.Name()
		a, err := openBytes(data)
		if says, no := refusals[name]; no || err != nil {
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want class invalid that says %q", name, err, says)
			}
			if _, must := pages[name]; must {
				t.Errorf("%s: %v, want it open", name, err)
			}
			return nil
		}
		if want, ok := pages[name]; ok && len(a.Pages) != want {
			t.Errorf("%s: pages %q, want %d; notes %q", name, names(a), want, a.Notes)
		}
		for i, p := range a.Pages {
			r, err := a.OpenPage(i)
			if err != nil {
				t.Errorf("%s: OpenPage(%d): %v", name, i, err)
				continue
			}
			body, err := io.ReadAll(r)
			_ = r.Close()
			if err != nil {
				if !fault.Is(err, fault.Invalid) || p.Width != 0 {
					t.Errorf("%s: page %+v: %v", name, p, err)
				}
				continue
			}
			info, err := picture.Check(body)
			if (err == nil) != (p.Width > 0) || err == nil && info.Width != p.Width {
				t.Errorf("%s: page %+v, but its bytes say %+v, %v", name, p, info, err)
			}
			if p.Stored && !bytes.Equal(data[p.Offset:p.Offset+p.Size], body) {
				t.Errorf("%s: page %d is not at its offset", name, i)
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the shared archives are not beside this checkout")
	}
	if err != nil || seen == 0 {
		t.Fatalf("walk: %v after %d archives", err, seen)
	}
}

// TestParseComicInfo shows B63 to B66.
func TestParseComicInfo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in, says string
		want           ComicInfo
	}{
		{name: "odd numbers", in: `<?xml version="1.0"?><ComicInfo xmlns="urn:x"><Volume>-1</Volume><Year> 2003 </Year><Month>x</Month><Day/><Manga>yes</Manga></ComicInfo>`,
			want: ComicInfo{Year: 2003, Manga: "Yes"}},
		{name: "any order, unknown elements", in: "\xef\xbb\xbf<ComicInfo><Pages><Page Image=\"0\" Type=\"Story\"/></Pages><Extra><a/></Extra><Title> T </Title></ComicInfo>",
			want: ComicInfo{Title: "T", Pages: []InfoPage{{}}}},
		{name: "html", in: "<html><Title>x</Title></html>", says: "not understood"},
		{name: "empty", in: "", says: "not understood"},
		{name: "an outside entity stays a word", in: `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><ComicInfo><Title>&x;</Title></ComicInfo>`, want: ComicInfo{Title: "&x;"}},
		{name: "laughs stay two words", in: `<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><ComicInfo><Title>&b;</Title></ComicInfo>`, want: ComicInfo{Title: "&b;"}},
		{name: "latin-1", in: "<?xml version=\"1.0\" encoding='ISO-8859-1'?><ComicInfo><Title>\xe9t\xe9</Title></ComicInfo>", want: ComicInfo{Title: "été"}},
		{name: "shift-jis", in: "<?xml version=\"1.0\" encoding=\"Shift_JIS\"?><ComicInfo><Series>\x91\xe6</Series></ComicInfo>", want: ComicInfo{Series: "第"}},
		{name: "UTF-8 that says UTF-16", in: `<?xml version="1.0" encoding="utf-16"?><ComicInfo><Title>é</Title></ComicInfo>`, want: ComicInfo{Title: "é"}},
		{name: "UTF-16", in: "\xff\xfe" + wide(`<?xml version="1.0" encoding="utf-16"?><ComicInfo><Title>T</Title></ComicInfo>`), want: ComicInfo{Title: "T"}},
		{name: "UTF-16 without a mark", in: wide(`<ComicInfo><Title>T</Title></ComicInfo>`), want: ComicInfo{Title: "T"}},
		{name: "bad UTF-8", in: "<ComicInfo><Title>a\xffb</Title></ComicInfo>", want: ComicInfo{Title: "ab"}},
		{name: "control characters", in: "<ComicInfo><Title>a\x01b</Title></ComicInfo>", want: ComicInfo{Title: "ab"}},
		{name: "another case", in: "<comicinfo><TITLE>T</TITLE><languageiso>ja</languageiso><pages><page IMAGE=\"3\"/></pages></comicinfo>",
			want: ComicInfo{Title: "T", LanguageISO: "ja", Pages: []InfoPage{{Image: 3}}}},
		{name: "a bare ampersand", in: "<ComicInfo><Title>Q & A</Title><Series>S</Series></ComicInfo>", want: ComicInfo{Title: "Q & A", Series: "S"}},
		{name: "cut off", in: "<ComicInfo><Title>T</Title><Ser", want: ComicInfo{Title: "T"}},
		{name: "twice", in: "<ComicInfo><Title/><Title>T</Title><Title>U</Title></ComicInfo>", want: ComicInfo{Title: "T"}},
		{name: "an element within a field", in: "<ComicInfo><Title>T<b>U</b></Title></ComicInfo>", want: ComicInfo{Title: "T"}},
		{name: "nested", in: "<ComicInfo>" + strings.Repeat("<a>", 300_000), says: "not understood"},
		{name: "huge", in: "<ComicInfo><Title>" + strings.Repeat("a", maxComicInfo), says: "over the limit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseComicInfo(strings.NewReader(tt.in))
			if tt.says != "" {
				if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("ParseComicInfo = %v, %v; want class invalid that says %q", got, err, tt.says)
				}
				return
			}
			tt.want.XMLName.Local = "ComicInfo"
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// wide is ASCII text in UTF-16, little end first.
func wide(text string) string {
	var out strings.Builder
	for _, r := range text {
		_, _ = out.WriteString(string([]byte{byte(r), 0}))
	}
	return out.String()
}

// TestParseSharedComicInfo reads real files, all of which fail the schema.
func TestParseSharedComicInfo(t *testing.T) {
	t.Parallel()
	f, err := os.Open(filepath.Join(sharedArchives, "comicinfo-xml", "02_sample.xml"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the shared archives are not beside this checkout")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	c, err := ParseComicInfo(f)
	if err != nil || c.Series != "よつばと！" || c.Volume != 1 || c.Year != 2003 || c.Manga != MangaRightToLeft || c.LanguageISO != "ja" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func FuzzParseComicInfo(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbf<ComicInfo><Title>T</Title><Pages><Page Image=\"0\"/></Pages></ComicInfo>"))
	f.Add([]byte(wide("<ComicInfo><Volume>-1</Volume></ComicInfo>")))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseComicInfo(bytes.NewReader(data))
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("class %q, want invalid: %v", fault.Of(err), err)
			}
			return
		}
		// What was read leniently is written strictly, or refused for its length alone.
		if _, err := c.Marshal(); err != nil && !strings.Contains(err.Error(), "over the limit") {
			t.Errorf("what was read cannot be written: %v", err)
		}
	})
}

func FuzzOpen(f *testing.F) {
	for _, name := range []string{"natural-sort.cbz", "absolute-and-dotdot.cbz"} {
		f.Add(testFile(f, name))
	}
	m, pages := chapter(f)
	f.Add(write(f, ComicInfo{Title: "T"}, m, pages))
	f.Add(pack(f, entry{name: "1.jpg", data: pages[0], method: zip.Deflate}, entry{name: "a/ComicInfo.xml", data: []byte("<ComicInfo/>")}))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := openBytes(data)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("class %q, want invalid: %v", fault.Of(err), err)
			}
			return
		}
		for i, p := range a.Pages {
			if p.Stored && (p.Offset < 0 || p.Size < 0 || p.Offset+p.Size > int64(len(data))) {
				t.Errorf("page %+v lies outside the %d bytes", p, len(data))
			}
			r, err := a.OpenPage(i)
			if err != nil {
				continue
			}
			n, err := io.Copy(io.Discard, r)
			if n > p.Size || err == nil && n != p.Size {
				t.Errorf("page %+v gave %d bytes, %v", p, n, err)
			}
			_ = r.Close()
		}
	})
}

func testFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
