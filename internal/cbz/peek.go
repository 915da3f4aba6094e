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

	"mangrove/internal/picture"
	"mangrove/internal/unreadable"
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
// good is for Open to say. An archive that cannot be read is of class invalid with
// a reason (package unreadable); a failing disk is of class storage.
func Peek(f io.ReaderAt, size int64) (Identity, error) {
	const op = "look at archive"
	disk := &diskReader{f: f, left: maxDirectory}
	z, err := zip.NewReader(disk, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return Identity{}, notZip(op, f, size, err)
	}
	disk.left = -1
	if err := checkEntries(op, z.File); err != nil {
		return Identity{}, err
	}
	var id Identity
	var others []*zip.File
	digest := sha256.New()
	for _, e := range z.File {
		var fixed [20]byte
		binary.BigEndian.PutUint32(fixed[:], e.CRC32)
		binary.BigEndian.PutUint64(fixed[4:], e.UncompressedSize64)
		binary.BigEndian.PutUint64(fixed[12:], uint64(len(e.Name)))
		_, _ = digest.Write(fixed[:]) // a hash cannot fail
		_, _ = io.WriteString(digest, e.Name)
		if Litter(e.Name) || !e.Mode().IsRegular() {
			continue
		}
		switch {
		case e.Name == ManifestName:
			if id.Manifest, err = readManifest(e); isStorage(err) {
				return Identity{}, err
			}
		case strings.EqualFold(baseName(e.Name), ComicInfoName):
			if id.Info != nil && baseName(e.Name) != e.Name {
				continue
			}
			if id.Info, err = readInfo(e); isStorage(err) {
				return Identity{}, err
			}
		case PictureName(e.Name):
			id.Pages++
		default:
			others = append(others, e)
		}
	}
	if id.Manifest != nil {
		id.Pages = len(id.Manifest.Pages)
	}
	if id.Pages == 0 {
		id.Pages = pictures(op, others)
	}
	if id.Pages == 0 {
		return Identity{}, unreadable.New(unreadable.NoPages, op, "the archive holds no pages")
	}
	id.Digest = hex.EncodeToString(digest.Sum(nil))
	return id, nil
}

// PictureName reports whether an entry is a page by its name.
func PictureName(name string) bool {
	return slices.Contains([]string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif"}, strings.ToLower(path.Ext(name)))
}

// pictures counts the pages by content among entries that are none by name: a few
// makers give them no ending.
func pictures(op string, files []*zip.File) (n int) {
	for _, f := range files {
		r, err := openEntry(op, f)
		if err != nil {
			continue // Open says what is wrong with it
		}
		head := make([]byte, 64)
		got, _ := io.ReadFull(r, head) // a short one is judged as it is
		_ = r.Close()                  // nothing was written
		if picture.Sniff(head[:got]) != "" {
			n++
		}
	}
	return n
}

func readInfo(f *zip.File) (*ComicInfo, error) {
	r, err := openEntry("read ComicInfo", f)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // nothing was written
	return ParseComicInfo(r)
}
