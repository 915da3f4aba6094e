package web

import (
	"slices"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// libraryTile is what the library folder holds, as it was last looked at, and how
// much that is worth.
func (t tongue) libraryTile(l scraperclient.Library, now time.Time) figure {
	state := t.libraryWord(l, now)
	out := figure{Name: t.T("Library"), Figure: t.number(l.Files), State: &state}
	if l.LookedAt.IsZero() {
		out.Figure = "–"
		out.Note = t.T("not looked at yet")
		return out
	}
	out.Note = t.T("chapters", l.Files)
	if l.Missing > 0 {
		out.Note = t.T("%s, %s", out.Note, t.T("%d missing", l.Missing))
	}
	out.Note = joinMeta(out.Note, t.T("looked at %s", t.ago(l.LookedAt, now)))
	return out
}

// libraryNotice says what a look at the library failed of, unless a Hold says so.
func (t tongue) libraryNotice(l scraperclient.Library, holds []scraperclient.Hold, now time.Time) []holdNotice {
	if l.Status != "error" || slices.ContainsFunc(holds, func(h scraperclient.Hold) bool { return h.Kind == "storage" }) {
		return nil
	}
	text := t.T("Nothing was removed, and what is here can be read. Until a look succeeds, no new download is begun.")
	if l.Why == "" {
		text = t.T("It is not known why.") + " " + text
	}
	if l.AgainAt.After(now) {
		text += " " + t.T("The next look is in %s.", t.span(l.AgainAt.Sub(now)))
	}
	return []holdNotice{{Kind: "library", Tone: "warn", Icon: "warn", Heading: t.T("The library could not be looked at"), Reason: upperFirst(l.Why), Text: text}}
}

// libraryWord words the state of the library.
func (t tongue) libraryWord(l scraperclient.Library, now time.Time) pill {
	switch l.Status {
	case "ready":
		return pill{Icon: "check", Word: t.T("Up to date"), Tone: "ok", Exact: l.Status}
	case "updated":
		return pill{Icon: "check", Word: t.T("Just updated"), Tone: "ok", Exact: l.Status}
	case "refreshing":
		return pill{Icon: "clock", Word: t.T("Being looked at"), Tone: "info", Exact: l.Status}
	case "stale":
		return pill{Icon: "clock", Word: t.T("Changed since"), Tone: "info", Exact: l.Status}
	case "error":
		word := t.T("Could not be looked at")
		if l.AgainAt.After(now) {
			word = t.T("Could not be looked at, again in %s", t.span(l.AgainAt.Sub(now)))
		}
		return pill{Icon: "warn", Word: word, Tone: "bad", Exact: l.Status}
	}
	return pill{Icon: "clock", Word: t.T("Not known"), Tone: "quiet", Exact: l.Status}
}
