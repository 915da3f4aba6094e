package web

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"mangrove/reader/internal/account"
)

// meView is a person's own page.
type meView struct {
	Frame
	User  account.User
	Role  string
	Said  string
	Ins   []signInRow
	Other int
	// Apps are the keys of reading apps, Keys those of scripts.
	Apps, Keys []keyRow
	// HasPassword is false for those who only come through the issuer.
	HasPassword bool
	// Issuer is nil where there is none.
	Issuer *issuerCard
	// Runs is true for those who run Mangrove.
	Runs bool
	// Secret is a key that was made just now; it is shown this once.
	Secret *shownKey
	// Form is the form that something is wrong with, Field its field.
	Form, Field, Problem string
	// Typed is what stood in the form's name field.
	Typed string
	Max   int
}

// Wrong is the problem of one field of one form, "" for none.
func (v meView) Wrong(form, field string) string {
	if v.Form == form && v.Field == field {
		return v.Problem
	}
	return ""
}

type signInRow struct {
	ID           int64
	Icon, Device string
	Meta         string
	This         bool
}

type keyRow struct {
	ID               int64
	Name, May, Signs string
	Made, Used       string
}

type shownKey struct{ Name, Scope, Secret, Person string }

// meSaid words what was just done; the address names it, so that going back or
// again shows it again and nothing else.
func meSaid(word string) string {
	switch word {
	case "name":
		return "Your name is changed. You sign in with it, too."
	case "password":
		return "Your password is changed, and every other browser is signed out."
	case "linked":
		return "Linked. From now on you can sign in with it, too."
	case "unlinked":
		return "Unlinked. Other browsers that were signed in with it are signed out."
	case "others":
		return "Every other browser is signed out."
	case "one":
		return "That browser is signed out."
	case "revoked":
		return "Revoked. What used it is kept out from now on."
	}
	return ""
}

func (s *Server) me(w http.ResponseWriter, r *http.Request) error {
	v, err := s.meView(r)
	if err != nil {
		return err
	}
	v.Said = meSaid(r.URL.Query().Get("said"))
	s.render(w, r, http.StatusOK, "me", v)
	return nil
}

func (s *Server) meView(r *http.Request) (meView, error) {
	u, now := who(r), time.Now()
	v := meView{Frame: s.frame(r, "Me", "me"), User: u, Role: upperFirst(u.Role), Runs: u.Role == account.Administrator, Max: 60}
	if v.Guest {
		// A guest's sign-in may be shared by several people, who have no business
		// with each other's.
		return v, nil
	}
	ins, err := s.Accounts.SignIns(r.Context(), u.ID)
	if err != nil {
		return v, err
	}
	for _, in := range ins {
		row := signInRow{ID: in.ID, Icon: deviceIcon(in.Device), Device: in.Device, This: in.ID == caller(r).SignIn}
		row.Meta = "Last used " + ago(in.UsedAt, now) + ", signed in " + Clock(in.CreatedAt, now)
		row.Meta += s.with(in.Method)
		if row.This {
			row.Meta = "Now, signed in " + Clock(in.CreatedAt, now) + s.with(in.Method)
		} else if left := in.ExpiresAt.Sub(now); left < 48*time.Hour {
			row.Meta += ". Ends by itself in " + span(left) + " unless it is used"
		}
		v.Ins = append(v.Ins, row)
	}
	v.Other = len(v.Ins) - 1
	if err := s.issuerWays(r, &v); err != nil {
		return v, err
	}
	keys, err := s.Accounts.Keys(r.Context(), u.ID)
	if err != nil {
		return v, err
	}
	for _, k := range keys {
		row := keyRow{ID: k.ID, Name: k.Name, Signs: k.LastSigns, Made: Clock(k.CreatedAt, now), May: scopeWords(k.Scope, u.Role)}
		if !k.UsedAt.IsZero() {
			row.Used = ago(k.UsedAt, now)
		}
		if k.Scope == account.OPDSScope {
			v.Apps = append(v.Apps, row)
		} else {
			v.Keys = append(v.Keys, row)
		}
	}
	return v, nil
}

// ago words when something was used: "just now", "12 min ago", "yesterday, 23:40".
func ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case d < 2*time.Minute:
		return "just now"
	case d < time.Hour:
		return span(d) + " ago"
	}
	c := Clock(t, now)
	if len(c) == len("15:04") && c[2] == ':' {
		return "today, " + c
	}
	return c
}

func deviceIcon(device string) string {
	for _, hand := range []string{"Android", "iPhone", "iPad"} {
		if len(device) >= len(hand) && device[len(device)-len(hand):] == hand {
			return "phone"
		}
	}
	return "desk"
}

// scopeWords say what a key may do.
func scopeWords(scope, role string) string {
	switch {
	case scope == account.AdminScope && role == account.Administrator:
		return "Everything but people and keys"
	case scope == account.AdminScope:
		return "Read, follow, mark as read"
	case scope == account.OPDSScope:
		return "Reading apps"
	}
	return "Read only"
}

// refuseMe shows the page again with what was wrong, or passes the error on.
func (s *Server) refuseMe(w http.ResponseWriter, r *http.Request, form, typed string, err error) error {
	v, verr := s.meView(r)
	if verr != nil {
		return verr
	}
	v.Form, v.Typed = form, typed
	code := http.StatusUnprocessableEntity
	var tooMany *account.TooManyError
	switch {
	case errors.As(err, &tooMany):
		v.Field, v.Problem = "old", "Too many tries. Try again in "+seconds(tooMany.Wait)+"."
		w.Header().Set("Retry-After", strconv.Itoa(int(tooMany.Wait/time.Second)+1))
		code = http.StatusTooManyRequests
	case errors.Is(err, account.ErrWrong):
		v.Field, v.Problem = "old", "This is not your password."
	case errors.Is(err, account.ErrChanged):
		v.Field, v.Problem = "old", "Your password was changed elsewhere a moment ago. Nothing was changed here."
	case errors.Is(err, account.ErrTaken):
		v.Field, v.Problem = "name", "Somebody here has this name already."
	case errors.Is(err, account.ErrName):
		v.Field, v.Problem = "name", nameProblem
	case errors.Is(err, account.ErrLabel):
		v.Field, v.Problem = "name", "Give it a name of 1 to 60 letters, to recognise it by."
	case errors.Is(err, account.ErrEnough):
		v.Field, v.Problem = "name", "You have fifty already. Revoke one that is not used."
	case passwordProblem(err) != "":
		v.Field, v.Problem = "new", passwordProblem(err)
	default:
		return err
	}
	s.render(w, r, code, "me", v)
	return nil
}

func (s *Server) rename(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	name := r.PostFormValue("name")
	if err := s.Accounts.Rename(r.Context(), who(r).ID, name); err != nil {
		return s.refuseMe(w, r, "name", name, err)
	}
	return redirect(w, r, "/me?said=name")
}

func (s *Server) changePassword(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	err := s.Accounts.ChangePassword(r.Context(), caller(r), account.Peer(r.RemoteAddr), r.PostFormValue("old"), r.PostFormValue("new"))
	if err != nil {
		return s.refuseMe(w, r, "password", "", err)
	}
	return redirect(w, r, "/me?said=password")
}

// endSignIns signs out one browser, or all but this one.
func (s *Server) endSignIns(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	if r.PostFormValue("others") != "" {
		if err := s.Accounts.EndOtherSignIns(r.Context(), who(r).ID, caller(r).SignIn); err != nil {
			return err
		}
		return redirect(w, r, "/me?said=others")
	}
	id, err := number(r.PostFormValue("one"))
	if err != nil {
		return invalid("a sign-in")
	}
	if id == caller(r).SignIn {
		return s.signOut(w, r)
	}
	if err := s.Accounts.EndSignIn(r.Context(), who(r).ID, id); err != nil {
		return err
	}
	return redirect(w, r, "/me?said=one")
}

// newKey answers the page with the key on it instead of leading there: the
// secret is kept nowhere it could be fetched from again.
func (s *Server) newKey(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	name, scope := r.PostFormValue("name"), r.PostFormValue("scope")
	form := "keys"
	if scope == account.OPDSScope {
		form = "apps"
	}
	k, secret, err := s.Accounts.NewKey(r.Context(), who(r).ID, name, scope)
	if errors.Is(err, account.ErrScope) {
		return invalid("a scope")
	}
	if err != nil {
		return s.refuseMe(w, r, form, name, err)
	}
	v, err := s.meView(r)
	if err != nil {
		return err
	}
	v.Secret = &shownKey{k.Name, k.Scope, secret, who(r).Name}
	s.render(w, r, http.StatusOK, "me", v)
	return nil
}

func (s *Server) revokeKey(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r.PathValue("key"))
	if err != nil {
		return err
	}
	if err := s.Accounts.RevokeKey(r.Context(), who(r).ID, id); err != nil {
		return err
	}
	return redirect(w, r, "/me?said=revoked")
}
