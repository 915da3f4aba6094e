package cbz

import (
	"bytes"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// The bounds of a ComicInfo.xml that is read.
const (
	// maxInfoDepth is how deep its elements may lie: the schema needs three.
	maxInfoDepth = 16
	// encodingWithin is where the name of its encoding is looked for, in bytes.
	encodingWithin = 200
)

// ParseComicInfo reads a ComicInfo.xml of any maker. Order, case, unknown elements,
// odd numbers, stray characters, other encodings and an end that is cut off are
// forgiven. More than 1 MiB, another root element (HTML, for one) or elements
// without end are an error of class invalid. No entity is expanded but those of
// XML itself, and nothing from outside is ever read.
func ParseComicInfo(r io.Reader) (*ComicInfo, error) {
	const op = "read ComicInfo"
	data, err := io.ReadAll(io.LimitReader(r, maxComicInfo+1))
	if err != nil {
		return nil, broken(op, "it cannot be read", err)
	}
	if len(data) > maxComicInfo {
		return nil, refused(op, "it is over the limit of %d bytes", maxComicInfo)
	}
	d := xml.NewDecoder(strings.NewReader(strings.Map(keepInXML, infoText(data))))
	d.Strict = false
	// It is UTF-8 by now, whatever it says.
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	in := looseInfo{texts: map[string]string{}}
	if err := in.read(d); err != nil && (!in.root || len(in.texts) == 0 && len(in.pages) == 0) {
		return nil, refused(op, "it is not understood: %w", err)
	}
	return in.strict(), nil
}

// infoText is the file as text. A mark at its beginning counts most, then that it
// is good UTF-8, then what it says of itself: many say the wrong thing.
func infoText(data []byte) string {
	utf16 := func(end unicode.Endianness) string {
		out, _ := unicode.UTF16(end, unicode.UseBOM).NewDecoder().Bytes(data) // what cannot be read is left out
		return string(out)
	}
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("<\x00")):
		return utf16(unicode.LittleEndian)
	case bytes.HasPrefix(data, []byte("\xfe\xff")), bytes.HasPrefix(data, []byte("\x00<")):
		return utf16(unicode.BigEndian)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		if e, err := htmlindex.Get(saidEncoding(data)); err == nil {
			if out, err := e.NewDecoder().Bytes(data); err == nil {
				return string(out)
			}
		}
	}
	return strings.ToValidUTF8(string(data), "")
}

// saidEncoding is the name of the encoding in an XML declaration, or "".
func saidEncoding(data []byte) string {
	_, rest, found := strings.Cut(string(data[:min(len(data), encodingWithin)]), "encoding=")
	if !found || rest == "" {
		return ""
	}
	name, _, _ := strings.Cut(rest[1:], rest[:1])
	return name
}

// looseInfo is ComicInfo as it was found: every field as text by its name in small
// letters, since real files hold "", "1.5" and worse where the schema wants an
// integer.
type looseInfo struct {
	root  bool
	texts map[string]string
	pages []map[string]string
}

// read takes in what d holds, until the root element ends.
func (in *looseInfo) read(d *xml.Decoder) error {
	var path []string
	var text strings.Builder
	for {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			name := strings.ToLower(t.Name.Local)
			if len(path) == 0 && name != "comicinfo" {
				return refused("read ComicInfo", "it begins with %q", t.Name.Local)
			}
			if len(path) >= maxInfoDepth {
				return refused("read ComicInfo", "elements lie more than %d deep", maxInfoDepth)
			}
			in.root = true
			if path = append(path, name); len(path) == 2 {
				text.Reset()
			}
			if len(path) == 3 && path[1] == "pages" && name == "page" && len(in.pages) < MaxEntries {
				page := map[string]string{}
				for _, a := range t.Attr[:min(len(t.Attr), 20)] {
					page[strings.ToLower(a.Name.Local)] = a.Value
				}
				in.pages = append(in.pages, page)
			}
		case xml.CharData:
			if len(path) == 2 {
				_, _ = text.Write(t) // it cannot fail
			}
		case xml.EndElement:
			if len(path) == 2 {
				if value := strings.TrimSpace(text.String()); value != "" && in.texts[path[1]] == "" {
					in.texts[path[1]] = value
				}
				text.Reset()
			}
			if path = path[:max(0, len(path)-1)]; len(path) == 0 {
				return nil
			}
		}
	}
}

func (in *looseInfo) strict() *ComicInfo {
	text := func(name string) string { return in.texts[name] }
	number := func(name string, limit int) int { return looseInt(in.texts[name], limit) }
	c := &ComicInfo{
		XMLName: xml.Name{Local: "ComicInfo"},
		Title:   text("title"), Series: text("series"), Number: text("number"), Volume: number("volume", 1<<30),
		Summary: text("summary"), Notes: text("notes"), Year: number("year", 9999), Month: number("month", 12), Day: number("day", 31),
		Writer: text("writer"), Penciller: text("penciller"), Translator: text("translator"), Genre: text("genre"), Tags: text("tags"),
		Web: text("web"), PageCount: number("pagecount", 1<<30), LanguageISO: text("languageiso"), ScanInformation: text("scaninformation"),
	}
	for _, known := range []string{"Unknown", "No", "Yes", MangaRightToLeft} {
		if strings.EqualFold(text("manga"), known) {
			c.Manga = known
		}
	}
	for _, p := range in.pages {
		c.Pages = append(c.Pages, InfoPage{
			Image: looseInt(p["image"], 1<<30), ImageSize: int64(looseInt(p["imagesize"], 1<<30)),
			ImageWidth: looseInt(p["imagewidth"], 1<<30), ImageHeight: looseInt(p["imageheight"], 1<<30),
		})
	}
	return c
}

// looseInt reads an integer from zero to limit, and anything else as zero, the
// schema's -1 for "unknown" included.
func looseInt(s string, limit int) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 || n > limit {
		return 0
	}
	return n
}
