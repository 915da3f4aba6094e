package web

import (
	"cmp"
	"strconv"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// jobRow is one Job in the queue.
type jobRow struct {
	// ID is the element's id, Post where its form goes, Back where that leads back to.
	ID, Post, Back string
	Href, Name     string
	Cover          string
	Meta           string
	// Why is why it waits, or was set aside; Reason is the same in the scraper's own
	// sentence, where it has one.
	Why, Reason string
	Percent     string
	State       pill
	Value, Max  int
	Acts        []jobAct
	Elsewhere   *jobLink
}

// jobAct is a button of a Job's form.
type jobAct struct {
	Name, Act, Word, Icon string
	Plain, Danger         bool
}

// jobLink is what is done to a Job on another page.
type jobLink struct{ Href, Icon, Word string }

func jobAddress(id int64) string { return "/jobs/" + strconv.FormatInt(id, 10) }

func jobElement(id int64) string { return "job-" + strconv.FormatInt(id, 10) }

func (t tongue) jobRowOf(j scraperclient.QueueJob, lanes map[string]scraperclient.Lane, back string, now time.Time) jobRow {
	r := jobRow{
		ID: jobElement(j.ID), Post: jobAddress(j.ID), Href: jobAddress(j.ID), Back: back, Name: cmp.Or(j.Title, j.Series.SeriesID),
		State: t.jobWords(&j.Job, now), Acts: t.jobActs(j),
	}
	if j.HasCover {
		r.Cover = siteCoverAddress(j.Series)
	}
	site := cmp.Or(j.SiteName, j.Series.Site)
	lane, known := lanes[j.Series.Site]
	r.Meta = joinMeta(t.jobHas(j), site)
	switch j.Priority {
	case "high":
		r.Meta = joinMeta(r.Meta, t.T("goes first"))
	case "low":
		r.Meta = joinMeta(r.Meta, t.T("goes last"))
	}
	r.Why, r.Reason = t.jobReason(j)
	switch j.State {
	case "ready":
		if known && !asks(lane) {
			r.Meta = t.T("%s, %s: starts after that", r.Meta, lowerFirst(t.circuitWords(lane, now).Word))
		}
	case "requested", "queued":
		if known && !asks(lane) {
			r.State = pill{"lock", t.T("Site refused"), "quiet", j.State}
			if lane.CircuitReason != "access" {
				r.State = t.circuitWords(lane, now)
				r.State.Exact = j.State
			}
		}
	case "downloading":
		r.Meta, r.Value, r.Max = joinMeta(t.currentWords(j), site), done(j), 1000
		r.Percent = t.T("%d %%", r.Value/10)
	case "unavailable":
		r.Elsewhere = &jobLink{moveAddress(j.Series, ""), "link", t.T("Move")}
	}
	return r
}

// asks reports whether a Site may be asked.
func asks(l scraperclient.Lane) bool { return l.Circuit == "closed" || l.Circuit == "" }

// jobHas says what a Job is for, or what is left of it.
func (t tongue) jobHas(j scraperclient.QueueJob) string {
	switch {
	case j.State == "done" || j.State == "cancelled":
		text := t.T("%d chapters fetched", j.Published)
		if j.SetAside > 0 {
			text = t.T("%s, %s", text, t.T("%d set aside", j.SetAside))
		}
		return text
	case j.ChaptersTotal == 0:
		return ""
	case j.State == "ready":
		return t.estimateWords(j.Estimate)
	case j.ChaptersDone > 0:
		return t.T("%d chapters left of %d", j.Estimate.Chapters, j.ChaptersTotal)
	}
	return t.T("%d chapters", j.Estimate.Chapters)
}

// jobReason is the one line on why a Job waits or was set aside: in words of ours, or
// in the scraper's own.
func (t tongue) jobReason(j scraperclient.QueueJob) (why, reason string) {
	switch j.State {
	case "retry_wait":
		if j.Published > 0 {
			return t.T("Connection lost, %d chapters kept", j.Published), ""
		}
		return t.T("Connection lost"), ""
	case "downloading", "inspecting", "ready", "cancelled":
	default:
		reason = upperFirst(j.Reason)
	}
	if j.SetAside > 0 && reason == "" && j.State != "done" && j.State != "cancelled" {
		why = t.T("%d chapters set aside", j.SetAside)
	}
	return why, reason
}

// currentWords says how far the chapter under way is.
func (t tongue) currentWords(j scraperclient.QueueJob) string {
	if j.Current == nil {
		return t.T("%s of %s", t.number(j.ChaptersDone), t.T("%d chapters", j.ChaptersTotal))
	}
	text := upperFirst(t.chapterName(j.Current.Number, j.Current.Title))
	if j.Current.PagesTotal > 0 {
		// Its pages come several at a time: the next is the one that is shown.
		text = t.T("%s, page %d of %d", text, min(j.Current.PagesDone+1, j.Current.PagesTotal), j.Current.PagesTotal)
	}
	if j.ChaptersTotal > 1 {
		text = joinMeta(text, t.T("%s of %s", t.number(min(j.ChaptersDone+1, j.ChaptersTotal)), t.number(j.ChaptersTotal)))
	}
	return text
}

// done is how far a Job is, in thousandths.
func done(j scraperclient.QueueJob) int {
	if j.ChaptersTotal == 0 {
		return 0
	}
	n := j.ChaptersDone * 1000
	if c := j.Current; c != nil && c.PagesTotal > 0 {
		n += min(c.PagesDone, c.PagesTotal) * 1000 / c.PagesTotal
	}
	return min(1000, n/j.ChaptersTotal)
}

// jobActs are the buttons of a row: what is most likely wanted, the rest on the
// Job's own page.
func (t tongue) jobActs(j scraperclient.QueueJob) []jobAct {
	pause := jobAct{Name: "act", Act: "pause", Word: t.T("Pause"), Icon: "pause"}
	retry := jobAct{Name: "act", Act: "retry", Word: t.T("Retry"), Icon: "refresh"}
	switch j.State {
	case "ready":
		return []jobAct{{Name: "act", Act: "start", Word: t.T("Start"), Icon: "check"}, {Name: "act", Act: "cancel", Word: t.T("Drop"), Icon: "x", Plain: true}}
	case "inspecting", "downloading":
		return []jobAct{pause}
	case "requested", "queued":
		if j.Priority == "high" {
			return []jobAct{pause}
		}
		return []jobAct{{Name: "priority", Act: "high", Word: t.T("First"), Icon: "up", Plain: true}, pause}
	case "retry_wait":
		retry.Word = t.T("Try now")
		return []jobAct{retry}
	case "paused":
		return []jobAct{{Name: "act", Act: "resume", Word: t.T("Resume"), Icon: "play"}}
	case "quarantined":
		return []jobAct{retry}
	case "unavailable":
		retry.Plain = true
		return []jobAct{retry}
	}
	return nil
}
