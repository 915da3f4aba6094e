package web

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// lanesView is the Lanes in words.
type lanesView struct {
	Frame
	// Away is true when the scraper could not be asked.
	Away   bool
	Unread []unreadFile
	Cards  []laneCard
	// Pruned says which Passes are not kept.
	Pruned string
}

// laneCard is one Site's Lane.
type laneCard struct {
	ID, Name string
	Circuit  pill
	Line     string
	Busy     bool
	Notice   *laneNotice
	Counting string
	Strip    strip
	Facts    []laneFact
	Table    []passRow
	// Older counts the Passes that the table leaves out.
	Older int
}

// unreadFile is a Site's description that is not read, with what is wrong.
type unreadFile struct {
	ID, File, Text string
	Problems       []problemLine
}

// problemLine is what is wrong with a description, in the scraper's own sentence, and
// where, "" for no line of it.
type problemLine struct{ Where, Message string }

// unreadOf words a description that is not read.
func (t tongue) unreadOf(i int, u scraperclient.UnreadDescription) unreadFile {
	out := unreadFile{ID: "unread-" + strconv.Itoa(i), File: u.File, Text: t.T("Its Site is not asked anything.")}
	if u.Kept {
		out.Text = t.T("Its Site goes on as it was described before.")
	}
	for _, p := range u.Problems {
		line := problemLine{Message: p.Message}
		if p.Line > 0 {
			line.Where = t.T("line %d:", p.Line)
		}
		out.Problems = append(out.Problems, line)
	}
	return out
}

// laneFact is one figure with its name, leading somewhere or not.
type laneFact struct{ Name, Text, Href string }

// passRow is one Pass in the table.
type passRow struct {
	Href, Began, Ended                      string
	At                                      time.Time
	OK, NotFound, NoChapter, Unread, Errors string
	Refused, Unreachable, New               string
}

// tableLength bounds the table: a busy Lane has a Pass every few minutes.
const tableLength = 200

// chosenPass is a bar that was opened: its Lane and the start of its Pass.
type chosenPass struct {
	site string
	pass int64
	// resume is the Site whose Resume is to be confirmed, or "".
	resume string
}

// lanes answers the Lanes; site and pass in the address open one Pass.
func (s *Server) lanes(w http.ResponseWriter, r *http.Request) error {
	chosen, err := chosenOf(r.URL.Query())
	if err != nil {
		return err
	}
	v, err := s.lanesView(r.Context(), chosen)
	if err != nil {
		return err
	}
	v.Frame = s.frame(r, s.say(r.Context()).T("Lanes"), "lanes")
	live := "/events?view=lanes"
	if chosen.pass > 0 {
		live += "&site=" + queryEscape(chosen.site) + "&pass=" + strconv.FormatInt(chosen.pass, 10)
	}
	if chosen.resume != "" {
		live += "&resume=" + queryEscape(chosen.resume)
	}
	v.Live = live
	s.render(w, r, http.StatusOK, "lanes", v)
	return nil
}

// chosenOf reads which Pass is opened, if any.
func chosenOf(q url.Values) (chosenPass, error) {
	chosen := chosenPass{site: q.Get("site"), resume: q.Get("resume")}
	text := q.Get("pass")
	if text == "" {
		return chosen, nil
	}
	n, err := number(text)
	if err != nil || chosen.site == "" {
		return chosen, notFound("a Pass")
	}
	chosen.pass = n
	return chosen, nil
}

func (s *Server) lanesView(ctx context.Context, chosen chosenPass) (lanesView, error) {
	lanes, err := s.Scraper.ListLanes(ctx)
	if unanswered(err) {
		return lanesView{Away: true}, nil
	}
	if err != nil {
		return lanesView{}, err
	}
	now, say := time.Now(), s.say(ctx)
	var v lanesView
	if !lanes.PrunedBefore.IsZero() {
		v.Pruned = say.T("Passes before %s are pruned. That changes no age on the Worklist.", say.dated(lanes.PrunedBefore, now))
	}
	for i, u := range lanes.Unread {
		v.Unread = append(v.Unread, say.unreadOf(i, u))
	}
	for _, l := range lanes.Lanes {
		pass := int64(0)
		if l.Site == chosen.site {
			pass = chosen.pass
		}
		v.Cards = append(v.Cards, say.cardOf(l, lanes.PrunedBefore, pass, l.Site == chosen.resume, now))
	}
	return v, nil
}

func (t tongue) cardOf(d scraperclient.LaneDetail, pruned time.Time, chosen int64, confirm bool, now time.Time) laneCard {
	c := laneCard{ID: laneID(d.Site), Name: laneName(d.Lane), Circuit: t.circuitWords(d.Lane, now)}
	c.Line, c.Busy = t.laneLine(d, now)
	if n, ok := t.laneHelp(d, now); ok {
		n.Confirm = confirm && n.Resume != ""
		c.Notice = &n
	}
	if !d.CountingSince.IsZero() {
		c.Counting = t.T("Counting since %s: not every Series has been read once yet", t.dated(d.CountingSince, now)) + "."
	}
	c.Strip = t.stripOf(d, pruned, chosen, now)
	c.Facts = t.laneFacts(d, now)
	for i := len(d.Passes) - 1; i >= 0 && len(c.Table) < tableLength; i-- {
		c.Table = append(c.Table, t.rowOfPass(d.Site, d.Passes[i], now))
	}
	c.Older = len(d.Passes) - len(c.Table)
	return c
}

func (t tongue) laneFacts(d scraperclient.LaneDetail, now time.Time) []laneFact {
	last := t.T("none yet")
	if len(d.Passes) > 0 {
		p := d.Passes[len(d.Passes)-1]
		last = t.T("%s, %s", t.dated(p.Started, now), t.endWords(p.EndReason))
	}
	good := t.T("none yet")
	if !d.LastGoodRead.IsZero() {
		good = t.dated(d.LastGoodRead, now)
	}
	next := t.nextPoll(d.NextDue, now)
	switch {
	case d.Circuit == "paused":
		next = t.T("after Resume")
	case d.Circuit == "open" && d.CircuitUntil.After(now):
		next = t.T("after %s", t.clock(d.CircuitUntil, now))
	case next == "":
		next = t.T("nothing is followed")
	}
	out := []laneFact{{t.T("Last Pass"), last, ""}, {t.T("Last good read"), good, ""}, {t.T("Next Series due"), next, ""}, {t.T("Series"), t.number(d.Series), ""}}
	failing := laneFact{t.T("Failing"), t.T("none"), ""}
	if d.Failing > 0 {
		failing.Text, failing.Href = t.number(d.Failing), worklistQuery{Site: d.Site, Sort: "oldest", Muted: d.Failing == d.Muted}.address()
		if d.Muted > 0 {
			failing.Text = t.T("%s, %d muted", failing.Text, d.Muted)
		}
	}
	pace := t.T("not set")
	if d.Pacing > 0 {
		pace = joinMeta(t.T("one request in %s", t.pacing(d.Pacing)), t.rate(d.Rate))
	}
	jobs := t.T("none")
	if d.Jobs > 0 {
		jobs = t.number(d.Jobs)
	}
	out = append(out, failing, laneFact{t.T("Pace"), pace, ""}, laneFact{t.T("Downloads"), jobs, ""})
	if d.Canary != nil {
		out = append(out, t.canaryFact(*d.Canary, now))
	}
	return out
}

func (t tongue) rowOfPass(site string, p scraperclient.Pass, now time.Time) passRow {
	r := passRow{Href: passAddress(site, p), Began: t.dated(p.Started, now), At: p.Started, Ended: t.endWords(p.EndReason)}
	if took := p.Ended.Sub(p.Started); took > 0 {
		r.Ended = t.T("%s, %s", r.Ended, t.lasting(took))
	}
	for _, f := range []struct {
		to *string
		n  int
	}{
		{&r.OK, p.OK}, {&r.NotFound, p.NotFound}, {&r.NoChapter, p.NoChapter}, {&r.Unread, p.Unfetchable}, {&r.Errors, p.Errors},
		{&r.Refused, p.Refused}, {&r.Unreachable, p.Unreachable}, {&r.New, p.NewChapters},
	} {
		if f.n > 0 {
			*f.to = t.number(f.n)
		}
	}
	return r
}
