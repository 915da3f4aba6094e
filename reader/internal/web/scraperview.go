package web

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// scraperView is the queue, the Sites and their pace in words.
type scraperView struct {
	Frame
	Query scraperQuery
	// Away is true when the scraper could not be asked.
	Away  bool
	Said  *said
	Holds []holdNotice
	// Refused counts the files of the library that cannot be read, "" for none.
	Refused string
	// Held is true when the operator's own Hold is set: there is nothing to hold.
	Held  bool
	Tiles []figure
	Parts []jobPart
	Sites []siteRow
	Paces []paceRow
	// Discovery is "HH:MM" or "" for never; DiscoveryAt is what the field shows.
	Discovery, DiscoveryAt string
	// Last is what the newest discovery did, nil before the first.
	Last *discoveryView
	// Floor is the room that is left free, in megabytes.
	Floor string
	// Polling is nil while the scraper is away.
	Polling *pollingView
}

// Address is where the forms of the page lead back to.
func (v scraperView) Address() string { return v.Query.address() }

// said is what came of what the person did.
type said struct{ Tone, Icon, Text string }

// figure is one number that matters, with its name.
type figure struct {
	Name, Figure, Note string
	// State is how much it is worth, nil where that is not in doubt.
	State *pill
}

// holdNotice is a Hold, or what stands in the way of downloads like one; Release is
// the word that ends it, "" where nothing but mending does. Reason is what was in the
// way, in the scraper's own words, "" without one.
type holdNotice struct {
	Kind, Tone, Icon, Heading, Reason, Text, Release string
}

// jobPart is a part of the queue.
type jobPart struct {
	ID, Title, Sub string
	Rows           []jobRow
	// All is what starts or retries all of it, "" for nothing.
	All, AllAct string
	// Seen bounds that to what is shown, in milliseconds.
	Seen int64
	// More leads to the whole part; Previous and Next to its other pages.
	More, MoreWord, Previous, Next, Range string
	// Overview leads back when the part is shown alone.
	Overview string
	Live     bool
	// Empty is said where there is nothing.
	Empty string
	// Back is where its forms lead back to.
	Back string
}

func (k queueKnown) view(now time.Time) scraperView {
	t := k.say
	v := scraperView{Query: k.query, Discovery: k.queue.DiscoveryAt, DiscoveryAt: cmp.Or(k.queue.DiscoveryAt, "03:00"), Last: t.lastDiscovery(k.queue.Last, now), Floor: strconv.FormatInt(k.queue.FreeSpaceFloor>>20, 10), Polling: t.pollingOf(k.settings)}
	for _, h := range k.holds {
		v.Holds = append(v.Holds, t.holdWords(h, now))
		v.Held = v.Held || h.Kind == "queue"
	}
	v.Holds = append(v.Holds, t.libraryNotice(k.library, k.holds, now)...)
	v.Tiles = k.tiles(now)
	lanes := map[string]scraperclient.Lane{}
	for _, l := range k.sites {
		lanes[l.Site] = l.Lane
		v.Sites = append(v.Sites, t.siteRowOf(l, k.query.told, k.query.address(), now))
		v.Paces = append(v.Paces, t.paceRowOf(l, k.query.address()))
	}
	if k.query.Show == "" && len(k.counts) == 0 {
		v.Parts = []jobPart{{ID: "q-now", Title: t.T("Now"), Empty: t.T("Nothing is being fetched, and nothing waits. What the Series you follow bring anew stands here while it comes.")}}
		return v
	}
	for _, p := range queueParts() {
		if jobs, ok := k.parts[p.key]; ok {
			if part := k.part(p.key, jobs, lanes, now); len(part.Rows) > 0 || part.Empty != "" {
				v.Parts = append(v.Parts, part)
			}
		}
	}
	return v
}

func (k queueKnown) tiles(now time.Time) []figure {
	running, ready := k.count("inspecting", "downloading"), k.count("ready")
	waiting, aside := k.count("requested", "queued", "retry_wait", "paused"), k.count("quarantined")
	busy := 0
	for _, l := range k.sites {
		if l.Activity == "downloading" || l.Activity == "inspecting" {
			busy++
		}
	}
	t := k.say
	tiles := []figure{
		{Name: t.T("Downloading"), Figure: t.number(running.Jobs), Note: t.T("on none of %d Sites", len(k.sites))},
		{Name: t.T("Waiting for you"), Figure: t.number(ready.Jobs), Note: cmp.Or(some(ready.Jobs, t.T("%d chapters", ready.Chapters)), t.T("nothing"))},
		{Name: t.T("In the queue"), Figure: t.number(waiting.Jobs), Note: cmp.Or(k.soonest(now), some(waiting.Jobs, t.T("%d chapters", waiting.Chapters)), t.T("nothing"))},
		{Name: t.T("Quarantined"), Figure: t.number(aside.Jobs), Note: cmp.Or(some(aside.Jobs, t.T("need a person", aside.Jobs)), t.T("none"))},
		t.libraryTile(k.library, now),
	}
	if busy > 0 {
		tiles[0].Note = t.T("on %d Sites", busy)
	}
	return tiles
}

// some is text unless n is zero.
func some(n int, text string) string {
	if n == 0 {
		return ""
	}
	return text
}

// soonest says when the first retry is, or how many are paused.
func (k queueKnown) soonest(now time.Time) string {
	var first time.Time
	for _, j := range k.parts["queue"].Jobs {
		if j.State == "retry_wait" && (first.IsZero() || j.RetryAt.Before(first)) {
			first = j.RetryAt
		}
	}
	t := k.say
	switch n := k.counts["retry_wait"].Jobs; {
	case !first.IsZero() && first.After(now):
		return t.T("%d again in %s", n, t.span(first.Sub(now)))
	case !first.IsZero():
		return t.T("%d again in a moment", n)
	}
	return some(k.counts["paused"].Jobs, t.T("%d paused", k.counts["paused"].Jobs))
}

// part words one part of the queue.
func (k queueKnown) part(key string, jobs scraperclient.Jobs, lanes map[string]scraperclient.Lane, now time.Time) jobPart {
	t, p := k.say, jobPart{ID: "q-" + key, Back: k.query.address()}
	alone := k.query.Show != ""
	all := 0
	switch key {
	case "ready":
		n := k.count("ready")
		all = n.Jobs
		p.Title = t.T("Ready, waiting for your word")
		if n.Jobs > 1 {
			p.All, p.AllAct, p.Sub = t.T("Start all %d", n.Jobs), "start", t.totals(n, jobs)
		}
	case "now":
		all = k.count("inspecting", "downloading").Jobs
		p.Title, p.Live, p.Empty = t.T("Now"), true, t.T("Nothing is being fetched.")
		if k.held() {
			p.Empty = t.T("Nothing is being fetched while downloads are on hold.")
		}
	case "queue":
		all = k.count("requested", "queued", "retry_wait", "paused").Jobs
		p.Title, p.Sub = t.T("Queue"), t.T("%d, next first", all)
	case "aside":
		all = k.count("quarantined", "unavailable").Jobs
		p.Title, p.Sub = t.T("Quarantined"), t.T("set aside until a person decides")
		if n := k.counts["quarantined"].Jobs; n > 1 {
			p.All, p.AllAct = t.T("Retry all %d", n), "retry"
		}
	case "ended":
		p.Title, p.Sub = t.T("Finished"), t.T("newest first")
	}
	for _, j := range jobs.Jobs {
		p.Rows = append(p.Rows, t.jobRowOf(j, lanes, k.query.address(), now))
		p.Seen = max(p.Seen, j.ChangedAt.UnixMilli())
	}
	if !alone {
		if jobs.More {
			p.More, p.MoreWord = scraperQuery{Show: key, Page: 1}.address(), t.T("Show all %d", all)
			// Those that are not on this page have been ready as long.
			p.Seen = now.UnixMilli()
		}
		return p
	}
	p.Overview = scraperAddress
	p.Empty = cmp.Or(p.Empty, t.T("Nothing is here now."))
	if jobs.More || k.query.Page > 1 {
		from := (k.query.Page-1)*pageLength + 1
		p.Range = t.T("%d to %d", from, from+len(jobs.Jobs)-1)
		if all > 0 {
			p.Range = t.T("%d to %d of %d", from, from+len(jobs.Jobs)-1, all)
		}
		p.Seen = now.UnixMilli()
	}
	if k.query.Page > 1 {
		p.Previous = scraperQuery{Show: key, Page: k.query.Page - 1}.address()
	}
	if jobs.More {
		p.Next = scraperQuery{Show: key, Page: k.query.Page + 1}.address()
	}
	return p
}

func (k queueKnown) held() bool { return len(k.holds) > 0 }

// totals is what all that is ready comes to; the size only where all of it is shown.
func (t tongue) totals(n scraperclient.JobCount, jobs scraperclient.Jobs) string {
	text := t.T("%d chapters", n.Chapters)
	if jobs.More || len(jobs.Jobs) < n.Jobs {
		return text
	}
	var sum scraperclient.Estimate
	sized := true
	for _, j := range jobs.Jobs {
		sum.Pages += j.Estimate.Pages
		sum.Bytes += j.Estimate.Bytes
		sized = sized && j.Estimate.Bytes > 0
	}
	if !sized {
		sum.Bytes = 0
	}
	sum.Chapters = n.Chapters
	return t.estimateWords(sum)
}

// estimateWords words what is to come: "4 chapters, about 96 pages, 61 MB".
func (t tongue) estimateWords(e scraperclient.Estimate) string {
	text := t.T("%d chapters", e.Chapters)
	if e.Pages > 0 {
		text = t.T("%s, about %s", text, t.T("%d pages", e.Pages))
	}
	if e.Bytes > 0 {
		text = t.T("%s, %s", text, t.sizeWords(e.Bytes))
	}
	return text
}

// sizeWords words a size in two figures, as it is an estimate: "61 MB", "1.3 GB".
func (t tongue) sizeWords(bytes int64) string {
	unit, units := float64(bytes)/1000, []string{"kB", "MB", "GB", "TB"}
	for unit >= 1000 && len(units) > 1 {
		unit, units = unit/1000, units[1:]
	}
	if unit < 10 {
		return t.in().Decimal(unit, 1, 1) + " " + units[0]
	}
	return t.in().Decimal(unit, 0, 0) + " " + units[0]
}

func (t tongue) holdWords(h scraperclient.Hold, now time.Time) holdNotice {
	if h.Kind == "storage" {
		heading := t.T("The library cannot be written")
		if strings.Contains(h.Detail, "space") {
			heading = t.T("No room to store")
		}
		return holdNotice{
			Kind: h.Kind, Tone: "bad", Icon: "warn", Heading: heading, Reason: upperFirst(h.Detail),
			Text:    t.T("Nothing is downloaded since %s. Polling and reading go on, and nothing was removed. Mend what it names first: make room, or mount the library again.", t.clock(h.Since, now)),
			Release: t.T("It is mended, go on"),
		}
	}
	return holdNotice{
		Kind: h.Kind, Tone: "quiet", Icon: "pause", Heading: t.T("Downloads are on hold since %s", t.clock(h.Since, now)),
		Text: t.T("Somebody asked for it. What was under way ended after its chapter; polling and reading go on."), Release: t.T("Go on"),
	}
}
