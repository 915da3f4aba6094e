package rpc

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/text/language"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/lane"
)

// GetSettings answers what an operator changes while the scraper runs.
func (s *Server) GetSettings(ctx context.Context, _ *scraperv1.GetSettingsRequest) (*scraperv1.GetSettingsResponse, error) {
	adaptive, err := s.Store.AdaptiveInterval(ctx)
	if err != nil {
		return nil, err
	}
	out := &scraperv1.GetSettingsResponse{AdaptiveInterval: adaptive}
	if out.Languages, err = s.Store.DefaultLanguages(ctx); err != nil {
		return nil, err
	}
	every, err := s.Store.CanaryEvery(ctx)
	if err != nil {
		return nil, err
	}
	out.CanaryHours = int32(every / time.Hour)
	for key, a := range s.Adapters.All() {
		chosen, err := s.Store.PollInterval(ctx, key)
		if err != nil {
			return nil, err
		}
		out.Sites = append(out.Sites, &scraperv1.SiteSettings{
			Site: key, SiteName: a.Site().Name, IntervalHours: int32(chosen / time.Hour), DefaultIntervalSeconds: lane.Ordinary(a.Site(), 0).Seconds(),
		})
	}
	slices.SortFunc(out.Sites, func(a, b *scraperv1.SiteSettings) int {
		return cmp.Or(cmp.Compare(a.GetSiteName(), b.GetSiteName()), cmp.Compare(a.GetSite(), b.GetSite()))
	})
	return out, nil
}

// SetAdaptiveInterval switches whether quiet Series are read less often.
func (s *Server) SetAdaptiveInterval(ctx context.Context, r *scraperv1.SetAdaptiveIntervalRequest) (*scraperv1.SetAdaptiveIntervalResponse, error) {
	return &scraperv1.SetAdaptiveIntervalResponse{}, s.Store.SetAdaptiveInterval(ctx, r.GetOn())
}

// SetCanaryInterval chooses how often each Site is tried by its known Series. It holds
// from the next reading on.
func (s *Server) SetCanaryInterval(ctx context.Context, r *scraperv1.SetCanaryIntervalRequest) (*scraperv1.SetCanaryIntervalResponse, error) {
	return &scraperv1.SetCanaryIntervalResponse{}, s.Store.SetCanaryEvery(ctx, time.Duration(r.GetHours())*time.Hour)
}

// mostLanguages bounds what a Follow may want.
const mostLanguages = 20

// SetLanguages chooses the languages of Follows that name none (POLL-13).
func (s *Server) SetLanguages(ctx context.Context, r *scraperv1.SetLanguagesRequest) (*scraperv1.SetLanguagesResponse, error) {
	if len(r.GetLanguages()) > mostLanguages {
		return nil, fault.Newf(fault.Invalid, "set", "the languages", "%d languages; at most %d are kept", len(r.GetLanguages()), mostLanguages)
	}
	var tags []string
	for _, word := range r.GetLanguages() {
		tag, err := language.Parse(word)
		if err != nil || tag == language.Und {
			return nil, fault.Newf(fault.Invalid, "set", "the languages", "%q is no language tag", word)
		}
		if !slices.Contains(tags, tag.String()) {
			tags = append(tags, tag.String())
		}
	}
	return &scraperv1.SetLanguagesResponse{}, s.Store.SetDefaultLanguages(ctx, tags)
}

// SetPollInterval chooses how far apart the Polls of one Series of a Site lie. It
// holds from the next read of each Series on.
func (s *Server) SetPollInterval(ctx context.Context, r *scraperv1.SetPollIntervalRequest) (*scraperv1.SetPollIntervalResponse, error) {
	if _, ok := s.Adapters.Get(r.GetSite()); !ok {
		return nil, fault.Newf(fault.NotFound, "set the interval of", r.GetSite(), "no such Site")
	}
	d := time.Duration(r.GetHours()) * time.Hour
	if d != 0 && (d < lane.LeastChosen || d > lane.MostChosen) {
		return nil, fault.Newf(fault.Invalid, "set the interval of", r.GetSite(), "%d hours; it is 1 to %d, or 0 for the Site's own", r.GetHours(), int(lane.MostChosen/time.Hour))
	}
	return &scraperv1.SetPollIntervalResponse{}, s.Store.SetPollInterval(ctx, r.GetSite(), d)
}
