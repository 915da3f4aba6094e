package web

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// siteRow is whether one Site may be asked.
type siteRow struct {
	ID, Name, Href string
	State          pill
	Line           string
	// Pace is the pacing and, beside it, what was really sent.
	Pace string
	// Post is where Resume and Try one read go, "" when neither does anything;
	// Pause is where Pause goes, "" for a Site that is paused.
	Post, Pause, Back string
	// Confirm asks once more before the Site's own time: "resume" or "probe".
	Confirm, Asking string
	// Result is what came of trying one read.
	Result, ResultTone string
}

func siteElement(site string) string { return elementID("site-", site) }

func (t tongue) siteRowOf(d scraperclient.LaneDetail, to told, back string, now time.Time) siteRow {
	r := siteRow{ID: siteElement(d.Site), Name: laneName(d.Lane), Href: laneAddress(d.Site), State: t.circuitWords(d.Lane, now), Pace: t.paceWords(d), Back: back}
	keep := ""
	if d.Jobs > 0 {
		keep = " " + t.T("%d downloads keep their place.", d.Jobs)
	}
	since := t.T("Since %s.", t.clock(d.CircuitSince, now)) + " "
	switch d.Circuit {
	case "paused":
		// The state already says since when, and who.
		r.Post = "/lanes/" + url.PathEscape(d.Site)
		switch d.CircuitReason {
		case "access":
			r.Line = t.T("Nothing is sent to it until you resume.")
			if d.RetryAfter.After(now) {
				r.Line = t.T("It asked for quiet until %s.", t.clock(d.RetryAfter, now))
			}
		case "systemic":
			r.Line = since + t.T("Two downloads met pages that Mangrove does not understand.")
		default:
			r.Line = since + t.T("Nothing is sent to it until you resume.")
		}
		r.Line = strings.TrimSpace(r.Line + keep)
	case "open", "probing":
		r.Line = t.T("It has not answered since %s. This ends by itself.", t.clock(d.CircuitSince, now)) + keep
	default:
		if line, busy := t.laneLine(d, now); busy {
			r.Line = line
		}
	}
	if r.Post == "" {
		r.Pause = "/lanes/" + url.PathEscape(d.Site) + "/pause"
	}
	if to.site != d.Site {
		return r
	}
	switch to.tried {
	case "resumed":
		r.Result, r.ResultTone = t.T("Read well: resumed."), "ok"
	case "refused":
		r.Result, r.ResultTone = t.T("Refused again: still paused."), "bad"
		if d.CircuitReason != "access" {
			r.Result, r.ResultTone = t.T("That read did not go well: still paused."), "warn"
		}
	case "silent":
		r.Result, r.ResultTone = t.T("It could not be tried just now."), "warn"
	}
	if r.Post != "" && d.RetryAfter.After(now) && (to.confirm == "resume" || to.confirm == "probe") {
		r.Confirm = to.confirm
		if until := t.clock(d.RetryAfter, now); to.confirm == "resume" {
			r.Asking = t.T("%s asked for quiet until %s. Resume now?", laneName(d.Lane), until)
		} else {
			r.Asking = t.T("%s asked for quiet until %s. Try one read now?", laneName(d.Lane), until)
		}
	}
	return r
}

// paceWords says how often a Site is asked at most, and how often it was.
func (t tongue) paceWords(d scraperclient.LaneDetail) string {
	if d.Pacing <= 0 {
		return ""
	}
	return joinMeta(t.T("Every %s at most", t.pacing(d.Pacing)), t.rate(d.Rate))
}

// rate is what was really sent over the last ten minutes.
func (t tongue) rate(rate *float64) string {
	switch {
	case rate == nil:
		return ""
	case *rate < 0.05:
		return t.T("nothing in the last 10 min")
	case *rate < 1:
		return t.T("now %s a minute", t.in().Decimal(*rate, 1, 1))
	}
	return t.T("now %s a minute", t.in().Decimal(*rate, 0, 0))
}

// pacing words the time between two requests.
func (t tongue) pacing(d time.Duration) string {
	if d >= time.Minute && d%time.Minute == 0 {
		return t.T("%d min", int(d/time.Minute))
	}
	return t.T("%s s", t.in().Decimal(d.Seconds(), 0, 3))
}

// paceRow is the choice of one Site's pace.
type paceRow struct {
	ID, Name, Post, Back string
	Options              []paceOption
}

type paceOption struct {
	// Value is in seconds; "0" is the Site's own.
	Value, Word string
	Chosen      bool
}

// paces are those offered, where they are slower than the Site's own.
func paces() []time.Duration {
	return []time.Duration{
		time.Second, 2 * time.Second, 3 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
	}
}

func (t tongue) paceRowOf(d scraperclient.LaneDetail, back string) paceRow {
	r := paceRow{ID: elementID("pace-", d.Site), Name: laneName(d.Lane), Post: "/lanes/" + url.PathEscape(d.Site) + "/pace", Back: back}
	least := cmp.Or(d.LeastPacing, d.Pacing)
	r.Options = append(r.Options, paceOption{"0", t.T("%s (own)", t.pacing(least)), d.Pacing == least})
	offered := paces()
	if d.Pacing > least && !slices.Contains(offered, d.Pacing) {
		offered = append(offered, d.Pacing)
		slices.Sort(offered)
	}
	for _, p := range offered {
		if p > least {
			r.Options = append(r.Options, paceOption{strconv.FormatFloat(p.Seconds(), 'f', -1, 64), t.pacing(p), p == d.Pacing})
		}
	}
	return r
}
