package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"mangrove/internal/fault"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/forwarded"
)

// peopleView is Settings → People.
type peopleView struct {
	Frame
	People []personRow
	Said   string
	// Code is one that was made just now; it is shown this once.
	Code *shownCode
	// Problem is what was wrong with the invitation, Typed and TypedRole what stood
	// in it.
	Problem, Typed, TypedRole string
	// Refused says why a person was not changed.
	Refused string
	say     tongue
}

// Roles are what a person can be, with what that means.
func (v peopleView) Roles() []roleChoice {
	var out []roleChoice
	for _, role := range account.Roles() {
		out = append(out, roleChoice{role, v.say.role(role), v.say.roleMeans(role), role == v.TypedRole})
	}
	return out
}

type roleChoice struct {
	Role, Name, Means string
	Chosen            bool
}

func (t tongue) roleMeans(role string) string {
	switch role {
	case account.Administrator:
		return t.T("Runs Mangrove, and keeps the people")
	case account.Member:
		return t.T("Reads, follows and searches the Sites")
	}
	return t.T("Reads what is here; cannot follow or change settings")
}

type personRow struct {
	ID             int64
	Name, Initials string
	Role, RoleName string
	State          *pill
	Meta           string
	You            bool
	Invited        bool
	Disabled       bool
	// Takes says what goes with the person.
	Takes string
	Roles []roleChoice
	// Guest is somebody who may be kept to some collections, Kept that they are, and
	// Shelves the shared collections with those chosen.
	Guest, Kept bool
	Shelves     []choiceOf
}

// shownCode is a code with the link that carries it.
type shownCode struct{ Name, For, Code, Link, Until string }

func (t tongue) peopleSaid(word string) string {
	switch word {
	case "role":
		return t.T("The role is changed. It counts from the next page on.")
	case "disabled":
		return t.T("Kept out, and signed out everywhere. What is theirs stays.")
	case "enabled":
		return t.T("Let in again, with the password of before.")
	case "sees":
		return t.T("What the guest sees is changed. It counts from the next page on.")
	case "removed":
		return t.T("Removed, with what was theirs. Series that nobody else follows leave the list of what is polled within a day; their chapters stay in the library.")
	}
	return ""
}

func (s *Server) people(w http.ResponseWriter, r *http.Request) error {
	v, err := s.peopleView(r)
	if err != nil {
		return err
	}
	v.Said = s.say(r.Context()).peopleSaid(r.URL.Query().Get("said"))
	s.render(w, r, http.StatusOK, "people", v)
	return nil
}

func (s *Server) peopleView(r *http.Request) (peopleView, error) {
	v := peopleView{say: s.say(r.Context()), Frame: s.frame(r, s.say(r.Context()).T("People"), "people"), TypedRole: account.Member}
	people, err := s.Accounts.People(r.Context())
	if err != nil {
		return v, err
	}
	now := time.Now()
	for _, p := range people {
		v.People = append(v.People, s.say(r.Context()).personRowOf(p, who(r).ID, now))
	}
	return v, s.guestLimits(r, v.People)
}

func (t tongue) personRowOf(p account.Person, you int64, now time.Time) personRow {
	row := personRow{
		ID: p.ID, Name: p.Name, Initials: initials(p.Name), Role: p.Role, RoleName: t.role(p.Role), You: p.ID == you,
		Invited: p.Invited, Disabled: !p.DisabledAt.IsZero(),
	}
	for _, role := range account.Roles() {
		row.Roles = append(row.Roles, roleChoice{Role: role, Name: t.role(role), Chosen: role == p.Role})
	}
	switch {
	case row.Disabled:
		row.State, row.Meta = &pill{"lock", t.T("Disabled"), "quiet", ""}, t.T("Kept out since %s", t.clock(p.DisabledAt, now))
	case p.Invited && p.CodeFor != "":
		row.State, row.Meta = &pill{"clock", t.T("Invited"), "info", ""}, t.T("The code is good until %s", t.clock(p.CodeExpires, now))
	case p.Invited:
		row.State, row.Meta = &pill{"warn", t.T("Invitation over"), "warn", ""}, t.T("The code was not used in time")
	case p.UsedAt.IsZero():
		row.Meta = t.T("Not signed in anywhere")
	default:
		row.Meta = t.T("Here %s", t.ago(p.UsedAt, now))
	}
	if p.IssuerOnly {
		row.Meta += ". " + t.T("Has no password")
	}
	if p.CodeFor == account.Reset {
		row.Meta += ". " + t.T("A code for a new password is good until %s", t.clock(p.CodeExpires, now))
	}
	// What a lock is to others is seen by those who can explain it (S-080).
	if p.Slowed > 0 {
		row.State = &pill{"clock", t.T("Slowed: too many wrong passwords"), "warn", ""}
		row.Meta += ". " + t.T("The next try counts in %s", t.span(p.Slowed))
	}
	row.Takes = t.T("This takes %s’s follows (%s), places (%s), sign-ins and keys, and cannot be undone. The library itself stays as it is.", p.Name,
		t.T("%d Series", p.Follows), t.T("%d chapters", p.Read))
	return row
}

// refusePeople shows the page again with why nothing was done, or passes the
// error on.
func (s *Server) refusePeople(w http.ResponseWriter, r *http.Request, err error) error {
	var refused string
	switch {
	case errors.Is(err, account.ErrLast):
		refused = s.say(r.Context()).T("This is the last administrator who can sign in. Make somebody else one first.")
	case errors.Is(err, account.ErrChanged):
		refused = s.say(r.Context()).T("Somebody else has changed this person meanwhile. Nothing was done; the list shows how it is now.")
	case fault.Is(err, fault.NotFound):
		refused = s.say(r.Context()).T("This person is not here any more, or is disabled. Nothing was done.")
	default:
		return err
	}
	v, verr := s.peopleView(r)
	if verr != nil {
		return verr
	}
	v.Refused = refused
	s.render(w, r, http.StatusConflict, "people", v)
	return nil
}

// invite adds a person. The code is on the page that answers and nowhere else.
func (s *Server) invite(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	name, role := r.PostFormValue("name"), r.PostFormValue("role")
	in, err := s.Accounts.Invite(r.Context(), name, role)
	var problem string
	switch {
	case errors.Is(err, account.ErrName):
		problem = s.say(r.Context()).nameProblem()
	case errors.Is(err, account.ErrTaken):
		problem = s.say(r.Context()).T("Somebody here has this name already.")
	case errors.Is(err, account.ErrRole):
		return invalid("a role")
	case err != nil:
		return err
	}
	if problem != "" {
		v, err := s.peopleView(r)
		if err != nil {
			return err
		}
		v.Problem, v.Typed, v.TypedRole = problem, name, role
		s.render(w, r, http.StatusUnprocessableEntity, "people", v)
		return nil
	}
	return s.showCode(w, r, in)
}

func (s *Server) newCode(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r.PathValue("person"))
	if err != nil {
		return err
	}
	in, err := s.Accounts.NewCode(r.Context(), id)
	if err != nil {
		return s.refusePeople(w, r, err)
	}
	return s.showCode(w, r, in)
}

func (s *Server) showCode(w http.ResponseWriter, r *http.Request, in account.Invited) error {
	v, err := s.peopleView(r)
	if err != nil {
		return err
	}
	link := forwarded.Origin(r) + basePath(r) + "/join#" + url.Values{"name": {in.Name}, "code": {in.Code}}.Encode()
	v.Code = &shownCode{Name: in.Name, For: in.For, Code: in.Code, Link: link, Until: s.say(r.Context()).clock(in.Expires, time.Now())}
	s.render(w, r, http.StatusOK, "people", v)
	return nil
}

func (s *Server) setRole(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	return s.changePerson(w, r, "role", func(id int64) error {
		err := s.Accounts.SetRole(r.Context(), id, r.PostFormValue("from"), r.PostFormValue("to"))
		if errors.Is(err, account.ErrRole) {
			return invalid("a role")
		}
		return err
	})
}

func (s *Server) disable(w http.ResponseWriter, r *http.Request) error {
	return s.changePerson(w, r, "disabled", func(id int64) error { return s.Accounts.Disable(r.Context(), id) })
}

func (s *Server) enable(w http.ResponseWriter, r *http.Request) error {
	return s.changePerson(w, r, "enabled", func(id int64) error { return s.Accounts.Enable(r.Context(), id) })
}

func (s *Server) remove(w http.ResponseWriter, r *http.Request) error {
	return s.changePerson(w, r, "removed", func(id int64) error {
		if err := s.Accounts.Remove(r.Context(), id); err != nil {
			return err
		}
		s.Follows.Wake()
		return nil
	})
}

func (s *Server) changePerson(w http.ResponseWriter, r *http.Request, said string, change func(id int64) error) error {
	id, err := number(r.PathValue("person"))
	if err != nil {
		return err
	}
	if err := change(id); err != nil {
		return s.refusePeople(w, r, err)
	}
	if id == who(r).ID {
		// This page may not be theirs any more.
		return redirect(w, r, "/me")
	}
	return redirect(w, r, "/settings/people?said="+said+"#person-"+strconv.FormatInt(id, 10))
}
