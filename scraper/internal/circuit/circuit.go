// Package circuit says whether a Site may be asked at all (CIRC). The states,
// what moves them and what each means for a request stand here as one table;
// the store keeps the present state, so that a restart changes nothing. The
// package asks no Site and knows no clock but the one it is handed.
package circuit

import (
	"time"

	"mangrove/internal/fault"
)

// State is a circuit's state, as stored.
type State string

// The states. Probing is an open circuit whose one probe is under way.
const (
	Closed  State = "closed"
	Open    State = "open"
	Probing State = "probing"
	Paused  State = "paused"
)

// States lists every state once.
func States() []State { return []State{Closed, Open, Probing, Paused} }

// Reason says why a circuit is not closed.
type Reason string

// The reasons. Outage ends by itself; the others wait for an operator (CIRC-3).
const (
	None     Reason = ""
	Outage   Reason = "outage"
	Access   Reason = "access"
	Systemic Reason = "systemic"
	Operator Reason = "operator"
)

// Reasons lists every reason once.
func Reasons() []Reason { return []Reason{None, Outage, Access, Systemic, Operator} }

// Rest is how long an open circuit rests before its probe (JOB-4).
const Rest = 5 * time.Minute

// longestRest bounds how long a Site's own wish can make it rest.
const longestRest = 24 * time.Hour

// Lease is how long a probe may take before another may be sent: longer than
// any read with its retries.
const Lease = 10 * time.Minute

// Circuit is the stored row of one Site.
type Circuit struct {
	Site   string
	State  State
	Reason Reason
	// Detail words what happened, for an operator.
	Detail string
	Since  time.Time
	// Until is when an open circuit may be probed; zero otherwise.
	Until time.Time
	// RetryAfter is what the Site asked for, recorded and shown (CIRC-5).
	RetryAfter time.Time
}

// Event is what moves a circuit.
type Event string

// The events.
const (
	// Trouble is a whole Site not answering: connection, DNS, time-out, 5xx.
	Trouble Event = "trouble"
	// Refusal is 401, 403, 429 or a challenge.
	Refusal Event = "refusal"
	// Pattern is two different Jobs within an hour that the adapter could not read.
	Pattern Event = "pattern"
	// Probe is the start of the one probe.
	Probe Event = "probe"
	// Answer is a good read while probing.
	Answer Event = "answer"
	// Pause and Resume are an operator's.
	Pause  Event = "pause"
	Resume Event = "resume"
)

// Events lists every event once.
func Events() []Event {
	return []Event{Trouble, Refusal, Pattern, Probe, Answer, Pause, Resume}
}

type arrow struct {
	from  State
	event Event
}

type target struct {
	to     State
	reason Reason
}

// table holds every allowed move. What is missing does not happen: a paused
// circuit is not opened by an outage, nor closed by an answer that was under way.
func table() map[arrow]target {
	return map[arrow]target{
		{Closed, Trouble}:  {Open, Outage},
		{Closed, Refusal}:  {Paused, Access},
		{Closed, Pattern}:  {Paused, Systemic},
		{Closed, Pause}:    {Paused, Operator},
		{Open, Probe}:      {Probing, Outage},
		{Open, Refusal}:    {Paused, Access},
		{Open, Pattern}:    {Paused, Systemic},
		{Open, Pause}:      {Paused, Operator},
		{Open, Resume}:     {Closed, None},
		{Probing, Answer}:  {Closed, None},
		{Probing, Trouble}: {Open, Outage},
		{Probing, Refusal}: {Paused, Access},
		{Probing, Pattern}: {Paused, Systemic},
		{Probing, Pause}:   {Paused, Operator},
		{Probing, Resume}:  {Closed, None},
		// The lease of a probe that was never answered has run out.
		{Probing, Probe}: {Probing, Outage},
		{Paused, Resume}: {Closed, None},
	}
}

// Next returns the circuit after e at now, and whether e moves it at all.
func (c Circuit) Next(e Event, now time.Time, detail string, retryAfter time.Time) (Circuit, bool) {
	t, ok := table()[arrow{c.State, e}]
	if !ok || (e == Probe && !c.Due(now)) {
		return c, false
	}
	next := Circuit{Site: c.Site, State: t.to, Reason: t.reason, Since: now, Detail: detail, RetryAfter: retryAfter}
	switch t.to {
	case Open:
		next.Until = now.Add(Rest)
		// A Site that says how long it wants quiet gets it (CIRC-5), within
		// reason: what only an operator may end is called paused.
		if retryAfter.After(next.Until) {
			next.Until = retryAfter
			if latest := now.Add(longestRest); next.Until.After(latest) {
				next.Until = latest
			}
		}
		if c.State == Probing {
			next.Since = c.Since
		}
	case Probing:
		next.Until = now.Add(Lease)
		next.Since, next.Detail = c.Since, c.Detail
	case Closed:
		next.Detail = ""
	}
	return next, true
}

// Due reports whether the one probe may be sent now.
func (c Circuit) Due(now time.Time) bool {
	return (c.State == Open || c.State == Probing) && !c.Until.After(now)
}

// Asking reports whether ordinary requests may be sent.
func (c Circuit) Asking() bool { return c.State == Closed }

// EventOf returns the event a classified failure is for its Site, if any: page,
// conflict, stall and storage leave the Site untouched (JOB-4), and one parser
// failure alone is no pattern.
func EventOf(class fault.Class) (Event, bool) {
	switch class {
	case fault.Network:
		return Trouble, true
	case fault.Access:
		return Refusal, true
	}
	return "", false
}
