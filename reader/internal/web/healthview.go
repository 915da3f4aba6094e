package web

import (
	"cmp"
	"fmt"
	"slices"
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
	// Whole is the one sentence, Tone its tone.
	Whole, Tone string
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
	// Budget is one mark a failure that parks it: true is spent.
	Budget     []bool
	BudgetText string
	Exits      []exitRow
	Next       *nextStep
}

// exitRow is one failure in words.
type exitRow struct {
	At    time.Time
	When  string
	What  string
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

func healthOf(sup standing.Report, p scraperclient.Presence, r *scraperReport, now time.Time) healthView {
	v := healthView{Away: p.Away, Never: sup.At.IsZero()}
	v.Silent = !v.Never && now.Sub(sup.At) > heardWithin
	switch {
	case v.Silent:
		v.Heard = "as of " + dated(sup.At, now) + ", " + span(now.Sub(sup.At)) + " old"
	case !v.Never:
		v.Heard = "now, " + sup.At.Local().Format("15:04:05")
	}
	for _, one := range sup.Services {
		v.Services = append(v.Services, serviceRowOf(one, sup.Limit, now))
	}
	// What needs a person comes first; otherwise who leans on nobody comes last.
	order := []string{"scraper", "reader", "postgres"}
	slices.SortStableFunc(v.Services, func(a, b serviceRow) int {
		return cmp.Or(-boolOrder(a.Next != nil, b.Next != nil), cmp.Compare(slices.Index(order, a.Name), slices.Index(order, b.Name)))
	})
	v.Whole, v.Tone = wholeOf(sup, v, p, now)
	v.scraperSays(p, r, now)
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
func (v *healthView) scraperSays(p scraperclient.Presence, r *scraperReport, now time.Time) {
	at := p.LastAnswer
	if r != nil {
		at = r.at
	}
	switch {
	case !v.Away:
		v.AsOf = "now, " + now.Local().Format("15:04:05")
	case !at.IsZero():
		v.AsOf, v.Age = "as of "+dated(at, now), span(now.Sub(at))+" old"
	}
	if st := p.Status; st != nil {
		v.Figures = []figure{
			{"Downloading", thousands(st.DownloadsRunning), cmp.Or(some(st.JobsOutstanding, "of "+thousands(st.JobsOutstanding)+" under way"), "nothing waits"), nil},
			{"Waiting for you", thousands(st.JobsReady), cmp.Or(some(st.JobsReady, "ready to start"), "nothing"), nil},
			{"Quarantined", thousands(st.JobsQuarantined), cmp.Or(some(st.JobsQuarantined, "set aside"), "none"), nil},
			{"Series failing", thousands(st.SeriesFailing), cmp.Or(some(st.SeriesMuted, thousands(st.SeriesMuted)+" of them muted"), some(st.SeriesFailing, "see the Worklist"), "none"), nil},
		}
	}
	if r == nil {
		return
	}
	for _, j := range r.running.Jobs {
		row := jobRowOf(j, nil, "", now)
		row.Acts = nil
		v.Checkpoints = append(v.Checkpoints, row)
	}
	if len(v.Checkpoints) == 0 {
		v.NoCheckpoint = "Nothing is being fetched."
	}
	for _, h := range r.holds {
		v.Holds = append(v.Holds, holdWords(h, now))
	}
	list := incidentsIn(incidentsQuery{All: true, Page: 1}, r.incidents, now)
	v.Incidents = list.Rows
	v.AllIncidents = "All incidents"
	if r.waiting > 0 {
		v.AllIncidents = count(r.waiting, "waits for a person", "wait for a person")
	}
}

// wholeOf is the one sentence for everything, worst first.
func wholeOf(sup standing.Report, v healthView, p scraperclient.Presence, now time.Time) (text, tone string) {
	if v.Never || v.Silent {
		if p.Away {
			return "Reading works. Neither the supervisor nor the scraper is heard, so downloads and following stand still as far as is known.", "bad"
		}
		return "Reading and the scraper work. The supervisor is not heard, so nobody would restart them.", "warn"
	}
	for _, name := range []string{"scraper", "reader", "postgres"} {
		i := slices.IndexFunc(sup.Services, func(s standing.Service) bool { return s.Name == name })
		if i < 0 {
			continue
		}
		if text := standsStill(sup.Services[i], now); text != "" {
			switch name {
			case "scraper":
				return "Reading works. Downloads and following have stopped since " + Clock(standsSince(sup.Services[i]), now) + ", because the scraper " + text + ".", "bad"
			case "postgres":
				return "The database " + text + ".", "bad"
			}
			return "The reader " + text + ".", "bad"
		}
	}
	if p.Away {
		return "Reading works. The scraper is not heard just now; downloads and following go on once it is.", "warn"
	}
	return "All is well: reading, following and downloads work.", "ok"
}

// standsSince is since when a service stands as it does: a supervisor that is started
// again knows a parked one only by its last failure.
func standsSince(s standing.Service) time.Time {
	if n := len(s.Exits); s.State == "repair-required" && n > 0 && s.Exits[n-1].At.Before(s.Since) {
		return s.Exits[n-1].At
	}
	return s.Since
}

// standsStill says why a service does not work, "" when it does.
func standsStill(s standing.Service, now time.Time) string {
	switch s.State {
	case "serving":
		return ""
	case "repair-required":
		if n := len(s.Exits); n > 0 {
			return fmt.Sprintf("ended %s within an hour and waits for you", times(n))
		}
		return "is parked and waits for you"
	case "blocked":
		return "may not start: " + s.Reason
	case "stopped":
		return "was stopped by an operator"
	case "stopping":
		return "is being stopped"
	case "starting":
		return "is starting"
	case "backing-off":
		if s.NextStart != nil {
			return "ended and is started again at " + s.NextStart.Local().Format("15:04:05")
		}
		return "ended and is started again"
	case "waiting":
		return "waits: " + s.Reason
	}
	return "is " + s.State
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	case 3:
		return "three times"
	}
	return thousands(n) + " times"
}

// stateWords words how a service stands.
func stateWords(state string) pill {
	switch state {
	case "serving":
		return pill{"check", "Serving", "ok", state}
	case "starting":
		return pill{"clock", "Starting", "info", state}
	case "waiting":
		return pill{"clock", "Waiting", "warn", state}
	case "backing-off":
		return pill{"refresh", "Starting again", "warn", state}
	case "blocked":
		return pill{"lock", "Blocked", "bad", state}
	case "repair-required":
		return pill{"warn", "Repair required", "bad", state}
	case "stopping":
		return pill{"pause", "Stopping", "quiet", state}
	case "stopped":
		return pill{"pause", "Stopped", "quiet", state}
	}
	return pill{"warn", upperFirst(state), "warn", state}
}

func serviceRowOf(s standing.Service, limit int, now time.Time) serviceRow {
	r := serviceRow{ID: elementID("service-", s.Name), Name: s.Name, State: stateWords(s.State), Next: nextOf(s, now)}
	at := standsSince(s)
	since := laneFact{Name: "Since", Text: dated(at, now) + ", " + span(now.Sub(at)) + " ago"}
	switch s.State {
	case "serving":
		since = laneFact{Name: "Up", Text: span(now.Sub(s.Since)) + ", since " + dated(s.Since, now)}
	case "repair-required":
		since.Name = "Parked"
	}
	r.Facts = append(r.Facts, since)
	if s.NextStart != nil && s.NextStart.After(now) {
		r.Facts = append(r.Facts, laneFact{Name: "Next start", Text: "in " + span(s.NextStart.Sub(now))})
	}
	if s.Reason != "" {
		r.Facts = append(r.Facts, laneFact{Name: "Why", Text: upperFirst(s.Reason)})
	}
	limit = min(max(limit, s.Left), 20)
	for i := range limit {
		r.Budget = append(r.Budget, i >= s.Left)
	}
	r.BudgetText = fmt.Sprintf("%d of %d left", s.Left, limit)
	if s.Left <= 0 {
		r.BudgetText = fmt.Sprintf("none of %d left", limit)
		if s.FreesAt != nil && s.FreesAt.After(now) {
			r.BudgetText += ", one again at " + dated(*s.FreesAt, now)
		}
	}
	for i := len(s.Exits) - 1; i >= 0 && len(r.Exits) < 3; i-- {
		e := s.Exits[i]
		r.Exits = append(r.Exits, exitRow{At: e.At, When: dated(e.At, now), What: e.What, Words: e.LastLines})
	}
	return r
}

// nextOf words what may be done next, nil when nothing is to be done.
func nextOf(s standing.Service, now time.Time) *nextStep {
	name := s.Name
	switch s.State {
	case "repair-required":
		if s.FreesAt == nil || !s.FreesAt.After(now) {
			return &nextStep{"Look at how it ended first. It may be started again.", []commandRow{{"mangrove restart " + name, "now"}}}
		}
		at := s.FreesAt.Local().Format("15:04")
		return &nextStep{
			"Look at how it ended first. A restart is allowed from " + at + ", when the first of its failures is an hour old. To start it now, forgive it its failures: the old record is copied first, and nothing else is touched.",
			[]commandRow{
				{"mangrove restart " + name, "from " + at + ", in " + span(s.FreesAt.Sub(now))},
				{"mangrove reset-budget " + name, "now, deliberately"},
				{"mangrove start " + name, "after that"},
			},
		}
	case "blocked":
		return &nextStep{"It said that another start cannot help. Mend what it says, then start it again.", []commandRow{{"mangrove restart " + name, "once it is mended"}}}
	case "stopped":
		return &nextStep{"It stays stopped until it is started.", []commandRow{{"mangrove start " + name, "now"}}}
	}
	return nil
}

// Spent words the budget for those who do not see it.
func (r serviceRow) Spent() string {
	left := 0
	for _, spent := range r.Budget {
		if !spent {
			left++
		}
	}
	return fmt.Sprintf("%d of %d failures left in this hour", left, len(r.Budget))
}

// Last is the failure that came last, and Before when the others came.
func (r serviceRow) Last() *exitRow {
	if len(r.Exits) == 0 {
		return nil
	}
	return &r.Exits[0]
}

// Before lists when the failures before the last came.
func (r serviceRow) Before() string {
	var out []string
	for _, e := range r.Exits[min(1, len(r.Exits)):] {
		out = append(out, e.When+" ("+e.What+")")
	}
	return strings.Join(out, ", ")
}
