package queue

import (
	"context"
	"time"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/source"
)

// Act is what an operator does to a Job, as sent and typed.
type Act string

// The acts.
const (
	// Start is the word a ready Job waits for (JOB-3).
	Start Act = "start"
	// Pause stops a Job after its unit of work; Resume lets it go on.
	Pause  Act = "pause"
	Resume Act = "resume"
	// Retry takes up what was set aside, its counts set back and nothing deleted (JOB-5).
	Retry Act = "retry"
	// Cancel ends a Job. What it has published stays, and so does its staging.
	Cancel Act = "cancel"
)

// Acts lists every act once.
func Acts() []Act { return []Act{Start, Pause, Resume, Retry, Cancel} }

// leads is where each act leads a Job from each state; what is missing changes
// nothing. Every pair is an allowed transition (job.Transitions).
func leads() map[Act]map[job.State]job.State {
	return map[Act]map[job.State]job.State{
		Start: {job.Ready: job.Queued},
		Pause: {
			job.Requested: job.Paused, job.Inspecting: job.Paused, job.Queued: job.Paused, job.Downloading: job.Paused, job.RetryWait: job.Paused,
		},
		// Where it goes on is what the Job remembers; the safe way is to look first.
		Resume: {job.Paused: job.Requested},
		// Looked at anew (ADR 0004): chapters planned and pages staged stay.
		Retry: {job.RetryWait: job.Requested, job.Unavailable: job.Requested, job.Quarantined: job.Requested, job.Done: job.Requested},
		Cancel: {
			job.Requested: job.Cancelled, job.Inspecting: job.Cancelled, job.Ready: job.Cancelled, job.Queued: job.Cancelled, job.Downloading: job.Cancelled,
			job.Paused: job.Cancelled, job.RetryWait: job.Cancelled, job.Unavailable: job.Cancelled, job.Quarantined: job.Cancelled,
		},
	}
}

// Lead returns where an act leads a Job that is in state from and, if paused,
// remembers resumeTo; ok is false when the act changes nothing.
func Lead(a Act, from, resumeTo job.State) (to job.State, ok bool) {
	to, ok = leads()[a][from]
	if ok && a == Resume && resumeTo == job.Queued {
		to = job.Queued
	}
	return to, ok
}

// resumesTo is what a Job paused in state from remembers.
func resumesTo(from job.State) job.State {
	if from == job.Queued || from == job.Downloading {
		return job.Queued
	}
	return job.Requested
}

// Acted is a Job as an act finds it.
type Acted struct {
	job.Job
	// ResumeTo is where a paused Job goes on; "" otherwise.
	ResumeTo job.State
	Priority job.Priority
}

// Step is one act on a Job, compare-and-set on the state it was found in.
type Step struct {
	ID       int64
	From, To job.State
	ResumeTo job.State
	// Told is true when the operator has given the word: the Job stops at ready
	// no more, however often it is inspected again.
	Told bool
	// SetBack sets the retry and stall counts back, and what was set aside waiting.
	SetBack bool
	// Keep leaves class and reason as they are.
	Keep bool
}

// ActStore carries acts out.
type ActStore interface {
	// JobByID reads one Job; class not-found if there is none.
	JobByID(ctx context.Context, id int64) (Acted, error)
	// ActOnJob is compare-and-set: class stale when the Job is no longer as found,
	// conflict when its Series has another outstanding Job (JOB-2).
	ActOnJob(ctx context.Context, s Step) error
	// RetryChapters sets what a Job set aside waiting again.
	RetryChapters(ctx context.Context, id int64) error
	// RequestJob orders a new Job; asked is false when one is outstanding (JOB-2).
	RequestJob(ctx context.Context, key source.Key, unattended bool) (asked bool, err error)
	// LatestJob is the outstanding Job of a Series, or else its latest.
	LatestJob(ctx context.Context, key source.Key) (job.Job, bool, error)
	// JobsIn lists the ids of Jobs in a state that have been in it since before, oldest first.
	JobsIn(ctx context.Context, state job.State, before time.Time) ([]int64, error)
}

// Done is what came of an act.
type Done struct {
	// Job is the Job as it is now.
	Job Acted
	// Changed is false when the act found nothing to do: it was done already, or
	// does not go with the Job's state.
	Changed bool
	// Interrupted is true when a unit of work was under way.
	Interrupted bool
}

// maxTries bounds how often an act that lost a compare-and-set looks again.
const maxTries = 5

// Do carries out one act. Doing it twice is doing it once.
func Do(ctx context.Context, store ActStore, a Act, id int64) (Done, error) {
	if _, ok := leads()[a]; !ok {
		return Done{}, fault.Newf(fault.Invalid, "act on", "a Job", "%q is no act", a)
	}
	var err error
	for range maxTries {
		var found Acted
		if found, err = store.JobByID(ctx, id); err != nil {
			return Done{}, err
		}
		if a == Retry && found.State == job.Cancelled {
			return again(ctx, store, found)
		}
		to, ok := Lead(a, found.State, found.ResumeTo)
		if !ok {
			return Done{Job: found}, nil
		}
		s := Step{ID: id, From: found.State, To: to, Told: a == Start, SetBack: a == Retry, Keep: a == Pause || a == Resume}
		if to == job.Paused {
			s.ResumeTo = resumesTo(found.State)
		}
		err = store.ActOnJob(ctx, s)
		if fault.Is(err, fault.Stale) {
			continue
		}
		if err != nil {
			return Done{Job: found}, err
		}
		now, err := store.JobByID(ctx, id)
		return Done{Job: now, Changed: true, Interrupted: found.State == job.Downloading || found.State == job.Inspecting}, err
	}
	return Done{}, err
}

// again orders a new Job in the place of one that was cancelled: an end is an end.
// What that one set aside is no longer held against it.
func again(ctx context.Context, store ActStore, ended Acted) (Done, error) {
	if err := store.RetryChapters(ctx, ended.ID); err != nil {
		return Done{Job: ended}, err
	}
	asked, err := store.RequestJob(ctx, ended.Key, true)
	if err != nil {
		return Done{Job: ended}, err
	}
	j, ok, err := store.LatestJob(ctx, ended.Key)
	if err != nil || !ok {
		return Done{Job: ended}, err
	}
	now, err := store.JobByID(ctx, j.ID)
	return Done{Job: now, Changed: asked}, err
}

// DoAll carries out an act on all Jobs of one state that have been in it since
// before: those that the operator was shown. Only start (of what is ready) and
// retry (of what is quarantined) are for many. It returns those it changed; a
// Job that moved on meanwhile is passed over.
func DoAll(ctx context.Context, store ActStore, a Act, before time.Time) ([]Done, error) {
	state, ok := map[Act]job.State{Start: job.Ready, Retry: job.Quarantined}[a]
	if !ok {
		return nil, fault.Newf(fault.Invalid, "act on", "all Jobs", "%q is not for many", a)
	}
	ids, err := store.JobsIn(ctx, state, before)
	if err != nil {
		return nil, err
	}
	var out []Done
	for _, id := range ids {
		done, err := Do(ctx, store, a, id)
		switch {
		case fault.Is(err, fault.Conflict), fault.Is(err, fault.NotFound):
		case err != nil:
			return out, err
		case done.Changed:
			out = append(out, done)
		}
	}
	return out, nil
}

// The kinds of Hold.
const (
	// HoldQueue is an operator's stop on all downloads.
	HoldQueue = "queue"
	// HoldStorage stops them because the library cannot be written.
	HoldStorage = "storage"
)

// Holds lists the kinds once.
func Holds() []string { return []string{HoldQueue, HoldStorage} }
