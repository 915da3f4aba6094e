package job

import (
	"sync"

	"mangrove/internal/fault"
)

// stopper tells the unit under way that its Job has been moved by someone else:
// an operator, or the watchdog (STALL-4).
type stopper struct {
	mu     sync.Mutex
	job    int64
	signal chan struct{}
}

// begin notes which Job's unit is under way, and returns what its stop closes.
func (s *stopper) begin(job int64) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.job, s.signal = job, make(chan struct{})
	return s.signal
}

// end notes that no unit is.
func (s *stopper) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.job, s.signal = 0, nil
}

// Stop makes the unit of a Job end at its next checkpoint, if it is under way:
// what was asked of the Site is still answered and kept, nothing more is asked.
// The Job's row must have been moved before: the unit says nothing of it.
func (r *Runner) Stop(jobID int64) {
	r.unit.mu.Lock()
	defer r.unit.mu.Unlock()
	if r.unit.job == jobID && r.unit.signal != nil {
		close(r.unit.signal)
		r.unit.job = 0
	}
}

// stopped reports whether the unit was told to stop.
func stopped(signal <-chan struct{}) bool {
	select {
	case <-signal:
		return true
	default:
		return false
	}
}

// errStopped ends a unit that was told to stop. It is of class stale: the Job is
// no longer in the state the unit began with.
func errStopped(j Job) error {
	return fault.Newf(fault.Stale, "go on with", j.Key.String(), "Job %d was told to stop", j.ID)
}
