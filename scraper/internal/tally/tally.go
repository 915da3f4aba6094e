// Package tally counts what the scraper does and reads how things stand in its
// database, for Prometheus. Counts are of this process; what stands is read when it is
// asked for, at most every fifteen seconds and never for long, and is not told at all
// while the database is away: an old figure is never shown as a new one. It writes
// nothing and decides nothing, and it names no Series.
package tally

import (
	"github.com/prometheus/client_golang/prometheus"

	"mangrove/internal/metrics"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/poll"
)

// Tally counts.
type Tally struct {
	passes, polls, chapters, pages, publications, stalls *prometheus.CounterVec
}

// New registers the counts.
func New(reg prometheus.Registerer) *Tally {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: metrics.Namespace, Name: name, Help: help}, labels)
		reg.MustRegister(c)
		return c
	}
	return &Tally{
		passes:       counter("passes_total", "Passes that have ended, by how.", "site", "outcome"),
		polls:        counter("polls_total", "Polls of Passes that have ended, by their word.", "site", "word"),
		chapters:     counter("new_chapters_total", "Chapters that Passes have found new.", "site"),
		pages:        counter("pages_total", "Pages that were fetched, checked to the end and staged.", "site"),
		publications: counter("publications_total", "Chapters that were published into the library.", "site"),
		stalls:       counter("stalls_total", "Downloads that did not move, by what became of the Job.", "site", "state"),
	}
}

// Open shows a Site's counts before anything has been counted, so that the first of
// each is seen as one more.
func (t *Tally) Open(site string) {
	for _, o := range poll.Outcomes() {
		t.polls.WithLabelValues(site, string(o))
	}
	for _, e := range lane.EndReasons() {
		t.passes.WithLabelValues(site, string(e))
	}
	for _, s := range []job.State{job.Queued, job.Quarantined} {
		t.stalls.WithLabelValues(site, string(s))
	}
	for _, c := range []*prometheus.CounterVec{t.chapters, t.pages, t.publications} {
		c.WithLabelValues(site)
	}
}

// Pass counts a Pass that was recorded, and its Polls.
func (t *Tally) Pass(p lane.Pass) {
	t.passes.WithLabelValues(p.Site, string(p.EndReason)).Inc()
	for o, n := range p.Counts {
		t.polls.WithLabelValues(p.Site, string(o)).Add(float64(n))
	}
	t.chapters.WithLabelValues(p.Site).Add(float64(p.NewChapters))
}

// Page counts a page that was staged.
func (t *Tally) Page(site string) { t.pages.WithLabelValues(site).Inc() }

// Publication counts a chapter that was published.
func (t *Tally) Publication(site string) { t.publications.WithLabelValues(site).Inc() }

// Stall counts a stall; to is where the Job went.
func (t *Tally) Stall(site string, to job.State) { t.stalls.WithLabelValues(site, string(to)).Inc() }
