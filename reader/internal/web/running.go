package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"mangrove/internal/fault"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/scraperclient"
)

// Operating is what the pages for those who run Mangrove ask the scraper.
type Operating interface {
	ListWorklist(ctx context.Context, q scraperclient.WorklistQuery) (scraperclient.Worklist, error)
	ListLanes(ctx context.Context) (scraperclient.Lanes, error)
	RequestPolls(ctx context.Context, keys []scraperclient.Key) (int, error)
	SetMuted(ctx context.Context, keys []scraperclient.Key, muted bool) (int, error)
	Settings(ctx context.Context) (scraperclient.Settings, error)
	Library(ctx context.Context) (scraperclient.Library, error)
	SetAdaptive(ctx context.Context, on bool) error
	SetCanary(ctx context.Context, hours int) error
	SetLanguages(ctx context.Context, tags []string) error
	SetPollInterval(ctx context.Context, site string, hours int) error
	PauseSite(ctx context.Context, site string) error
	ResumeSite(ctx context.Context, site string, confirmed bool) (quietUntil time.Time, err error)
	ListNewChapters(ctx context.Context, limit int) ([]scraperclient.NewChapter, error)
	Queueing
	ListIncidents(ctx context.Context, unresolved bool, offset, limit int) (scraperclient.Incidents, error)
	GetIncident(ctx context.Context, id int64) (scraperclient.IncidentDetail, error)
	SaveIncident(ctx context.Context, id int64) (scraperclient.Bundle, error)
	ResolveIncident(ctx context.Context, id int64) error
}

// running is what waits for a person: the counts in the navigation of those
// who run Mangrove. Others have none and do not see these pages.
type running struct {
	Failing, Lanes int
	// Ready are Jobs that wait for a word, Quarantined those set aside.
	Ready, Quarantined int
	say                tongue
}

// runningOf counts from the last known status. While the scraper is away
// nothing is known, so nothing is counted.
func runningOf(say tongue, u account.User, p scraperclient.Presence) *running {
	if u.Role != account.Administrator {
		return nil
	}
	r := &running{say: say}
	if p.Away || p.Status == nil {
		return r
	}
	// A muted failure is one that somebody has looked at: it waits for nobody.
	r.Failing = p.Status.SeriesFailing - p.Status.SeriesMuted
	r.Ready, r.Quarantined = p.Status.JobsReady, p.Status.JobsQuarantined
	for _, l := range p.Status.Lanes {
		if needsPerson(l) {
			r.Lanes++
		}
	}
	return r
}

// needsPerson reports whether a Lane goes on only after someone acts. One that
// somebody paused waits for nobody: it was meant.
func needsPerson(l scraperclient.Lane) bool {
	return l.Trouble == "refused" || l.Circuit == "paused" && l.CircuitReason != "operator" || browserless(l)
}

// unanswered reports whether the scraper has not given its word: it is away, or
// went away during the very call.
func unanswered(err error) bool { return fault.Is(err, fault.Away) || fault.Is(err, fault.Network) }

// navCount is one count in the navigation, an element of its own so that it
// changes live.
type navCount struct{ ID, Text, Says, Tone string }

// The counts' elements.
func navCountIDs() []string {
	return []string{"side-worklist", "side-lanes", "side-scraper", "tab-worklist", "tab-lanes", "tab-scraper", "foot-running"}
}

// Count words the count for the element with this id; Text is "" at zero.
func (r running) Count(id string) navCount {
	c, n := navCount{ID: id, Says: " " + r.say.T("Series failing"), Tone: "tone-bad"}, r.Failing
	switch {
	case strings.HasSuffix(id, "-lanes"):
		c.Says, n = " "+r.say.T("needing a person"), r.Lanes
	case strings.HasSuffix(id, "-scraper") && r.Quarantined > 0:
		c.Says, n = " "+r.say.T("downloads quarantined or waiting for your word"), r.Quarantined+r.Ready
	case strings.HasSuffix(id, "-scraper"):
		c.Says, c.Tone, n = " "+r.say.T("downloads waiting for your word"), "", r.Ready
	}
	if n > 0 {
		c.Text = r.say.number(n)
	}
	return c
}

// Stopped is the one line of Home on what has stopped, "" if nothing has.
func (r running) Stopped() string {
	var text string
	if r.Failing > 0 {
		text = r.say.T("%d Series have stopped updating.", r.Failing)
	}
	if r.Lanes > 0 {
		text += " " + r.say.T("%d Sites are not asked until a person looks.", r.Lanes)
	}
	return strings.TrimSpace(text)
}

// elementID names an element after what it shows, with no more than an address
// may carry: ids of Sites are text from outside.
func elementID(prefix string, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return prefix + hex.EncodeToString(sum[:6])
}

// plainKey reports whether a Site's key can be typed as it is.
func plainKey(site string) bool {
	for _, r := range site {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return false
		}
	}
	return site != "" && site[0] != '-'
}
