package web

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"mangrove/internal/standing"
	"mangrove/reader/internal/scraperclient"
)

// heardWithin is how old the supervisor's word may be and still be of now.
const heardWithin = 3 * standing.Every

// healthView is how the services stand, in words: two lists with their own clocks.
type healthView struct {
	Frame
	// Whole is the one sentence, Tone its tone; WholeWhy is the reason that ends it,
	// in the words of whoever gave it, "" without one.
	Whole, Tone, WholeWhy string
	// Heard says of when the supervisor's word is; Silent that it is an old one, and
	// Never that there is none.
	Heard         string
	Silent, Never bool
	Services      []serviceRow
	// Away is true when the scraper could not be asked; AsOf of when its word is, ""
	// when there is none.
	Away        bool
	AsOf        string
	Age         string
	Figures     []figure
	Checkpoints []jobRow
	// NoCheckpoint is said where no Job runs.
	NoCheckpoint string
	Holds        []holdNotice
	Incidents    []incidentRow
	// AllIncidents is the word of the link to all of them.
	AllIncidents string
}

// serviceRow is one service.
type serviceRow struct {
	ID, Name string
	State    pill
	Facts    []laneFact
	// Why is why it waits or is blocked, nil for neither.
	Why *remark
	// Budget is one mark a failure that parks it: true is spent. Spent says the same
	// to those who do not see it.
	Budget            []bool
	BudgetText, Spent string
	Exits             []exitRow
	Next              *nextStep
}

// remark is a text of this page's language, or one that is passed on as it was
// found, in English: Free.
type remark struct {
	Text string
	Free bool
}

// exitRow is one failure in words.
type exitRow struct {
	At    time.Time
	When  string
	What  remark
	Words []string
}

// nextStep is what may be done about a service: what is allowed now, and no button
// that would be refused.
type nextStep struct {
	Text     string
	Commands []commandRow
}

// commandRow is a command to type and when.
type commandRow struct{ Command, When string }

func (t tongue) healthOf(sup standing.Report, p scraperclient.Presence, r *scraperReport, now time.Time) healthView {
	v := healthView{Away: p.Away, Never: sup.At.IsZero()}
	v.Silent = !v.Never && now.Sub(sup.At) > heardWithin
	switch {
	case v.Silent:
		v.Heard = t.T("as of %s, %s old", t.dated(sup.At, now), t.lasting(now.Sub(sup.At)))
	case !v.Never:
		v.Heard = t.T("now, %s", sup.At.Local().Format("15:04:05"))
	}
	for _, one := range sup.Services {
		v.Services = append(v.Services, t.serviceRowOf(one, sup.Limit, now))
	}
	// What needs a person comes first; otherwise who leans on nobody comes last.
	order := []string{"scraper", "reader", "postgres"}
	slices.SortStableFunc(v.Services, func(a, b serviceRow) int {
		return cmp.Or(-boolOrder(a.Next != nil, b.Next != nil), cmp.Compare(slices.Index(order, a.Name), slices.Index(order, b.Name)))
	})
	t.wholeOf(&v, sup, p, now)
	t.scraperSays(&v, p, r, now)
	return v
}

// boolOrder is 1 when only a is true, -1 when only b is.
func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// scraperSays fills in the scraper's word: of now, or the last there was.
func (t tongue) scraperSays(v *healthView, p scraperclient.Presence, r *scraperReport, now time.Time) {
	at := p.LastAnswer
	if r != nil {
		at = r.at
	}
	switch {
	case !v.Away:
		v.AsOf = t.T("now, %s", now.Local().Format("15:04:05"))
	case !at.IsZero():
		v.AsOf, v.Age = t.T("as of %s", t.dated(at, now)), t.T("%s old", t.lasting(now.Sub(at)))
	}
	if st := p.Status; st != nil {
		v.Figures = []figure{
			{t.T("Downloading"), t.number(st.DownloadsRunning), cmp.Or(some(st.JobsOutstanding, t.T("of %d under way", st.JobsOutstanding)), t.T("nothing waits")), nil},
			{t.T("Waiting for you"), t.number(st.JobsReady), cmp.Or(some(st.JobsReady, t.T("ready to start")), t.T("nothing")), nil},
			{t.T("Quarantined"), t.number(st.JobsQuarantined), cmp.Or(some(st.JobsQuarantined, t.T("set aside")), t.T("none")), nil},
			{t.T("Failing Series"), t.number(st.SeriesFailing), cmp.Or(some(st.SeriesMuted, t.T("%d of them muted", st.SeriesMuted)), some(st.SeriesFailing, t.T("see the Worklist")), t.T("none")), nil},
		}
	}
	if r == nil {
		return
	}
	for _, j := range r.running.Jobs {
		row := t.jobRowOf(j, nil, "", now)
		row.Acts = nil
		v.Checkpoints = append(v.Checkpoints, row)
	}
	if len(v.Checkpoints) == 0 {
		v.NoCheckpoint = t.T("Nothing is being fetched.")
	}
	for _, h := range r.holds {
		v.Holds = append(v.Holds, t.holdWords(h, now))
	}
	list := t.incidentsIn(incidentsQuery{All: true, Page: 1}, r.incidents, now)
	v.Incidents = list.Rows
	v.AllIncidents = t.T("All incidents")
	if r.waiting > 0 {
		v.AllIncidents = t.T("%d wait for a person", r.waiting)
	}
}

// wholeOf is the one sentence for everything, worst first.
func (t tongue) wholeOf(v *healthView, sup standing.Report, p scraperclient.Presence, now time.Time) {
	if v.Never || v.Silent {
		v.Whole, v.Tone = t.T("Reading and the scraper work. The supervisor is not heard, so nobody would restart them."), "warn"
		if p.Away {
			v.Whole, v.Tone = t.T("Reading works. Neither the supervisor nor the scraper is heard, so downloads and following stand still as far as is known."), "bad"
		}
		return
	}
	for _, name := range []string{"scraper", "reader", "postgres"} {
		i := slices.IndexFunc(sup.Services, func(s standing.Service) bool { return s.Name == name })
		if i < 0 || sup.Services[i].State == "serving" {
			continue
		}
		v.Whole, v.WholeWhy = t.standsStill(sup.Services[i])
		v.Tone = "bad"
		if name == "scraper" {
			v.Whole = t.T("Reading works. Downloads and following have stopped since %s.", t.clock(standsSince(sup.Services[i]), now)) + " " + v.Whole
		}
		return
	}
	v.Whole, v.Tone = t.T("All is well: reading, following and downloads work."), "ok"
	if p.Away {
		v.Whole, v.Tone = t.T("Reading works. The scraper is not heard just now; downloads and following go on once it is."), "warn"
	}
}

// standsSince is since when a service stands as it does: a supervisor that is started
// again knows a parked one only by its last failure.
func standsSince(s standing.Service) time.Time {
	if n := len(s.Exits); s.State == "repair-required" && n > 0 && s.Exits[n-1].At.Before(s.Since) {
		return s.Exits[n-1].At
	}
	return s.Since
}

// standsStill says why a service does not work; why is the reason that ends the
// sentence, in the supervisor's words, "" without one.
func (t tongue) standsStill(s standing.Service) (text, why string) {
	name := t.T("The reader")
	switch s.Name {
	case "scraper":
		name = t.T("The scraper")
	case "postgres":
		name = t.T("The database")
	}
	switch s.State {
	case "repair-required":
		if n := len(s.Exits); n > 0 {
			return t.T("%s ended %d times within an hour and waits for you.", name, n), ""
		}
		return t.T("%s is parked and waits for you.", name), ""
	case "blocked":
		return t.T("%s may not start:", name), s.Reason
	case "stopped":
		return t.T("%s was stopped by an operator.", name), ""
	case "stopping":
		return t.T("%s is being stopped.", name), ""
	case "starting":
		return t.T("%s is starting.", name), ""
	case "backing-off":
		if s.NextStart != nil {
			return t.T("%s ended and is started again at %s.", name, s.NextStart.Local().Format("15:04:05")), ""
		}
		return t.T("%s ended and is started again.", name), ""
	case "waiting":
		return t.T("%s waits:", name), s.Reason
	}
	return t.T("%s does not work; the supervisor's word for it is “%s”.", name, s.State), ""
}

// stateWords words how a service stands.
func (t tongue) stateWords(state string) pill {
	switch state {
	case "serving":
		return pill{"check", t.T("Serving"), "ok", state}
	case "starting":
		return pill{"clock", t.T("Starting"), "info", state}
	case "waiting":
		return pill{"clock", t.T("Waiting"), "warn", state}
	case "backing-off":
		return pill{"refresh", t.T("Starting again"), "warn", state}
	case "blocked":
		return pill{"lock", t.T("Blocked"), "bad", state}
	case "repair-required":
		return pill{"warn", t.T("Repair required"), "bad", state}
	case "stopping":
		return pill{"pause", t.T("Stopping"), "quiet", state}
	case "stopped":
		return pill{"pause", t.T("Stopped"), "quiet", state}
	}
	return pill{"warn", upperFirst(state), "warn", state}
}

// supervisorSays words what the supervisor says of a failure, or why a service does
// not run, where that is one of its own few sentences. What a program printed stays
// as it is.
func (t tongue) supervisorSays(text string) remark {
	if n, ok := numberIn(text, `^exit code (\d+)$`); ok {
		return remark{Text: t.T("exit code %s", strconv.Itoa(n))}
	}
	if name, ok := strings.CutPrefix(text, "signal: "); ok {
		return remark{Text: t.T("signal: %s", name)}
	}
	if n, ok := numberIn(text, `^(\d+) liveness checks missed in a row; it was ended$`); ok {
		return remark{Text: t.T("%d liveness checks missed in a row; it was ended", n)}
	}
	if n, ok := numberIn(text, `^(\d+) failures within an hour$`); ok {
		return remark{Text: t.T("%d failures within an hour", n)}
	}
	return remark{Text: text, Free: true}
}

// numberIn is the number in a text of this form.
func numberIn(text, form string) (n int, ok bool) {
	found := regexp.MustCompile(form).FindStringSubmatch(text)
	if found == nil {
		return 0, false
	}
	n, err := strconv.Atoi(found[1])
	return n, err == nil
}

func (t tongue) serviceRowOf(s standing.Service, limit int, now time.Time) serviceRow {
	r := serviceRow{ID: elementID("service-", s.Name), Name: s.Name, State: t.stateWords(s.State), Next: t.nextOf(s, now)}
	at := standsSince(s)
	since := laneFact{Name: t.T("Since"), Text: t.T("%s, %s ago", t.dated(at, now), t.span(now.Sub(at)))}
	switch s.State {
	case "serving":
		since = laneFact{Name: t.T("Up"), Text: t.T("%s, since %s", t.lasting(now.Sub(s.Since)), t.dated(s.Since, now))}
	case "repair-required":
		since.Name = t.T("Parked")
	}
	r.Facts = append(r.Facts, since)
	if s.NextStart != nil && s.NextStart.After(now) {
		r.Facts = append(r.Facts, laneFact{Name: t.T("Next start"), Text: t.T("%s from now", t.span(s.NextStart.Sub(now)))})
	}
	if s.Reason != "" {
		why := t.supervisorSays(s.Reason)
		why.Text = upperFirst(why.Text)
		r.Why = &why
	}
	limit = min(max(limit, s.Left), 20)
	for i := range limit {
		r.Budget = append(r.Budget, i >= s.Left)
	}
	r.Spent = t.T("%d of %d failures left in this hour", max(s.Left, 0), limit)
	r.BudgetText = t.T("%d of %d left", s.Left, limit)
	if s.Left <= 0 {
		r.BudgetText = t.T("none of %d left", limit)
		if s.FreesAt != nil && s.FreesAt.After(now) {
			r.BudgetText = t.T("none of %d left, one again at %s", limit, t.dated(*s.FreesAt, now))
		}
	}
	for i := len(s.Exits) - 1; i >= 0 && len(r.Exits) < 3; i-- {
		e := s.Exits[i]
		r.Exits = append(r.Exits, exitRow{At: e.At, When: t.dated(e.At, now), What: t.supervisorSays(e.What), Words: e.LastLines})
	}
	return r
}

// nextOf words what may be done next, nil when nothing is to be done.
func (t tongue) nextOf(s standing.Service, now time.Time) *nextStep {
	name := s.Name
	switch s.State {
	case "repair-required":
		if s.FreesAt == nil || !s.FreesAt.After(now) {
			return &nextStep{t.T("Look at how it ended first. It may be started again."), []commandRow{{"mangrove restart " + name, t.T("now")}}}
		}
		at := s.FreesAt.Local().Format("15:04")
		return &nextStep{
			t.T("Look at how it ended first. A restart is allowed from %s, when the first of its failures is an hour old. To start it now, forgive it its failures: the old record is copied first, and nothing else is touched.", at),
			[]commandRow{
				{"mangrove restart " + name, t.T("from %s, in %s", at, t.span(s.FreesAt.Sub(now)))},
				{"mangrove reset-budget " + name, t.T("now, deliberately")},
				{"mangrove start " + name, t.T("after that")},
			},
		}
	case "blocked":
		return &nextStep{t.T("It said that another start cannot help. Mend what it says, then start it again."), []commandRow{{"mangrove restart " + name, t.T("once it is mended")}}}
	case "stopped":
		return &nextStep{t.T("It stays stopped until it is started."), []commandRow{{"mangrove start " + name, t.T("now")}}}
	}
	return nil
}

// Last is the failure that came last.
func (r serviceRow) Last() *exitRow {
	if len(r.Exits) == 0 {
		return nil
	}
	return &r.Exits[0]
}

// Before are the failures before the last.
func (r serviceRow) Before() []exitRow { return r.Exits[min(1, len(r.Exits)):] }
