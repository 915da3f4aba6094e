package web

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"mangrove/reader/internal/account"
	"mangrove/reader/internal/forwarded"
	"mangrove/reader/internal/issuer"
)

// answerPath is where an issuer sends people back to. Operators type it in there.
const answerPath = "/sign-in/answer"

// issuerPage leads to the issuer.
type issuerPage struct {
	Title, Theme, Issuer, Address string
	PlainHTTP                     bool
}

// nameIssuer tells a gate which issuer there is and, if it is so, since when it
// does not answer.
func (s *Server) nameIssuer(say tongue, p *gatePage) {
	if s.Issuer == nil {
		return
	}
	p.Issuer = s.Issuer.Name
	if since, away := s.Issuer.AwaySince(); away {
		p.IssuerAway = say.T("%s has not answered since %s. It is asked again when you press the button; a password works all the same.", p.Issuer, say.clock(since, time.Now()))
	}
}

// send remembers what somebody is sent to the issuer for, and answers a page that
// leads there. It is a page and no redirect, because browsers hold a form's
// redirects to form-action, too, and that is 'self'.
func (s *Server) send(w http.ResponseWriter, r *http.Request, a account.Attempt) error {
	var err error
	if a.Question, err = s.Issuer.Ask(r.Context(), forwarded.Origin(r)+basePath(r)+answerPath); err != nil {
		return err
	}
	if err := s.Accounts.Await(w, r, a); err != nil {
		return err
	}
	s.render(w, r, http.StatusOK, "issuer", issuerPage{s.say(r.Context()).T("Going to %s", s.Issuer.Name), theme(r), s.Issuer.Name, a.Question.Address, s.plainHTTP(r)})
	return nil
}

// signInByIssuer sends somebody to the issuer.
func (s *Server) signInByIssuer(w http.ResponseWriter, r *http.Request) error {
	if s.Issuer == nil {
		return notFound("an issuer")
	}
	if !s.claimed.Load() {
		return redirect(w, r, "/claim")
	}
	if err := parseForm(r); err != nil {
		return err
	}
	next := safePath(r.PostFormValue("next"))
	err := s.send(w, r, account.Attempt{For: account.ToSignIn, Next: next, Stay: r.PostFormValue("stay") != ""})
	if err != nil {
		return s.refuseIssuer(w, r, account.Attempt{For: account.ToSignIn, Next: next}, err)
	}
	return nil
}

// joinByIssuer sends an invited person there instead of asking for a password.
func (s *Server) joinByIssuer(w http.ResponseWriter, r *http.Request) error {
	if s.Issuer == nil {
		return notFound("an issuer")
	}
	if err := parseForm(r); err != nil {
		return err
	}
	p := s.gate(r, s.say(r.Context()).T("Choose your password"))
	p.Name, p.Code = r.PostFormValue("name"), r.PostFormValue("code")
	in, err := s.Accounts.CheckInvitation(r.Context(), account.Peer(r.RemoteAddr), p.Code, p.Name)
	if err != nil {
		return s.refuseGate(w, r, "join", p, err)
	}
	if err := s.send(w, r, account.Attempt{For: account.ToJoin, Next: "/", Stay: true, Invitee: in}); err != nil {
		return s.refuseIssuerAt(w, r, "join", p, err)
	}
	return nil
}

// link sends a person there who is signed in, to link the two.
func (s *Server) link(w http.ResponseWriter, r *http.Request) error {
	if s.Issuer == nil {
		return notFound("an issuer")
	}
	if err := s.send(w, r, account.Attempt{For: account.ToLink, User: who(r).ID}); err != nil {
		return s.refuseLink(w, r, err)
	}
	return nil
}

func (s *Server) unlink(w http.ResponseWriter, r *http.Request) error {
	if s.Issuer == nil {
		return notFound("an issuer")
	}
	if err := s.Accounts.Unlink(r.Context(), caller(r), s.Issuer.Address); err != nil {
		return s.refuseLink(w, r, err)
	}
	return redirect(w, r, "/me?said=unlinked")
}

// issuerAnswer is where people come back from the issuer.
func (s *Server) issuerAnswer(w http.ResponseWriter, r *http.Request) error {
	if s.Issuer == nil {
		return notFound("an issuer")
	}
	answer := r.URL.Query()
	a, err := s.Accounts.Awaited(w, r, answer.Get("state"))
	if err != nil {
		return s.refuseIssuer(w, r, account.Attempt{For: account.ToSignIn, Next: "/"}, err)
	}
	if a.For == account.ToLink {
		return s.linkAnswer(w, r, a)
	}
	v, err := s.Issuer.Answer(r.Context(), a.Question, answer)
	if err != nil {
		return s.refuseIssuer(w, r, a, err)
	}
	u, err := s.comeIn(r, a, v)
	if err != nil {
		return s.refuseIssuer(w, r, a, err)
	}
	s.Accounts.IssuerDone(r)
	if err := s.Accounts.BeginByIssuer(w, r, u.ID, a.Stay); err != nil {
		return err
	}
	return redirect(w, r, a.Next)
}

// comeIn answers the user whom the issuer vouches for.
func (s *Server) comeIn(r *http.Request, a account.Attempt, v issuer.Vouched) (account.User, error) {
	id := account.Identity{Issuer: s.Issuer.Address, Subject: v.Subject}
	switch {
	case a.For == account.ToJoin:
		return s.Accounts.JoinByIdentity(r.Context(), a.Invitee, id)
	case s.AdmitMembers:
		return s.Accounts.SignInOrAdmit(r.Context(), id, v.Name)
	}
	return s.Accounts.SignInByIdentity(r.Context(), id)
}

// linkAnswer links who is signed in, if it is still who was sent.
func (s *Server) linkAnswer(w http.ResponseWriter, r *http.Request, a account.Attempt) error {
	r, ok, err := s.authenticated(r)
	if err != nil && !errors.Is(err, account.ErrWrongKey) {
		return err
	}
	if c := caller(r); !ok || c.ID != a.User || c.Scope != account.Whole || c.Role == account.Guest {
		return s.refuseIssuer(w, r, account.Attempt{For: account.ToSignIn, Next: "/me"}, account.ErrOver)
	}
	v, err := s.Issuer.Answer(r.Context(), a.Question, r.URL.Query())
	if err == nil {
		err = s.Accounts.Link(r.Context(), a.User, account.Identity{Issuer: s.Issuer.Address, Subject: v.Subject})
	}
	if err != nil {
		return s.refuseLink(w, r, err)
	}
	s.Accounts.IssuerDone(r)
	return redirect(w, r, "/me?said=linked")
}

// refuseIssuer shows the gate again that an attempt began at.
func (s *Server) refuseIssuer(w http.ResponseWriter, r *http.Request, a account.Attempt, err error) error {
	if a.For == account.ToJoin {
		return s.refuseIssuerAt(w, r, "join", s.gate(r, s.say(r.Context()).T("Choose your password")), err)
	}
	p := s.gate(r, s.say(r.Context()).T("Sign in"))
	p.Next = a.Next
	return s.refuseIssuerAt(w, r, "sign-in", p, err)
}

func (s *Server) refuseIssuerAt(w http.ResponseWriter, r *http.Request, form string, p gatePage, err error) error {
	code, problem := s.say(r.Context()).issuerProblem(s.Issuer.Name, err)
	if problem == "" {
		return err
	}
	var tooMany *account.TooManyError
	if errors.As(err, &tooMany) {
		w.Header().Set("Retry-After", strconv.Itoa(int(tooMany.Wait/time.Second)+1))
	}
	// What is said now says more than since when it is so.
	p.IssuerProblem, p.IssuerAway = problem, ""
	s.render(w, r, code, form, p)
	return nil
}

func (s *Server) refuseLink(w http.ResponseWriter, r *http.Request, err error) error {
	code, problem := s.say(r.Context()).issuerProblem(s.Issuer.Name, err)
	if problem == "" {
		return err
	}
	v, verr := s.meView(r)
	if verr != nil {
		return verr
	}
	v.Form, v.Field, v.Problem = "issuer", "issuer", problem
	s.render(w, r, code, "me", v)
	return nil
}

// issuerProblem words why nobody was signed in or linked; "" for other errors.
func (t tongue) issuerProblem(name string, err error) (code int, problem string) {
	var tooMany *account.TooManyError
	switch {
	case errors.As(err, &tooMany):
		return http.StatusTooManyRequests, t.T("Too many tries with %s. Try again in %s.", name, t.seconds(tooMany.Wait))
	case errors.Is(err, issuer.ErrAway):
		return http.StatusServiceUnavailable, t.T("%s does not answer. Try again in a moment. A password works all the same.", name)
	case errors.Is(err, issuer.ErrDenied):
		return http.StatusForbidden, t.T("%s did not let you in, or you turned back there. Nothing was changed.", name)
	case errors.Is(err, issuer.ErrGroup):
		return http.StatusForbidden, t.T("%s knows you, but you are not in the group that may come in here. Ask whoever runs %s.", name, name)
	case errors.Is(err, issuer.ErrUnconfirmed):
		return http.StatusBadGateway, t.T("What %s answered does not prove who you are. Begin again; if it stays so, the reader’s log says why to whoever runs this library.", name)
	case errors.Is(err, account.ErrOver):
		return http.StatusBadRequest, t.T("This was not begun in this browser, was used already, or took longer than ten minutes. Begin again.")
	case errors.Is(err, account.ErrStranger):
		return http.StatusForbidden, t.T("Nobody here is linked with this account of %s. Sign in with your password and link it on your Me page, or ask whoever runs this library for an invitation.", name)
	case errors.Is(err, account.ErrDisabled):
		return http.StatusForbidden, t.T("You are kept out of this library. Ask whoever runs it.")
	case errors.Is(err, account.ErrIdentityTaken):
		return http.StatusConflict, t.T("Somebody else here is linked with this account of %s. Nothing was changed.", name)
	case errors.Is(err, account.ErrLinked):
		return http.StatusConflict, t.T("You are linked with another account of %s. Unlink that one first.", name)
	case errors.Is(err, account.ErrOnlyWay):
		return http.StatusConflict, t.T("You have no password, so that %s is your only way in. Ask whoever runs this library for a code to choose one, then unlink.", name)
	case errors.Is(err, account.ErrWrongCode):
		return http.StatusUnprocessableEntity, t.T("This invitation is used up or over. Whoever gave it to you can make another.")
	}
	return 0, ""
}

// issuerCard is what the Me page says of the issuer.
type issuerCard struct {
	Name, Linked string
	// OnlyWay is a person without a password.
	OnlyWay bool
}

// issuerWays fills in how a person can sign in.
func (s *Server) issuerWays(r *http.Request, v *meView) error {
	address := ""
	if s.Issuer != nil {
		address = s.Issuer.Address
	}
	ways, err := s.Accounts.Ways(r.Context(), v.User.ID, address)
	if err != nil {
		return err
	}
	v.HasPassword = ways.Password
	if s.Issuer == nil {
		return nil
	}
	v.Issuer = &issuerCard{Name: s.Issuer.Name, OnlyWay: !ways.Password}
	if !ways.LinkedAt.IsZero() {
		v.Issuer.Linked = s.say(r.Context()).clock(ways.LinkedAt, time.Now())
	}
	return nil
}

// with words how a sign-in was begun, "" for a password.
func (s *Server) with(say tongue, method string) string {
	switch {
	case method != account.ByIssuer:
		return ""
	case s.Issuer == nil:
		return " " + say.T("without a password")
	}
	return " " + say.T("with %s", s.Issuer.Name)
}
