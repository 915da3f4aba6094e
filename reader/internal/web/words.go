package web

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"mangrove/reader/internal/scraperclient"
)

// Clock says when in as few words as are clear: the time today, "yesterday,
// 23:40", "12 Aug" this year, "12 Aug 2025" otherwise.
func Clock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch {
	case t.IsZero():
		return "an unknown time"
	case !t.Before(day) && t.Before(day.AddDate(0, 0, 1)):
		return t.Format("15:04")
	case !t.Before(day.AddDate(0, 0, -1)) && t.Before(day):
		return "yesterday, " + t.Format("15:04")
	case !t.Before(day.AddDate(0, 0, 1)) && t.Before(day.AddDate(0, 0, 2)):
		return "tomorrow, " + t.Format("15:04")
	case t.Year() == now.Year():
		return t.Format("2 Jan")
	}
	return t.Format("2 Jan 2006")
}

// Moment is Clock at the start of a sentence: "Today, 14:02".
func Moment(t, now time.Time) string {
	c := Clock(t, now)
	if len(c) == len("15:04") && c[2] == ':' {
		return "Today, " + c
	}
	return strings.ToUpper(c[:1]) + c[1:]
}

// span words a duration in its largest unit: "40 seconds", "3 min", "5 h", "12 days".
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return seconds(d)
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h"
	}
	return strconv.Itoa(int(d.Hours()/24)) + " days"
}

// seconds words a wait, rounded up so that it is never too short.
func seconds(d time.Duration) string {
	n := int((d + time.Second - 1) / time.Second)
	return count(max(n, 1), "second", "seconds")
}

// count words a number with its noun, with commas from a thousand on.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// pill is a state: an icon, a word, a tone, and the exact word of logs.
type pill struct{ Icon, Word, Tone, Exact string }

// outcomeWords word what happens to a Series that fails.
func outcomeWords(outcome string) pill {
	switch outcome {
	case "not_found":
		return pill{"gone", "Not found", "bad", outcome}
	case "no_chapter":
		return pill{"list0", "No chapters listed", "odd", outcome}
	case "unfetchable":
		return pill{"cut", "Could not be read", "warn", outcome}
	case "errors":
		return pill{"puzzle", "Not understood", "warn", outcome}
	}
	return pill{"warn", "Failing", "warn", outcome}
}

// failureWords words a failure row: what happens, and since when.
func failureWords(f *scraperclient.Failure, now time.Time) pill {
	p := outcomeWords(f.Outcome)
	p.Word += " since " + Clock(f.Since, now)
	return p
}

// failureTells says what the Site answered, for the notice on a Series page.
func failureTells(f *scraperclient.Failure, site string) string {
	switch f.Outcome {
	case "not_found":
		return site + " says there is no such title"
	case "no_chapter":
		return site + " lists no chapters for it"
	case "unfetchable":
		return site + " answers with nothing that can be read"
	case "errors":
		return "Mangrove does not understand this page of " + site
	}
	return "This Series does not read correctly"
}

// laneTrouble words the one item of a Site in trouble (POLL-8).
func laneTrouble(l *scraperclient.Lane, now time.Time) (p pill, ok bool) {
	if l == nil {
		return pill{}, false
	}
	if browserless(*l) {
		return pill{"unplug", "Not read: the server lacks a browser", "warn", l.Trouble}, true
	}
	switch l.Trouble {
	case "refused":
		return pill{"lock", "Site refused since " + Clock(l.TroubleSince, now), "bad", l.Trouble}, true
	case "unreachable":
		return pill{"unplug", "Not reachable since " + Clock(l.TroubleSince, now), "quiet", l.Trouble}, true
	}
	return pill{}, false
}

// jobWords words the state of a Job.
func jobWords(j *scraperclient.Job, now time.Time) pill {
	switch j.State {
	case "requested":
		return pill{"clock", "Asked for", "quiet", j.State}
	case "inspecting":
		return pill{"search", "Looking what is there", "info", j.State}
	case "ready":
		return pill{"check", "Ready, waiting for your word", "info", j.State}
	case "queued":
		return pill{"clock", "Queued", "quiet", j.State}
	case "downloading":
		return pill{"down", "Downloading", "info", j.State}
	case "paused":
		return pill{"pause", "Paused", "quiet", j.State}
	case "retry_wait":
		if j.RetryAt.After(now) {
			return pill{"refresh", "Again in " + span(j.RetryAt.Sub(now)), "warn", j.State}
		}
		return pill{"refresh", "Again in a moment", "warn", j.State}
	case "unavailable":
		return pill{"gone", "Title unavailable", "quiet", j.State}
	case "quarantined":
		return pill{"puzzle", "Quarantined", "bad", j.State}
	case "done":
		return pill{"check", "Done, " + count(j.ChaptersTotal, "chapter", "chapters"), "ok", j.State}
	case "cancelled":
		return pill{"x", "Cancelled", "quiet", j.State}
	}
	return pill{"clock", j.State, "quiet", j.State}
}

// jobLine says how far a Job is, or why it is not further.
func jobLine(j *scraperclient.Job, now time.Time) string {
	switch j.State {
	case "downloading", "queued", "paused", "retry_wait":
		line := fmt.Sprintf("%s of %s", thousands(j.ChaptersDone), count(j.ChaptersTotal, "chapter", "chapters"))
		if j.Reason != "" {
			line += ". " + j.Reason
		}
		return line
	case "done", "requested", "inspecting":
		if !j.ChangedAt.IsZero() {
			return "since " + Clock(j.ChangedAt, now)
		}
		return ""
	}
	return j.Reason
}

// chapterName is how a chapter is called in a sentence: "chapter 34", "one-shot".
func chapterName(number, name string) string {
	switch {
	case number != "":
		return "chapter " + number
	case name != "":
		return "“" + name + "”"
	}
	return "the one-shot"
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// languageName words a BCP 47 tag; what is none is shown as it is.
func languageName(tag string) string {
	t, err := language.Parse(tag)
	if err != nil {
		return tag
	}
	return cmp.Or(display.English.Tags().Name(t), tag)
}

// withoutPages words which of the Site's pages a book was published without.
func withoutPages(missing []int32) string {
	if len(missing) > 3 {
		return fmt.Sprintf("Without %d pages", len(missing))
	}
	var names []string
	for _, n := range missing {
		names = append(names, fmt.Sprint(n))
	}
	word := "page "
	if len(names) > 1 {
		word = "pages "
	}
	return "Without " + word + strings.Join(names, ", ")
}
