package web

import (
	"cmp"
	"fmt"
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
	Reason         string
	Percent        string
	State          pill
	Value, Max     int
	Acts           []jobAct
	Elsewhere      *jobLink
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

func jobRowOf(j scraperclient.QueueJob, lanes map[string]scraperclient.Lane, back string, now time.Time) jobRow {
	r := jobRow{
		ID: jobElement(j.ID), Post: jobAddress(j.ID), Href: jobAddress(j.ID), Back: back, Name: cmp.Or(j.Title, j.Series.SeriesID),
		State: jobWords(&j.Job, now), Acts: jobActs(j),
	}
	if j.HasCover {
		r.Cover = siteCoverAddress(j.Series)
	}
	site := cmp.Or(j.SiteName, j.Series.Site)
	lane, known := lanes[j.Series.Site]
	r.Meta = joinMeta(jobHas(j), site)
	switch j.Priority {
	case "high":
		r.Meta = joinMeta(r.Meta, "goes first")
	case "low":
		r.Meta = joinMeta(r.Meta, "goes last")
	}
	r.Reason = jobReason(j)
	switch j.State {
	case "ready":
		if known && !asks(lane) {
			r.Meta += ", " + lowerFirst(circuitWords(lane, now).Word) + ": starts after that"
		}
	case "requested", "queued":
		if known && !asks(lane) {
			r.State = pill{"lock", "Site refused", "quiet", j.State}
			if lane.CircuitReason != "access" {
				r.State = circuitWords(lane, now)
				r.State.Exact = j.State
			}
		}
	case "downloading":
		r.Meta, r.Value, r.Max = joinMeta(currentWords(j), site), done(j), 1000
		r.Percent = strconv.Itoa(r.Value/10) + " %"
	case "unavailable":
		r.Elsewhere = &jobLink{moveAddress(j.Series, ""), "link", "Move"}
	}
	return r
}

// asks reports whether a Site may be asked.
func asks(l scraperclient.Lane) bool { return l.Circuit == "closed" || l.Circuit == "" }

// jobHas says what a Job is for, or what is left of it.
func jobHas(j scraperclient.QueueJob) string {
	switch {
	case j.State == "done" || j.State == "cancelled":
		text := count(j.Published, "chapter", "chapters") + " fetched"
		if j.SetAside > 0 {
			text += ", " + thousands(j.SetAside) + " set aside"
		}
		return text
	case j.ChaptersTotal == 0:
		return ""
	case j.State == "ready":
		return estimateWords(j.Estimate)
	}
	text := count(j.Estimate.Chapters, "chapter", "chapters")
	if j.ChaptersDone > 0 {
		text += " left of " + thousands(j.ChaptersTotal)
	}
	return text
}

// jobReason is the one line on why a Job waits or was set aside.
func jobReason(j scraperclient.QueueJob) string {
	text := upperFirst(j.Reason)
	switch j.State {
	case "retry_wait":
		text = "Connection lost"
		if j.Published > 0 {
			text += ", " + count(j.Published, "chapter", "chapters") + " kept"
		}
		return text
	case "downloading", "inspecting", "ready", "cancelled":
		text = ""
	}
	if j.SetAside > 0 && text == "" && j.State != "done" && j.State != "cancelled" {
		text = count(j.SetAside, "chapter", "chapters") + " set aside"
	}
	return text
}

// currentWords says how far the chapter under way is.
func currentWords(j scraperclient.QueueJob) string {
	if j.Current == nil {
		return fmt.Sprintf("%s of %s", thousands(j.ChaptersDone), count(j.ChaptersTotal, "chapter", "chapters"))
	}
	text := upperFirst(chapterName(j.Current.Number, j.Current.Title))
	if j.Current.PagesTotal > 0 {
		// Its pages come several at a time: the next is the one that is shown.
		text += fmt.Sprintf(", page %d of %d", min(j.Current.PagesDone+1, j.Current.PagesTotal), j.Current.PagesTotal)
	}
	if j.ChaptersTotal > 1 {
		text += fmt.Sprintf(" · %d of %d", min(j.ChaptersDone+1, j.ChaptersTotal), j.ChaptersTotal)
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
func jobActs(j scraperclient.QueueJob) []jobAct {
	pause := jobAct{Name: "act", Act: "pause", Word: "Pause", Icon: "pause"}
	retry := jobAct{Name: "act", Act: "retry", Word: "Retry", Icon: "refresh"}
	switch j.State {
	case "ready":
		return []jobAct{{Name: "act", Act: "start", Word: "Start", Icon: "check"}, {Name: "act", Act: "cancel", Word: "Drop", Icon: "x", Plain: true}}
	case "inspecting", "downloading":
		return []jobAct{pause}
	case "requested", "queued":
		if j.Priority == "high" {
			return []jobAct{pause}
		}
		return []jobAct{{Name: "priority", Act: "high", Word: "First", Icon: "up", Plain: true}, pause}
	case "retry_wait":
		retry.Word = "Try now"
		return []jobAct{retry}
	case "paused":
		return []jobAct{{Name: "act", Act: "resume", Word: "Resume", Icon: "play"}}
	case "quarantined":
		return []jobAct{retry}
	case "unavailable":
		retry.Plain = true
		return []jobAct{retry}
	}
	return nil
}
