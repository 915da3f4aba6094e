package lane

import (
	"math/rand/v2"
	"slices"
	"time"

	"mangrove/scraper/internal/source"
)

// interval is how far apart the Polls of one Series lie where its Site says nothing
// else (POLL-5), and jitter how much of it varies, so that Series followed together
// do not stay together.
const (
	interval = 12 * time.Hour
	jitter   = 0.1
)

// longestInterval bounds how rarely a quiet Series is read when intervals adapt.
const longestInterval = 7 * 24 * time.Hour

// NextReason says why the next Poll is when it is, as stored and shown.
type NextReason string

// The reasons.
const (
	// ByInterval is the ordinary interval.
	ByInterval NextReason = "interval"
	// ByReleases is an interval stretched by how rarely the Series releases.
	ByReleases NextReason = "releases"
)

// NextReasons lists every reason once.
func NextReasons() []NextReason { return []NextReason{ByInterval, ByReleases} }

// Interval returns how long after a good read a Series is to be read again, and
// why, from the times of its releases alone: whether it fails or was asked for
// never matters (A13). A Series that releases every two weeks is read about four
// times in that span; one that is overdue, or whose rhythm is unknown, is read at
// the ordinary interval.
// The ordinary interval is the Site's.
func Interval(interval time.Duration, releases []time.Time, now time.Time) (time.Duration, NextReason) {
	releases = slices.Clone(releases)
	slices.SortFunc(releases, time.Time.Compare)
	releases = slices.CompactFunc(releases, func(a, b time.Time) bool { return a.Sub(b).Abs() < time.Hour })
	if len(releases) > 12 {
		releases = releases[len(releases)-12:]
	}
	if len(releases) < 4 {
		return interval, ByInterval
	}
	var gaps []time.Duration
	for i := 1; i < len(releases); i++ {
		gaps = append(gaps, releases[i].Sub(releases[i-1]))
	}
	slices.Sort(gaps)
	gap := gaps[len(gaps)/2]
	quiet := now.Sub(releases[len(releases)-1])
	if quiet < 0 || (quiet > gap*3/4 && quiet < gap*3) {
		// A release is due, or late by less than it is surprising.
		return interval, ByInterval
	}
	stretched := max(min(gap/4, longestInterval), interval)
	if stretched == interval {
		return interval, ByInterval
	}
	return stretched, ByReleases
}

// spread is d with jitter.
func spread(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (1 + jitter*(2*rand.Float64()-1)))
}

// LeastChosen and MostChosen bound what an operator may choose as a Site's
// ordinary interval, in whole hours (A7).
const (
	LeastChosen = time.Hour
	MostChosen  = longestInterval
)

// Ordinary is a Site's ordinary interval: the operator's choice, else what the
// Site's adapter says, else twelve hours.
func Ordinary(site source.Site, chosen time.Duration) time.Duration {
	switch {
	case chosen > 0:
		return min(max(chosen, LeastChosen), MostChosen)
	case site.Interval > 0:
		return site.Interval
	}
	return interval
}

// nextPoll is when a Series polled at now is due again by the ordinary interval.
func (p *pass) nextPoll(now time.Time) time.Time { return now.Add(spread(p.interval)) }
