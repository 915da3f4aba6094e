// Package backup reads what other reading programs save of a person's library
// (Mihon's .tachibk, Kotatsu's zip), and reads and writes Mangrove's own file of
// follows and progress. It is pure: bytes in, one Backup out, or an error that
// says what is wrong with the file. It refuses files that are too large, packed
// too tightly or cut short, and it decides nothing about what a Series is called
// here.
package backup

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// The kinds of files.
const (
	Mihon    = "mihon"
	Kotatsu  = "kotatsu"
	Mangrove = "mangrove"
)

// MaxFile bounds a file as it comes, in bytes.
const MaxFile = 64 << 20

// What a file may hold. The largest backups that people tell of have some seven
// thousand Series with eighty thousand chapters.
const (
	maxPlain    = 128 << 20
	maxSeries   = 50_000
	maxMarks    = 2_000_000
	maxEntries  = 100
	maxText     = 512
	maxAddress  = 2048
	maxGroups   = 50
	maxChapters = 1_000_000
)

// Backup is what a file says of one person's library.
type Backup struct {
	Kind   string
	Series []Series
}

// Series is one title of it.
type Series struct {
	Title string
	// Source is the other program's name for where it is read, Local when that is
	// files of the person's own; Address is as it stands in the file.
	Source  string
	Local   bool
	Address string
	// Site and SeriesID are the key here, when the file knows it.
	Site, SeriesID string
	// Favourite is false for a title that was only read.
	Favourite  bool
	Download   bool
	Languages  []string
	Categories []string
	AddedAt    time.Time
	// Chapters counts those the file lists.
	Chapters int
	Marks    []Mark
}

// Mark is how far one chapter was read.
type Mark struct {
	// ChapterKey is the last part of the chapter's address, which is its id on many
	// Sites; Number is a decimal, "" when it has none.
	ChapterKey, Number string
	// Page counts from 0.
	Page     int
	Finished bool
	// Through says that every chapter before it was read as well.
	Through bool
	// At is zero when the file does not say.
	At time.Time
}

// FileError says what is wrong with a file, in words for the person who chose it.
type FileError struct{ Problem string }

func (e *FileError) Error() string { return e.Problem }

func bad(format string, args ...any) error { return &FileError{fmt.Sprintf(format, args...)} }

// Read reads a file of any kind; its first bytes say which. Of a file of several
// people it takes the one called person, or the only one there is.
func Read(data []byte, person string) (Backup, error) {
	switch {
	case len(data) > MaxFile:
		return Backup{}, bad("The file is larger than %d MiB.", MaxFile>>20)
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		return readMihon(data)
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return readKotatsu(data)
	case bytes.HasPrefix(bytes.TrimLeft(data, "\ufeff \r\n\t"), []byte("{")):
		e, err := ReadExport(data)
		if err != nil {
			return Backup{}, err
		}
		return e.Of(person)
	case len(data) == 0:
		return Backup{}, bad("The file is empty.")
	}
	return Backup{}, bad("This is no backup that is known here. Mangrove reads .tachibk files of Mihon, zip files of Kotatsu, and its own .json files.")
}

// text makes something from outside fit to be stored: valid, bounded, without zeros.
func text(s string, most int) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "")
	if len(s) <= most {
		return strings.TrimSpace(s)
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return strings.TrimSpace(s[:most])
}

// when reads milliseconds since 1970; zero for what is no time of a reader's life.
func when(ms int64) time.Time {
	if ms < 946_684_800_000 || ms > 4_102_444_800_000 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// lastPart is the end of an address: what stands behind its last slash.
func lastPart(address string) string {
	address, _, _ = strings.Cut(address, "#")
	address, _, _ = strings.Cut(address, "?")
	address = strings.TrimRight(address, "/")
	return address[strings.LastIndexByte(address, '/')+1:]
}

// page keeps a page within what a chapter can have.
func page(n int64) int { return int(min(max(n, 0), 100_000)) }

// decimal is a chapter's number as text, "" for one that a program could not tell.
func decimal(f float64) string {
	if !(f >= 0 && f < 1e6) {
		return ""
	}
	s := strings.TrimRight(fmt.Sprintf("%.3f", f), "0")
	return strings.TrimSuffix(s, ".")
}

// date gives marks without a time of their own the last one of their Series, so
// that what is read on is the last of them and nothing else seems to be read today.
func (s *Series) date() {
	last := s.AddedAt
	for _, m := range s.Marks {
		if m.At.After(last) {
			last = m.At
		}
	}
	for i := range s.Marks {
		if s.Marks[i].At.IsZero() {
			s.Marks[i].At = last
		}
	}
}
