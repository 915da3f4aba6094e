// Package service keeps one supervised program running: a table says which
// states there are and how one follows another, and one keeper per program
// walks it on its own (SUP-1). It holds no process, socket or file: those come
// in through interfaces, so that hours of waiting are tested in no time. What a
// failure costs is counted by the budget it is handed.
package service

import "slices"

// State is the word for how a service stands, as shown to an operator and sent
// over the control socket.
type State string

// The states.
const (
	// Starting is a program that runs and does not answer its probe yet.
	Starting State = "starting"
	// Serving is a program that answers.
	Serving State = "serving"
	// BackingOff is the pause before a program that failed is started again.
	BackingOff State = "backing-off"
	// Waiting is a program that is not started because of something that is
	// not its fault (SUP-3).
	Waiting State = "waiting"
	// Blocked is a program that said not to restart it (SUP-3).
	Blocked State = "blocked"
	// RepairRequired is a parked program (SUP-2).
	RepairRequired State = "repair-required"
	// Stopping is a program that was asked to end.
	Stopping State = "stopping"
	// Stopped is a program that nobody wants to run.
	Stopped State = "stopped"
)

// States lists every state once.
func States() []State {
	return []State{Starting, Serving, BackingOff, Waiting, Blocked, RepairRequired, Stopping, Stopped}
}

// Event is the word for what happens to a service.
type Event string

// The events.
const (
	// Start is a start that is allowed now.
	Start Event = "start"
	// Hold is a start that something else does not allow yet.
	Hold Event = "hold"
	// Ready is the first good answer to the probe.
	Ready Event = "ready"
	// Fail is an exit nobody asked for, a start that did not happen, or an
	// end we made because the program had stopped answering (SUP-2).
	Fail Event = "fail"
	// Refuse is an exit with the code that says "do not restart me" (SUP-3).
	Refuse Event = "refuse"
	// Park is a failure that spends the last of the budget (SUP-2).
	Park Event = "park"
	// Stop is the wish that the program end.
	Stop Event = "stop"
	// Gone is the end of a program that was asked to end.
	Gone Event = "gone"
)

// Events lists every event once.
func Events() []Event { return []Event{Start, Hold, Ready, Fail, Refuse, Park, Stop, Gone} }

// Row is one allowed step.
type Row struct {
	From  State
	Event Event
	To    State
	// Failure is true when the step counts as a failure of the program.
	Failure bool
}

// Table returns every allowed step. What is not here cannot happen.
func Table() []Row {
	return []Row{
		{Stopped, Start, Starting, false},
		{Stopped, Hold, Waiting, false},
		{Stopped, Park, RepairRequired, false},

		{Waiting, Start, Starting, false},
		{Waiting, Hold, Waiting, false},
		{Waiting, Stop, Stopped, false},

		{Starting, Ready, Serving, false},
		{Starting, Fail, BackingOff, true},
		{Starting, Refuse, Blocked, false},
		{Starting, Park, RepairRequired, true},
		{Starting, Stop, Stopping, false},

		{Serving, Fail, BackingOff, true},
		{Serving, Refuse, Blocked, false},
		{Serving, Park, RepairRequired, true},
		{Serving, Stop, Stopping, false},

		{BackingOff, Start, Starting, false},
		{BackingOff, Hold, Waiting, false},
		{BackingOff, Stop, Stopped, false},

		{Blocked, Start, Starting, false},
		{Blocked, Hold, Waiting, false},
		{Blocked, Stop, Stopped, false},

		{RepairRequired, Start, Starting, false},
		{RepairRequired, Hold, Waiting, false},
		{RepairRequired, Stop, Stopped, false},

		{Stopping, Gone, Stopped, false},
	}
}

// Next returns the step that event makes from state; ok is false when the table
// does not allow it.
func Next(from State, event Event) (row Row, ok bool) {
	table := Table()
	i := slices.IndexFunc(table, func(r Row) bool { return r.From == from && r.Event == event })
	if i < 0 {
		return Row{}, false
	}
	return table[i], true
}
