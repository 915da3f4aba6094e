package web

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/standing"
	"mangrove/reader/internal/scraperclient"
)

const (
	// healthJobs and healthIncidents are how many of each stand on the page.
	healthJobs      = 5
	healthIncidents = 5
	// standingEvery is how often an open page looks at the supervisor's word.
	standingEvery = 2 * time.Second
)

// scraperReport is what the scraper said when it was asked for this page, kept as its
// last word for when it is away.
type scraperReport struct {
	at        time.Time
	running   scraperclient.Jobs
	holds     []scraperclient.Hold
	incidents scraperclient.Incidents
	waiting   int
}

// healthPage answers how the services stand: the supervisor's word and the scraper's,
// each with its own clock, never mixed (SUP-9).
func (s *Server) healthPage(w http.ResponseWriter, r *http.Request) error {
	v, err := s.healthView(r.Context())
	if err != nil {
		return err
	}
	v.Frame = s.frame(r, s.say(r.Context()).T("Service health"), "health")
	v.Live = "/events?view=health"
	s.render(w, r, http.StatusOK, "health", v)
	return nil
}

// healthView asks both. Neither answering is a view too.
func (s *Server) healthView(ctx context.Context) (healthView, error) {
	now, say := time.Now(), s.say(ctx)
	supervisor, err := s.Standing()
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.Log.Warn("the supervisor's word cannot be read", zap.Error(err))
		}
		supervisor = standing.Report{}
	}
	report, err := s.askScraper(ctx)
	switch {
	case err == nil:
		s.lastReport.Store(&report)
		return say.healthOf(supervisor, s.Scraper.Presence(), &report, now), nil
	case unanswered(err):
		p := s.Scraper.Presence()
		p.Away = true
		return say.healthOf(supervisor, p, s.lastReport.Load(), now), nil
	}
	return healthView{}, err
}

func (s *Server) askScraper(ctx context.Context) (r scraperReport, err error) {
	if r.running, err = s.Scraper.ListJobs(ctx, scraperclient.JobsQuery{States: []string{"inspecting", "downloading"}, Limit: healthJobs}); err != nil {
		return r, err
	}
	if r.holds, err = s.Scraper.ListHolds(ctx); err != nil {
		return r, err
	}
	if r.incidents, err = s.Scraper.ListIncidents(ctx, false, 0, healthIncidents); err != nil {
		return r, err
	}
	r.at, r.waiting = time.Now(), r.incidents.Unresolved
	return r, nil
}

// healthPieces draws both lists anew.
func (s *Server) healthPieces(ctx context.Context, out []piece) ([]piece, error) {
	v, err := s.healthView(ctx)
	if err != nil {
		return nil, err
	}
	v.Frame.Scraper = s.say(ctx).scraperLine(s.Scraper.Presence(), time.Now())
	for _, id := range []string{"health-whole", "health-services", "health-scraper"} {
		if out, err = s.drawPiece(ctx, out, id, id, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// watchStanding says that the page is to be drawn anew when the supervisor's word
// tells of another state, or the scraper comes or goes, until ctx ends.
func (s *Server) watchStanding(ctx context.Context, changed chan<- struct{}) {
	mark := ""
	for {
		report, _ := s.Standing() // none is a state as well
		now := ""
		for _, one := range report.Services {
			now += one.Name + one.State + one.Since.String() + one.Reason
		}
		if s.Scraper.Presence().Away {
			now += "away"
		}
		if now != mark && mark != "" {
			select {
			case changed <- struct{}{}:
			default:
			}
		}
		mark = now
		select {
		case <-ctx.Done():
			return
		case <-time.After(standingEvery):
		}
	}
}
