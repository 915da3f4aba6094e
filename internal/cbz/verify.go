package cbz

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
)

// Damage is one page of an archive that is not what was published.
type Damage struct {
	// Page is its number, from 1.
	Page int
	// Name is its entry's, for people.
	Name string
	// What says what is wrong with it, as the end of a sentence.
	What string
}

// Verified is what a whole reading of an archive found.
type Verified struct {
	// Pages is how many were compared.
	Pages int
	// Bad are those that are not what was published.
	Bad []Damage
	// Fingerprint is its manifest's, "" without one.
	Fingerprint string
}

// Verify reads every page in the first size bytes of f to its last byte and
// compares it with the archive's manifest: its length and its digest as they were
// when the page was accepted (PUB-3). An archive without one of ours is compared
// with its own checksums. An archive that cannot be opened at all is of class
// invalid; a disk that fails before the pages, of class storage, and ctx's end say
// nothing about them.
func Verify(ctx context.Context, f io.ReaderAt, size int64) (v Verified, err error) {
	a, err := Open(f, size)
	if err != nil {
		return v, err
	}
	if a.Manifest == nil {
		for i, e := range a.files {
			if err := v.compare(ctx, a.Pages[i].Name, e, ""); err != nil {
				return v, err
			}
		}
		return v, nil
	}
	v.Fingerprint = a.Manifest.Fingerprint
	z, err := zip.NewReader(&diskReader{f: f, left: -1}, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return v, notZip("verify", f, size, err)
	}
	entries := make(map[string]*zip.File, len(z.File))
	for _, e := range z.File {
		entries[e.Name] = e
	}
	for _, record := range a.Manifest.Pages {
		if err := v.compare(ctx, ShownName(record.Name), entries[record.Name], record.SHA256); err != nil {
			return v, err
		}
	}
	return v, nil
}

// compare reads the next page, an entry that may be nil, and compares it with its
// digest, "" for its checksum alone.
func (v *Verified) compare(ctx context.Context, name string, e *zip.File, want string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	v.Pages++
	sum, what := "", "it is not there any more"
	if e != nil {
		sum, what = digest(e)
	}
	if what == "" && want != "" && sum != want {
		what = "it is not the picture that was published"
	}
	if what != "" {
		v.Bad = append(v.Bad, Damage{v.Pages, name, what})
	}
	return nil
}

// digest reads an entry whole. What cannot be read is said in what.
func digest(e *zip.File) (sum, what string) {
	r, err := openEntry("verify", e)
	if err == nil {
		defer func() { _ = r.Close() }() // nothing was written
		hash := sha256.New()
		if _, err = io.Copy(hash, r); err == nil {
			return hex.EncodeToString(hash.Sum(nil)), ""
		}
	}
	switch {
	case isStorage(err):
		return "", "the disk cannot read it"
	case errors.Is(err, zip.ErrChecksum):
		return "", "its bytes have changed"
	}
	return "", "it cannot be unpacked"
}
