package web

import (
	"context"
	"fmt"
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
	// Said is what came of the last act, with its tone.
	Said, Tone string
}

// destinationRow is one destination; its address is never shown again.
type destinationRow struct {
	ID            int64
	Name, Service string
	// Told says what it is told, State how the last message went.
	Told  string
	State pill
	// Failure is why the last message was not taken, "" if it was.
	Failure string
	// Sure is true while a removal is to be confirmed.
	Sure bool
}

// destinationForm is a destination to be added.
type destinationForm struct {
	Name, Days string
	Kinds      []kindChoice
	Problem    string
}

// kindChoice is one thing that can be told.
type kindChoice struct {
	Kind, Word, Hint string
	Chosen           bool
}

// kindsOffered words the kinds for the form, the most urgent first.
func kindsOffered(chosen []string) []kindChoice {
	words := map[notify.Kind][2]string{
		notify.Parked:      {"A service is parked", "Repair required: three failures within an hour"},
		notify.Storage:     {"Downloads are on hold", "The disk is full, read-only or away"},
		notify.Refused:     {"A Site refuses", "One line a Site, however many Series it has"},
		notify.Canary:      {"A Site is no longer understood", "Its pages have changed; seen before a chapter is missing"},
		notify.Quarantined: {"A download is set aside", "It waits until a person decides"},
		notify.Failing:     {"A Series fails", "Longer than the days below"},
		notify.Chapters:    {"New chapters", "Gathered for a quarter of an hour"},
	}
	var out []kindChoice
	for _, k := range notify.Kinds() {
		out = append(out, kindChoice{string(k), words[k][0], words[k][1], slices.Contains(chosen, string(k))})
	}
	return out
}

func destinationRowOf(d notify.Destination, now time.Time, sure int64) destinationRow {
	var told []string
	for _, k := range kindsOffered(nil) {
		if slices.Contains(d.Kinds, notify.Kind(k.Kind)) {
			word := lowerFirst(k.Word)
			if k.Kind == string(notify.Failing) {
				word += " for " + count(d.FailingDays, "day", "days")
			}
			told = append(told, word)
		}
	}
	r := destinationRow{ID: d.ID, Name: d.Name, Service: d.Service(), Told: upperFirst(listed(told)), Sure: d.ID == sure}
	switch {
	case d.Failure != "":
		r.State, r.Failure = pill{"warn", "Not taken since " + Clock(d.FailedAt, now), "bad", ""}, d.Failure
	case !d.SentAt.IsZero():
		r.State = pill{"check", "Told " + lowerFirst(Moment(d.SentAt, now)), "ok", ""}
	default:
		r.State = pill{"clock", "Nothing to tell so far", "quiet", ""}
	}
	return r
}

func (s *Server) notificationsPage(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	form := destinationForm{Days: "3", Kinds: kindsOffered([]string{"parked", "storage", "refused", "canary", "quarantined", "failing"})}
	sure, _ := strconv.ParseInt(q.Get("remove"), 10, 64)
	v, err := s.notificationsView(r, form, sure)
	if err != nil {
		return err
	}
	switch q.Get("did") {
	case "added":
		v.Said, v.Tone = "Added. Send a test to see whether it arrives.", "ok"
	case "sent":
		v.Said, v.Tone = "The test was taken. It should be there now.", "ok"
	case "removed":
		v.Said, v.Tone = "Removed. Nothing is sent there any more.", "ok"
	}
	s.render(w, r, http.StatusOK, "notifications", v)
	return nil
}

func (s *Server) notificationsView(r *http.Request, form destinationForm, sure int64) (notificationsView, error) {
	v := notificationsView{Frame: s.frame(r, "Notifications", "scraper"), Form: form}
	v.Back = scraperAddress
	to, err := s.Notify.Destinations(r.Context())
	for _, d := range to {
		v.Destinations = append(v.Destinations, destinationRowOf(d, v.Now, sure))
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
	form := destinationForm{Name: d.Name, Days: r.PostFormValue("days"), Kinds: kindsOffered(r.PostForm["kind"]), Problem: destinationProblem(d, err)}
	v, err := s.notificationsView(r, form, 0)
	if err != nil {
		return err
	}
	s.render(w, r, http.StatusBadRequest, "notifications", v)
	return nil
}

// destinationProblem words why a destination was not added.
func destinationProblem(d notify.Destination, err error) string {
	switch {
	case strings.TrimSpace(d.Name) == "":
		return "Give it a name, so that you know it again."
	case len(d.Kinds) == 0:
		return "Choose at least one thing that it is told."
	case d.FailingDays < 0 || d.FailingDays > 365:
		return "Days are a whole number from 0 to 365."
	}
	return fmt.Sprintf("The address was not understood: %s. Type it again.", strings.TrimSuffix(notify.Reason(err), "."))
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
	v, verr := s.notificationsView(r, destinationForm{Days: "3", Kinds: kindsOffered(nil)}, 0)
	if verr != nil {
		return verr
	}
	v.Said, v.Tone = "The test was not taken: "+strings.TrimSuffix(notify.Reason(err), ".")+".", "bad"
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
