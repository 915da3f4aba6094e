package web

import (
	"context"
	"net/http"
	"time"

	"mangrove/internal/fault"
	"mangrove/reader/internal/scraperclient"
)

// proposal is an address that a Series may have moved to. It is shown and never
// followed by itself (POLL-13).
type proposal struct {
	scraperclient.Proposal
	pasted
}

// proposalOf asks whether a Site here reads the address; nil for no proposal.
func (s *Server) proposalOf(ctx context.Context, proposed scraperclient.Proposal) *proposal {
	if proposed.URL == "" {
		return nil
	}
	p := &proposal{Proposal: proposed}
	var err error
	if p.pasted, err = s.paste(ctx, proposed.URL); err != nil {
		// The address itself is worth showing all the same.
		p.Away = true
	}
	return p
}

// movePage previews a move: what was recognised, what stays and what happens.
// Nothing is changed before the form on it is sent.
func (s *Server) movePage(w http.ResponseWriter, r *http.Request) error {
	v, err := s.moveView(r, r.URL.Query().Get("address"))
	if err != nil {
		return err
	}
	s.render(w, r, http.StatusOK, "move", v)
	return nil
}

// move moves a Series to where an address leads (POLL-14). What the scraper
// refuses is said on the same page, with what can be done.
func (s *Server) move(w http.ResponseWriter, r *http.Request) error {
	if err := s.costlyCall(r); err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	address := r.PostFormValue("address")
	full, ok := asAddress(address)
	if !ok {
		return s.moveRefused(w, r, address, http.StatusNotFound, nil)
	}
	to, err := s.Follows.Move(r.Context(), keyOf(r), full)
	switch fault.Of(err) {
	case "":
		return redirect(w, r, siteAddress(to))
	case fault.Stale:
		return s.moveRefused(w, r, address, http.StatusConflict, s.say(r.Context()).underWay(""))
	case fault.Conflict:
		return s.moveRefused(w, r, address, http.StatusConflict, &moveProblem{
			Heading: s.say(r.Context()).T("Another Series here has that address"), Text: s.say(r.Context()).T("It is known under the new name already. Nothing was moved."),
		})
	case fault.NotFound, fault.Invalid:
		return s.moveRefused(w, r, address, http.StatusNotFound, nil)
	}
	return err
}

// moveRefused answers the preview again, with why nothing was moved. What the
// preview finds by itself is nearer to the truth than the refusal's class.
func (s *Server) moveRefused(w http.ResponseWriter, r *http.Request, address string, code int, why *moveProblem) error {
	v, err := s.moveView(r, address)
	if err != nil {
		return err
	}
	if v.Problem == nil {
		v.Problem = why
	}
	if v.Problem != nil {
		v.To = nil
	}
	s.render(w, r, code, "move", v)
	return nil
}

func (s *Server) moveView(r *http.Request, address string) (moveView, error) {
	k, err := s.know(r.Context(), who(r), keyOf(r), nil)
	if err != nil {
		return moveView{}, err
	}
	now := time.Now()
	series, say := k.view(now), k.say
	v := moveView{
		Path: series.Path, Back: siteAddress(k.Key), Name: series.Name, Cover: series.Cover, SiteName: series.SiteName, URL: series.SiteURL,
		Address: address, Proposal: series.Proposal,
	}
	v.Frame = s.frame(r, say.T("Move %s", series.Name), "library")
	v.Frame.Back = v.Back
	p, err := s.paste(r.Context(), address)
	if err != nil {
		return v, err
	}
	v.Away = k.Presence.Away || p.Away
	switch {
	case v.Away:
		return v, nil
	case k.State == nil:
		v.Problem = &moveProblem{Heading: say.T("It is not read anywhere"), Text: say.T("The scraper does not know this Series, so there is nothing to move.")}
		return v, nil
	case p.Unread:
		v.Problem = say.unreadProblem(p)
	}
	if k.State.Job != nil && outstanding(k.State.Job.State) && v.Problem == nil {
		v.Problem = say.underWay(say.jobWords(k.State.Job, now).Word)
		return v, nil
	}
	if p.Found != nil {
		s.place(&v, k, *p.Found)
	}
	if v.To != nil {
		v.Stays, v.Next = moveStays(k, series, now), say.moveNext(v.To.SiteName, k.Title != nil)
	}
	return v, nil
}

// place words where an address leads, or why the Series cannot move there.
func (s *Server) place(v *moveView, k seriesKnown, at scraperclient.Recognised) {
	to := &movePlace{SiteName: at.SiteName, URL: at.URL, Address: v.Address, Open: webAddress(at.URL)}
	if at.SiteName == "" {
		to.SiteName = at.Site
	}
	switch {
	case at.Key == k.Key && at.URL == k.State.Series.URL:
		v.Problem = &moveProblem{Heading: k.say.T("It is read there already"), Text: k.say.T("This is the address of the Series as it is. Nothing would change.")}
		return
	case at.Key == k.Key:
		to.Same = true
	case at.Known != nil:
		v.Problem = &moveProblem{
			Heading: k.say.T("Another Series here has that address"), Href: siteAddress(at.Key), Link: k.say.T("Open %s", nameOf(*at.Known)),
			Text: k.say.T("%s on %s is known here already, with chapters and follows of its own. Two Series cannot become one; unfollow the one you do not want.", nameOf(*at.Known), to.SiteName),
		}
		return
	}
	v.To = to
}

// outstanding reports whether a Job has its place under the Series' name (JOB-2).
func outstanding(state string) bool {
	switch state {
	case "requested", "inspecting", "ready", "queued", "downloading", "retry_wait", "paused":
		return true
	}
	return false
}
