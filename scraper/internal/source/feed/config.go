package feed

import (
	"net/url"
	"slices"
	"time"

	"github.com/andybalholm/cascadia"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// leastPacing is how fast a web comic's server is asked at most.
const leastPacing = time.Second

// Config declares one web comic by its feed. Only Key, Name and Address are needed.
type Config struct {
	// Key and Name are the Site's; the Series has the same.
	Key, Name string
	// Address is where the feed lies.
	Address string
	// Hosts are those beside the feed's own on which pages or images lie.
	Hosts []string
	// Language of the comic, where the feed does not say (BCP 47).
	Language string
	// Pacing is the least time between two requests; 0 means three seconds.
	Pacing time.Duration
	// Images is a CSS selector of the comic's images on the page an item links to.
	// Without one they are those in the item itself, or else the one the page
	// offers for sharing (og:image).
	Images string
	// Direction is "", "ltr", "rtl" or "strip".
	Direction string
	// Authors, Description and License are what the feed does not say.
	Authors              []string
	Description, License string
}

// Adapter reads one feed.
type Adapter struct {
	config Config
	base   *url.URL
	images cascadia.Selector
}

var _ source.Adapter = (*Adapter)(nil)

// New makes the adapter of a feed, or says what is wrong with its declaration.
func New(c Config) (*Adapter, error) {
	bad := func(format string, args ...any) (*Adapter, error) {
		return nil, fault.Newf(fault.Invalid, "declare", "the feed "+c.Key, format, args...)
	}
	if c.Key == "" || c.Name == "" {
		return bad("it needs a key and a name")
	}
	base, err := url.Parse(c.Address)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil {
		return bad("%q is no http or https address", c.Address)
	}
	if !slices.Contains(source.Directions(), c.Direction) {
		return bad("direction %q is none of %q", c.Direction, source.Directions())
	}
	if c.Pacing == 0 {
		c.Pacing = 3 * time.Second
	}
	if c.Pacing < leastPacing {
		return bad("a pacing of %s is faster than %s", c.Pacing, leastPacing)
	}
	a := &Adapter{config: c, base: base}
	if c.Images != "" {
		if a.images, err = cascadia.Compile(c.Images); err != nil {
			return bad("images %q is no CSS selector", c.Images)
		}
	}
	a.config.Hosts = append([]string{base.Host}, slices.DeleteFunc(slices.Clone(c.Hosts), func(h string) bool { return h == base.Host })...)
	return a, nil
}

// Site describes the feed as a Site.
func (a *Adapter) Site() source.Site {
	s := source.Site{
		Key: a.config.Key, Name: a.config.Name, Hosts: slices.Clone(a.config.Hosts), Pacing: a.config.Pacing, ImagesInFlight: 1,
		WorkPrefix: a.config.Key + "-",
	}
	if a.config.Language != "" {
		s.Languages = []string{a.config.Language}
	}
	return s
}
