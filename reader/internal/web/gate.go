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
	// Code is kept like Name, on the page for codes.
	Code string
	// Issuer is the name of who one may sign in with instead, "" for nobody;
	// IssuerAway says that it does not answer, IssuerProblem what it came to.
	Issuer, IssuerAway, IssuerProblem string
	// PlainHTTP says that what is typed can be read on the way.
	PlainHTTP bool
}

func (s *Server) gate(r *http.Request, title string) gatePage {
	p := gatePage{Title: title, Theme: theme(r), PlainHTTP: s.plainHTTP(r)}
	s.nameIssuer(s.say(r.Context()), &p)
	return p
}

func (s *Server) claimPage(w http.ResponseWriter, r *http.Request) error {
	if s.claimed.Load() {
		return redirect(w, r, "/sign-in")
	}
	s.render(w, r, http.StatusOK, "claim", s.gate(r, s.say(r.Context()).T("Claim this library")))
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
		p := s.gate(r, s.say(r.Context()).T("Claim this library"))
		p.Name = name
		return s.refuseGate(w, r, "claim", p, err)
	}
	s.claimed.Store(true)
	if err := s.Accounts.Begin(w, r, u.ID, true); err != nil {
		return err
	}
	return redirect(w, r, "/library")
}

func (s *Server) signInPage(w http.ResponseWriter, r *http.Request) error {
	if !s.claimed.Load() {
		return redirect(w, r, "/claim")
	}
	_, ok, err := s.authenticated(r)
	if err != nil && !errors.Is(err, account.ErrWrongKey) {
		return err
	}
	next := safePath(r.URL.Query().Get("next"))
	if ok {
		return redirect(w, r, next)
	}
	p := s.gate(r, s.say(r.Context()).T("Sign in"))
	p.Next = next
	s.render(w, r, http.StatusOK, "sign-in", p)
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
		p := s.gate(r, s.say(r.Context()).T("Sign in"))
		p.Name, p.Next = name, next
		return s.refuseGate(w, r, "sign-in", p, err)
	}
	if err := s.Accounts.Begin(w, r, u.ID, r.PostFormValue("stay") != ""); err != nil {
		return err
	}
	return redirect(w, r, next)
}

// refuseGate shows the form again with what was wrong, or passes the error on.
func (s *Server) refuseGate(w http.ResponseWriter, r *http.Request, form string, p gatePage, err error) error {
	say := s.say(r.Context())
	var tooMany *account.TooManyError
	code := http.StatusUnprocessableEntity
	switch {
	case errors.As(err, &tooMany):
		p.Wait = int((tooMany.Wait + time.Second - 1) / time.Second)
		p.Field, p.Problem = "password", say.T("Too many tries. Try again in %s.", say.seconds(tooMany.Wait))
		if form != "sign-in" {
			p.Field = "code"
		}
		w.Header().Set("Retry-After", strconv.Itoa(p.Wait))
		code = http.StatusTooManyRequests
	case errors.Is(err, account.ErrWrong):
		p.Field, p.Problem, code = "password", say.T("The name or the password is not right."), http.StatusUnauthorized
	case errors.Is(err, account.ErrWrongCode):
		p.Field, p.Problem = "code", say.T("This code is not right, or its hour is over. The console shows the one that counts.")
		if form == "join" {
			p.Problem = say.T("This code and this name do not belong together, or the code is used up or over. Whoever gave it to you can make another.")
		}
	case errors.Is(err, account.ErrName):
		p.Field, p.Problem = "name", say.nameProblem()
	case say.passwordProblem(err) != "":
		p.Field, p.Problem = "password", say.passwordProblem(err)
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
	if err := s.Accounts.End(w, r); err != nil {
		return err
	}
	if r.Header.Get("Sec-Fetch-Site") != "" {
		w.Header().Set("Clear-Site-Data", `"cache", "storage"`)
	}
	return redirect(w, r, "/sign-in")
}

// joinPage is where an invited person, or one whose password is to be chosen
// again, brings the code. The link that administrators pass on has it behind
// the "#", which a browser keeps to itself: no log on the way sees it.
func (s *Server) joinPage(w http.ResponseWriter, r *http.Request) error {
	s.render(w, r, http.StatusOK, "join", s.gate(r, s.say(r.Context()).T("Choose your password")))
	return nil
}

func (s *Server) join(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	name, code := r.PostFormValue("name"), r.PostFormValue("code")
	u, err := s.Accounts.Redeem(r.Context(), account.Peer(r.RemoteAddr), code, name, r.PostFormValue("password"))
	if err != nil {
		p := s.gate(r, s.say(r.Context()).T("Choose your password"))
		p.Name, p.Code = name, code
		return s.refuseGate(w, r, "join", p, err)
	}
	if err := s.Accounts.Begin(w, r, u.ID, true); err != nil {
		return err
	}
	return redirect(w, r, "/")
}

func (t tongue) nameProblem() string {
	return t.T("Choose a name of 1 to 40 letters that can be seen.")
}

// passwordProblem words why a new password is refused; "" for other errors.
func (t tongue) passwordProblem(err error) string {
	switch {
	case errors.Is(err, account.ErrShort):
		return t.T("That is too short: at least 8 characters.")
	case errors.Is(err, account.ErrLong):
		return t.T("That is too long: at most 1,024 bytes.")
	case errors.Is(err, account.ErrCommon):
		return t.T("That is among the first passwords anyone would try. Choose another; a sentence is fine.")
	case errors.Is(err, account.ErrGuessable):
		return t.T("That follows a pattern that programs try early: repeated signs, a row of keys, a date, or a name with a number. Choose another; a sentence is fine.")
	}
	return ""
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
