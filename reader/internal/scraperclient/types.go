package scraperclient

import "time"

// Key names one Series on one Site.
type Key struct{ Site, SeriesID string }

// Series is what the Site says about a title.
type Series struct {
	Key
	Title, NativeTitle string
	AltTitles          []string
	Authors            []string
	Description, URL   string
	Status             string
	Tags               []string
	License, SiteName  string
	HasCover           bool
	Origin             string
	Direction          string
}

// Chapter is one release as the Site lists it, and what became of it here.
type Chapter struct {
	ID, Number, Volume, Title, Language string
	Groups                              []string
	SourceOrder                         int
	PublishedAt, FirstSeenAt, GoneSince time.Time
	LibraryState, DownloadState         string
	PagesDone, PagesTotal               int
	SetAsideReason, URL                 string
}

// Failure is the failure row of a Series.
type Failure struct {
	Outcome string
	Since   time.Time
}

// Job is one download order.
type Job struct {
	ID                          int64
	State                       string
	ChaptersDone, ChaptersTotal int
	Reason, Class               string
	RetryAt, ChangedAt          time.Time
}

// Lane is the live state of one Site's Lane.
type Lane struct {
	Site, SiteName, Circuit, CircuitReason string
	CircuitSince, CircuitUntil             time.Time
	Activity, Trouble                      string
	TroubleSince                           time.Time
	// Needs is "browser" while the Site is read through one and the scraper can
	// start none, else "".
	Needs string
	// Interval is how far apart the Polls of one Series lie, 0 if not told.
	Interval time.Duration
}

// Proposal is where a Series may have moved to, for a person to decide. URL is ""
// when nothing says that it did. Because is "redirect" (its Site sends readers
// there for good) or "same_title" (it is gone, and the Site lists that title under
// another id).
type Proposal struct{ URL, Because string }

// State is everything the scraper knows that a Series page shows. Failure, Job
// and Lane are nil when there is none.
type State struct {
	Series                               Series
	Chapters                             []Chapter
	Failure                              *Failure
	Job                                  *Job
	Lane                                 *Lane
	LastGoodRead, NextPollAt, ForcedPoll time.Time
	Polled                               bool
	// NextPollReason is "interval", "releases" (read less often, because it
	// releases rarely) or "forced".
	NextPollReason string
	// Proposal is where it may have moved to (POLL-13, A12).
	Proposal Proposal
	// MovedAt is set from a move until the first good read at the new place.
	MovedAt time.Time
	// PreferredGroups are those whose releases are wanted, best first; none keeps
	// every release.
	PreferredGroups []string
}

// Status is the scraper's own state.
type Status struct {
	Version         string
	StartedAt       time.Time
	LibraryEpoch    string
	LibraryRevision int64
	FollowsRevision int64
	Lanes           []Lane
	// SeriesFailing counts failure rows, SeriesMuted those of them that are muted.
	SeriesFailing    int
	SeriesMuted      int
	JobsOutstanding  int
	DownloadsRunning int
	// JobsReady wait for an operator's word, JobsQuarantined until a person decides.
	JobsReady, JobsQuarantined int
	Library                    Library
}

// Library is the last look at the library folder, with its age (INV-2).
type Library struct {
	// Status is "ready", "refreshing", "stale", "updated" or "error".
	Status string
	// Files are there, Missing are known and gone, PassedOver were left out of the
	// catalog. Bytes is the size of Files.
	Files, Missing, PassedOver int
	Bytes                      int64
	// LookedAt is zero before the first look that ended well.
	LookedAt time.Time
	// Why is what the last look failed of, AgainAt when the next is tried.
	Why     string
	AgainAt time.Time
	// Watched is true when the file system tells of changes by itself.
	Watched bool
}

// Cover is a whole image as the Site shows it.
type Cover struct {
	MediaType, SHA256 string
	Data              []byte
}

// Change is one entry of the library's change log.
type Change struct {
	Revision int64
	Path     string
	// Removed is true for a tombstone, and for a file that is missing now.
	Removed     bool
	Series      Series
	Chapter     Chapter
	Pages       int
	Size        int64
	Fingerprint string
	PublishedAt time.Time
	// Missing are the numbers, from 1, of the Site's pages that the file is without.
	Missing []int32
	// ReplacedBy is the path of the file that took the place of a removed one, or "".
	ReplacedBy string
	// Kind is what holds the pages: "zip", "rar", "7z" or "folder".
	Kind string
	// Unreadable is the word for why it cannot be read, "" when it can.
	Unreadable string
}

// Changes is one page of the change log.
type Changes struct {
	Epoch   string
	Changes []Change
	Head    int64
}

// Follow is one Series of the desired set.
type Follow struct {
	Key
	Download  bool
	Languages []string
	// URL is the address a person followed by, Title what they saw; "" if unknown.
	URL, Title string
}

// FollowChange is one change of the follows, or the whole desired set.
type FollowChange struct {
	Revision   int64
	Whole      bool
	Follows    []Follow
	Unfollowed []Key
}
