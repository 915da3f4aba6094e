// Package cbz reads and writes comic archives: a ZIP of page images with a
// ComicInfo.xml and, in ours, a manifest of what every page was when it was
// accepted. It also makes the names of archives and their folders. It treats
// every archive as hostile and refuses to extract one: pages are read by index,
// within limits, and no name from inside an archive ever becomes a path.
package cbz

import (
	"fmt"

	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/internal/picture"
	"mangrove/internal/unreadable"
)

// The limits on an archive, read or written.
const (
	// MaxEntries is the largest number of entries, pages or not.
	MaxEntries = 5_000
	// MaxTotal is the largest sum of declared entry sizes in bytes.
	MaxTotal = 2 << 30
	// MaxRatio is the largest declared size of an entry over its packed size.
	MaxRatio = 200
	// MaxPage is the largest page in bytes.
	MaxPage = picture.MaxBytes

	// ratioFloor exempts small entries: a blank text file packs very well.
	ratioFloor = 100 << 10
	// maxDirectory bounds the bytes read to list an archive.
	maxDirectory = 4 << 20
	maxManifest  = 4 << 20
	maxComicInfo = 1 << 20
)

// The names of the two entries that are not pages.
const (
	// ComicInfoName is the entry every comic reader looks for.
	ComicInfoName = "ComicInfo.xml"
	// ManifestName is the entry by which we recognise our own archives.
	ManifestName = "mangrove.json"
)

// Manifest is what our archives say about themselves, so that the catalogue and
// an interrupted publication can be rebuilt from the files alone (JOB-6).
type Manifest struct {
	// Fingerprint is the SHA-256 in hex over Site, Series, chapter and page list (PUB-2).
	Fingerprint string `json:"fingerprint"`
	// Site is the name of the adapter.
	Site string `json:"site"`
	// SeriesID and ChapterID are the Site's own.
	SeriesID  string       `json:"series_id"`
	ChapterID string       `json:"chapter_id"`
	Pages     []PageRecord `json:"pages"`
	// Missing are the numbers, from 1, of pages that the Site's list has and the
	// archive was published without, on an operator's word.
	Missing []int `json:"missing,omitempty"`
}

// PageRecord is one page as it was accepted.
type PageRecord struct {
	// Name is its entry in the archive: a plain file name.
	Name string `json:"name"`
	// Size is in bytes.
	Size int64 `json:"size"`
	// SHA256 is in lower-case hex.
	SHA256 string `json:"sha256"`
	// MediaType is one of those of picture.Info.
	MediaType string `json:"media_type"`
	// Width and Height are in pixels.
	Width  int `json:"width"`
	Height int `json:"height"`
}

// refused is the error of a part of an archive, or of one to be written, that
// breaks a rule.
func refused(op, format string, args ...any) error {
	return fault.New(fault.Invalid, op, "", fmt.Errorf(format, args...))
}

// broken is the error of a read that failed: of class storage when the disk is
// to blame (diskReader says so), else the archive is.
func broken(op, what string, err error) error {
	if fault.Is(err, fault.Storage) {
		return err
	}
	return unreadable.New(unreadable.Corrupt, op, "%s: %w", what, err)
}

// storage classifies an error of the disk.
func storage(op string, err error) error { return durable.Classify(op, "", err) }
