package service

import (
	"slices"
	"testing"
)

// TestEveryCell walks the whole table, forbidden cells included: each allowed
// step is listed here a second time, in words of its own.
func TestEveryCell(t *testing.T) {
	allowed := map[State]map[Event]State{
		Stopped:        {Start: Starting, Hold: Waiting, Park: RepairRequired},
		Waiting:        {Start: Starting, Hold: Waiting, Stop: Stopped},
		Starting:       {Ready: Serving, Fail: BackingOff, Refuse: Blocked, Park: RepairRequired, Stop: Stopping},
		Serving:        {Fail: BackingOff, Refuse: Blocked, Park: RepairRequired, Stop: Stopping},
		BackingOff:     {Start: Starting, Hold: Waiting, Stop: Stopped},
		Blocked:        {Start: Starting, Hold: Waiting, Stop: Stopped},
		RepairRequired: {Start: Starting, Hold: Waiting, Stop: Stopped},
		Stopping:       {Gone: Stopped},
	}
	for _, from := range States() {
		for _, event := range Events() {
			want, may := allowed[from][event]
			row, ok := Next(from, event)
			if ok != may || row.To != want {
				t.Errorf("%s when %s: got %q %v, want %q %v", event, from, row.To, ok, want, may)
			}
			counts := (event == Fail || event == Park) && (from == Starting || from == Serving)
			if row.Failure != counts {
				t.Errorf("%s when %s: counts as a failure %v, want %v", event, from, row.Failure, counts)
			}
		}
	}
	if n := len(Table()); n != 25 {
		t.Errorf("%d rows, want 25: a row stands twice or is new", n)
	}
}

// TestNothingEndsItself makes sure that a parked or stopped service is only
// started by a start, and that every state can be left.
func TestNothingEndsItself(t *testing.T) {
	for _, s := range States() {
		if !slices.ContainsFunc(Table(), func(r Row) bool { return r.From == s && r.To != s }) {
			t.Errorf("%s cannot be left", s)
		}
		if !slices.ContainsFunc(Table(), func(r Row) bool { return r.To == s }) {
			t.Errorf("%s cannot be reached", s)
		}
	}
}
