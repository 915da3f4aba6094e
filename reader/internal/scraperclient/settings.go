package scraperclient

import (
	"context"
	"time"

	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// Settings are what an operator changes while the scraper runs.
type Settings struct {
	// Adaptive is true when quiet Series are read less often.
	Adaptive bool
	// Languages are those a Follow wants when it names none, as BCP 47; none takes
	// each Site's own.
	Languages []string
	// CanaryHours are the hours between two readings of a Site's known Series; 0 is never.
	CanaryHours int
	// Sites are those that are read, by name.
	Sites []SiteSettings
}

// SiteSettings is what an operator may choose for one Site.
type SiteSettings struct {
	Site, Name string
	// Hours are the chosen ones between two Polls of one Series, 0 for no choice;
	// Default holds then.
	Hours   int
	Default time.Duration
}

// Settings answers the settings.
func (c *Client) Settings(ctx context.Context) (Settings, error) {
	resp, err := call(ctx, c, "read", "the settings", func(ctx context.Context) (*scraperv1.GetSettingsResponse, error) {
		return c.api.GetSettings(ctx, &scraperv1.GetSettingsRequest{})
	})
	if err != nil {
		return Settings{}, err
	}
	out := Settings{Adaptive: resp.GetAdaptiveInterval(), Languages: resp.GetLanguages(), CanaryHours: int(resp.GetCanaryHours())}
	for _, s := range resp.GetSites() {
		out.Sites = append(out.Sites, SiteSettings{
			Site: s.GetSite(), Name: s.GetSiteName(), Hours: int(s.GetIntervalHours()), Default: time.Duration(s.GetDefaultIntervalSeconds() * float64(time.Second)),
		})
	}
	return out, nil
}

// SetAdaptive switches whether quiet Series are read less often.
func (c *Client) SetAdaptive(ctx context.Context, on bool) error {
	_, err := call(ctx, c, "switch", "the adaptive interval", func(ctx context.Context) (*scraperv1.SetAdaptiveIntervalResponse, error) {
		return c.api.SetAdaptiveInterval(ctx, &scraperv1.SetAdaptiveIntervalRequest{On: on})
	})
	return err
}

// SetCanary chooses the hours between two readings of a Site's known Series, 6 to 168;
// 0 is never.
func (c *Client) SetCanary(ctx context.Context, hours int) error {
	_, err := call(ctx, c, "set", "how often known Series are read", func(ctx context.Context) (*scraperv1.SetCanaryIntervalResponse, error) {
		return c.api.SetCanaryInterval(ctx, &scraperv1.SetCanaryIntervalRequest{Hours: int32(hours)})
	})
	return err
}

// SetLanguages chooses the languages of Follows that name none; none takes the
// choice back.
func (c *Client) SetLanguages(ctx context.Context, tags []string) error {
	_, err := call(ctx, c, "set", "the languages", func(ctx context.Context) (*scraperv1.SetLanguagesResponse, error) {
		return c.api.SetLanguages(ctx, &scraperv1.SetLanguagesRequest{Languages: tags})
	})
	return err
}

// SetPollInterval chooses the hours between two Polls of one Series of a Site, 1 to
// 168; 0 takes the choice back.
func (c *Client) SetPollInterval(ctx context.Context, site string, hours int) error {
	_, err := call(ctx, c, "set the interval of", site, func(ctx context.Context) (*scraperv1.SetPollIntervalResponse, error) {
		return c.api.SetPollInterval(ctx, &scraperv1.SetPollIntervalRequest{Site: site, Hours: int32(hours)})
	})
	return err
}
