package scrapertest

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// SetSettings sets the settings and the Sites that have some.
func (s *Scraper) SetSettings(settings *scraperv1.GetSettingsResponse) {
	s.change(func() { s.settings = settings })
}

// GetSettings answers what was set.
func (s *Scraper) GetSettings(context.Context, *scraperv1.GetSettingsRequest) (*scraperv1.GetSettingsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settings == nil {
		return &scraperv1.GetSettingsResponse{}, nil
	}
	return proto.CloneOf(s.settings), nil
}

// SetAdaptiveInterval switches it.
func (s *Scraper) SetAdaptiveInterval(_ context.Context, r *scraperv1.SetAdaptiveIntervalRequest) (*scraperv1.SetAdaptiveIntervalResponse, error) {
	s.change(func() {
		if s.settings == nil {
			s.settings = &scraperv1.GetSettingsResponse{}
		}
		s.settings.AdaptiveInterval = r.GetOn()
	})
	return &scraperv1.SetAdaptiveIntervalResponse{}, nil
}

// SetCanaryInterval chooses it, 6 to 168 hours or never.
func (s *Scraper) SetCanaryInterval(_ context.Context, r *scraperv1.SetCanaryIntervalRequest) (*scraperv1.SetCanaryIntervalResponse, error) {
	if h := r.GetHours(); h != 0 && (h < 6 || h > 168) {
		return nil, fault.Newf(fault.Invalid, "set", "how often known Series are read", "%d hours", h)
	}
	s.change(func() {
		if s.settings == nil {
			s.settings = &scraperv1.GetSettingsResponse{}
		}
		s.settings.CanaryHours = r.GetHours()
	})
	return &scraperv1.SetCanaryIntervalResponse{}, nil
}

// SetLanguages chooses the languages; "nonsense" is none.
func (s *Scraper) SetLanguages(_ context.Context, r *scraperv1.SetLanguagesRequest) (*scraperv1.SetLanguagesResponse, error) {
	if slices.Contains(r.GetLanguages(), "nonsense") {
		return nil, fault.New(fault.Invalid, "set", "the languages", nil)
	}
	s.change(func() {
		if s.settings == nil {
			s.settings = &scraperv1.GetSettingsResponse{}
		}
		s.settings.Languages = r.GetLanguages()
	})
	return &scraperv1.SetLanguagesResponse{}, nil
}

// SetPollInterval chooses a Site's interval, refusing as the API says.
func (s *Scraper) SetPollInterval(_ context.Context, r *scraperv1.SetPollIntervalRequest) (*scraperv1.SetPollIntervalResponse, error) {
	if r.GetHours() < 0 || r.GetHours() > 168 {
		return nil, fault.New(fault.Invalid, "set the interval of", r.GetSite(), nil)
	}
	found := false
	s.change(func() {
		for _, site := range s.settings.GetSites() {
			if site.GetSite() == r.GetSite() {
				found, site.IntervalHours = true, r.GetHours()
			}
		}
	})
	if !found {
		return nil, fault.New(fault.NotFound, "set the interval of", r.GetSite(), nil)
	}
	return &scraperv1.SetPollIntervalResponse{}, nil
}
