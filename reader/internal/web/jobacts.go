package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"mangrove/internal/fault"
	"mangrove/reader/internal/scraperclient"
)

// Queueing is what the pages of the queue ask the scraper.
type Queueing interface {
	ListJobs(ctx context.Context, q scraperclient.JobsQuery) (scraperclient.Jobs, error)
	GetJob(ctx context.Context, id int64) (scraperclient.QueueJob, []scraperclient.JobChapter, error)
	ListSites(ctx context.Context) ([]scraperclient.LaneDetail, error)
	ActOnJob(ctx context.Context, id int64, act string) (j scraperclient.QueueJob, changed bool, err error)
	ActOnJobs(ctx context.Context, act string, seen time.Time) (int, error)
	SetJobPriority(ctx context.Context, id int64, priority string) error
	ListHolds(ctx context.Context) ([]scraperclient.Hold, error)
	SetHold(ctx context.Context) error
	ReleaseHold(ctx context.Context, kind string) error
	ProbeSite(ctx context.Context, site string, confirmed bool) (scraperclient.Probed, error)
	SetPacing(ctx context.Context, site string, d time.Duration) error
	QueueSettings(ctx context.Context) (scraperclient.QueueSettings, error)
	SetFreeSpaceFloor(ctx context.Context, bytes int64) error
	AcceptMissing(ctx context.Context, jobID int64, chapterID string) error
	FetchAgain(ctx context.Context, key scraperclient.Key, chapterID string) error
	PreferGroups(ctx context.Context, key scraperclient.Key, groups []string) error
	SetDiscoveryAt(ctx context.Context, at string) error
	WatchQueue(ctx context.Context, changed func()) error
}

// jobActWords are the acts that a form may ask for.
func jobActWords() []string { return []string{"start", "pause", "resume", "retry", "cancel"} }

func priorityWords() []string { return []string{"high", "normal", "low"} }

// backFrom reads the page a form came from. Whatever is no page of the queue
// leads to its first.
func backFrom(r *http.Request) string {
	u, err := url.Parse(safePath(r.PostForm.Get("back")))
	if err != nil {
		return scraperAddress
	}
	switch {
	case u.Path == scraperAddress:
		if q, err := scraperQueryOf(u.Query()); err == nil {
			return q.address()
		}
	case u.Path == "/lanes", strings.HasPrefix(u.Path, "/jobs/"), strings.HasPrefix(u.Path, "/incidents/"):
		return u.Path
	}
	return scraperAddress
}

// leadBack redirects to the page a form came from, with what came of it and the
// element to look at.
func leadBack(w http.ResponseWriter, r *http.Request, tells url.Values, mark string) error {
	to := backFrom(r)
	if len(tells) > 0 {
		sep := "?"
		if strings.Contains(to, "?") {
			sep = "&"
		}
		to += sep + tells.Encode()
	}
	if mark != "" {
		to += "#" + mark
	}
	return redirect(w, r, to)
}

// operatorForm reads a form that makes the scraper work.
func (s *Server) operatorForm(r *http.Request) error {
	if err := s.costlyCall(r); err != nil {
		return err
	}
	return parseForm(r)
}

// actOnJob does to one Job what the button says.
func (s *Server) actOnJob(w http.ResponseWriter, r *http.Request) error {
	if err := s.operatorForm(r); err != nil {
		return err
	}
	id, err := number(r.PathValue("job"))
	if err != nil {
		return err
	}
	tells := url.Values{"job": {strconv.FormatInt(id, 10)}}
	if p := r.PostFormValue("priority"); p != "" {
		if !slices.Contains(priorityWords(), p) {
			return invalid("a priority")
		}
		if err := s.Scraper.SetJobPriority(r.Context(), id, p); err != nil {
			return err
		}
		tells.Set("did", p)
		return leadBack(w, r, tells, "")
	}
	act := r.PostFormValue("act")
	if !slices.Contains(jobActWords(), act) {
		return invalid("an act")
	}
	j, changed, err := s.Scraper.ActOnJob(r.Context(), id, act)
	tells.Set("did", act)
	switch {
	case fault.Is(err, fault.Conflict):
		tells.Set("changed", "other")
	case err != nil:
		return err
	default:
		tells.Set("changed", map[bool]string{true: "yes", false: "no"}[changed])
		tells.Set("job", strconv.FormatInt(j.ID, 10))
		if j.ID != id && strings.HasPrefix(r.PostFormValue("back"), "/jobs/") {
			// A new Job took the place of one that had ended.
			r.PostForm.Set("back", jobAddress(j.ID))
		}
	}
	return leadBack(w, r, tells, "")
}

// actOnJobs starts all that is ready, or retries all that is quarantined, as far
// as the page has shown it.
func (s *Server) actOnJobs(w http.ResponseWriter, r *http.Request) error {
	if err := s.operatorForm(r); err != nil {
		return err
	}
	act := r.PostFormValue("act")
	seen, err := number(r.PostFormValue("seen"))
	if err != nil || act != "start" && act != "retry" {
		return invalid("an act on many")
	}
	n, err := s.Scraper.ActOnJobs(r.Context(), act, time.UnixMilli(seen))
	if err != nil {
		return err
	}
	return leadBack(w, r, url.Values{"did": {act}, "many": {strconv.Itoa(n)}, "changed": {"yes"}}, "")
}

// setHold stops all downloads, or lets them go on.
func (s *Server) setHold(w http.ResponseWriter, r *http.Request) error {
	if err := s.operatorForm(r); err != nil {
		return err
	}
	var err error
	switch kind := r.PostFormValue("release"); kind {
	case "":
		err = s.Scraper.SetHold(r.Context())
	case "queue", "storage":
		err = s.Scraper.ReleaseHold(r.Context(), kind)
	default:
		err = invalid("a Hold")
	}
	if err != nil {
		return err
	}
	return leadBack(w, r, nil, "")
}

// setDiscovery sets when new chapters are looked for each night.
func (s *Server) setDiscovery(w http.ResponseWriter, r *http.Request) error {
	if err := s.operatorForm(r); err != nil {
		return err
	}
	at := ""
	if r.PostFormValue("on") != "" {
		at = r.PostFormValue("at")
		if _, err := time.Parse("15:04", at); err != nil {
			return invalid("a time of day")
		}
	}
	if err := s.Scraper.SetDiscoveryAt(r.Context(), at); err != nil {
		return err
	}
	return leadBack(w, r, url.Values{"did": {"discovery"}}, "")
}

// setPace chooses how often a Site is asked at most.
func (s *Server) setPace(w http.ResponseWriter, r *http.Request) error {
	if err := s.operatorForm(r); err != nil {
		return err
	}
	seconds, err := strconv.ParseFloat(r.PostFormValue("pace"), 64)
	if err != nil || !(seconds >= 0 && seconds <= 3600) {
		return invalid("a pace")
	}
	if err := s.Scraper.SetPacing(r.Context(), r.PathValue("site"), time.Duration(seconds*float64(time.Second))); err != nil {
		return err
	}
	return leadBack(w, r, url.Values{"did": {"pace"}}, "")
}

// pauseLane stops asking a Site until somebody resumes it.
func (s *Server) pauseLane(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	site := r.PathValue("site")
	if err := s.Scraper.PauseSite(r.Context(), site); err != nil {
		return err
	}
	if r.PostForm.Has("back") {
		return leadBack(w, r, url.Values{}, siteElement(site))
	}
	return redirect(w, r, "/lanes#"+laneID(site))
}

// resumeLane ends a pause of a Site. Before the time the Site asked for, it leads
// back to where it came from, which asks once more (CIRC-5).
func (s *Server) resumeLane(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	site := r.PathValue("site")
	quiet, err := s.Scraper.ResumeSite(r.Context(), site, r.PostFormValue("confirmed") == "yes")
	if err != nil {
		return err
	}
	if r.PostForm.Has("back") {
		tells := url.Values{}
		if !quiet.IsZero() {
			tells = url.Values{"site": {site}, "confirm": {"resume"}}
		}
		return leadBack(w, r, tells, siteElement(site))
	}
	if !quiet.IsZero() {
		return redirect(w, r, "/lanes?resume="+queryEscape(site)+"#"+laneID(site))
	}
	return redirect(w, r, "/lanes#"+laneID(site))
}

// probeLane tries one read of a paused Site and resumes it if that goes well.
// The answer takes as long as the Site does.
func (s *Server) probeLane(w http.ResponseWriter, r *http.Request) error {
	if err := s.operatorForm(r); err != nil {
		return err
	}
	site := r.PathValue("site")
	probed, err := s.Scraper.ProbeSite(r.Context(), site, r.PostFormValue("confirmed") == "yes")
	tells := url.Values{"site": {site}, "tried": {"refused"}}
	switch {
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.Invalid):
		return err
	case err != nil && r.Context().Err() != nil:
		return err
	case err != nil:
		tells.Set("tried", "silent")
	case !probed.QuietUntil.IsZero():
		tells = url.Values{"site": {site}, "confirm": {"probe"}}
	case probed.Resumed:
		tells.Set("tried", "resumed")
	}
	return leadBack(w, r, tells, siteElement(site))
}
