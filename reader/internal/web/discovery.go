package web

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"mangrove/internal/fault"
	"mangrove/reader/internal/scraperclient"
)

// discoveryView is what the newest discovery did, in words.
type discoveryView struct {
	Text string
	// Skips are the Series it passed over; More says how many are not listed.
	Skips []discoverySkip
	More  string
}

type discoverySkip struct{ Name, Href, Why, JobHref string }

// lastDiscovery words the newest discovery; nil before the first.
func (t tongue) lastDiscovery(d *scraperclient.Discovery, now time.Time) *discoveryView {
	if d == nil {
		return nil
	}
	v := &discoveryView{}
	at := t.dated(d.Started, now)
	switch {
	case d.End == "no_inventory":
		v.Text = t.T("Last looked %s, in vain: what the library holds could not be seen. It looks again the next night.", at)
	case d.End == "stopped":
		v.Text = t.T("Last looked %s, and was stopped before it was through.", at)
	case d.LookedAt == 0:
		v.Text = t.T("Last looked %s: nothing is lacking.", at)
	default:
		v.Text = t.T("Last looked %s: %s, %s.", at, t.T("%d Series are lacking chapters", d.LookedAt), t.T("%d downloads asked for", d.Requested))
	}
	for _, k := range d.Skips {
		s := discoverySkip{Name: cmp.Or(k.Series.Title, k.Series.SeriesID), Href: siteAddress(k.Series.Key), Why: t.skipWords(k.Why)}
		if k.JobID != 0 {
			s.JobHref = jobAddress(k.JobID)
		}
		v.Skips = append(v.Skips, s)
	}
	if left := d.Skipped - len(v.Skips); left > 0 {
		v.More = t.T("and %d others", left)
	}
	return v
}

func (t tongue) skipWords(why string) string {
	switch why {
	case "outstanding":
		return t.T("a download is under way")
	case "unavailable":
		return t.T("its title was unavailable; Retry asks again")
	case "quarantined":
		return t.T("its download was set aside and waits for you")
	}
	return t.T("it could not be looked at")
}

// mostFloor is the largest floor of free space a field takes, in megabytes.
const mostFloor = 1 << 30

// setFloor sets how much room downloads leave where the library lies.
func (s *Server) setFloor(w http.ResponseWriter, r *http.Request) error {
	if err := s.operatorForm(r); err != nil {
		return err
	}
	mb, err := strconv.ParseInt(strings.TrimSpace(r.PostFormValue("floor")), 10, 64)
	if err != nil || mb < 0 || mb > mostFloor {
		return invalid("a number of megabytes")
	}
	if err := s.Scraper.SetFreeSpaceFloor(r.Context(), mb<<20); err != nil {
		return err
	}
	return leadBack(w, r, url.Values{"did": {"floor"}}, "")
}

// acceptMissing takes a chapter without the pages that its Site does not give (C19).
func (s *Server) acceptMissing(w http.ResponseWriter, r *http.Request) error {
	if err := s.operatorForm(r); err != nil {
		return err
	}
	id, err := number(r.PathValue("job"))
	if err != nil {
		return err
	}
	chapter := r.PostFormValue("chapter")
	if chapter == "" || len(chapter) > 512 {
		return invalid("a chapter")
	}
	tells := url.Values{"job": {strconv.FormatInt(id, 10)}, "did": {"accept"}, "changed": {"yes"}}
	err = s.Scraper.AcceptMissing(r.Context(), id, chapter)
	if fault.Is(err, fault.Stale) {
		// A second click, or somebody else's.
		tells.Set("changed", "no")
		err = nil
	}
	if err != nil {
		return err
	}
	return leadBack(w, r, tells, "")
}

// fetchAgain has a chapter fetched once more in place of a file that is rotten or
// gone (F81, F89).
func (s *Server) fetchAgain(w http.ResponseWriter, r *http.Request) error {
	if err := s.operatorForm(r); err != nil {
		return err
	}
	chapter := r.PostFormValue("chapter")
	if chapter == "" || len(chapter) > 512 {
		return invalid("a chapter")
	}
	if err := s.Scraper.FetchAgain(r.Context(), keyOf(r), chapter); err != nil {
		return err
	}
	return redirect(w, r, siteAddress(keyOf(r)))
}

// mostGroups bounds a preference, as the scraper does.
const mostGroups = 20

// preferGroups says whose releases of a Series are wanted (C21).
func (s *Server) preferGroups(w http.ResponseWriter, r *http.Request) error {
	if err := s.operatorForm(r); err != nil {
		return err
	}
	var groups []string
	for _, g := range strings.FieldsFunc(r.PostFormValue("groups"), func(c rune) bool { return c == ',' || c == '\n' }) {
		if g = strings.TrimSpace(g); g != "" {
			groups = append(groups, g)
		}
	}
	if len(groups) > mostGroups {
		return invalid("so many groups")
	}
	if err := s.Scraper.PreferGroups(r.Context(), keyOf(r), groups); err != nil {
		return err
	}
	return redirect(w, r, siteAddress(keyOf(r))+"#groups")
}
