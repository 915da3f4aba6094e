// Package backuptest writes the backups of other programs, for tests: the fields that
// Mangrove reads, and some that it has to pass over. It refuses to be complete.
package backuptest

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// Chapter is a chapter of a Mihon backup.
type Chapter struct {
	URL      string
	Number   float32
	Read     bool
	LastPage int64
	// ReadAt is in milliseconds, 0 for no entry in the history.
	ReadAt int64
}

// Manga is a title of one.
type Manga struct {
	Source     int64
	URL, Title string
	Added      int64
	Chapters   []Chapter
	// Categories are places in the list of categories.
	Categories []int64
	// OnlyRead is a title that is no favourite.
	OnlyRead bool
}

// Mihon writes a .tachibk file. The sources are names by number.
func Mihon(t testing.TB, manga []Manga, categories []string, sources map[int64]string) []byte {
	t.Helper()
	var b []byte
	for _, m := range manga {
		b = message(b, 1, m.encode())
	}
	for order, name := range categories {
		c := str(nil, 1, name)
		b = message(b, 2, varint(varint(c, 2, uint64(order)), 100, 64))
	}
	for id, name := range sources {
		b = message(b, 101, varint(str(nil, 1, name), 2, uint64(id)))
	}
	b = message(b, 104, str(nil, 1, "a preference"))
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func (m Manga) encode() []byte {
	b := varint(nil, 1, uint64(m.Source))
	b = str(str(b, 2, m.URL), 3, m.Title)
	b = str(str(b, 5, "An author"), 7, "A genre")
	b = varint(b, 13, uint64(m.Added))
	for _, c := range m.Chapters {
		e := str(str(nil, 1, c.URL), 2, "A name")
		if c.Read {
			e = varint(e, 4, 1)
		}
		if c.LastPage != 0 {
			e = varint(e, 6, uint64(c.LastPage))
		}
		if c.Number != 0 {
			e = protowire.AppendFixed32(protowire.AppendTag(e, 9, protowire.Fixed32Type), math.Float32bits(c.Number))
		}
		b = message(b, 16, e)
		if c.ReadAt != 0 {
			b = message(b, 104, varint(str(nil, 1, c.URL), 2, uint64(c.ReadAt)))
		}
	}
	for _, c := range m.Categories {
		b = varint(b, 17, uint64(c))
	}
	if m.OnlyRead {
		b = varint(b, 100, 0)
	}
	return b
}

func varint(b []byte, n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
}

func str(b []byte, n protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
}

func message(b []byte, n protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), m)
}

// Kotatsu writes a zip file with a list under each name.
func Kotatsu(t testing.TB, lists map[string]any) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, list := range lists {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.NewEncoder(w).Encode(list); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// KotatsuManga is a title as such a list holds it.
func KotatsuManga(id int64, title, source, url, publicURL string) map[string]any {
	return map[string]any{
		"id": id, "title": title, "source": source, "url": url, "public_url": publicURL, "rating": 0.5, "nsfw": false,
		"cover_url": "https://covers.example/1", "state": "ONGOING", "author": "An author", "tags": []any{},
	}
}
