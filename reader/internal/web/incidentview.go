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

func (t tongue) incidentsIn(q incidentsQuery, list scraperclient.Incidents, now time.Time) incidentsView {
	v := incidentsView{All: q.All}
	v.Filters = []chip{
		{incidentsQuery{false, 1}.address(), t.T("Waiting"), t.number(list.Unresolved), !q.All},
		{incidentsQuery{true, 1}.address(), t.T("All"), "", q.All},
	}
	for _, in := range list.Incidents {
		r := incidentRow{
			Href: incidentAddress(in.ID), Heading: t.incidentHeading(in), Meta: t.incidentAbout(in), Reason: in.Reason, Kind: t.kindWords(in.Kind), At: in.LastAt,
			When: t.dated(in.LastAt, now), End: t.endOfIncident(in, now),
		}
		if in.Seen > 1 {
			r.Often = t.T("%d times", in.Seen)
		}
		v.Rows = append(v.Rows, r)
	}
	if list.Total > incidentsPage && len(v.Rows) > 0 {
		first := (q.Page-1)*incidentsPage + 1
		v.Range = t.T("%d to %d of %d", first, first+len(v.Rows)-1, list.Total)
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
	// Subject is the address that was read, "" for none.
	Subject string
	Kind    pill
	Help    incidentHelp
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

func (t tongue) incidentIn(in scraperclient.IncidentDetail, now time.Time) incidentView {
	v := incidentView{
		ID: in.ID, Heading: t.incidentHeading(in.Incident), Reason: in.Reason, Kind: t.kindWords(in.Kind), Waits: in.ResolvedAt.IsZero(), End: t.endOfIncident(in.Incident, now),
		Alone: t.leftAlone(in.Incident), Help: t.helpFor(in.Incident), Name: cmp.Or(in.Title, in.Key.SeriesID),
	}
	at := t.within(in.At, now)
	if !strings.Contains(at, ":") {
		at = t.dated(in.At, now)
	}
	v.Sub = joinMeta(t.T("Incident %s", t.number(int(in.ID))), at, t.incidentAbout(in.Incident))
	for i, e := range in.Evidence {
		a := t.answerOf(e)
		if i == len(in.Evidence)-1 {
			v.Evidence = &a
		} else {
			v.Earlier = append(v.Earlier, a)
		}
	}
	if v.Evidence == nil {
		v.NoEvidence = t.noEvidence(in.Kind, in.About)
	}
	for _, d := range in.Decided {
		text, tone := t.decisionWords(d, in.Incident)
		v.Decided = append(v.Decided, decisionLine{tone, text, d.At, d.At.Local().Format("15:04:05")})
	}
	v.Over = t.T("This is over.")
	if in.Resolution == "operator" {
		// That somebody looked mends nothing by itself.
		v.Over = t.T("If it fails again, that is a new incident.")
	}
	if in.About == "series" && v.Waits {
		v.Poll = keyText(in.Key)
	}
	v.Facts, v.Subject = t.incidentFacts(in, now), in.Subject
	return v
}

func (t tongue) incidentFacts(in scraperclient.IncidentDetail, now time.Time) []laneFact {
	var out []laneFact
	add := func(name, text, href string) {
		if text != "" {
			out = append(out, laneFact{name, text, href})
		}
	}
	if in.Key.Site != "" {
		add(t.T("Site"), cmp.Or(in.SiteName, in.Key.Site), laneAddress(in.Key.Site))
	}
	if in.JobID != 0 {
		add(t.T("Job"), t.number(int(in.JobID)), "")
	}
	add(t.T("Chapter"), cmp.Or(in.ChapterNumber, in.ChapterID), "")
	if in.Seen > 1 {
		add(t.T("Happened"), t.T("%d times, last %s", in.Seen, t.dated(in.LastAt, now)), "")
	}
	add(t.T("Bundle"), t.T("%s, fit for a bug report", t.size(in.BundleSize)), "")
	return out
}

// size words bytes: "412 B", "38 kB", "4.1 MB".
func (t tongue) size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	}
	return t.in().Decimal(float64(n)/1e6, 1, 1) + " MB"
}

// removed is the scraper's mark for what was taken out.
const removedMark = "[removed]"

func (t tongue) answerOf(e scraperclient.Evidence) answer {
	a := answer{Head: fmt.Sprintf("GET %s  %d  %s  %s", e.Address, e.Status, e.MediaType, t.size(e.Size)), Headers: e.Headers}
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
		a.Note = t.T("no text; it is in the bundle")
	case shown == 0:
		a.Note = t.T("an empty answer")
	case shown < e.Kept:
		a.Note = t.T("the first %s; more in the bundle", t.size(shown))
	case e.Cut:
		a.Note = t.T("as much as was kept")
	default:
		a.Note = t.T("whole")
	}
	if e.Removed > 0 {
		a.Note = t.T("%s, %s", a.Note, t.T("%d secrets removed", e.Removed))
	}
	return a
}
