package inventory

import "time"

// Status is the word for how much the last look at the library is worth (INV-2).
type Status string

// The words. Ready and Updated are both current: Updated says that the last look
// found the library otherwise than it was known.
const (
	Ready      Status = "ready"
	Refreshing Status = "refreshing"
	Stale      Status = "stale"
	Updated    Status = "updated"
	Failed     Status = "error"
)

// Statuses lists every word once.
func Statuses() []Status { return []Status{Ready, Refreshing, Stale, Updated, Failed} }

// Counts is what a look at the library found.
type Counts struct {
	// Files are there, Missing are known and gone, Bytes is the size of Files.
	Files, Missing int
	Bytes          int64
	// PassedOver counts files that were left out of the catalog: a second copy of a
	// chapter, one that is still being written, or a name that is no UTF-8.
	PassedOver int
	// Unsettled counts those of them that may still be being written.
	Unsettled int
}

// Summary is what is known at once, whatever is under way. It is for showing:
// nothing may be decided by it, and no Snapshot is made of it (INV-3).
type Summary struct {
	Status Status
	Counts Counts
	// At is when the last look ended well; zero before the first.
	At time.Time
	// Why says in one line what the last look failed of, "" unless Status is
	// Failed or a look is under way after a failure.
	Why string
	// Again is when it is tried again after a failure; zero otherwise.
	Again time.Time
	// Watched is true when the file system tells of changes by itself.
	Watched bool
}

// Snapshot is proof of a look at the library that began after it was asked for,
// and that nothing invalidated while it ran. Only Inventory.Current makes one:
// decisions that must not duplicate take it, so that they cannot be made by a
// Summary (INV-3).
type Snapshot struct {
	scan uint64
	at   time.Time
}

// Made reports whether s is the work of Current, and not a zero value.
func (s Snapshot) Made() bool { return s.scan > 0 }

// At is when the look ended.
func (s Snapshot) At() time.Time { return s.at }
