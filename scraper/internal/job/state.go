// Package job is one download order for a Series: its states (JOB-1), what each
// class of failure does to it (JOB-4), and the work of inspecting it and of
// fetching one chapter. It asks the Site only through the Fetcher it is handed,
// keeps nothing in memory that a kill may lose, and leaves to the queue which
// Job is next and to the Lane when.
package job

import (
	"slices"
	"time"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// State is a Job's state, as stored and shown.
type State string

// The states of JOB-1.
const (
	Requested   State = "requested"
	Inspecting  State = "inspecting"
	Ready       State = "ready"
	Queued      State = "queued"
	Downloading State = "downloading"
	Paused      State = "paused"
	RetryWait   State = "retry_wait"
	Unavailable State = "unavailable"
	Quarantined State = "quarantined"
	Done        State = "done"
	Cancelled   State = "cancelled"
)

// States lists every state once.
func States() []State {
	return []State{Requested, Inspecting, Ready, Queued, Downloading, Paused, RetryWait, Unavailable, Quarantined, Done, Cancelled}
}

// Outstanding reports whether s is one of the states of which a Series may have
// one Job at most (JOB-2).
func (s State) Outstanding() bool {
	switch s {
	case Requested, Inspecting, Ready, Queued, Downloading, Paused, RetryWait:
		return true
	}
	return false
}

// Transitions are the allowed ones, from each state; what is missing is refused
// here and by the database, which keeps the same pairs in job_transitions.
func Transitions() map[State][]State {
	return map[State][]State{
		Requested:   {Inspecting, Paused, Cancelled},
		Inspecting:  {Requested, Ready, Paused, RetryWait, Unavailable, Quarantined, Done, Cancelled},
		Ready:       {Requested, Queued, Cancelled},
		Queued:      {Downloading, Paused, Cancelled},
		Downloading: {Queued, Paused, RetryWait, Unavailable, Quarantined, Done, Cancelled},
		Paused:      {Requested, Queued, Cancelled},
		RetryWait:   {Requested, Queued, Paused, Quarantined, Cancelled},
		Unavailable: {Requested, Cancelled},
		Quarantined: {Requested, Queued, Cancelled},
		Done:        {Requested},
		Cancelled:   nil,
	}
}

// Allowed reports whether a Job may go from one state to another.
func Allowed(from, to State) bool { return slices.Contains(Transitions()[from], to) }

// ChapterState is the state of one chapter within a Job.
type ChapterState string

// The chapter states.
const (
	ChapterWaiting     ChapterState = "waiting"
	ChapterDownloading ChapterState = "downloading"
	ChapterPublished   ChapterState = "published"
	ChapterSetAside    ChapterState = "set_aside"
)

// ChapterStates lists every chapter state once.
func ChapterStates() []ChapterState {
	return []ChapterState{ChapterWaiting, ChapterDownloading, ChapterPublished, ChapterSetAside}
}

// Job is one row of the queue.
type Job struct {
	ID    int64
	Key   source.Key
	State State
	// Unattended Jobs do not stop at ready for an operator's word (JOB-3).
	Unattended bool
	Class      fault.Class
	Reason     string
	Retries    int
	Stalls     int
	RetryAt    time.Time
	ChangedAt  time.Time
}

// retryDelay is how long a Job rests after a network failure: as long as its
// Site's circuit (JOB-4).
const retryDelay = 5 * time.Minute

// maxRetries is how often a Job is tried again by itself.
const maxRetries = 1

// Change is what becomes of a Job.
type Change struct {
	To      State
	Class   fault.Class
	Reason  string
	Retries int
	RetryAt time.Time
}

// AfterFailure returns what a classified failure makes of j (JOB-4). Page and
// conflict failures set a chapter aside and never come here.
func (j Job) AfterFailure(class fault.Class, reason string, now time.Time) Change {
	c := Change{Class: class, Reason: reason, Retries: j.Retries}
	back := Queued
	if j.State == Inspecting {
		back = Requested
	}
	switch class {
	case fault.Network:
		if j.Retries >= maxRetries {
			c.To = Quarantined
			break
		}
		c.To, c.Retries, c.RetryAt = RetryWait, j.Retries+1, now.Add(retryDelay)
	case fault.Unavailable, fault.NotFound:
		c.To, c.Class = Unavailable, fault.Unavailable
	case fault.Access, fault.Storage:
		c.To = back
	default:
		c.To = Quarantined
	}
	return c
}
