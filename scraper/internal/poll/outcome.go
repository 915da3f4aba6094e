// Package poll checks one Series: it reads the page through its adapter and
// says in one word how that went (POLL-1). What a word does to the failure row
// is a table here; the Lane decides which word a read gets when the whole Site
// is in trouble (POLL-9), and the store carries the effect out.
package poll

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// Outcome is the one word a Poll ends in.
type Outcome string

// The outcomes of POLL-1.
const (
	OK          Outcome = "ok"
	NotFound    Outcome = "not_found"
	NoChapter   Outcome = "no_chapter"
	Unfetchable Outcome = "unfetchable"
	Errors      Outcome = "errors"
	Refused     Outcome = "refused"
	Unreachable Outcome = "unreachable"
)

// Outcomes lists every word once.
func Outcomes() []Outcome {
	return []Outcome{OK, NotFound, NoChapter, Unfetchable, Errors, Refused, Unreachable}
}

// Effect is what an outcome does to the failure row.
type Effect string

// The effects. There is no third case beside writing and deleting: nothing.
const (
	// Write upserts the row; it never touches failing_since of an existing one.
	Write Effect = "write"
	// Delete removes the row, if there is one.
	Delete Effect = "delete"
	// Nothing issues no statement at all.
	Nothing Effect = "nothing"
)

// Effect returns what o does to poll_failures (POLL-3). The word alone decides.
func (o Outcome) Effect() Effect {
	switch o {
	case OK:
		return Delete
	case NotFound, NoChapter, Unfetchable, Errors:
		return Write
	case Refused, Unreachable:
		return Nothing
	}
	panic("poll: no such outcome: " + string(o))
}

// Result is how one read of a Series went.
type Result struct {
	Outcome Outcome
	// Reading is what was read; only with OK and NoChapter.
	Reading source.Reading
	// Err is why it is not OK, classified where the evidence was.
	Err error
}

// Check reads the page of one Series. The caller looks at its own context
// before believing the result: a stop is no evidence. An adapter that panics or does
// not come back is an outcome like any other (POLL-4).
func Check(ctx context.Context, a source.Adapter, f source.Fetcher, ask source.Ask) Result {
	reading, err := source.Attend(ctx, f, ask.URL, func(ctx context.Context, f source.Fetcher) (source.Reading, error) { return a.Series(ctx, f, ask) })
	if err != nil {
		return Result{Outcome: Judge(err), Err: err}
	}
	if reading.NotModified {
		return Result{Outcome: OK, Reading: reading}
	}
	if err := wellFormed(ask, reading); err != nil {
		return Result{Outcome: Judge(err), Err: err}
	}
	if len(reading.Chapters) == 0 {
		return Result{Outcome: NoChapter, Reading: reading, Err: source.Unparsed(ask.URL, "the page lists no chapter")}
	}
	return Result{Outcome: OK, Reading: reading}
}

// Judge turns a classified error into the word for it.
func Judge(err error) Outcome {
	var f *fault.Error
	if !errors.As(err, &f) {
		return Errors
	}
	switch {
	case f.Class == fault.Access:
		return Refused
	case f.Class == fault.NotFound, f.Class == fault.Unavailable:
		return NotFound
	case f.Evidence == fault.NoRead:
		return Unreachable
	case f.Evidence == fault.Answered, f.Class == fault.Network:
		return Unfetchable
	}
	return Errors
}

// wellFormed holds an adapter to its contract, so that a half-read page is
// never taken for success.
func wellFormed(ask source.Ask, r source.Reading) error {
	if r.Series.Title == "" {
		return source.Unparsed(ask.URL, "the page gives no title")
	}
	if r.Series.ID != ask.SeriesID {
		// A page of another Series at this address: this one is not there (POLL-13).
		return source.NotFound(ask.URL)
	}
	if !slices.Contains(source.Statuses(), r.Series.Status) || !slices.Contains(source.Directions(), r.Series.Direction) {
		return source.Unparsed(ask.URL, "status %q or direction %q is no word of ours", r.Series.Status, r.Series.Direction)
	}
	seen := make(map[string]bool, len(r.Chapters))
	for i, c := range r.Chapters {
		if c.ID == "" || c.URL == "" {
			return source.Unparsed(ask.URL, "entry %d of the chapter list has no id or address", i+1)
		}
		if seen[c.ID] {
			return source.Unparsed(ask.URL, "chapter id %s stands twice in the list", c.ID)
		}
		seen[c.ID] = true
		for _, n := range []string{c.Number, c.Volume} {
			if d, ok := source.Decimal(n); n != "" && (!ok || d != n) {
				return source.Unparsed(ask.URL, "chapter %s: %q is no number", c.ID, n)
			}
		}
	}
	return nil
}

// String renders a result for a log line.
func (r Result) String() string {
	if r.Err == nil {
		return string(r.Outcome)
	}
	return fmt.Sprintf("%s: %v", r.Outcome, r.Err)
}
