package picture

import (
	"bytes"
	"encoding/binary"
)

// Sniff returns the media type that the first bytes of a file announce, one of
// those of Info, or "" when they announce none. Thirty-two bytes are enough but
// for rare AVIF files with a long list of brands.
func Sniff(prefix []byte) string {
	switch {
	case bytes.HasPrefix(prefix, []byte("\xff\xd8\xff")):
		return jpegType
	case bytes.HasPrefix(prefix, []byte("\x89PNG\r\n\x1a\n")):
		return pngType
	case bytes.HasPrefix(prefix, []byte("GIF87a")), bytes.HasPrefix(prefix, []byte("GIF89a")):
		return gifType
	case len(prefix) >= 12 && string(prefix[:4]) == "RIFF" && string(prefix[8:12]) == "WEBP":
		return webpType
	case hasBrand(prefix, "avif", "avis"):
		return avifType
	}
	return ""
}

// hasBrand reports whether prefix starts with an ftyp box (ISO/IEC 14496-12,
// 4.3) whose major or compatible brands hold one of the wanted.
func hasBrand(prefix []byte, wanted ...string) bool {
	if len(prefix) < 12 || string(prefix[4:8]) != "ftyp" {
		return false
	}
	end := min(int64(binary.BigEndian.Uint32(prefix)), int64(len(prefix)), 512)
	for at := int64(8); at+4 <= end; at += 4 {
		if at == 12 { // the minor version is no brand
			continue
		}
		for _, w := range wanted {
			if string(prefix[at:at+4]) == w {
				return true
			}
		}
	}
	return false
}

// describe says in plain words what data is when it is no image we take.
func describe(data []byte) string {
	for _, m := range []struct{ magic, name string }{
		{"BM", "a BMP"},
		{"II*\x00", "a TIFF"},
		{"MM\x00*", "a TIFF"},
		{"\xff\x0a", "a JPEG XL"},
		{"\x00\x00\x00\x0cJXL ", "a JPEG XL"},
		{"\x00\x00\x01\x00", "an icon"},
		{"%PDF", "a PDF"},
		{"PK\x03\x04", "a ZIP archive"},
		{"Rar!", "a RAR archive"},
		{"\x1f\x8b", "gzip data"},
	} {
		if bytes.HasPrefix(data, []byte(m.magic)) {
			return m.name
		}
	}
	if hasBrand(data, "heic", "heix", "hevc", "mif1", "msf1") {
		return "a HEIC"
	}
	head := bytes.TrimPrefix(data[:min(len(data), 1024)], []byte("\xef\xbb\xbf"))
	head = bytes.ToLower(bytes.TrimSpace(head))
	switch {
	case bytes.HasPrefix(head, []byte("<svg")),
		bytes.HasPrefix(head, []byte("<?xml")) && bytes.Contains(head, []byte("<svg")):
		return "an SVG drawing"
	case bytes.Contains(head, []byte("<html")), bytes.HasPrefix(head, []byte("<!doctype html")),
		bytes.HasPrefix(head, []byte("<head")), bytes.HasPrefix(head, []byte("<body")),
		bytes.HasPrefix(head, []byte("<script")), bytes.HasPrefix(head, []byte("<!--")):
		return "HTML"
	case bytes.HasPrefix(head, []byte("<?xml")):
		return "XML"
	case bytes.HasPrefix(head, []byte("{")), bytes.HasPrefix(head, []byte("[")):
		return "JSON"
	case len(head) > 0 && !bytes.ContainsFunc(head, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == '\ufffd'
	}):
		return "text"
	}
	return "bytes that are neither JPEG, PNG, GIF, WebP nor AVIF"
}
