package web

import (
	"strings"
	"time"

	"mangrove/reader/internal/progress"
	"mangrove/reader/internal/scraperclient"
)

// seriesView is a Series page in words.
type seriesView struct {
	Frame
	Key               scraperclient.Key
	Path              string
	Name, Native      string
	By                string
	Credit            string
	Description       string
	Tags              []string
	SiteURL, SiteName string
	Cover             string
	Known             bool

	Away    *awayNotice
	Failing *failingNotice
	// Moved says since when a move waits for its first good read, "" for none.
	Moved    string
	Proposal *proposalNotice
	// Move leads to moving it, "" for those who may not.
	Move    string
	Trouble *pill
	Pill    *pill
	// Groups is what may be preferred, nil for those who may not and where no release
	// names a group.
	Groups *groupsView
	// First says of a Series without chapters when a Poll comes that lists them, or
	// why it waits and until when.
	First string

	// Local is true for files that other programs put into the library: no Site lists
	// them, so that there is nothing to follow.
	Local bool
	// NoAdapter is where another program read it and nothing here does, "" for a Series
	// of a Site; Elsewhere leads to searching the Sites for it.
	NoAdapter string
	Elsewhere string
	// Collections are those that a Member may put it into; guests have none.
	Collections []choiceOf
	Member      bool
	Go          *goLink
	Following   bool
	// Reads is true for those who only read: nothing offers to follow or to poll.
	Reads    bool
	Download bool
	Waiting  string

	Coverage coverage
	LastPoll string
	NextPoll string
	Job      *pill
	JobLine  string
	// JobHref leads to the Job, "" for those who do not run Mangrove.
	JobHref string
	// Covers says what the Site lists beside what is here (JOB-8).
	Covers   string
	Language string

	Unread  int
	Volumes []volume
}

// Form is the field for the address of a move.
func (v seriesView) Form() moveForm { return moveForm{Path: v.Path} }

type awayNotice struct{ Since, LastKnown string }

type failingNotice struct {
	pill
	Heading, Text string
}

// goLink is the one big button: where to go on reading.
type goLink struct{ Href, Label string }

// localSite is the Site's key of files that other programs put into the library.
const localSite = "local"

func (k seriesKnown) view(now time.Time) seriesView {
	v := seriesView{Key: k.Key, Path: siteAddress(k.Key), Name: k.name(), Following: k.Wish != nil && !k.Reads, Reads: k.Reads, First: k.say.firstSoon()}
	if k.Wish != nil {
		v.Download = k.Wish.Download
	}
	k.describe(&v)
	v.Local = k.Key.Site == localSite && !v.Following
	k.foreign(&v)
	if k.Runs && !v.Local && v.NoAdapter == "" {
		v.Move = moveAddress(k.Key, "")
	}
	rows := k.rows(now)
	v.Volumes = k.say.volumesOf(rows)
	v.Coverage = k.say.coverageOf(rows)
	for _, r := range rows {
		if r.Here && !r.Finished {
			v.Unread++
		}
	}
	if next, ok := progress.Resume(k.Books); ok {
		v.Go = k.say.goOn(next)
	}
	if k.Presence.Away {
		v.Away = &awayNotice{Since: k.say.clock(k.Presence.Since, now)}
		if !k.Presence.LastAnswer.IsZero() {
			v.Away.LastKnown = k.say.clock(k.Presence.LastAnswer, now)
		}
		v.NextPoll = k.say.T("when the scraper is back")
		return v
	}
	if k.State != nil && !v.Local {
		v.Covers = k.say.coversWords(k.State.Chapters, v.Coverage.Have)
		k.running(&v, now)
	}
	return v
}

// coversWords says what the Site lists and what the library has: an observation
// of its own, whatever the Job says (JOB-8). Where they agree it says nothing.
func (t tongue) coversWords(chapters []scraperclient.Chapter, have int) string {
	listed, aside := 0, 0
	for _, c := range chapters {
		if c.GoneSince.IsZero() {
			listed++
		}
		if c.DownloadState == "set_aside" {
			aside++
		}
	}
	if listed == have && aside == 0 {
		return ""
	}
	if aside > 0 {
		return t.T("The Site lists %d, the library has %d; %d set aside.", listed, have, aside)
	}
	return t.T("The Site lists %d, the library has %d.", listed, have)
}

// describe takes what the Site says, from the scraper or else from the catalog.
func (k seriesKnown) describe(v *seriesView) {
	if t := k.Title; t != nil {
		v.Known = true
		v.Native, v.Description, v.Tags, v.SiteURL, v.SiteName = t.NativeName, t.Description, t.Tags, t.URL, t.SiteName
		v.Credit, v.By = t.License, k.say.by(t.Authors, t.Status, t.SiteName)
		version := ""
		for _, b := range k.Books {
			if b.Here() {
				version = b.Fingerprint
				break
			}
		}
		if version != "" {
			v.Cover = titleCover(t.ID, version)
		}
	}
	if k.State != nil {
		s := k.State.Series
		v.Known = true
		v.Native, v.Description, v.Tags, v.SiteURL, v.SiteName = s.NativeTitle, s.Description, s.Tags, s.URL, s.SiteName
		v.Credit, v.By = s.License, k.say.by(s.Authors, s.Status, s.SiteName)
		if v.Cover == "" && s.HasCover {
			v.Cover = siteCoverAddress(k.Key)
		}
	}
	if !strings.HasPrefix(v.SiteURL, "https://") && !strings.HasPrefix(v.SiteURL, "http://") {
		v.SiteURL = ""
	}
	if v.SiteName == "" {
		v.SiteName = k.Key.Site
	}
}

// running words what the scraper does about the Series.
func (k seriesKnown) running(v *seriesView, now time.Time) {
	st, say := k.State, k.say
	if p, ok := say.laneTrouble(st.Lane, now); ok {
		v.Trouble = &p
	}
	job := st.Job
	if job != nil {
		p := say.jobWords(job, now)
		v.Job, v.JobLine = &p, say.jobLine(job, now)
		if k.Runs {
			v.JobHref = jobAddress(job.ID)
		}
	}
	if !st.MovedAt.IsZero() {
		v.Moved = say.movedWords(st.MovedAt, now)
	}
	v.Proposal = k.Proposal.notice(say, k.Key, v.SiteName, k.Runs)
	switch {
	case st.Failure != nil:
		p := say.failureWords(st.Failure, now)
		v.Pill = &p
		v.Failing = &failingNotice{pill: p, Heading: say.failureTells(st.Failure, v.SiteName), Text: say.failingText(st, v.Coverage.Have, now)}
		if v.Moved != "" {
			// Which of the two Sites answered last is not known.
			v.Failing.Heading = p.Word
		}
	case v.Moved != "" && v.Trouble == nil:
		v.Pill = &pill{"clock", say.T("Moved, not read there yet"), "quiet", ""}
	case v.Trouble != nil:
		v.Pill = v.Trouble
	case job != nil && (job.State == "downloading" || job.State == "quarantined" || job.State == "retry_wait"):
		v.Pill = v.Job
	case v.Following && st.Polled:
		v.Pill = &pill{"check", say.T("Up to date"), "ok", "ok"}
	case v.Following:
		v.Pill = &pill{"clock", say.T("Waiting for its first Poll"), "quiet", ""}
	}
	if !st.LastGoodRead.IsZero() {
		v.LastPoll = say.T("%s: up to date", say.moment(st.LastGoodRead, now))
		if st.Failure != nil {
			v.LastPoll = say.T("last good one %s", say.dated(st.LastGoodRead, now))
		}
	} else {
		v.LastPoll = say.T("not yet")
	}
	v.Groups = groupsOf(st, k.Runs)
	v.First = say.firstPoll(st, v.SiteName, now)
	waits := say.laneWaits(st.Lane, v.SiteName, now)
	switch {
	case !st.ForcedPoll.IsZero():
		v.NextPoll = say.T("asked for, in the next Pass")
		v.Waiting = say.askedFor(st.ForcedPoll, st.Lane, now)
	case st.NextPollAt.IsZero():
		v.NextPoll = say.T("when followed")
	case waits.next != "" && st.NextPollAt.Before(waits.until):
		v.NextPoll = waits.next
	case st.NextPollAt.Before(now):
		v.NextPoll = say.T("due now")
	default:
		v.NextPoll = say.T("about %s", say.clock(st.NextPollAt, now))
		if why := say.nextPollWhy(st); why != "" {
			v.NextPoll = say.T("%s, %s", v.NextPoll, why)
		}
	}
	if v.Following && k.Wish != nil {
		v.Language = say.languagesOf(k.Wish.Languages, st.Chapters)
	}
}

func (t tongue) failingText(st *scraperclient.State, have int, now time.Time) string {
	text := t.T("At every Poll since %s, for %s.", t.clock(st.Failure.Since, now), t.span(now.Sub(st.Failure.Since)))
	if !st.LastGoodRead.IsZero() {
		text += " " + t.T("The last good one was %s.", t.dated(st.LastGoodRead, now))
	}
	if st.Lane != nil && (st.Lane.Trouble != "" || st.Lane.Circuit != "closed") {
		text += " " + t.evidence(scraperclient.LaneDetail{Lane: *st.Lane}, now) + "."
	}
	if have > 0 {
		text += " " + t.T("The %d chapters you have stay readable.", have)
	}
	return text
}

func (t tongue) languagesOf(wanted []string, chapters []scraperclient.Chapter) string {
	if len(wanted) == 0 {
		for _, c := range chapters {
			if c.Language != "" {
				return t.T("%s (the Site's default)", t.in().Name(c.Language))
			}
		}
		return t.T("the Site's default")
	}
	var names []string
	for _, w := range wanted {
		names = append(names, t.in().Name(w))
	}
	return strings.Join(names, t.T(", then "))
}

func (t tongue) goOn(n progress.Next) *goLink {
	name := t.chapterName(n.Book.Number, n.Book.Name)
	g := &goLink{Href: readAddress(n.Book.ID, n.Page)}
	switch n.Kind {
	case progress.Start:
		g.Label = t.T("Start reading")
	case progress.Again:
		g.Label = t.T("Read again from %s", name)
	default:
		g.Label = t.T("Continue %s", name)
		if n.Page > 0 {
			g.Label = t.T("Continue %s, page %d", name, n.Page+1)
		}
	}
	return g
}
