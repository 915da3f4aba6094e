package cbz

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"unicode/utf8"

	"mangrove/internal/fault"
)

// Write writes an archive: ComicInfo.xml, the pages of m in order, then
// mangrove.json, all stored, with sizes and checksums in the local headers so
// that a reader can stream it. Page count and page list of info are taken from
// m. open gives the bytes of page i, from zero; they must be what m records, or
// the error is of class page. What Open would refuse is refused here, of class
// invalid. An error of w or of open keeps its own class, if it has one.
// Equal input gives equal bytes. After an error, what w holds is worthless.
func Write(w io.Writer, info ComicInfo, m Manifest, open func(page int) (io.ReadCloser, error)) error {
	const op = "write archive"
	if err := checkRecords(op, m.Pages); err != nil {
		return err
	}
	info.PageCount = len(m.Pages)
	info.Pages = make([]InfoPage, len(m.Pages))
	for i, p := range m.Pages {
		info.Pages[i] = InfoPage{Image: i, ImageSize: p.Size, ImageWidth: p.Width, ImageHeight: p.Height}
	}
	comicInfo, err := info.Marshal()
	if err != nil {
		return err
	}
	manifest, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return refused(op, "manifest: %w", err)
	}

	z := zip.NewWriter(w)
	if err := store(z, ComicInfoName, comicInfo); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	var page bytes.Buffer
	for i, record := range m.Pages {
		if err := load(&page, record, func() (io.ReadCloser, error) { return open(i) }); err != nil {
			return fmt.Errorf("%s: page %d of %d: %w", op, i+1, len(m.Pages), err)
		}
		if err := store(z, record.Name, page.Bytes()); err != nil {
			return fmt.Errorf("%s: page %d of %d: %w", op, i+1, len(m.Pages), err)
		}
	}
	if err := store(z, ManifestName, append(manifest, '\n')); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// checkRecords refuses pages that Open would not give back whole and in order.
func checkRecords(op string, pages []PageRecord) error {
	if len(pages) == 0 {
		return refused(op, "there are no pages")
	}
	if len(pages)+2 > MaxEntries {
		return refused(op, "%d pages is over the limit of %d", len(pages), MaxEntries-2)
	}
	var total int64
	for i, p := range pages {
		if Litter(p.Name) || UnsafeName(p.Name) != "" || strings.ContainsAny(p.Name, `/\`) || !utf8.ValidString(p.Name) ||
			strings.EqualFold(p.Name, ComicInfoName) || strings.EqualFold(p.Name, ManifestName) {
			return refused(op, "%q is no name for a page", p.Name)
		}
		// Other readers sort by name, so the names must say the order.
		if i > 0 && CompareNames(pages[i-1].Name, p.Name) >= 0 {
			return refused(op, "%q does not sort before %q", pages[i-1].Name, p.Name)
		}
		if p.Size <= 0 || p.Size > MaxPage {
			return refused(op, "page %q of %d bytes", p.Name, p.Size)
		}
		if total += p.Size; total > MaxTotal-maxManifest-maxComicInfo {
			return refused(op, "the pages are over the limit of %d bytes", MaxTotal)
		}
	}
	return nil
}

// load reads one page and holds it against its record. It is read before any of
// it is written, since its checksum goes in front of it.
func load(into *bytes.Buffer, record PageRecord, open func() (io.ReadCloser, error)) (err error) {
	r, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	into.Reset()
	into.Grow(int(record.Size) + bytes.MinRead)
	if _, err := into.ReadFrom(io.LimitReader(r, record.Size+1)); err != nil {
		return err
	}
	const op = "check staged page"
	if int64(into.Len()) != record.Size {
		return fault.Newf(fault.Page, op, record.Name, "its length is no longer the recorded %d bytes", record.Size)
	}
	if sum := sha256.Sum256(into.Bytes()); hex.EncodeToString(sum[:]) != record.SHA256 {
		return fault.Newf(fault.Page, op, record.Name, "its bytes are no longer the recorded ones")
	}
	return nil
}

// store writes one entry without compression.
func store(z *zip.Writer, name string, data []byte) error {
	header := &zip.FileHeader{
		Name:           name,
		CreatorVersion: 3<<8 | 20, // made on Unix, so that the mode below counts
		ReaderVersion:  20,
		Method:         zip.Store,
		//nolint:staticcheck // CreateRaw writes this field as it is and does not look at Modified.
		ModifiedDate:       1<<5 | 1, // 1980-01-01, the first day ZIP knows
		CRC32:              crc32.ChecksumIEEE(data),
		CompressedSize64:   uint64(len(data)),
		UncompressedSize64: uint64(len(data)),
		ExternalAttrs:      0o100644 << 16,
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		header.Flags |= 0x800 // the name is UTF-8
	}
	w, err := z.CreateRaw(header)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}
