package web

import (
	"time"
	"unicode"
	"unicode/utf8"

	"mangrove/reader/internal/scraperclient"
)

// pill is a state: an icon, a word, a tone, and the exact word of logs.
type pill struct{ Icon, Word, Tone, Exact string }

// outcomeWords word what happens to a Series that fails.
func (t tongue) outcomeWords(outcome string) pill {
	switch outcome {
	case "not_found":
		return pill{"gone", t.T("Not found"), "bad", outcome}
	case "no_chapter":
		return pill{"list0", t.T("No chapters listed"), "odd", outcome}
	case "unfetchable":
		return pill{"cut", t.T("Could not be read"), "warn", outcome}
	case "errors":
		return pill{"puzzle", t.T("Not understood"), "warn", outcome}
	}
	return pill{"warn", t.T("Failing"), "warn", outcome}
}

// failureWords words a failure row: what happens, and since when.
func (t tongue) failureWords(f *scraperclient.Failure, now time.Time) pill {
	p := t.outcomeWords(f.Outcome)
	p.Word = t.T("%s since %s", p.Word, t.clock(f.Since, now))
	return p
}

// failureTells says what the Site answered, for the notice on a Series page.
func (t tongue) failureTells(f *scraperclient.Failure, site string) string {
	switch f.Outcome {
	case "not_found":
		return t.T("%s says there is no such title", site)
	case "no_chapter":
		return t.T("%s lists no chapters for it", site)
	case "unfetchable":
		return t.T("%s answers with nothing that can be read", site)
	case "errors":
		return t.T("Mangrove does not understand this page of %s", site)
	}
	return t.T("This Series does not read correctly")
}

// laneTrouble words the one item of a Site in trouble (POLL-8).
func (t tongue) laneTrouble(l *scraperclient.Lane, now time.Time) (p pill, ok bool) {
	if l == nil {
		return pill{}, false
	}
	if browserless(*l) {
		return pill{"unplug", t.T("Not read: the server lacks a browser"), "warn", l.Trouble}, true
	}
	switch l.Trouble {
	case "refused":
		return pill{"lock", t.T("Site refused since %s", t.clock(l.TroubleSince, now)), "bad", l.Trouble}, true
	case "unreachable":
		return pill{"unplug", t.T("Not reachable since %s", t.clock(l.TroubleSince, now)), "quiet", l.Trouble}, true
	}
	return pill{}, false
}

// jobWords words the state of a Job.
func (t tongue) jobWords(j *scraperclient.Job, now time.Time) pill {
	switch j.State {
	case "requested":
		return pill{"clock", t.T("Asked for"), "quiet", j.State}
	case "inspecting":
		return pill{"search", t.T("Looking what is there"), "info", j.State}
	case "ready":
		return pill{"check", t.T("Ready, waiting for your word"), "info", j.State}
	case "queued":
		return pill{"clock", t.T("Queued"), "quiet", j.State}
	case "downloading":
		return pill{"down", t.T("Downloading"), "info", j.State}
	case "paused":
		return pill{"pause", t.T("Paused"), "quiet", j.State}
	case "retry_wait":
		if j.RetryAt.After(now) {
			return pill{"refresh", t.T("Again in %s", t.span(j.RetryAt.Sub(now))), "warn", j.State}
		}
		return pill{"refresh", t.T("Again in a moment"), "warn", j.State}
	case "unavailable":
		return pill{"gone", t.T("Title unavailable"), "quiet", j.State}
	case "quarantined":
		return pill{"puzzle", t.T("Quarantined"), "bad", j.State}
	case "done":
		return pill{"check", t.T("Done, %d chapters", j.ChaptersTotal), "ok", j.State}
	case "cancelled":
		return pill{"x", t.T("Cancelled"), "quiet", j.State}
	}
	return pill{"clock", j.State, "quiet", j.State}
}

// jobLine says how far a Job is, or why it is not further.
func (t tongue) jobLine(j *scraperclient.Job, now time.Time) string {
	switch j.State {
	case "downloading", "queued", "paused", "retry_wait":
		line := t.T("%s of %s", t.number(j.ChaptersDone), t.T("%d chapters", j.ChaptersTotal))
		if j.Reason != "" {
			line += ". " + j.Reason
		}
		return line
	case "done", "requested", "inspecting":
		if !j.ChangedAt.IsZero() {
			return t.T("since %s", t.clock(j.ChangedAt, now))
		}
		return ""
	}
	return j.Reason
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}
