// Package unreadable has the words for why a comic archive, or a folder of
// pictures, cannot be read. The Inventory stores them, the change log carries
// them, and the reader's pages word them for people. It opens nothing and knows
// no kind of archive.
package unreadable

import (
	"errors"
	"fmt"

	"mangrove/internal/fault"
)

// Reason is the word for why a file cannot be read, as stored in the database.
// The zero value means that it can.
type Reason string

// The words.
const (
	// Empty is a file of no bytes.
	Empty Reason = "empty"
	// NotAnArchive is a file of some other kind under an archive's name.
	NotAnArchive Reason = "not-an-archive"
	// Encrypted needs a password, for its pages or for their list.
	Encrypted Reason = "encrypted"
	// Corrupt is damaged or cut short.
	Corrupt Reason = "corrupt"
	// TooLarge breaks a limit: entries, sizes, or what it would unpack to.
	TooLarge Reason = "too-large"
	// UnsafeNames has an entry whose name reaches out of the archive.
	UnsafeNames Reason = "unsafe-names"
	// DuplicateNames has two entries of one name.
	DuplicateNames Reason = "duplicate-names"
	// NoPages holds no picture of a kind that is shown.
	NoPages Reason = "no-pages"
	// Unsupported is packed in a way that is not read, or one part of a set.
	Unsupported Reason = "unsupported"
)

// Reasons lists every word once.
func Reasons() []Reason {
	return []Reason{Empty, NotAnArchive, Encrypted, Corrupt, TooLarge, UnsafeNames, DuplicateNames, NoPages, Unsupported}
}

// cause is the reason inside a classified error.
type cause struct {
	reason Reason
	err    error
}

func (c *cause) Error() string { return c.err.Error() }
func (c *cause) Unwrap() error { return c.err }

// New is the error of class invalid of a file that cannot be read for reason; the
// rest says in one sentence what was found.
func New(reason Reason, op, format string, args ...any) error {
	return fault.New(fault.Invalid, op, "", &cause{reason, fmt.Errorf(format, args...)})
}

// Of is the reason in err, "" when it has none.
func Of(err error) Reason {
	var c *cause
	if errors.As(err, &c) {
		return c.reason
	}
	return ""
}

// Known returns reason where it is one of the words, and Corrupt for any other
// text but "": a word of a newer program still says that the file cannot be read.
func Known(text string) Reason {
	if text == "" {
		return ""
	}
	for _, r := range Reasons() {
		if string(r) == text {
			return r
		}
	}
	return Corrupt
}
