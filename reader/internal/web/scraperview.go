package web

import (
	"cmp"
	"fmt"
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
// the word that ends it, "" where nothing but mending does.
type holdNotice struct {
	Kind, Tone, Icon, Heading, Text, Release string
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
	v := scraperView{Query: k.query, Discovery: k.queue.DiscoveryAt, DiscoveryAt: cmp.Or(k.queue.DiscoveryAt, "03:00"), Last: lastDiscovery(k.queue.Last, now), Floor: strconv.FormatInt(k.queue.FreeSpaceFloor>>20, 10), Polling: pollingOf(k.settings)}
	for _, h := range k.holds {
		v.Holds = append(v.Holds, holdWords(h, now))
		v.Held = v.Held || h.Kind == "queue"
	}
	v.Holds = append(v.Holds, libraryNotice(k.library, k.holds, now)...)
	v.Tiles = k.tiles(now)
	lanes := map[string]scraperclient.Lane{}
	for _, l := range k.sites {
		lanes[l.Site] = l.Lane
		v.Sites = append(v.Sites, siteRowOf(l, k.query.told, k.query.address(), now))
		v.Paces = append(v.Paces, paceRowOf(l, k.query.address()))
	}
	if k.query.Show == "" && len(k.counts) == 0 {
		v.Parts = []jobPart{{ID: "q-now", Title: "Now", Empty: "Nothing is being fetched, and nothing waits. What the Series you follow bring anew stands here while it comes."}}
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
	tiles := []figure{
		{Name: "Downloading", Figure: thousands(running.Jobs), Note: "of " + count(len(k.sites), "Site", "Sites") + ", " + cmp.Or(some(busy, "busy"), "none busy")},
		{Name: "Waiting for you", Figure: thousands(ready.Jobs), Note: cmp.Or(some(ready.Jobs, count(ready.Chapters, "chapter", "chapters")), "nothing")},
		{Name: "In the queue", Figure: thousands(waiting.Jobs), Note: cmp.Or(k.soonest(now), some(waiting.Jobs, count(waiting.Chapters, "chapter", "chapters")), "nothing")},
		{Name: "Quarantined", Figure: thousands(aside.Jobs), Note: cmp.Or(some(aside.Jobs, "need a person"), "none")},
		libraryTile(k.library, now),
	}
	if aside.Jobs == 1 {
		tiles[3].Note = "needs a person"
	}
	if busy > 0 {
		tiles[0].Note = "on " + count(busy, "Site", "Sites")
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
	switch n := k.counts["retry_wait"].Jobs; {
	case !first.IsZero() && first.After(now):
		return thousands(n) + " again in " + span(first.Sub(now))
	case !first.IsZero():
		return thousands(n) + " again in a moment"
	}
	return some(k.counts["paused"].Jobs, thousands(k.counts["paused"].Jobs)+" paused")
}

// part words one part of the queue.
func (k queueKnown) part(key string, jobs scraperclient.Jobs, lanes map[string]scraperclient.Lane, now time.Time) jobPart {
	p := jobPart{ID: "q-" + key, Back: k.query.address()}
	alone := k.query.Show != ""
	all := 0
	switch key {
	case "ready":
		n := k.count("ready")
		all = n.Jobs
		p.Title = "Ready, waiting for your word"
		if n.Jobs > 1 {
			p.All, p.AllAct, p.Sub = "Start all "+thousands(n.Jobs), "start", totals(n, jobs)
		}
	case "now":
		all = k.count("inspecting", "downloading").Jobs
		p.Title, p.Live, p.Empty = "Now", true, "Nothing is being fetched."
		if k.held() {
			p.Empty = "Nothing is being fetched while downloads are on hold."
		}
	case "queue":
		all = k.count("requested", "queued", "retry_wait", "paused").Jobs
		p.Title, p.Sub = "Queue", thousands(all)+", next first"
	case "aside":
		all = k.count("quarantined", "unavailable").Jobs
		p.Title, p.Sub = "Quarantined", "set aside until a person decides"
		if n := k.counts["quarantined"].Jobs; n > 1 {
			p.All, p.AllAct = "Retry all "+thousands(n), "retry"
		}
	case "ended":
		p.Title, p.Sub = "Finished", "newest first"
	}
	for _, j := range jobs.Jobs {
		p.Rows = append(p.Rows, jobRowOf(j, lanes, k.query.address(), now))
		p.Seen = max(p.Seen, j.ChangedAt.UnixMilli())
	}
	if !alone {
		if jobs.More {
			p.More, p.MoreWord = scraperQuery{Show: key, Page: 1}.address(), "Show all "+thousands(all)
			// Those that are not on this page have been ready as long.
			p.Seen = now.UnixMilli()
		}
		return p
	}
	p.Overview = scraperAddress
	p.Empty = cmp.Or(p.Empty, "Nothing is here now.")
	if jobs.More || k.query.Page > 1 {
		from := (k.query.Page-1)*pageLength + 1
		p.Range = fmt.Sprintf("%s to %s", thousands(from), thousands(from+len(jobs.Jobs)-1))
		if all > 0 {
			p.Range += " of " + thousands(all)
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
func totals(n scraperclient.JobCount, jobs scraperclient.Jobs) string {
	text := count(n.Chapters, "chapter", "chapters")
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
	return estimateWords(sum)
}

// estimateWords words what is to come: "4 chapters, about 96 pages, 61 MB".
func estimateWords(e scraperclient.Estimate) string {
	text := count(e.Chapters, "chapter", "chapters")
	if e.Pages > 0 {
		text += ", about " + count(e.Pages, "page", "pages")
	}
	if e.Bytes > 0 {
		text += ", " + sizeWords(e.Bytes)
	}
	return text
}

// sizeWords words a size in two figures, as it is an estimate: "61 MB", "1.3 GB".
func sizeWords(bytes int64) string {
	unit, units := float64(bytes)/1000, []string{"kB", "MB", "GB", "TB"}
	for unit >= 1000 && len(units) > 1 {
		unit, units = unit/1000, units[1:]
	}
	if unit < 10 {
		return strconv.FormatFloat(unit, 'f', 1, 64) + " " + units[0]
	}
	return strconv.FormatFloat(unit, 'f', 0, 64) + " " + units[0]
}

func holdWords(h scraperclient.Hold, now time.Time) holdNotice {
	if h.Kind == "storage" {
		text := "Nothing is downloaded since " + Clock(h.Since, now) + ". Polling and reading go on, and nothing was removed."
		if h.Detail != "" {
			text = upperFirst(h.Detail) + ". " + text
		}
		heading := "The library cannot be written"
		if strings.Contains(h.Detail, "space") {
			heading = "No room to store"
		}
		return holdNotice{
			Kind: h.Kind, Tone: "bad", Icon: "warn", Heading: heading, Text: text + " Mend what it names first: make room, or mount the library again.",
			Release: "It is mended, go on",
		}
	}
	return holdNotice{
		Kind: h.Kind, Tone: "quiet", Icon: "pause", Heading: "Downloads are on hold since " + Clock(h.Since, now),
		Text: "Somebody asked for it. What was under way ended after its chapter; polling and reading go on.", Release: "Go on",
	}
}
