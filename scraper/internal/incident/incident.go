// Package incident keeps what went wrong so that a person can mend it (OBS-2):
// one classified failure each, with the page that broke the adapter and what was
// decided about it; its bundle, small enough to become a test; and the line in
// events.log for every change of state. What leaves here has been redacted: by an
// allow-list where there is a list, by its shape where there is none. It decides
// nothing, asks no Site, and its own failure never fails the work it tells of.
package incident

import (
	"fmt"
	"time"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// Bounds.
const (
	// Kept is how many incidents are kept.
	Kept = 200
	// MaxDecisions is how many decisions one may have.
	MaxDecisions = 20
	// maxLine bounds each line of text, in bytes.
	maxLine = 2048
	// maxName bounds a Site's key.
	maxName = 512
)

// About is what a failure stopped; the end of that resolves the incident.
type About string

// What failures stop.
const (
	// AboutSeries: its page is not understood; a good read resolves it.
	AboutSeries About = "series"
	// AboutJob: it is set aside or stalled; a Retry resolves it.
	AboutJob About = "job"
	// AboutChapter: a Job goes on without it; a Retry, or its publication, resolves it.
	AboutChapter About = "chapter"
	// AboutCircuit: the Site is not asked; a Resume or a good read resolves it.
	AboutCircuit About = "circuit"
	// AboutHold: all downloads stand; the release resolves it.
	AboutHold About = "hold"
	// AboutFile: it no longer holds what was published; a good reading of it, or a
	// publication in its place, resolves it.
	AboutFile About = "file"
	// AboutCanary: the adapter does not read the Series it is known to read; the next
	// good reading of one resolves it.
	AboutCanary About = "canary"
)

// Abouts lists every word once.
func Abouts() []About {
	return []About{AboutSeries, AboutJob, AboutChapter, AboutCircuit, AboutHold, AboutFile, AboutCanary}
}

// Kinds are the fault classes an incident may have. A title that is gone is a
// state and no incident (JOB-4).
func Kinds() []fault.Class {
	var out []fault.Class
	for _, row := range fault.Table() {
		if row.Job && row.Class != fault.Unavailable {
			out = append(out, row.Class)
		}
	}
	return out
}

// Resolution is how an incident ended.
type Resolution string

// The resolutions.
const (
	Unresolved Resolution = ""
	Resumed    Resolution = "resumed"
	Retried    Resolution = "retried"
	Released   Resolution = "released"
	GoodRead   Resolution = "good_read"
	// Operator: a person has seen to it and says so.
	Operator Resolution = "operator"
)

// Resolutions lists every word once.
func Resolutions() []Resolution {
	return []Resolution{Unresolved, Resumed, Retried, Released, GoodRead, Operator}
}

// Decision is one thing the program decided about a failure: what changed, which
// one, to which state and for what reason, in the words that are stored.
type Decision struct {
	At time.Time `json:"at"`
	// What is "job", "chapter", "circuit", "hold", "poll" or "canary".
	What string `json:"what"`
	// ID names which one: a Job's number, a chapter's id, a Site's key, a Hold's
	// kind, a Series' id.
	ID     string `json:"id"`
	To     string `json:"to"`
	Reason string `json:"reason,omitempty"`
}

// String is for the command line and the bundle.
func (d Decision) String() string {
	s := fmt.Sprintf("%s %s to %s", d.What, d.ID, d.To)
	if d.Reason != "" {
		s += " (" + d.Reason + ")"
	}
	return s
}

// Incident is one classified failure.
type Incident struct {
	ID        int64
	Kind      fault.Class
	About     About
	Key       source.Key
	JobID     int64
	ChapterID string
	// Subject is what was being read, without values; Reason is one line.
	Subject, Reason string
	Decided         []Decision
	// At is when it happened first, LastAt when last, Seen how often.
	At, LastAt time.Time
	Seen       int
	// ResolvedAt is zero and Resolution "" while it waits.
	ResolvedAt time.Time
	Resolution Resolution

	// Checkpoint and Evidence are only there when one incident was asked for.
	Checkpoint []byte
	Evidence   []Evidence
}

// Evidence is one answer of the Site, bounded and redacted.
type Evidence struct {
	At        time.Time
	Address   string
	Status    int
	MediaType string
	Headers   []source.Header
	// Size is of the whole answer as it came; Cut says that Body is less of it.
	Size int64
	Cut  bool
	// Removed counts the places that were blanked.
	Removed int
	Body    []byte
}
