// Package all is the explicit list of adapters the scraper ships. Adding a Site
// means adding a line here; nothing registers itself.
package all

import (
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/mangadex"
	"mangrove/scraper/internal/source/peppercarrot"
	"mangrove/scraper/internal/source/sample"
)

// Options are what adapters need to know from the settings.
type Options struct {
	// SampleURL reads the sample Site from there instead of the built-in copy.
	SampleURL string
}

// Adapters makes every adapter. The returned function ends what they started.
func Adapters(o Options) ([]source.Adapter, func(), error) {
	m, err := mangadex.New(mangadex.Config{})
	if err != nil {
		return nil, nil, err
	}
	s, err := sample.Start(o.SampleURL)
	if err != nil {
		return nil, nil, err
	}
	return []source.Adapter{s, m, peppercarrot.New()}, s.Close, nil
}
