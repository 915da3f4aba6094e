package web

import (
	"sort"
	"strconv"
	"strings"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// The strip's drawing: fourteen days side by side, each as wide as the others,
// so that the days below it are right whatever the rhythm of the Passes.
const (
	stripDays   = 14
	stripHeight = 64.0
	dayWidth    = 60.0
	// tallest leaves room for a mark on top of the tallest bar.
	tallest = 55.0
	// markHeight is the low mark of a Pass that was refused or reached nothing.
	markHeight = 5.0
	barGap     = 1.0
)

// strip is fourteen days of Passes, drawn and told.
type strip struct {
	// Says is the whole strip in one sentence.
	Says  string
	Days  []string
	Cells []stripCell
	// Tells is what the chosen cell counts, or what can be chosen.
	Tells string
	// TellsID is the element that shows it.
	TellsID string
}

// stripCell is one bar: a Pass, or on a day with very many the Passes of three
// hours.
type stripCell struct {
	Href, Tells string
	// X and Width are the bar's whole column, in the strip's units.
	X, Width string
	Bars     []stripBar
	Chosen   bool
	// Last is the one that the keyboard enters.
	Last bool

	passes []scraperclient.Pass
}

// stripBar is one rectangle.
type stripBar struct{ Class, X, Y, Width, Height string }

// stripOf draws a Lane's Passes. chosen is the start of the Pass whose counts
// are open, in milliseconds, or 0.
func (t tongue) stripOf(d scraperclient.LaneDetail, pruned time.Time, chosen int64, now time.Time) strip {
	out := strip{TellsID: "pass-" + laneID(d.Site)}
	starts := dayStarts(now)
	for i, at := range starts {
		text := strconv.Itoa(at.Day())
		if i == 0 || at.Day() == 1 {
			text = at.Format(t.T("2 Jan"))
		}
		out.Days = append(out.Days, text)
	}
	days := make([][]scraperclient.Pass, stripDays)
	for _, p := range d.Passes {
		// The day is the last one that does not start after the Pass.
		if i := sort.Search(stripDays, func(i int) bool { return starts[i].After(p.Started) }) - 1; i >= 0 {
			days[i] = append(days[i], p)
		}
	}
	most := 1
	for i, passes := range days {
		for _, c := range cellsOf(passes, float64(i)*dayWidth) {
			most = max(most, sum(c.passes).Read())
			out.Cells = append(out.Cells, c)
		}
	}
	out.Tells = t.T("Choose a bar to see what its Pass read.")
	if len(d.Passes) == 0 {
		out.Tells = t.T("No Pass in these fourteen days.")
		if !pruned.IsZero() {
			out.Tells = t.T("No Pass since %s; those before are pruned.", t.clock(pruned, now))
		}
	}
	found := chosen == 0
	for i := range out.Cells {
		c := &out.Cells[i]
		c.Href = passAddress(d.Site, c.passes[0])
		c.Tells = t.tellPasses(c.passes, now)
		c.draw(tallest / float64(most))
		c.Last = i == len(out.Cells)-1
		for _, p := range c.passes {
			if chosen != 0 && p.Started.UnixMilli() == chosen {
				c.Chosen, found, out.Tells = true, true, c.Tells
			}
		}
	}
	if !found {
		out.Tells = t.T("That Pass is not kept any more.")
		for _, p := range d.Passes {
			if p.Started.UnixMilli() == chosen {
				out.Tells = t.tellPasses([]scraperclient.Pass{p}, now)
			}
		}
	}
	out.Says = t.saysStrip(laneName(d.Lane), starts[0], d.Passes, now)
	return out
}

// dayStarts are the midnights of the last fourteen days, today's last.
func dayStarts(now time.Time) []time.Time {
	now = now.Local()
	out := make([]time.Time, stripDays)
	for i := range out {
		out[i] = time.Date(now.Year(), now.Month(), now.Day()-stripDays+1+i, 0, 0, 0, 0, now.Location())
	}
	return out
}

// cellsOf places the Passes of one day. Up to eight have a bar each, as near to
// their hour as they fit; of more, those of three hours share one.
func cellsOf(passes []scraperclient.Pass, left float64) []stripCell {
	slots := 4
	if len(passes) > 4 {
		slots = 8
	}
	width := dayWidth / float64(slots)
	var out []stripCell
	place := -1
	for i, p := range passes {
		at := p.Started.Local().Hour() * slots / 24
		if len(passes) > slots && at <= place {
			last := &out[len(out)-1]
			last.passes = append(last.passes, p)
			continue
		}
		if len(passes) <= slots {
			at = min(max(at, place+1), slots-len(passes)+i)
		}
		place = at
		out = append(out, stripCell{X: units(left + float64(at)*width), Width: units(width), passes: []scraperclient.Pass{p}})
	}
	return out
}

// draw makes the rectangles: read well at the bottom, failing above, and a low
// mark where the Pass was refused or did not reach the Site.
func (c *stripCell) draw(scale float64) {
	x, _ := strconv.ParseFloat(c.X, 64)
	width, _ := strconv.ParseFloat(c.Width, 64)
	gap := min(4, width/4)
	y := stripHeight
	add := func(class string, height float64) {
		if len(c.Bars) > 0 {
			y -= barGap
		}
		y -= height
		c.Bars = append(c.Bars, stripBar{class, units(x + gap/2), units(y), units(width - gap), units(height)})
	}
	all := sum(c.passes)
	if all.OK > 0 {
		add("c-ok", max(1.5, float64(all.OK)*scale))
	}
	if n := all.Failing(); n > 0 {
		add("c-warn", max(1.5, float64(n)*scale))
	}
	refused, unreachable := all.Refused > 0, all.Unreachable > 0
	for _, p := range c.passes {
		refused = refused || p.EndReason == "refused"
		unreachable = unreachable || p.EndReason == "unreachable" || p.EndReason == "outage"
	}
	switch {
	case refused:
		add("c-bad", markHeight)
	case unreachable:
		add("c-quiet", markHeight)
	case len(c.Bars) == 0:
		add("c-ok", 1.5)
	}
}

func units(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }

func sum(passes []scraperclient.Pass) scraperclient.Pass {
	var out scraperclient.Pass
	for _, p := range passes {
		out.OK += p.OK
		out.NotFound += p.NotFound
		out.NoChapter += p.NoChapter
		out.Unfetchable += p.Unfetchable
		out.Errors += p.Errors
		out.Refused += p.Refused
		out.Unreachable += p.Unreachable
		out.NewChapters += p.NewChapters
	}
	return out
}

func passAddress(site string, p scraperclient.Pass) string {
	return "/lanes?site=" + queryEscape(site) + "&pass=" + strconv.FormatInt(p.Started.UnixMilli(), 10) + "#" + laneID(site)
}

// tellPasses says what one bar counts.
func (t tongue) tellPasses(passes []scraperclient.Pass, now time.Time) string {
	first, last := passes[0], passes[len(passes)-1]
	text := upperFirst(t.dated(first.Started, now))
	if len(passes) > 1 {
		text = t.T("%d Passes, %s to %s", len(passes), t.dated(first.Started, now), last.Ended.Local().Format("15:04"))
	} else {
		if took := last.Ended.Sub(first.Started); took > 0 {
			text = t.T("%s, %s", text, t.lasting(took))
		}
		text = t.T("%s, %s", text, t.endWords(last.EndReason))
	}
	all := sum(passes)
	var parts []string
	for _, w := range []struct {
		n    int
		word string
	}{
		{all.OK, t.T("%d read well", all.OK)}, {all.NotFound, t.T("%d not found", all.NotFound)}, {all.NoChapter, t.T("%d without a chapter list", all.NoChapter)},
		{all.Unfetchable, t.T("%d could not be read", all.Unfetchable)}, {all.Errors, t.T("%d not understood", all.Errors)}, {all.Refused, t.T("%d refused", all.Refused)},
		{all.Unreachable, t.T("%d not reachable", all.Unreachable)}, {all.NewChapters, t.T("%d new chapters", all.NewChapters)},
	} {
		if w.n > 0 {
			parts = append(parts, w.word)
		}
	}
	if len(parts) == 0 {
		return text + ": " + t.T("nothing read.")
	}
	return text + ": " + strings.Join(parts, t.T(", ")) + "."
}

// endWords word why a Pass ended.
func (t tongue) endWords(reason string) string {
	switch reason {
	case "complete":
		return t.T("done")
	case "refused":
		return t.T("cut short, refused")
	case "unreachable":
		return t.T("cut short, not reachable")
	case "outage":
		return t.T("cut short, the Site was in trouble")
	case "stopped":
		return t.T("stopped with the scraper")
	}
	return reason
}

// saysStrip tells the whole strip in a sentence, for those who do not see it.
func (t tongue) saysStrip(name string, from time.Time, passes []scraperclient.Pass, now time.Time) string {
	text := t.T("Passes of %s, %s to %s", name, from.Format(t.T("2 Jan")), now.Local().Format(t.T("2 Jan"))) + ": "
	shown, refused, unreachable := 0, 0, 0
	var all []scraperclient.Pass
	for _, p := range passes {
		if p.Started.Before(from) {
			continue
		}
		shown++
		all = append(all, p)
		switch p.EndReason {
		case "refused":
			refused++
		case "unreachable", "outage":
			unreachable++
		}
	}
	if shown == 0 {
		return text + t.T("none") + "."
	}
	text += t.number(shown)
	if refused > 0 {
		text += t.T(", ") + t.T("%d refused", refused)
	}
	if unreachable > 0 {
		text += t.T(", ") + t.T("%d cut short without an answer", unreachable)
	}
	if total := sum(all); total.Read() > 0 {
		switch percent := total.Failing() * 100 / total.Read(); {
		case total.Failing() == 0:
			text = t.T("%s; every Series read well", text)
		case percent == 0:
			text = t.T("%s; under 1 percent of the reads failing", text)
		default:
			text = t.T("%s; about %d percent of the reads failing", text, percent)
		}
	}
	return text + "."
}
