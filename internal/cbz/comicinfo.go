package cbz

import (
	"encoding/xml"
	"strings"
)

// ComicInfo is the part of ComicInfo.xml 2.1 (draft schema of the Anansi
// project) that we write, and a little more that we read. Empty and zero fields
// are left out of the file. The fields stand in the order of the schema, which
// is a sequence.
type ComicInfo struct {
	XMLName xml.Name `xml:"ComicInfo"`

	Title  string `xml:",omitempty"`
	Series string `xml:",omitempty"`
	// Number is the chapter number as text: "10.5".
	Number string `xml:",omitempty"`
	// Volume is the volume number; zero means none.
	Volume  int    `xml:",omitempty"`
	Summary string `xml:",omitempty"`
	Notes   string `xml:",omitempty"`
	Year    int    `xml:",omitempty"`
	Month   int    `xml:",omitempty"`
	Day     int    `xml:",omitempty"`
	// Writer, Penciller and Translator are lists set apart by commas; our
	// translators are the groups that made the release.
	Writer     string `xml:",omitempty"`
	Penciller  string `xml:",omitempty"`
	Translator string `xml:",omitempty"`
	// Genre and Tags are lists set apart by commas.
	Genre string `xml:",omitempty"`
	Tags  string `xml:",omitempty"`
	// Web is the address of the chapter at its Site.
	Web       string `xml:",omitempty"`
	PageCount int    `xml:",omitempty"`
	// LanguageISO is a BCP 47 tag such as "en" or "pt-BR".
	LanguageISO string `xml:",omitempty"`
	// Manga is "", "Unknown", "No", "Yes" or MangaRightToLeft.
	Manga           string     `xml:",omitempty"`
	ScanInformation string     `xml:",omitempty"`
	Pages           []InfoPage `xml:"Pages>Page,omitempty"`
}

// MangaRightToLeft is the value of ComicInfo.Manga that tells readers to turn
// pages from right to left.
const MangaRightToLeft = "YesAndRightToLeft"

// InfoPage is one page in ComicInfo.xml.
type InfoPage struct {
	// Image is the index of the page in reading order, from zero.
	Image int `xml:"Image,attr"`
	// ImageSize is in bytes.
	ImageSize int64 `xml:"ImageSize,attr,omitempty"`
	// ImageWidth and ImageHeight are in pixels.
	ImageWidth  int `xml:"ImageWidth,attr,omitempty"`
	ImageHeight int `xml:"ImageHeight,attr,omitempty"`
}

// Marshal returns the file. What the schema forbids is an error of class
// invalid; characters that XML cannot hold are dropped from texts.
func (c ComicInfo) Marshal() ([]byte, error) {
	const op = "write ComicInfo"
	switch c.Manga {
	case "", "Unknown", "No", "Yes", MangaRightToLeft:
	default:
		return nil, refused(op, "Manga cannot be %q", c.Manga)
	}
	if c.Month < 0 || c.Month > 12 || c.Day < 0 || c.Day > 31 || c.Year < 0 || c.Volume < 0 || c.PageCount < 0 {
		return nil, refused(op, "a number is out of range in %d-%d-%d, volume %d, %d pages", c.Year, c.Month, c.Day, c.Volume, c.PageCount)
	}
	for _, text := range []*string{
		&c.Title, &c.Series, &c.Number, &c.Summary, &c.Notes, &c.Writer, &c.Penciller, &c.Translator,
		&c.Genre, &c.Tags, &c.Web, &c.LanguageISO, &c.ScanInformation,
	} {
		*text = strings.Map(keepInXML, *text)
	}
	c.XMLName = xml.Name{Local: "ComicInfo"}
	body, err := xml.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil, refused(op, "%w", err)
	}
	out := append([]byte(xml.Header), body...)
	out = append(out, '\n')
	if len(out) > maxComicInfo {
		return nil, refused(op, "%d bytes is over the limit of %d", len(out), maxComicInfo)
	}
	return out, nil
}

// keepInXML drops what XML 1.0 has no way to write (section 2.2), and the
// replacement that bad UTF-8 turns into.
func keepInXML(r rune) rune {
	switch {
	case r == '\t', r == '\n', r >= 0x20 && r <= 0xd7ff, r >= 0xe000 && r < 0xfffd, r >= 0x10000:
		return r
	}
	return -1
}
