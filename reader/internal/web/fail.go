package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/pages"
	"mangrove/reader/internal/scraperclient"
)

func notFound(what string) error { return fault.New(fault.NotFound, "find", what, nil) }

func invalid(what string) error { return fault.New(fault.Invalid, "read", what, nil) }

// plain answers one sentence, for callers that are not pages.
func (s *Server) plain(w http.ResponseWriter, code int, sentence string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = fmt.Fprintln(w, sentence)
}

// failure is a page that says what did not work.
type failure struct {
	Frame
	Code                int
	Heading, Text, Note string
	Back, BackTo        string
}

// fail words an error for a person, once. Nothing of the error itself is shown.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var tooLarge *http.MaxBytesError
	var tooMany *account.TooManyError
	var notYet *pages.NotYetError
	var away *scraperclient.AwayError
	say := s.say(r.Context())
	f := failure{Back: "/library", BackTo: say.T("Library")}
	switch {
	case errors.Is(err, context.Canceled) && r.Context().Err() != nil:
		return // nobody is listening any more
	case errors.As(err, &tooLarge):
		s.plain(w, http.StatusRequestEntityTooLarge, say.T("That is too large."))
		return
	case errors.As(err, &notYet):
		w.Header().Set("Retry-After", "2")
		w.Header().Set("Cache-Control", "no-store")
		if r.Header.Get("Sec-Fetch-Dest") == "image" {
			// The page asks again by itself; nothing has failed that its console should name.
			w.WriteHeader(http.StatusNoContent)
			return
		}
		s.plain(w, http.StatusServiceUnavailable, say.T("This cover is being made."))
		return
	case errors.As(err, &tooMany):
		f.Code, f.Heading = http.StatusTooManyRequests, say.T("A little slower, please")
		f.Text = say.T("Try again in %s.", say.seconds(tooMany.Wait))
		w.Header().Set("Retry-After", strconv.Itoa(int(tooMany.Wait/time.Second)+1))
	case fault.Is(err, fault.NotFound):
		f.Code, f.Heading, f.Text = http.StatusNotFound, say.T("There is no such page"), say.T("It may have moved, or the address was cut short.")
	case fault.Is(err, fault.Invalid):
		f.Code, f.Heading, f.Text = http.StatusBadRequest, say.T("This request was not understood"), say.T("Nothing was changed.")
	case fault.Is(err, fault.Conflict):
		f.Code, f.Heading = http.StatusConflict, say.T("Something else is under way here")
		f.Text = say.T("Nothing was changed. Try again when the download that is under way has ended.")
	case fault.Is(err, fault.Away) && !errors.As(err, &away):
		// What is away and not the scraper is the database.
		since, down := s.Database.Down()
		if !down {
			since = time.Now()
		}
		s.Log.Warn("the database did not answer", zap.String("route", r.Pattern), zap.Error(err))
		s.databaseAway(w, r, since)
		return
	case fault.Is(err, fault.Away):
		f.Code, f.Heading = http.StatusServiceUnavailable, say.T("Scraper: unreachable since %s", say.clock(away.Since, time.Now()))
		f.Text = say.T("Everything in the library can be read as always. What you asked for needs the scraper; nothing was changed.")
	case fault.Is(err, fault.Storage):
		f.Code, f.Heading = http.StatusServiceUnavailable, say.T("The library folder cannot be read")
		f.Text = say.T("The file is missing or the disk does not answer. Nothing was removed; it is tried again each time.")
		s.Log.Warn("a file could not be read", zap.String("route", r.Pattern), zap.Error(err))
	case fault.Is(err, fault.Page):
		f.Code, f.Heading, f.Text = http.StatusNotFound, say.T("This picture cannot be shown"), say.T("Its file is damaged or not a picture.")
		s.Log.Warn("a picture could not be read", zap.String("route", r.Pattern), zap.Error(err))
	default:
		reference := rand.Text()[:8]
		s.Log.Error("a request failed", zap.String("route", r.Pattern), zap.String("reference", reference), zap.Error(err))
		f.Code, f.Heading = http.StatusInternalServerError, say.T("Mangrove failed at this, and wrote down why")
		f.Text, f.Note = say.T("The reader's log names the reason under this reference. Nothing else is affected."), reference
	}
	if wantsPage(r) {
		f.Frame = s.frame(r, f.Heading, "")
		s.render(w, r, f.Code, "failure", f)
		return
	}
	s.plain(w, f.Code, f.Heading+".")
}

// wantsPage is false for pictures, scripts, streams and keys, which show no page.
func wantsPage(r *http.Request) bool {
	return caller(r).Scope == account.Whole && forWindow(r)
}

// forWindow reports whether the answer is shown as a page.
func forWindow(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Dest") {
	case "", "document":
		return true
	case "empty":
		// The worker asks in the name of the window that shows it.
		return strings.Contains(r.Header.Get("Accept"), "text/html")
	}
	return false
}

// databaseAway is the one page that is served without the database (OWN-2).
func (s *Server) databaseAway(w http.ResponseWriter, r *http.Request, since time.Time) {
	w.Header().Set("Retry-After", "5")
	s.render(w, r, http.StatusServiceUnavailable, "database-away", map[string]any{"Since": since})
}
