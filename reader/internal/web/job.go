package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// jobView is one Job in words.
type jobView struct {
	Frame
	// Away is true when the scraper could not be asked.
	Away     bool
	Row      jobRow
	ID       int64
	Series   string
	Said     *said
	Why      *jobWhy
	Facts    []laneFact
	Acts     []jobAct
	Order    []jobOrder
	Chapters []jobChapter
	Counts   string
}

// Number is the Job's number as logs and commands have it.
func (v jobView) Number() string { return strconv.FormatInt(v.ID, 10) }

// jobWhy is why a Job was set aside or waits. Reason is the scraper's own sentence for
// it, "" without one.
type jobWhy struct{ Tone, Icon, Heading, Reason, Text, Class string }

// jobOrder is one of the places in the order of a Site.
type jobOrder struct {
	Priority, Word string
	Chosen         bool
}

// jobChapter is one chapter of a Job.
type jobChapter struct {
	ID, Head, Name string
	State          pill
	// Said is what is said of the chapter here, Reason the scraper's own sentence.
	Said, Reason string
	Value, Max   int
	// Accept is the chapter's id where it may be taken without its pages.
	Accept, Post, Back string
}

// jobPage answers one Job.
func (s *Server) jobPage(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r.PathValue("job"))
	if err != nil {
		return err
	}
	t, err := toldOf(r.URL.Query())
	if err != nil {
		return err
	}
	v, err := s.jobView(r.Context(), id)
	if err != nil {
		return err
	}
	if t.job != 0 {
		v.Said = s.said(r.Context(), t)
	}
	v.Frame = s.frame(r, cmp.Or(v.Row.Name, s.say(r.Context()).T("Job %s", strconv.FormatInt(id, 10))), "scraper")
	v.Back, v.Live = scraperAddress, "/events?view=job&job="+strconv.FormatInt(id, 10)
	s.render(w, r, http.StatusOK, "job", v)
	return nil
}

func (s *Server) jobView(ctx context.Context, id int64) (jobView, error) {
	j, chapters, err := s.Scraper.GetJob(ctx, id)
	if unanswered(err) {
		return jobView{ID: id, Away: true}, nil
	}
	if err != nil {
		return jobView{}, err
	}
	sites, err := s.Scraper.ListSites(ctx)
	if unanswered(err) {
		return jobView{ID: id, Away: true}, nil
	}
	if err != nil {
		return jobView{}, err
	}
	lanes := map[string]scraperclient.Lane{}
	for _, l := range sites {
		lanes[l.Site] = l.Lane
	}
	return s.say(ctx).jobViewOf(j, chapters, lanes, time.Now()), nil
}

func (t tongue) jobViewOf(j scraperclient.QueueJob, chapters []scraperclient.JobChapter, lanes map[string]scraperclient.Lane, now time.Time) jobView {
	v := jobView{ID: j.ID, Row: t.jobRowOf(j, lanes, jobAddress(j.ID), now), Series: siteAddress(j.Series), Why: t.whyOf(j, now)}
	v.Facts = t.jobFacts(j, now)
	v.Acts = v.Row.Acts
	switch j.State {
	case "requested", "queued", "retry_wait", "paused", "inspecting", "downloading":
		if j.State == "retry_wait" {
			v.Acts = append(v.Acts, jobAct{Name: "act", Act: "pause", Word: t.T("Pause"), Icon: "pause"})
		}
		v.Acts = append(withoutPriority(v.Acts), jobAct{Name: "act", Act: "cancel", Word: t.T("Cancel"), Icon: "x", Plain: true})
		words := map[string]string{"high": t.T("First"), "normal": t.T("In turn"), "low": t.T("Last")}
		for _, p := range priorityWords() {
			v.Order = append(v.Order, jobOrder{p, words[p], p == j.Priority})
		}
	case "quarantined", "unavailable":
		v.Acts = append(v.Acts, jobAct{Name: "act", Act: "cancel", Word: t.T("Drop"), Icon: "x", Plain: true})
	case "done", "cancelled":
		v.Acts = []jobAct{{Name: "act", Act: "retry", Word: t.T("Ask for what is lacking"), Icon: "refresh"}}
	}
	// What a person may have to decide on stands first.
	slices.SortStableFunc(chapters, func(a, b scraperclient.JobChapter) int {
		aside := func(c scraperclient.JobChapter) int { return map[bool]int{true: 0, false: 1}[c.State == "set_aside"] }
		return cmp.Compare(aside(a), aside(b))
	})
	left := 0
	for i, c := range chapters {
		row := t.jobChapterOf(i, c, j.State)
		row.Post, row.Back = jobAddress(j.ID)+"/accept", jobAddress(j.ID)
		v.Chapters = append(v.Chapters, row)
		if c.State == "waiting" || c.State == "downloading" {
			left++
		}
	}
	v.Counts = t.T("%d in the library, %d set aside, %d to come", j.Published, j.SetAside, left)
	if len(chapters) < j.ChaptersTotal {
		v.Counts = t.T("%s; the first %d are shown", v.Counts, len(chapters))
	}
	return v
}

func withoutPriority(acts []jobAct) []jobAct {
	var out []jobAct
	for _, a := range acts {
		if a.Name == "act" {
			out = append(out, a)
		}
	}
	return out
}

func (t tongue) jobFacts(j scraperclient.QueueJob, now time.Time) []laneFact {
	facts := []laneFact{
		{t.T("Series"), cmp.Or(j.Title, j.Series.SeriesID), siteAddress(j.Series)},
		{t.T("Site"), cmp.Or(j.SiteName, j.Series.Site), laneAddress(j.Series.Site)},
		{t.T("Asked for"), t.dated(j.RequestedAt, now), ""},
		{t.T("In this state"), t.T("since %s", t.dated(j.ChangedAt, now)), ""},
	}
	if j.Estimate.Chapters > 0 {
		facts = append(facts, laneFact{t.T("Still to come"), t.estimateWords(j.Estimate), ""})
	}
	if j.Retries > 0 {
		facts = append(facts, laneFact{t.T("Retried by itself"), t.T("%d times", j.Retries), ""})
	}
	if j.Stalls > 0 {
		facts = append(facts, laneFact{t.T("Recovered from a stall"), t.T("%d times", j.Stalls), ""})
	}
	word := t.T("waits for your word once it is looked at")
	if j.Told {
		word = t.T("given, starts by itself")
	}
	if j.State == "requested" || j.State == "inspecting" || j.State == "ready" {
		facts = append(facts, laneFact{t.T("Your word"), word, ""})
	}
	return facts
}

// whyOf words why a Job does not go on, and what helps.
func (t tongue) whyOf(j scraperclient.QueueJob, now time.Time) *jobWhy {
	p := t.jobWords(&j.Job, now)
	w := &jobWhy{Tone: p.Tone, Icon: p.Icon, Class: j.Class, Reason: upperFirst(j.Reason)}
	switch j.State {
	case "quarantined":
		w.Heading = t.T("Set aside until you decide")
		w.Text = t.classHelp(j.Class)
	case "unavailable":
		w.Tone, w.Heading = "warn", t.T("The title cannot be had there")
		w.Text = t.T("It is never retried blindly. If it moved, move the Series; if it came back, Retry.")
	case "retry_wait":
		w.Heading, w.Text = upperFirst(p.Word), t.T("The connection was lost. It is tried once more by itself and then set aside; what has arrived is kept.")
	default:
		if j.Reason == "" || j.State == "done" || j.State == "cancelled" {
			return nil
		}
		w.Heading, w.Text = t.T("What happened last"), t.T("It keeps its place and goes on from where it was.")
	}
	return w
}

// classHelp says what a failure class means for whoever decides.
func (t tongue) classHelp(class string) string {
	switch class {
	case "network":
		return t.T("The connection failed again after its one retry. When the Site answers again, Retry.")
	case "parser":
		return t.T("Mangrove got a page that it does not understand. A newer Mangrove may; then Retry. What has arrived is kept.")
	case "stall":
		return t.T("Nothing arrived for too long, twice. Retry takes it up where it was.")
	case "unknown":
		return t.T("What happened is none of the known kinds. The scraper's log says more. Retry takes it up where it was.")
	}
	return t.T("Retry takes it up where it was; nothing that has arrived is fetched again.")
}

func (t tongue) jobChapterOf(i int, c scraperclient.JobChapter, state string) jobChapter {
	out := jobChapter{ID: "jc-" + strconv.Itoa(i), Head: upperFirst(t.T("chapter %s", c.Number)), Name: c.Title, Reason: c.Reason}
	if c.Number == "" {
		out.Head, out.Name = cmp.Or(c.Title, c.ID), ""
	}
	switch c.State {
	case "published":
		out.State = pill{"check", t.T("In the library"), "ok", c.State}
		if c.Pages > 0 {
			out.State.Word = t.T("%s, %s", out.State.Word, t.T("%d p.", c.Pages))
		}
	case "set_aside":
		out.State = pill{"puzzle", t.T("Set aside"), "warn", c.State}
		switch c.Class {
		case "page":
			out.Reason = upperFirst(c.Reason)
			if c.Reason == "" {
				out.Said = t.T("A page is no whole image")
			}
			out.Accept = c.ID
		case "conflict":
			out.Said = t.T("Another file stands where it belongs; both are kept.")
			out.Reason = upperFirst(c.Reason)
		}
	default:
		out.State = pill{"clock", t.T("To come"), "quiet", c.State}
		if state == "cancelled" || state == "done" {
			out.State = pill{"x", t.T("Not fetched"), "quiet", c.State}
		}
		if c.PagesTotal > 0 {
			out.State = pill{"down", t.T("%d of %d pages", c.PagesDone, c.PagesTotal), "info", "downloading"}
			out.Value, out.Max = c.PagesDone, c.PagesTotal
		}
	}
	return out
}
