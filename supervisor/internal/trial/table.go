package trial

import "slices"

// State is the word for how a setting that is tried stands, as stored and shown.
type State string

// The states.
const (
	// None: nothing is tried.
	None State = ""
	// Applying: the trial is kept on disk, and what it concerns is being restarted.
	Applying State = "applying"
	// Trying: everything it concerns serves with the new value, which waits to be kept.
	Trying State = "trying"
	// Returning: the value before is being put back.
	Returning State = "returning"
)

// States lists every state once.
func States() []State { return []State{None, Applying, Trying, Returning} }

// Event is the word for what happens to a trial.
type Event string

// The events.
const (
	// Begin is an operator's wish, checked and kept on disk.
	Begin Event = "begin"
	// Serves is everything it concerns serving with the new value.
	Serves Event = "serves"
	// Keep is an operator's word that the value stays.
	Keep Event = "keep"
	// Fail is something it concerns not serving.
	Fail Event = "fail"
	// Expire is the end of its time.
	Expire Event = "expire"
	// Found is a supervisor that begins and finds a trial: the one before is gone,
	// and nobody can say why.
	Found Event = "found"
	// Back is the value before in force again, and the trial off the disk.
	Back Event = "back"
)

// Events lists every event once.
func Events() []Event { return []Event{Begin, Serves, Keep, Fail, Expire, Found, Back} }

// Row is one allowed step.
type Row struct {
	From  State
	Event Event
	To    State
}

// Table returns every allowed step. What is not here cannot happen: a value is kept only
// once it was seen to serve, and only an operator keeps it.
func Table() []Row {
	return []Row{
		{None, Begin, Applying},

		{Applying, Serves, Trying},
		{Applying, Fail, Returning},
		{Applying, Expire, Returning},
		{Applying, Found, Returning},

		{Trying, Keep, None},
		{Trying, Fail, Returning},
		{Trying, Expire, Returning},
		{Trying, Found, Returning},

		{Returning, Back, None},
		{Returning, Found, Returning},
	}
}

// Next returns the state that event leads to; ok is false when the table does not
// allow it.
func Next(from State, event Event) (to State, ok bool) {
	table := Table()
	i := slices.IndexFunc(table, func(r Row) bool { return r.From == from && r.Event == event })
	if i < 0 {
		return from, false
	}
	return table[i].To, true
}
