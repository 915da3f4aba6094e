package web

import (
	"cmp"
	"strings"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// worklistView is the Worklist in words.
type worklistView struct {
	Frame
	Query worklistQuery
	// Away is true when the scraper could not be asked.
	Away     bool
	Counting string
	Notices  []laneNotice

	// Words, Ages, Sites and Sorts are the filters and orders.
	Words, Ages, Sites, Sorts []chip
	Filtered                  bool
	// Muted is the way to the muted failures, nil where there are none; Quiet is
	// true when the default list is empty for them alone.
	Muted *chip
	// MutedCount is how many there are.
	MutedCount int
	Quiet      bool

	Rows []failingRow
	// Total counts what the filters keep; Pages is how many pages that is.
	Total, Pages int
	// Range, Previous and Next are "" when all is on one page.
	Range, Previous, Next string
	PollAll               string
}

// Address is where this view is.
func (v worklistView) Address() string { return v.Query.address() }

// chip is one filter or order: a link, a word and, where it counts, a count.
type chip struct {
	Href, Word, Count string
	Current           bool
}

// failingRow is one failing Series.
type failingRow struct {
	// ID is the element's id and Key the value in the form.
	ID, Key           string
	Href, Cover, Name string
	// Meta is where it is read from and what is here of it.
	Meta  string
	State pill
	// Age is how long it has failed, Since from when, Bar percent of the oldest.
	Age, Since string
	SinceAt    time.Time
	Bar        int
	Last, Next string
	// Evidence is how fresh all this is; Stale when it is not being re-tested.
	Evidence string
	Stale    bool
	// Asked is set while a Forced Poll waits, Muted while the failure is muted.
	Asked, Muted string
	// Proposed says that the Site sends readers elsewhere for good, "" when it does
	// not; Move leads to moving the Series, there if so.
	Proposed, Move string
	// Incident shows the page that is not understood, "" without one.
	Incident string
	// URL is the Series on its Site, "" when that is no address for a browser.
	URL string
}

func rowID(key scraperclient.Key) string { return elementID("w-", key.Site, key.SeriesID) }

func (k worklistKnown) view(now time.Time) worklistView {
	q, say := k.query, k.say
	v := worklistView{
		Query: q, Total: k.list.Total, Pages: (k.list.Total + worklistPage - 1) / worklistPage, Filtered: q.Site != "" || q.Outcome != "" || q.Age != "",
		Counting: say.countingWords(k.list.CountingSince, k.counting(), k.fullCycle(), now),
	}
	seen := map[string]bool{}
	for _, l := range k.list.Lanes {
		d, ok := k.lanes[l.Site]
		if !ok {
			d = scraperclient.LaneDetail{Lane: l}
		}
		if n, ok := say.laneItem(d, now); ok && !seen[l.Site] {
			seen[l.Site] = true
			v.Notices = append(v.Notices, n)
		}
	}
	k.chips(&v)
	for _, f := range k.list.Items {
		v.Rows = append(v.Rows, k.row(f, now))
	}
	if v.Pages > 1 && len(v.Rows) > 0 {
		first := (q.Page-1)*worklistPage + 1
		v.Range = say.T("%d to %d of %d", first, first+len(v.Rows)-1, v.Total)
		if q.Page > 1 {
			v.Previous = q.at(q.Page - 1).address()
		}
		if q.Page < v.Pages {
			v.Next = q.at(q.Page + 1).address()
		}
	}
	switch {
	case v.Total > scraperclient.MaxBulk:
		v.PollAll = say.T("Poll the first %d", scraperclient.MaxBulk)
	case v.Total > 1:
		v.PollAll = say.T("Poll all %d", v.Total)
	}
	return v
}

// chips are the filters by word and by Site, and the orders.
func (k worklistKnown) chips(v *worklistView) {
	q, counts, all, say := k.query.at(1), map[string]int{}, 0, k.say
	muted := 0
	for _, c := range k.list.Counts {
		n := c.Count
		if q.Muted {
			n = c.Muted
		}
		counts[c.Outcome] = n
		all += n
		if q.Outcome == "" || q.Outcome == c.Outcome {
			muted += c.Muted
		}
	}
	add := func(to *[]chip, change func(*worklistQuery), word, count string, current bool) {
		other := q
		change(&other)
		*to = append(*to, chip{other.address(), word, count, current})
	}
	if muted > 0 || q.Muted {
		other := q
		other.Muted = !q.Muted
		v.Muted = &chip{other.address(), say.T("Muted"), say.number(muted), q.Muted}
		v.MutedCount = muted
	}
	v.Quiet = muted > 0 && all == 0 && !q.Muted
	add(&v.Words, func(o *worklistQuery) { o.Outcome = "" }, say.T("All"), say.number(all), q.Outcome == "")
	for _, o := range failureOutcomes() {
		if counts[o] > 0 || q.Outcome == o {
			add(&v.Words, func(w *worklistQuery) { w.Outcome = o }, say.outcomeWords(o).Word, say.number(counts[o]), q.Outcome == o)
		}
	}
	if all == 0 && !v.Filtered && !q.Muted {
		v.Words = nil
		return
	}
	add(&v.Ages, func(o *worklistQuery) { o.Age = "" }, say.T("Any age"), "", q.Age == "")
	for _, a := range worklistAges() {
		add(&v.Ages, func(o *worklistQuery) { o.Age = a.Word }, say.worklistAge(a.Word), "", q.Age == a.Word)
	}
	var sites []chip
	found := q.Site == ""
	for _, site := range k.order {
		l := k.lanes[site]
		failing := l.Failing - l.Muted
		if q.Muted {
			failing = l.Muted
		}
		if failing == 0 && site != q.Site {
			continue
		}
		// These count every word and age; beside a chosen one they would promise too
		// much.
		n := say.number(failing)
		if q.Outcome != "" || q.Age != "" {
			n = ""
		}
		found = found || site == q.Site
		add(&sites, func(o *worklistQuery) { o.Site = site }, laneName(l.Lane), n, site == q.Site)
	}
	if !found {
		add(&sites, func(*worklistQuery) {}, q.Site, "", true)
	}
	if len(sites) > 1 || q.Site != "" {
		add(&v.Sites, func(o *worklistQuery) { o.Site = "" }, say.T("Every Site"), "", q.Site == "")
		v.Sites = append(v.Sites, sites...)
	}
	for _, s := range worklistSorts() {
		word := map[string]string{"oldest": say.T("Oldest"), "newest": say.T("Newest"), "title": say.T("Title")}[s]
		add(&v.Sorts, func(o *worklistQuery) { o.Sort = s }, word, "", q.Sort == s)
	}
}

// counting names the Sites that have not been read once around.
func (k worklistKnown) counting() []string {
	var names []string
	for _, site := range k.order {
		if l := k.lanes[site]; !l.CountingSince.IsZero() {
			names = append(names, laneName(l.Lane))
		}
	}
	return names
}

// fullCycle is about how long it takes until each Series of these Sites has been
// read once (A7): the longest of their intervals.
func (k worklistKnown) fullCycle() time.Duration {
	var longest time.Duration
	for _, l := range k.lanes {
		if !l.CountingSince.IsZero() {
			longest = max(longest, l.Interval)
		}
	}
	return cmp.Or(longest, 12*time.Hour)
}

// countingWords say since when failures are counted, so that an old failure that
// reads as new misleads nobody (B29).
func (t tongue) countingWords(since time.Time, sites []string, cycle time.Duration, now time.Time) string {
	if since.IsZero() {
		return ""
	}
	from, text := t.dated(since, now), ""
	switch len(sites) {
	case 0:
		text = t.T("Counting since %s: not every Series has been read once yet", from)
	case 1, 2, 3:
		text = t.T("Counting since %s: not all of %s has been read once yet", from, t.join(sites))
	default:
		text = t.T("Counting since %s: not every Series has been read once yet on %d Sites", from, len(sites))
	}
	if end := since.Add(cycle); end.After(now) {
		text = t.T("%s; the first full cycle ends about %s", text, t.clock(end, now))
	}
	return text + ". " + t.T("What stopped before that reads as new.")
}

func (k worklistKnown) row(f scraperclient.Failing, now time.Time) failingRow {
	key := f.Series.Key
	lane, known := k.lanes[key.Site]
	say := k.say
	r := failingRow{
		ID: rowID(key), Key: keyText(key), Href: siteAddress(key), Name: cmp.Or(f.Series.Title, key.SeriesID), Meta: cmp.Or(f.Series.SiteName, key.Site),
		State: say.outcomeWords(f.Failure.Outcome), Age: say.lasting(max(now.Sub(f.Failure.Since), time.Second)), Since: say.clock(f.Failure.Since, now),
		SinceAt: f.Failure.Since, Bar: barOf(f.Failure.Since, k.oldest.Failure.Since, now), Last: say.T("never"), Next: say.nextPoll(f.NextPollAt, now),
		URL: webAddress(f.Series.URL), Move: moveAddress(key, f.Proposal.URL),
	}
	if f.Proposal.URL != "" {
		r.Proposed = say.proposalWords(r.Meta, f.Proposal.Because)
	}
	if f.IncidentID != 0 {
		r.Incident = incidentAddress(f.IncidentID)
	}
	if f.Series.HasCover {
		r.Cover = siteCoverAddress(key)
	}
	if c, ok := k.cards[key]; ok && c.TitleID != 0 {
		r.Href, r.Meta = seriesAddress(c.TitleID), r.Meta+" · "+say.T("%d here", c.Books)
		if c.Cover != "" {
			r.Cover = titleCover(c.TitleID, c.Cover)
		}
	}
	if !f.LastGoodRead.IsZero() {
		r.Last = say.dated(f.LastGoodRead, now)
	}
	if known {
		r.Evidence, r.Stale = say.evidence(lane, now), lane.Trouble != "" || lane.Circuit != "closed"
	}
	if !f.Muted.IsZero() {
		r.Muted = say.T("Muted since %s", say.dated(f.Muted, now))
	}
	if !f.ForcedPoll.IsZero() {
		var l *scraperclient.Lane
		if known {
			l = &lane.Lane
		}
		r.Asked = say.askedFor(f.ForcedPoll, l, now)
	}
	return r
}

// barOf is an age in percent of the oldest, never nothing.
func barOf(since, oldest, now time.Time) int {
	whole := now.Sub(oldest)
	if whole <= 0 {
		return 100
	}
	return min(100, max(2, int(now.Sub(since)*100/whole)))
}

// nextPoll says when a Series is due again.
func (t tongue) nextPoll(at, now time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case at.Before(now):
		return t.T("due now")
	}
	return t.T("about %s", t.clock(at, now))
}

// webAddress keeps what a browser may be sent to.
func webAddress(address string) string {
	if len(address) < 2048 && (strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")) {
		return address
	}
	return ""
}

// worklistAge words a filter by age.
func (t tongue) worklistAge(word string) string {
	return map[string]string{"day": t.T("Over a day"), "week": t.T("Over a week"), "month": t.T("Over a month"), "year": t.T("Over a year")}[word]
}
