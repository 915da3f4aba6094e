package web

import (
	"cmp"
	"slices"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// libraryTile is what the library folder holds, as it was last looked at, and how
// much that is worth.
func libraryTile(l scraperclient.Library, now time.Time) figure {
	state := libraryWord(l, now)
	out := figure{Name: "Library", Figure: thousands(l.Files), State: &state}
	if l.LookedAt.IsZero() {
		out.Figure = "–"
		out.Note = "not looked at yet"
		return out
	}
	out.Note = joinMeta(chapterWord(l.Files)+cmp.Or(some(l.Missing, ", "+thousands(l.Missing)+" missing"), ""), "looked at "+ago(l.LookedAt, now))
	return out
}

func chapterWord(n int) string {
	if n == 1 {
		return "chapter"
	}
	return "chapters"
}

// libraryNotice says what a look at the library failed of, unless a Hold says so.
func libraryNotice(l scraperclient.Library, holds []scraperclient.Hold, now time.Time) []holdNotice {
	if l.Status != "error" || slices.ContainsFunc(holds, func(h scraperclient.Hold) bool { return h.Kind == "storage" }) {
		return nil
	}
	text := cmp.Or(upperFirst(l.Why), "It is not known why") + ". Nothing was removed, and what is here can be read. Until a look succeeds, no new download is begun."
	if l.AgainAt.After(now) {
		text += " The next look is in " + span(l.AgainAt.Sub(now)) + "."
	}
	return []holdNotice{{Kind: "library", Tone: "warn", Icon: "warn", Heading: "The library could not be looked at", Text: text}}
}

// libraryWord words the state of the library.
func libraryWord(l scraperclient.Library, now time.Time) pill {
	switch l.Status {
	case "ready":
		return pill{Icon: "check", Word: "Up to date", Tone: "ok", Exact: l.Status}
	case "updated":
		return pill{Icon: "check", Word: "Just updated", Tone: "ok", Exact: l.Status}
	case "refreshing":
		return pill{Icon: "clock", Word: "Being looked at", Tone: "info", Exact: l.Status}
	case "stale":
		return pill{Icon: "clock", Word: "Changed since", Tone: "info", Exact: l.Status}
	case "error":
		word := "Could not be looked at"
		if l.AgainAt.After(now) {
			word += ", again in " + span(l.AgainAt.Sub(now))
		}
		return pill{Icon: "warn", Word: word, Tone: "bad", Exact: l.Status}
	}
	return pill{Icon: "clock", Word: "Not known", Tone: "quiet", Exact: l.Status}
}
