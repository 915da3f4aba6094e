package lane

import (
	"errors"
	"time"

	"mangrove/internal/fault"
)

// asksForQuiet reports whether what came in place of a Series page asks for the
// whole Lane's quiet: one Retry-After is the Site's wish, whatever page carried it
// (A14). Where the same page asks again though the Site has shown others since, it
// is about that page, which must neither stop the Lane at every Pass nor hide that
// its Series fails (POLL-4, POLL-9).
func (l *Lane) asksForQuiet(seriesID string, cause error, now time.Time) bool {
	var f *fault.Error
	if !errors.As(cause, &f) || !f.RetryAfter.After(now) {
		return false
	}
	before, again := l.quiet[seriesID]
	l.quiet[seriesID] = now
	return !again || !l.page.After(before)
}

// pageCame notes that the Site has shown a page of this Series.
func (l *Lane) pageCame(seriesID string, now time.Time) {
	delete(l.quiet, seriesID)
	l.page = now
}
