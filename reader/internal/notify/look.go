package notify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"mangrove/reader/internal/scraperclient"
)

// Scraper is what the scraper is asked.
type Scraper interface {
	ListWorklist(ctx context.Context, q scraperclient.WorklistQuery) (scraperclient.Worklist, error)
	ListSites(ctx context.Context) ([]scraperclient.LaneDetail, error)
	ListJobs(ctx context.Context, q scraperclient.JobsQuery) (scraperclient.Jobs, error)
	ListHolds(ctx context.Context) ([]scraperclient.Hold, error)
	ListNewChapters(ctx context.Context, limit int) ([]scraperclient.NewChapter, error)
}

// Bounds of one look, so that a library on fire is still one message.
const (
	mostFailing  = 500
	mostJobs     = 200
	mostChapters = 200
)

// state is what the scraper says now, as far as any destination wants to know.
type state struct {
	failing  []scraperclient.Failing
	lanes    []scraperclient.LaneDetail
	jobs     []scraperclient.QueueJob
	holds    []scraperclient.Hold
	chapters []scraperclient.NewChapter
}

// wants reports whether any destination wants a kind.
func wants(to []Destination, k Kind) bool {
	return slices.ContainsFunc(to, func(d Destination) bool { return slices.Contains(d.Kinds, k) })
}

// look asks the scraper. The first question that it does not answer ends it: what
// is not known is not told.
func look(ctx context.Context, s Scraper, to []Destination, now time.Time) (st state, err error) {
	if wants(to, Failing) {
		days := slices.MinFunc(to, func(a, b Destination) int { return cmp.Compare(a.FailingDays, b.FailingDays) }).FailingDays
		got, err := s.ListWorklist(ctx, scraperclient.WorklistQuery{Before: now.AddDate(0, 0, -days), Limit: mostFailing})
		if err != nil {
			return st, err
		}
		st.failing = got.Items
	}
	if wants(to, Refused) || wants(to, Canary) {
		if st.lanes, err = s.ListSites(ctx); err != nil {
			return st, err
		}
	}
	if wants(to, Quarantined) {
		got, err := s.ListJobs(ctx, scraperclient.JobsQuery{States: []string{"quarantined"}, Limit: mostJobs})
		if err != nil {
			return st, err
		}
		st.jobs = got.Jobs
	}
	if wants(to, Storage) {
		if st.holds, err = s.ListHolds(ctx); err != nil {
			return st, err
		}
	}
	if wants(to, Chapters) {
		if st.chapters, err = s.ListNewChapters(ctx, mostChapters); err != nil {
			return st, err
		}
	}
	return st, nil
}

// notices are what a destination wants to hear of a state.
func (st state) notices(d Destination, now time.Time) (out []Notice) {
	wanted := func(k Kind) bool { return slices.Contains(d.Kinds, k) }
	if wanted(Failing) {
		for _, f := range st.failing {
			if f.Failure.Since.Before(now.AddDate(0, 0, -d.FailingDays)) {
				out = append(out, Notice{Failing, series(f.Series.Key) + stampOf(f.Failure.Since), failingText(f)})
			}
		}
	}
	if wanted(Refused) {
		for _, l := range st.lanes {
			since := l.TroubleSince
			if l.Trouble != "refused" {
				if l.Circuit != "paused" || l.CircuitReason != "access" {
					continue
				}
				since = l.CircuitSince
			}
			out = append(out, Notice{Refused, l.Site + stampOf(since), plain(cmp.Or(l.SiteName, l.Site)) + " refuses since " + day(since) + ". Nothing is sent to it until somebody resumes it."})
		}
	}
	if wanted(Canary) {
		for _, l := range st.lanes {
			if c := l.Canary; c != nil && c.State == "failing" {
				out = append(out, Notice{Canary, l.Site + stampOf(c.FailingSince), plain(cmp.Or(l.SiteName, l.Site)) + ": " + plain(cmp.Or(c.Title, c.Key.SeriesID)) + " has not been understood since " + day(c.FailingSince) + ". Its Lane says what was read."})
			}
		}
	}
	if wanted(Quarantined) {
		for _, j := range st.jobs {
			text := plain(cmp.Or(j.Title, j.Series.SeriesID)) + " (" + plain(cmp.Or(j.SiteName, j.Series.Site)) + ")"
			if j.Reason != "" {
				text += ": " + plain(j.Reason)
			}
			out = append(out, Notice{Quarantined, strconv.FormatInt(j.ID, 10) + stampOf(j.ChangedAt), text})
		}
	}
	if wanted(Storage) {
		for _, h := range st.holds {
			if h.Kind == "storage" {
				out = append(out, Notice{Storage, stampOf(h.Since), "Since " + day(h.Since) + ": " + plain(h.Detail)})
			}
		}
	}
	if wanted(Chapters) {
		for _, c := range st.chapters {
			if c.Announced.After(d.CreatedAt) {
				out = append(out, Notice{Chapters, series(c.Series.Key) + "\x1f" + c.Chapter.ID, chapterText(c)})
			}
		}
	}
	return out
}

func series(k scraperclient.Key) string { return k.Site + "\x1f" + k.SeriesID }

func stampOf(t time.Time) string { return "\x1f" + strconv.FormatInt(t.UnixMicro(), 10) }

func failingText(f scraperclient.Failing) string {
	said := map[string]string{
		"not_found": "not found", "no_chapter": "no chapters listed", "unfetchable": "could not be read", "errors": "not understood",
	}[f.Failure.Outcome]
	return fmt.Sprintf("%s (%s): %s since %s", plain(cmp.Or(f.Series.Title, f.Series.Key.SeriesID)), plain(cmp.Or(f.Series.SiteName, f.Series.Key.Site)), said, day(f.Failure.Since))
}

func chapterText(c scraperclient.NewChapter) string {
	name := "chapter " + c.Chapter.Number
	if c.Chapter.Number == "" {
		name = cmp.Or(c.Chapter.Title, "a one-shot")
	}
	return plain(cmp.Or(c.Series.Title, c.Series.Key.SeriesID)) + ": " + plain(name)
}

// day words when something began.
func day(t time.Time) string { return t.Local().Format("2 Jan 2006, 15:04") }

// plain makes one bounded line of text from outside: a title must not write a
// second line into a message, nor a control sign into a terminal.
func plain(text string) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))), " ")
	if runes := []rune(text); len(runes) > 160 {
		return string(runes[:159]) + "…"
	}
	return text
}
