package feed

import (
	"net/url"
	"time"

	"github.com/andybalholm/cascadia"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// LeastPacing is how fast a web comic's server is asked at most, usualPacing how
// fast where nothing is said.
const (
	LeastPacing = time.Second
	usualPacing = 3 * time.Second
)

// Config declares one web comic by its feed: Address is the feed's, the Series has
// the Site's key and name. Hosts are where pages and images lie besides.
type Config struct {
	source.Declaration
	// Images is a CSS selector of the comic's images on the page an item links to.
	// Without one they are those in the item itself, or else the one the page
	// offers for sharing (og:image).
	Images string
	// Authors, Description and License are what the feed does not say.
	Authors              []string
	Description, License string
}

// Adapter reads one feed.
type Adapter struct {
	config Config
	site   source.Site
	base   *url.URL
	images cascadia.Selector
}

var _ source.Adapter = (*Adapter)(nil)

// New makes the adapter of a feed, or says what is wrong with its declaration:
// source.Flaws.
func New(c Config) (*Adapter, error) {
	base, flaws := c.Check(LeastPacing)
	a := &Adapter{config: c, base: base}
	if c.Images != "" {
		var err error
		if a.images, err = cascadia.Compile(c.Images); err != nil {
			flaws.Add("images", "%q is no CSS selector", c.Images)
		}
	}
	if len(flaws) > 0 {
		return nil, fault.New(fault.Invalid, "declare", "the feed "+c.Key, flaws)
	}
	a.site = c.Site(base, usualPacing)
	a.site.ImagesInFlight = 1
	return a, nil
}

// Site describes the feed as a Site.
func (a *Adapter) Site() source.Site { return a.site }
