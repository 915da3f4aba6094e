package job

// Priority orders the waiting Jobs of one Site, as stored and shown.
type Priority string

// The priorities. A Job is normal until an operator says otherwise.
const (
	High   Priority = "high"
	Normal Priority = "normal"
	Low    Priority = "low"
)

// Priorities lists every priority once, the first to go first.
func Priorities() []Priority { return []Priority{High, Normal, Low} }

// Resumes are the states in which a paused Job may go on, "" standing for a Job
// that is not paused.
func Resumes() []State { return []State{"", Requested, Queued} }
