package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"mangrove/internal/fault"
	"mangrove/reader/internal/notify"
)

// Notifying is where people are told, as far as the page of it needs.
type Notifying interface {
	Destinations(ctx context.Context) ([]notify.Destination, error)
	Add(ctx context.Context, d notify.Destination) (int64, error)
	Remove(ctx context.Context, id int64) error
	Test(ctx context.Context, id int64) error
}

const notificationsAddress = "/settings/notifications"

// notificationsView is where people are told, in words.
type notificationsView struct {
	Frame
	Destinations []destinationRow
	Form         destinationForm
	// Said is what came of the last act, with its tone; Why is the service's own
	// sentence for it, "" without one.
	Said, Tone, Why string
}

// destinationRow is one destination; its address is never shown again.
type destinationRow struct {
	ID            int64
	Name, Service string
	// Told says what it is told, State how the last message went.
	Told  string
	State pill
	// Failure is why the last message was not taken, in the service's own words, ""
	// if it was.
	Failure string
	// Sure is true while a removal is to be confirmed.
	Sure bool
}

// destinationForm is a destination to be added.
type destinationForm struct {
	Name, Days string
	Kinds      []kindChoice
	// Problem says what is wrong, "" for nothing, Why the exact reason in English.
	Problem, Why string
}

// kindChoice is one thing that can be told.
type kindChoice struct {
	Kind, Word, Hint string
	Chosen           bool
}

// kindsOffered words the kinds for the form, the most urgent first.
func (t tongue) kindsOffered(chosen []string) []kindChoice {
	words := map[notify.Kind][2]string{
		notify.Parked:      {t.T("A service is parked"), t.T("Repair required: three failures within an hour")},
		notify.Storage:     {t.T("Downloads are on hold"), t.T("The disk is full, read-only or away")},
		notify.Refused:     {t.T("A Site refuses"), t.T("One line a Site, however many Series it has")},
		notify.Canary:      {t.T("A Site is no longer understood"), t.T("Its pages have changed; seen before a chapter is missing")},
		notify.Quarantined: {t.T("A download is set aside"), t.T("It waits until a person decides")},
		notify.Failing:     {t.T("A Series fails"), t.T("Longer than the days below")},
		notify.Chapters:    {t.T("New chapters"), t.T("Gathered for a quarter of an hour")},
	}
	var out []kindChoice
	for _, k := range notify.Kinds() {
		out = append(out, kindChoice{string(k), words[k][0], words[k][1], slices.Contains(chosen, string(k))})
	}
	return out
}

// toldWords are a kind within a sentence that lists what a destination is told.
func (t tongue) toldWords(k notify.Kind, days int) string {
	switch k {
	case notify.Parked:
		return t.T("a service is parked")
	case notify.Storage:
		return t.T("downloads are on hold")
	case notify.Refused:
		return t.T("a Site refuses")
	case notify.Canary:
		return t.T("a Site is no longer understood")
	case notify.Quarantined:
		return t.T("a download is set aside")
	case notify.Failing:
		return t.T("a Series fails for %d days", days)
	case notify.Chapters:
		return t.T("new chapters")
	}
	return string(k)
}

func (t tongue) destinationRowOf(d notify.Destination, now time.Time, sure int64) destinationRow {
	var told []string
	for _, k := range notify.Kinds() {
		if slices.Contains(d.Kinds, k) {
			told = append(told, t.toldWords(k, d.FailingDays))
		}
	}
	r := destinationRow{ID: d.ID, Name: d.Name, Service: t.serviceWords(d), Told: upperFirst(t.join(told)), Sure: d.ID == sure}
	switch {
	case d.Failure != "":
		r.State, r.Failure = pill{"warn", t.T("Not taken since %s", t.clock(d.FailedAt, now)), "bad", ""}, d.Failure
	case !d.SentAt.IsZero():
		r.State = pill{"check", t.T("Told %s", t.within(d.SentAt, now)), "ok", ""}
	default:
		r.State = pill{"clock", t.T("Nothing to tell so far"), "quiet", ""}
	}
	return r
}

func (s *Server) notificationsPage(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	say := s.say(r.Context())
	form := destinationForm{Days: "3", Kinds: say.kindsOffered([]string{"parked", "storage", "refused", "canary", "quarantined", "failing"})}
	sure, _ := strconv.ParseInt(q.Get("remove"), 10, 64)
	v, err := s.notificationsView(r, form, sure)
	if err != nil {
		return err
	}
	switch q.Get("did") {
	case "added":
		v.Said, v.Tone = say.T("Added. Send a test to see whether it arrives."), "ok"
	case "sent":
		v.Said, v.Tone = say.T("The test was taken. It should be there now."), "ok"
	case "removed":
		v.Said, v.Tone = say.T("Removed. Nothing is sent there any more."), "ok"
	}
	s.render(w, r, http.StatusOK, "notifications", v)
	return nil
}

func (s *Server) notificationsView(r *http.Request, form destinationForm, sure int64) (notificationsView, error) {
	say := s.say(r.Context())
	v := notificationsView{Frame: s.frame(r, say.T("Notifications"), "scraper"), Form: form}
	v.Back = scraperAddress
	to, err := s.Notify.Destinations(r.Context())
	for _, d := range to {
		v.Destinations = append(v.Destinations, say.destinationRowOf(d, v.Now, sure))
	}
	return v, err
}

// addDestination adds where people are told. What is wrong is said above the form,
// which keeps everything but the address: that may hold a secret.
func (s *Server) addDestination(w http.ResponseWriter, r *http.Request) error {
	if err := s.operatorForm(r); err != nil {
		return err
	}
	days, err := strconv.Atoi(strings.TrimSpace(r.PostFormValue("days")))
	if err != nil {
		days = -1
	}
	d := notify.Destination{Name: r.PostFormValue("name"), Address: r.PostFormValue("address"), FailingDays: days}
	for _, k := range r.PostForm["kind"] {
		d.Kinds = append(d.Kinds, notify.Kind(k))
	}
	_, err = s.Notify.Add(r.Context(), d)
	if err == nil {
		return redirect(w, r, notificationsAddress+"?did=added")
	}
	if !fault.Is(err, fault.Invalid) {
		return err
	}
	say := s.say(r.Context())
	form := destinationForm{Name: d.Name, Days: r.PostFormValue("days"), Kinds: say.kindsOffered(r.PostForm["kind"])}
	form.Problem, form.Why = say.destinationProblem(d, err)
	v, err := s.notificationsView(r, form, 0)
	if err != nil {
		return err
	}
	s.render(w, r, http.StatusBadRequest, "notifications", v)
	return nil
}

// destinationProblem words why a destination was not added; why is the reason that
// ends the sentence, as it was given, "" without one.
func (t tongue) destinationProblem(d notify.Destination, err error) (text, why string) {
	switch {
	case strings.TrimSpace(d.Name) == "":
		return t.T("Give it a name, so that you know it again."), ""
	case len(d.Kinds) == 0:
		return t.T("Choose at least one thing that it is told."), ""
	case d.FailingDays < 0 || d.FailingDays > 365:
		return t.T("Days are a whole number from 0 to 365."), ""
	}
	return t.T("The address was not understood:"), strings.TrimSuffix(notify.Reason(err), ".") + "."
}

// serviceWords are what a destination is and where.
func (t tongue) serviceWords(d notify.Destination) string {
	name, host := d.Service()
	if host == "" {
		return name
	}
	return t.T("%s at %s", name, host)
}

// testDestination sends a message at once and says how that went.
func (s *Server) testDestination(w http.ResponseWriter, r *http.Request) error {
	if err := s.operatorForm(r); err != nil {
		return err
	}
	id, err := number(r.PathValue("destination"))
	if err != nil {
		return err
	}
	err = s.Notify.Test(r.Context(), id)
	switch {
	case err == nil:
		return redirect(w, r, notificationsAddress+"?did=sent")
	case !fault.Is(err, fault.Network) && !fault.Is(err, fault.Invalid):
		return err
	}
	v, verr := s.notificationsView(r, destinationForm{Days: "3", Kinds: s.say(r.Context()).kindsOffered(nil)}, 0)
	if verr != nil {
		return verr
	}
	v.Said, v.Tone, v.Why = s.say(r.Context()).T("The test was not taken:"), "bad", strings.TrimSuffix(notify.Reason(err), ".")+"."
	s.render(w, r, http.StatusOK, "notifications", v)
	return nil
}

// removeDestination asks once, then forgets a destination.
func (s *Server) removeDestination(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	id, err := number(r.PathValue("destination"))
	if err != nil {
		return err
	}
	if r.PostFormValue("confirmed") != "yes" {
		return redirect(w, r, notificationsAddress+"?remove="+strconv.FormatInt(id, 10))
	}
	if err := s.Notify.Remove(r.Context(), id); err != nil {
		return err
	}
	return redirect(w, r, notificationsAddress+"?did=removed")
}
