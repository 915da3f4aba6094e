package web

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// incidentsView is the list of what went wrong, in words.
type incidentsView struct {
	Frame
	Away                  bool
	Filters               []chip
	Rows                  []incidentRow
	All                   bool
	Range, Previous, Next string
}

// incidentRow is one incident in the list.
type incidentRow struct {
	Href, Heading, Meta, Reason string
	Kind                        pill
	// Often is how often it happened, "" for once; End how it ended, "" while it waits.
	Often, End string
	At         time.Time
	When       string
}

func incidentsIn(q incidentsQuery, list scraperclient.Incidents, now time.Time) incidentsView {
	v := incidentsView{All: q.All}
	v.Filters = []chip{
		{incidentsQuery{false, 1}.address(), "Waiting", thousands(list.Unresolved), !q.All},
		{incidentsQuery{true, 1}.address(), "All", "", q.All},
	}
	for _, in := range list.Incidents {
		r := incidentRow{
			Href: incidentAddress(in.ID), Heading: incidentHeading(in), Meta: incidentAbout(in), Reason: in.Reason, Kind: kindWords(in.Kind), At: in.LastAt,
			When: dated(in.LastAt, now), End: endOfIncident(in, now),
		}
		if in.Seen > 1 {
			r.Often = thousands(in.Seen) + " times"
		}
		v.Rows = append(v.Rows, r)
	}
	if list.Total > incidentsPage && len(v.Rows) > 0 {
		first := (q.Page-1)*incidentsPage + 1
		v.Range = fmt.Sprintf("%s to %s of %s", thousands(first), thousands(first+len(v.Rows)-1), thousands(list.Total))
		if q.Page > 1 {
			v.Previous = incidentsQuery{q.All, q.Page - 1}.address()
		}
		if first+len(v.Rows) <= list.Total {
			v.Next = incidentsQuery{q.All, q.Page + 1}.address()
		}
	}
	return v
}

// incidentView is one incident in words.
type incidentView struct {
	Frame
	Away    bool
	ID      int64
	Heading string
	Sub     string
	// Name is the Series, "" without one; Href and Cover where it is shown.
	Name, Href, Cover string
	State             pill
	// Reason is the scraper's own word for it.
	Reason string
	// Evidence is the last answer; Earlier those before it.
	Evidence *answer
	Earlier  []answer
	// NoEvidence says why nothing is shown.
	NoEvidence string
	Decided    []decisionLine
	// Alone is what was left alone.
	Alone string
	Facts []laneFact
	Kind  pill
	Help  incidentHelp
	// Waits is true until it is resolved; Over and End say how that was.
	Waits     bool
	Over, End string
	Poll      string
}

// answer is one answer of the Site, as text.
type answer struct {
	Head    string
	Headers []scraperclient.Header
	Parts   []stretch
	// Note says how much of it is shown, and that secrets were removed.
	Note string
}

// stretch is a piece of an answer; Removed stands where something was taken out.
type stretch struct {
	Text    string
	Removed bool
}

// decisionLine is one decision in words.
type decisionLine struct {
	Tone, Text string
	At         time.Time
	Clock      string
}

func incidentIn(in scraperclient.IncidentDetail, now time.Time) incidentView {
	v := incidentView{
		ID: in.ID, Heading: incidentHeading(in.Incident), Reason: in.Reason, Kind: kindWords(in.Kind), Waits: in.ResolvedAt.IsZero(), End: endOfIncident(in.Incident, now),
		Alone: leftAlone(in.Incident), Help: helpFor(in.Incident), Name: cmp.Or(in.Title, in.Key.SeriesID),
	}
	at := lowerFirst(Moment(in.At, now))
	if !strings.Contains(at, ":") {
		at = dated(in.At, now)
	}
	v.Sub = "Incident " + thousands(int(in.ID)) + " · " + at + " · " + incidentAbout(in.Incident)
	for i, e := range in.Evidence {
		a := answerOf(e)
		if i == len(in.Evidence)-1 {
			v.Evidence = &a
		} else {
			v.Earlier = append(v.Earlier, a)
		}
	}
	if v.Evidence == nil {
		v.NoEvidence = noEvidence(in.Kind, in.About)
	}
	for _, d := range in.Decided {
		text, tone := decisionWords(d, in.Incident)
		v.Decided = append(v.Decided, decisionLine{tone, text, d.At, d.At.Local().Format("15:04:05")})
	}
	v.Over = "This is over."
	if in.Resolution == "operator" {
		// That somebody looked mends nothing by itself.
		v.Over = "If it fails again, that is a new incident."
	}
	if in.About == "series" && v.Waits {
		v.Poll = keyText(in.Key)
	}
	v.Facts = incidentFacts(in, now)
	return v
}

func incidentFacts(in scraperclient.IncidentDetail, now time.Time) []laneFact {
	var out []laneFact
	add := func(name, text, href string) {
		if text != "" {
			out = append(out, laneFact{name, text, href})
		}
	}
	if in.Key.Site != "" {
		add("Site", cmp.Or(in.SiteName, in.Key.Site), laneAddress(in.Key.Site))
	}
	if in.JobID != 0 {
		add("Job", thousands(int(in.JobID)), "")
	}
	add("Chapter", cmp.Or(in.ChapterNumber, in.ChapterID), "")
	add("Read at", in.Subject, "")
	if in.Seen > 1 {
		add("Happened", thousands(in.Seen)+" times, last "+dated(in.LastAt, now), "")
	}
	add("Bundle", size(in.BundleSize)+", fit for a bug report", "")
	return out
}

// size words bytes: "412 B", "38 kB", "4.1 MB".
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// removed is the scraper's mark for what was taken out.
const removedMark = "[removed]"

func answerOf(e scraperclient.Evidence) answer {
	a := answer{Head: fmt.Sprintf("GET %s  %d  %s  %s", e.Address, e.Status, e.MediaType, size(e.Size)), Headers: e.Headers}
	for i, text := range strings.Split(e.Text, removedMark) {
		if i > 0 {
			a.Parts = append(a.Parts, stretch{removedMark, true})
		}
		if text != "" {
			a.Parts = append(a.Parts, stretch{text, false})
		}
	}
	switch shown := int64(len(e.Text)); {
	case shown == 0 && e.Kept > 0:
		a.Note = "no text; it is in the bundle"
	case shown == 0:
		a.Note = "an empty answer"
	case shown < e.Kept:
		a.Note = "first " + size(shown) + "; more in the bundle"
	case e.Cut:
		a.Note = "as much as was kept"
	default:
		a.Note = "whole"
	}
	if e.Removed > 0 {
		a.Note += ", " + count(e.Removed, "secret removed", "secrets removed")
	}
	return a
}
