package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// scraperAddress is the page of the queue.
const scraperAddress = "/settings/scraper"

// How many Jobs a part of the queue shows, and how many when it is shown alone.
const (
	partLength = 10
	pageLength = 50
)

// part is one part of the queue: Jobs that need the same of a person.
type part struct {
	key    string
	states []string
}

// The parts, in the order of need.
func queueParts() []part {
	return []part{
		{"ready", []string{"ready"}},
		{"now", []string{"inspecting", "downloading"}},
		{"queue", []string{"requested", "queued", "retry_wait", "paused"}},
		{"aside", []string{"quarantined", "unavailable"}},
		{"ended", []string{"done", "cancelled"}},
	}
}

// scraperQuery is one view of the page. All of it lives in the address.
type scraperQuery struct {
	// Show is the part that is shown alone, "" for all of them.
	Show string
	Page int
	told
}

// told is what a form led back with: what was done, and what is to be confirmed.
type told struct {
	// did is an act on job, or on many when job is 0; changed says whether it
	// found something to do, many how many moved.
	did     string
	job     int64
	changed string
	many    int
	// site is the Site that was tried or whose act is to be confirmed.
	site, tried, confirm string
}

func scraperQueryOf(v url.Values) (scraperQuery, error) {
	q := scraperQuery{Show: v.Get("show"), Page: 1}
	if q.Show != "" && !slices.ContainsFunc(queueParts(), func(p part) bool { return p.key == q.Show }) {
		return q, notFound("a part of the queue")
	}
	if text := v.Get("page"); text != "" {
		n, err := number(text)
		if err != nil || n > 1<<20 || q.Show == "" {
			return q, notFound("a page of the queue")
		}
		q.Page = int(n)
	}
	var err error
	q.told, err = toldOf(v)
	return q, err
}

func toldOf(v url.Values) (told, error) {
	t := told{did: v.Get("did"), changed: v.Get("changed"), site: v.Get("site"), tried: v.Get("tried"), confirm: v.Get("confirm")}
	if len(t.site) > 512 {
		return t, notFound("a Site")
	}
	if text := v.Get("job"); text != "" {
		n, err := number(text)
		if err != nil {
			return t, err
		}
		t.job = n
	}
	// A count out of range counts as none: it only words what was done.
	if n, err := strconv.Atoi(v.Get("many")); err == nil && n > 0 {
		t.many = n
	}
	return t, nil
}

func (q scraperQuery) address() string {
	v := url.Values{}
	if q.Show != "" {
		v.Set("show", q.Show)
	}
	if q.Page > 1 {
		v.Set("page", strconv.Itoa(q.Page))
	}
	if len(v) == 0 {
		return scraperAddress
	}
	return scraperAddress + "?" + v.Encode()
}

// scraperPage answers the queue, the Sites and their pace.
func (s *Server) scraperPage(w http.ResponseWriter, r *http.Request) error {
	q, err := scraperQueryOf(r.URL.Query())
	if err != nil {
		return err
	}
	v, err := s.scraperView(r.Context(), q)
	if err != nil {
		return err
	}
	if q.Page > 1 && len(v.Parts) == 1 && len(v.Parts[0].Rows) == 0 && !v.Away {
		q.Page = 1
		return redirect(w, r, q.address())
	}
	refused, err := s.Shelves.CountRefused(r.Context())
	if err != nil {
		return err
	}
	v.Refused = s.say(r.Context()).refusedWords(refused)
	v.Said = s.said(r.Context(), q.told)
	v.Frame = s.frame(r, s.say(r.Context()).T("Scraper"), "scraper")
	live := url.Values{"view": {"scraper"}}
	for key, values := range r.URL.Query() {
		if key == "show" || key == "page" || key == "confirm" || key == "site" || key == "tried" {
			live[key] = values
		}
	}
	v.Live = "/events?" + live.Encode()
	s.render(w, r, http.StatusOK, "settings-scraper", v)
	return nil
}

// queueKnown is what the page is made of.
type queueKnown struct {
	say      tongue
	query    scraperQuery
	parts    map[string]scraperclient.Jobs
	counts   map[string]scraperclient.JobCount
	holds    []scraperclient.Hold
	sites    []scraperclient.LaneDetail
	queue    scraperclient.QueueSettings
	settings scraperclient.Settings
	library  scraperclient.Library
}

// scraperView asks for everything. A scraper that is away is a view too.
func (s *Server) scraperView(ctx context.Context, q scraperQuery) (scraperView, error) {
	k, err := s.knowQueue(ctx, q)
	if unanswered(err) {
		return scraperView{Query: q, Away: true}, nil
	}
	if err != nil {
		return scraperView{}, err
	}
	return k.view(time.Now()), nil
}

func (s *Server) knowQueue(ctx context.Context, q scraperQuery) (queueKnown, error) {
	k := queueKnown{say: s.say(ctx), query: q, parts: map[string]scraperclient.Jobs{}}
	var err error
	for _, p := range queueParts() {
		if q.Show != "" && p.key != q.Show || q.Show == "" && p.key == "ended" {
			continue
		}
		ask := scraperclient.JobsQuery{States: p.states, Limit: partLength}
		if q.Show != "" {
			ask.Limit, ask.Offset = pageLength, (q.Page-1)*pageLength
		}
		if k.parts[p.key], err = s.Scraper.ListJobs(ctx, ask); err != nil {
			return k, err
		}
		k.counts = k.parts[p.key].Counts
	}
	if k.holds, err = s.Scraper.ListHolds(ctx); err != nil {
		return k, err
	}
	if k.sites, err = s.Scraper.ListSites(ctx); err != nil {
		return k, err
	}
	if k.queue, err = s.Scraper.QueueSettings(ctx); err != nil {
		return k, err
	}
	if k.settings, err = s.Scraper.Settings(ctx); err != nil {
		return k, err
	}
	k.library, err = s.Scraper.Library(ctx)
	return k, err
}

// count adds up the Jobs of some states.
func (k queueKnown) count(states ...string) (n scraperclient.JobCount) {
	for _, s := range states {
		n.Jobs += k.counts[s].Jobs
		n.Chapters += k.counts[s].Chapters
	}
	return n
}
