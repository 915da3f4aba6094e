package web

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"mangrove/reader/internal/account"
)

// gatePage is claim and sign-in: a form, and what was wrong with it.
type gatePage struct {
	Title, Theme string
	// Name is kept when the rest was wrong; Next is where to go afterwards.
	Name, Next string
	// Problem stands above the field it belongs to, which has the focus.
	Problem, Field string
	// Wait counts down to the next try, in seconds.
	Wait int
}

func (s *Server) claimPage(w http.ResponseWriter, r *http.Request) error {
	if s.claimed.Load() {
		return redirect(w, r, "/sign-in")
	}
	s.render(w, r, http.StatusOK, "claim", gatePage{Title: "Claim this library", Theme: theme(r)})
	return nil
}

func (s *Server) claim(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	name, password := r.PostFormValue("name"), r.PostFormValue("password")
	u, err := s.Accounts.Claim(r.Context(), account.Peer(r.RemoteAddr), r.PostFormValue("code"), name, password)
	if errors.Is(err, account.ErrClaimed) {
		return redirect(w, r, "/sign-in")
	}
	if err != nil {
		return s.refuseGate(w, r, "claim", gatePage{Title: "Claim this library", Theme: theme(r), Name: name}, err)
	}
	s.claimed.Store(true)
	if err := s.Sessions.SignIn(w, r, u.ID, true); err != nil {
		return err
	}
	return redirect(w, r, "/library")
}

func (s *Server) signInPage(w http.ResponseWriter, r *http.Request) error {
	if !s.claimed.Load() {
		return redirect(w, r, "/claim")
	}
	_, ok, err := s.signedIn(w, r)
	if err != nil {
		return err
	}
	next := safePath(r.URL.Query().Get("next"))
	if ok {
		return redirect(w, r, next)
	}
	s.render(w, r, http.StatusOK, "sign-in", gatePage{Title: "Sign in", Theme: theme(r), Next: next})
	return nil
}

func (s *Server) signIn(w http.ResponseWriter, r *http.Request) error {
	if !s.claimed.Load() {
		return redirect(w, r, "/claim")
	}
	if err := parseForm(r); err != nil {
		return err
	}
	name, next := r.PostFormValue("name"), safePath(r.PostFormValue("next"))
	u, err := s.Accounts.SignIn(r.Context(), account.Peer(r.RemoteAddr), name, r.PostFormValue("password"))
	if err != nil {
		return s.refuseGate(w, r, "sign-in", gatePage{Title: "Sign in", Theme: theme(r), Name: name, Next: next}, err)
	}
	if err := s.Sessions.SignIn(w, r, u.ID, r.PostFormValue("stay") != ""); err != nil {
		return err
	}
	return redirect(w, r, next)
}

// refuseGate shows the form again with what was wrong, or passes the error on.
func (s *Server) refuseGate(w http.ResponseWriter, r *http.Request, form string, p gatePage, err error) error {
	var tooMany *account.TooManyError
	code := http.StatusUnprocessableEntity
	switch {
	case errors.As(err, &tooMany):
		p.Wait = int((tooMany.Wait + time.Second - 1) / time.Second)
		p.Field, p.Problem = "password", "Too many tries. Try again in "+seconds(tooMany.Wait)+"."
		if form == "claim" {
			p.Field = "code"
		}
		w.Header().Set("Retry-After", strconv.Itoa(p.Wait))
		code = http.StatusTooManyRequests
	case errors.Is(err, account.ErrWrong):
		p.Field, p.Problem, code = "password", "The name or the password is not right.", http.StatusUnauthorized
	case errors.Is(err, account.ErrWrongCode):
		p.Field, p.Problem = "code", "This code is not right, or its hour is over. The console shows the one that counts."
	case errors.Is(err, account.ErrName):
		p.Field, p.Problem = "name", "Choose a name of 1 to 40 letters that can be seen."
	case errors.Is(err, account.ErrShort):
		p.Field, p.Problem = "password", "That is too short: at least 8 characters."
	case errors.Is(err, account.ErrLong):
		p.Field, p.Problem = "password", "That is too long: at most 1,024 bytes."
	case errors.Is(err, account.ErrCommon):
		p.Field, p.Problem = "password", "That is among the first passwords anyone would try. Choose another; a sentence is fine."
	default:
		return err
	}
	s.render(w, r, code, form, p)
	return nil
}

// signOut leaves nothing on the device either: what the browser and its worker kept
// goes. Browsers heed that only where they are sure of the server, and there alone
// they say where a request comes from; elsewhere they would complain about it.
func (s *Server) signOut(w http.ResponseWriter, r *http.Request) error {
	if err := s.Sessions.SignOut(w, r); err != nil {
		return err
	}
	if r.Header.Get("Sec-Fetch-Site") != "" {
		w.Header().Set("Clear-Site-Data", `"cache", "storage"`)
	}
	return redirect(w, r, "/sign-in")
}

func (s *Server) me(w http.ResponseWriter, r *http.Request) error {
	u := who(r)
	s.render(w, r, http.StatusOK, "me", struct {
		Frame
		User account.User
		Role string
	}{s.frame(r, "Me", "me"), u, upperFirst(u.Role)})
	return nil
}

func parseForm(r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return err
		}
		return invalid("a form")
	}
	return nil
}
