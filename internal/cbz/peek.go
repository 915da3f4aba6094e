package cbz

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
)

// Identity is what an archive is, as far as its list of entries, its manifest and
// its ComicInfo.xml tell.
type Identity struct {
	// Pages counts the entries that are pages by their names.
	Pages int
	// Digest is the SHA-256, in lower-case hex, over the names, checksums and sizes
	// of all entries: it stays when the archive is renamed.
	Digest string
	// Manifest is nil when the archive is not one of ours, Info when there is no
	// ComicInfo.xml that can be understood.
	Manifest *Manifest
	Info     *ComicInfo
}

// Peek lists the archive in the first size bytes of f and reads no page of it, so
// that a library of many is looked through quickly. Whether the pages are any
// good is for Open to say. An archive that breaks a limit or names no page is of
// class invalid; a failing disk is of class storage.
func Peek(f io.ReaderAt, size int64) (Identity, error) {
	const op = "look at archive"
	disk := &diskReader{f: f, left: maxDirectory}
	z, err := zip.NewReader(disk, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return Identity{}, notZip(op, f, size, err)
	}
	disk.left = -1
	if len(z.File) > MaxEntries {
		return Identity{}, refused(op, "%d entries is over the limit of %d", len(z.File), MaxEntries)
	}
	var id Identity
	digest := sha256.New()
	for _, e := range z.File {
		var fixed [20]byte
		binary.BigEndian.PutUint32(fixed[:], e.CRC32)
		binary.BigEndian.PutUint64(fixed[4:], e.UncompressedSize64)
		binary.BigEndian.PutUint64(fixed[12:], uint64(len(e.Name)))
		_, _ = digest.Write(fixed[:]) // a hash cannot fail
		_, _ = io.WriteString(digest, e.Name)
		if skipped(e.Name) || unsafeName(e.Name) != "" || !e.Mode().IsRegular() || e.Flags&1 != 0 {
			continue
		}
		switch {
		case e.Name == ManifestName:
			if id.Manifest, err = readManifest(e); isStorage(err) {
				return Identity{}, err
			}
		case strings.EqualFold(path.Base(e.Name), ComicInfoName):
			if id.Info != nil && strings.Contains(e.Name, "/") {
				continue
			}
			if id.Info, err = readInfo(e); isStorage(err) {
				return Identity{}, err
			}
		case slices.Contains([]string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif"}, strings.ToLower(path.Ext(e.Name))):
			id.Pages++
		}
	}
	if id.Manifest != nil {
		id.Pages = len(id.Manifest.Pages)
	}
	if id.Pages == 0 {
		return Identity{}, refused(op, "the archive names no page")
	}
	id.Digest = hex.EncodeToString(digest.Sum(nil))
	return id, nil
}

func readInfo(f *zip.File) (*ComicInfo, error) {
	r, err := openEntry("read ComicInfo", f)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // nothing was written
	return ParseComicInfo(r)
}
