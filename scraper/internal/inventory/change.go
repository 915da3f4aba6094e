package inventory

import (
	"context"

	"mangrove/internal/archive"
	"mangrove/internal/unreadable"
	"mangrove/scraper/internal/source"
)

// Row is a file as the store knows it.
type Row struct {
	Path  string
	Stamp Stamp
	// State is "published", "missing" or "removed".
	State       string
	Revision    int64
	Key         source.Key
	ChapterID   string
	Fingerprint string
	Unreadable  unreadable.Reason
}

// Found is a file, or a folder of pictures, as it was read.
type Found struct {
	Path  string
	Stamp Stamp
	Kind  archive.Kind
	// Unreadable is why there are no pages, "" where there are.
	Unreadable unreadable.Reason
	Key        source.Key
	// Chapter is what the file says of it; the store knows better where it knows
	// the chapter.
	Chapter     source.Chapter
	SeriesTitle string
	Pages       int
	Fingerprint string
	// Missing are the numbers, from 1, of the Site's pages that it is without.
	Missing []int
}

// Stamped is a known file with another stamp.
type Stamped struct {
	Path  string
	Stamp Stamp
}

// Changes are what one look found otherwise than it was known. All but Touched
// are changes of the library and take a revision each (OWN-4).
type Changes struct {
	// Head bounds Gone: a file with a later revision was published meanwhile.
	Head int64
	// Gone are no longer there; Back are there again as they were.
	Gone []string
	Back []Stamped
	// Moved is by old path: another program gave the file another name.
	Moved map[string]Found
	// Reread have other contents than before, New no row.
	Reread, New []Found
	// Touched have only another time.
	Touched []Stamped
}

// Store keeps what the library holds.
type Store interface {
	// LibraryHead is the newest revision of the change log.
	LibraryHead(ctx context.Context) (epoch string, revision int64, err error)
	// FilesIn lists the rows of files in folders; nil lists all.
	FilesIn(ctx context.Context, folders []string) ([]Row, error)
	// FilesLike lists rows, removed ones left out, with one of the fingerprints or
	// of the chapters of found.
	FilesLike(ctx context.Context, found []Found) ([]Row, error)
	// ApplyInventory stores changes and returns how many were changes of the library.
	ApplyInventory(ctx context.Context, c Changes) (int, error)
	// LibraryCounts counts what is there and what is missing.
	LibraryCounts(ctx context.Context) (Counts, error)
}
