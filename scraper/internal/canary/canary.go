// Package canary says whether a Site's adapter still reads the Series it is known to
// read (H18): the words a trial at it ends in, what they do to the Lane's canary, as
// one table, and how a reading and a page list are judged. The Lane tries it, the store
// keeps the row. The package asks no Site, and nothing here says anything of a Series
// of the library: no failure row, no Job and no circuit is moved by it.
package canary

import (
	"strings"
	"time"
	"unicode/utf8"

	"mangrove/internal/redact"
	"mangrove/scraper/internal/source"
)

// State is what is believed of an adapter, as stored.
type State string

// The states. One bad trial is doubt; only the next in a row makes it a belief.
const (
	// Untried: no trial has said anything yet.
	Untried  State = "untried"
	Well     State = "well"
	Doubtful State = "doubtful"
	// Failing: the adapter no longer reads its known Series.
	Failing State = "failing"
)

// States lists every state once.
func States() []State { return []State{Untried, Well, Doubtful, Failing} }

// Outcome is the one word a trial ends in, as stored.
type Outcome string

// The outcomes.
const (
	// None is before the first trial.
	None Outcome = ""
	OK   Outcome = "ok"
	// Errors: a page that was read was not understood, or the adapter panicked.
	Errors Outcome = "errors"
	// NoLandmark: a page lacks the part that every page of its kind has, or is of
	// another kind. It may be a maintenance page.
	NoLandmark Outcome = "no_landmark"
	// Gone: the Site does not have a Series that its adapter declares.
	Gone Outcome = "gone"
	// Moved: the Site sends readers for good to a host that is not its own.
	Moved Outcome = "moved"
	// NoChapter: the list is empty. Fewer: it is less than half of what was known.
	NoChapter Outcome = "no_chapter"
	Fewer     Outcome = "fewer"
	// NoPages: a chapter that had pages has none. BadPages: one has no address that
	// may be asked.
	NoPages  Outcome = "no_pages"
	BadPages Outcome = "bad_pages"
	// Refused and Away are about the Site and say nothing of the adapter.
	Refused Outcome = "refused"
	Away    Outcome = "away"
)

// Outcomes lists every outcome once.
func Outcomes() []Outcome {
	return []Outcome{None, OK, Errors, NoLandmark, Gone, Moved, NoChapter, Fewer, NoPages, BadPages, Refused, Away}
}

// Verdict is what an outcome says of the adapter. It is never stored.
type Verdict string

// The verdicts.
const (
	Good    Verdict = "good"
	Bad     Verdict = "bad"
	Unclear Verdict = "unclear"
)

// Verdict returns what o says of the adapter.
func (o Outcome) Verdict() Verdict {
	switch o {
	case OK:
		return Good
	case Errors, NoLandmark, Gone, Moved, NoChapter, Fewer, NoPages, BadPages:
		return Bad
	case Refused, Away, None:
		return Unclear
	}
	panic("canary: no such outcome: " + string(o))
}

const (
	// Every is how far apart the trials of a Lane lie where nobody chose otherwise;
	// Least and Most bound what may be chosen, in whole hours.
	Every = 24 * time.Hour
	Least = 6 * time.Hour
	Most  = 7 * 24 * time.Hour
	// Again is how long after the first bad trial the next one follows: a page that
	// was not understood is hardly ever one that was half deployed an hour before.
	Again = time.Hour
	// First is how long after the first Follow the first trial comes: a Poll has just
	// read the Series.
	First = time.Hour
	// Believed is how long a list must stay short to be the Site's own.
	Believed = 7 * 24 * time.Hour
)

// MaxEvidence bounds what is kept of why a trial was bad, in bytes.
const MaxEvidence = 500

// Canary is the stored row of one Lane.
type Canary struct {
	Site    string
	State   State
	Outcome Outcome
	// SeriesID is the Series of the last trial, ChapterID the chapter whose pages were
	// read well last, Chapters how many chapters the list had then.
	SeriesID, ChapterID string
	Chapters            int
	// Ran is the last trial, Good the last good one, FailingSince the first bad one of
	// those that follow one another; zero for none.
	Ran, Good, FailingSince time.Time
	// Next is when the next trial is due; zero before the first Follow.
	Next time.Time
	// Evidence words why the last bad trial was bad, in one line; "" when well.
	Evidence string
}

// Trial is what one trial found.
type Trial struct {
	Outcome             Outcome
	SeriesID, ChapterID string
	Chapters            int
	// Err is why it is not OK.
	Err error
}

// next is the table: where a verdict leads from each state.
var next = map[State]map[Verdict]State{
	Untried:  {Good: Well, Bad: Doubtful, Unclear: Untried},
	Well:     {Good: Well, Bad: Doubtful, Unclear: Well},
	Doubtful: {Good: Well, Bad: Failing, Unclear: Doubtful},
	Failing:  {Good: Well, Bad: Failing, Unclear: Failing},
}

// After returns the row after a trial that ended at now, where trials lie every apart.
// spread puts jitter on a length of time. A trial that says nothing of the adapter
// moves nothing but the time of the next.
func (c Canary) After(l Trial, now time.Time, every time.Duration, spread func(time.Duration) time.Duration) Canary {
	out := c
	out.Ran, out.Next = now, now.Add(spread(every))
	v := l.Outcome.Verdict()
	if l.Outcome == Fewer && c.Outcome == Fewer && c.SeriesID == l.SeriesID && now.Sub(c.FailingSince) >= Believed {
		// It has stayed short: that is what the Site lists now.
		v, l.Outcome, l.Err = Good, OK, nil
	}
	out.State = next[c.State][v]
	if v == Unclear {
		// The word of the last trial that said something stays beside the state.
		if c.Outcome == None {
			out.Outcome = l.Outcome
		}
		return out
	}
	if c.SeriesID != l.SeriesID {
		out.SeriesID, out.ChapterID, out.Chapters = l.SeriesID, "", 0
	}
	out.Outcome = l.Outcome
	switch v {
	case Good:
		out.Good, out.FailingSince, out.Evidence, out.Chapters = now, time.Time{}, "", l.Chapters
		if keepable(l.ChapterID) {
			out.ChapterID = l.ChapterID
		}
	case Bad:
		if c.FailingSince.IsZero() {
			out.FailingSince = now
		}
		out.Evidence = reason(l.Err)
		// A page without its landmark may be maintenance, which is over a day later.
		if c.State != Doubtful && c.State != Failing && l.Outcome != NoLandmark {
			out.Next = now.Add(spread(min(Again, every)))
		}
	}
	return out
}

// Known is a Series that an adapter is known to read, with what is known of it.
type Known struct {
	Key source.Key
	URL string
	// Declared is true for one the adapter names, false for one that is followed.
	Declared bool
	// Chapters is how many the Site listed when last asked; 0 when that is not known.
	Chapters int
	// Published are the ids of those that were published into the library.
	Published []string
}

// Chapter chooses the chapter of a list, newest first, whose pages are read: the
// oldest that was published, else the one read well the last time, else the newest
// that can be read there. owed is true when it has had pages before. ok is false when
// there is none.
func (c Canary) Chapter(k Known, list []source.Chapter) (ch source.Chapter, owed, ok bool) {
	published := make(map[string]bool, len(k.Published))
	for _, id := range k.Published {
		published[id] = true
	}
	for i := len(list) - 1; i >= 0; i-- {
		if published[list[i].ID] && !list[i].External {
			return list[i], true, true
		}
	}
	for _, one := range list {
		if one.External {
			continue
		}
		if !ok {
			ch, ok = one, true
		}
		if one.ID == c.ChapterID && c.SeriesID == k.Key.SeriesID {
			return one, true, true
		}
	}
	return ch, false, ok
}

// keepable reports whether an id a Site gives can be kept; one that cannot is not
// looked for again.
func keepable(id string) bool {
	return id != "" && len(id) <= 2048 && utf8.ValidString(id) && !strings.ContainsRune(id, 0)
}

func reason(err error) string { return redact.Clip(redact.Line(line(err)), MaxEvidence) }
