package web

import (
	"cmp"
	"context"
	"fmt"
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

// jobWhy is why a Job was set aside or waits.
type jobWhy struct{ Tone, Icon, Heading, Text, Class string }

// jobOrder is one of the places in the order of a Site.
type jobOrder struct {
	Priority, Word string
	Chosen         bool
}

// jobChapter is one chapter of a Job.
type jobChapter struct {
	ID, Head, Name string
	State          pill
	Reason         string
	Value, Max     int
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
	v.Frame = s.frame(r, cmp.Or(v.Row.Name, "Job "+strconv.FormatInt(id, 10)), "scraper")
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
	return jobViewOf(j, chapters, lanes, time.Now()), nil
}

func jobViewOf(j scraperclient.QueueJob, chapters []scraperclient.JobChapter, lanes map[string]scraperclient.Lane, now time.Time) jobView {
	v := jobView{ID: j.ID, Row: jobRowOf(j, lanes, jobAddress(j.ID), now), Series: siteAddress(j.Series), Why: whyOf(j, now)}
	v.Facts = jobFacts(j, now)
	v.Acts = v.Row.Acts
	switch j.State {
	case "requested", "queued", "retry_wait", "paused", "inspecting", "downloading":
		if j.State == "retry_wait" {
			v.Acts = append(v.Acts, jobAct{Name: "act", Act: "pause", Word: "Pause", Icon: "pause"})
		}
		v.Acts = append(withoutPriority(v.Acts), jobAct{Name: "act", Act: "cancel", Word: "Cancel", Icon: "x", Plain: true})
		words := map[string]string{"high": "First", "normal": "In turn", "low": "Last"}
		for _, p := range priorityWords() {
			v.Order = append(v.Order, jobOrder{p, words[p], p == j.Priority})
		}
	case "quarantined", "unavailable":
		v.Acts = append(v.Acts, jobAct{Name: "act", Act: "cancel", Word: "Drop", Icon: "x", Plain: true})
	case "done", "cancelled":
		v.Acts = []jobAct{{Name: "act", Act: "retry", Word: "Ask for what is lacking", Icon: "refresh"}}
	}
	// What a person may have to decide on stands first.
	slices.SortStableFunc(chapters, func(a, b scraperclient.JobChapter) int {
		aside := func(c scraperclient.JobChapter) int { return map[bool]int{true: 0, false: 1}[c.State == "set_aside"] }
		return cmp.Compare(aside(a), aside(b))
	})
	left := 0
	for i, c := range chapters {
		row := jobChapterOf(i, c, j.State)
		row.Post, row.Back = jobAddress(j.ID)+"/accept", jobAddress(j.ID)
		v.Chapters = append(v.Chapters, row)
		if c.State == "waiting" || c.State == "downloading" {
			left++
		}
	}
	v.Counts = fmt.Sprintf("%s in the library, %s set aside, %s to come", thousands(j.Published), thousands(j.SetAside), thousands(left))
	if len(chapters) < j.ChaptersTotal {
		v.Counts += "; the first " + thousands(len(chapters)) + " are shown"
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

func jobFacts(j scraperclient.QueueJob, now time.Time) []laneFact {
	facts := []laneFact{
		{"Series", cmp.Or(j.Title, j.Series.SeriesID), siteAddress(j.Series)},
		{"Site", cmp.Or(j.SiteName, j.Series.Site), laneAddress(j.Series.Site)},
		{"Asked for", dated(j.RequestedAt, now), ""},
		{"In this state", "since " + dated(j.ChangedAt, now), ""},
	}
	if j.Estimate.Chapters > 0 {
		facts = append(facts, laneFact{"Still to come", estimateWords(j.Estimate), ""})
	}
	if j.Retries > 0 {
		facts = append(facts, laneFact{"Retried by itself", count(j.Retries, "time", "times"), ""})
	}
	if j.Stalls > 0 {
		facts = append(facts, laneFact{"Recovered from a stall", count(j.Stalls, "time", "times"), ""})
	}
	word := "waits for your word once it is looked at"
	if j.Told {
		word = "given, starts by itself"
	}
	if j.State == "requested" || j.State == "inspecting" || j.State == "ready" {
		facts = append(facts, laneFact{"Your word", word, ""})
	}
	return facts
}

// whyOf words why a Job does not go on, and what helps.
func whyOf(j scraperclient.QueueJob, now time.Time) *jobWhy {
	p := jobWords(&j.Job, now)
	w := &jobWhy{Tone: p.Tone, Icon: p.Icon, Class: j.Class}
	switch j.State {
	case "quarantined":
		w.Heading = "Set aside until you decide"
		w.Text = classHelp(j.Class)
	case "unavailable":
		w.Tone, w.Heading = "warn", "The title cannot be had there"
		w.Text = "It is never retried blindly. If it moved, move the Series; if it came back, Retry."
	case "retry_wait":
		w.Heading, w.Text = upperFirst(p.Word), "The connection was lost. It is tried once more by itself and then set aside; what has arrived is kept."
	default:
		if j.Reason == "" || j.State == "done" || j.State == "cancelled" {
			return nil
		}
		w.Heading, w.Text = "What happened last", "It keeps its place and goes on from where it was."
	}
	if j.Reason != "" {
		w.Text = upperFirst(j.Reason) + ". " + w.Text
	}
	return w
}

// classHelp says what a failure class means for whoever decides.
func classHelp(class string) string {
	switch class {
	case "network":
		return "The connection failed again after its one retry. When the Site answers again, Retry."
	case "parser":
		return "Mangrove got a page that it does not understand. A newer Mangrove may; then Retry. What has arrived is kept."
	case "stall":
		return "Nothing arrived for too long, twice. Retry takes it up where it was."
	case "unknown":
		return "What happened is none of the known kinds. The scraper's log says more. Retry takes it up where it was."
	}
	return "Retry takes it up where it was; nothing that has arrived is fetched again."
}

func jobChapterOf(i int, c scraperclient.JobChapter, state string) jobChapter {
	out := jobChapter{ID: "jc-" + strconv.Itoa(i), Head: "Chapter " + c.Number, Name: c.Title, Reason: c.Reason}
	if c.Number == "" {
		out.Head, out.Name = cmp.Or(c.Title, c.ID), ""
	}
	switch c.State {
	case "published":
		out.State = pill{"check", "In the library", "ok", c.State}
		if c.Pages > 0 {
			out.State.Word += ", " + strconv.Itoa(c.Pages) + " p."
		}
	case "set_aside":
		out.State = pill{"puzzle", "Set aside", "warn", c.State}
		switch c.Class {
		case "page":
			out.Reason = cmp.Or(upperFirst(c.Reason), "A page is no whole image")
			out.Accept = c.ID
		case "conflict":
			out.Reason = "Another file stands where it belongs; both are kept. " + upperFirst(c.Reason)
		}
	default:
		out.State = pill{"clock", "To come", "quiet", c.State}
		if state == "cancelled" || state == "done" {
			out.State = pill{"x", "Not fetched", "quiet", c.State}
		}
		if c.PagesTotal > 0 {
			out.State = pill{"down", fmt.Sprintf("%d of %d pages", c.PagesDone, c.PagesTotal), "info", "downloading"}
			out.Value, out.Max = c.PagesDone, c.PagesTotal
		}
	}
	return out
}
