package web

import (
	"cmp"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// laneNotice is the one item of a Site that is not asked as usual (POLL-8).
type laneNotice struct {
	Tone, Icon string
	// Heading is a sentence of its own; Text goes on from it.
	Heading, Text string
	// Command is what an operator types, "" where nothing needs doing.
	Command string
	// Resume is the Site whose pause the button beside it ends, "" without one;
	// Confirm asks once more, since the Site's own time has not passed.
	Resume  string
	Confirm bool
	// Incident leads to what was read, "" without one.
	Incident string
	// Href leads to the Lane, Link says so.
	Href string
}

func laneName(l scraperclient.Lane) string { return cmp.Or(l.SiteName, l.Site) }

func laneAddress(site string) string { return "/lanes#" + laneID(site) }

func laneID(site string) string {
	if plainKey(site) {
		return "lane-" + site
	}
	return elementID("lane-", site)
}

// circuitWords words whether a Site may be asked.
func (t tongue) circuitWords(l scraperclient.Lane, now time.Time) pill {
	switch l.Circuit {
	case "closed", "":
		if p, ok := t.laneTrouble(&l, now); ok {
			return p
		}
		return pill{"check", t.T("Asking allowed"), "ok", "closed"}
	case "open":
		if l.CircuitUntil.Before(now) {
			return pill{"clock", t.T("Resting, tried again in a moment"), "warn", l.Circuit}
		}
		return pill{"clock", t.T("Resting until %s", t.clock(l.CircuitUntil, now)), "warn", l.Circuit}
	case "probing":
		return pill{"refresh", t.T("Trying one read"), "warn", l.Circuit}
	case "paused":
		switch l.CircuitReason {
		case "access":
			return pill{"lock", t.T("Refused since %s", t.clock(refusedSince(l), now)), "bad", l.Circuit}
		case "systemic":
			return pill{"lock", t.T("Paused: pages not understood"), "bad", l.Circuit}
		}
		return pill{"pause", t.T("Paused by an operator"), "quiet", l.Circuit}
	}
	return pill{"lock", t.T("Not asked"), "warn", l.Circuit}
}

// refusedSince is when the Site began to refuse: the trouble outlives a Resume
// that was refused again, the circuit does not.
func refusedSince(l scraperclient.Lane) time.Time {
	if l.Trouble == "refused" && !l.TroubleSince.IsZero() {
		return l.TroubleSince
	}
	return l.CircuitSince
}

// browserless reports whether a Site is not read because this machine lacks the
// browser it needs; the Site itself has done nothing wrong. What it did before
// that, a refusal or a pause, goes first.
func browserless(l scraperclient.Lane) bool {
	return l.Needs == "browser" && l.Circuit != "paused" && l.Trouble != "refused"
}

// browserCommand and installBrowser are what an operator can do about it.
const browserCommand = "sudo apt-get install chromium"

func (t tongue) installBrowser() string {
	return t.T("Its pages are made by scripts, and Mangrove can start no Chromium here. Install it, or set MANGROVE_CHROMIUM to where it lies; the scraper's log says what stands in the way. The Site is then read again by itself.")
}

// laneItem words a Lane for the Worklist: what is the matter, since and until
// when, and that its Series are not to blame.
func (t tongue) laneItem(d scraperclient.LaneDetail, now time.Time) (laneNotice, bool) {
	n, ok := t.laneHeading(d, now)
	if !ok {
		return n, false
	}
	wait := t.T("Its Series wait.")
	if d.Series > 0 {
		wait = t.T("%d Series wait.", d.Series)
	}
	blameless := t.T("Nothing is held against them.")
	switch {
	case d.Circuit == "paused" && d.CircuitReason == "access":
		n.Text = t.T("Its Lane is paused.") + " " + wait + " " + blameless
		if d.RetryAfter.After(now) {
			n.Text = t.T("It asked for quiet until %s.", t.clock(d.RetryAfter, now)) + " " + n.Text
		}
	case d.Circuit == "paused" && d.CircuitReason == "systemic":
		n.Text = wait
	case d.Circuit == "paused":
		n.Text = wait + " " + t.T("It ends with a Resume.")
	case browserless(d.Lane):
		n.Text = t.installBrowser() + " " + wait + " " + blameless
	case d.Circuit == "open", d.Circuit == "probing":
		n.Text = t.T("It has not answered since %s. This ends by itself. Nothing is held against its Series.", t.clock(d.CircuitSince, now))
	case d.Trouble == "refused":
		n.Text = t.T("It is asked again at its next turn. Nothing is held against its Series.")
	default:
		n.Text = t.T("It is tried again at its next turn. Nothing is held against its Series.")
	}
	return n, true
}

// laneHeading is what is the matter with a Site, without what comes of it; ok is
// false where nothing is.
func (t tongue) laneHeading(d scraperclient.LaneDetail, now time.Time) (n laneNotice, ok bool) {
	p := t.circuitWords(d.Lane, now)
	n = laneNotice{Tone: p.Tone, Icon: p.Icon, Href: laneAddress(d.Site)}
	name := laneName(d.Lane)
	switch {
	case d.Circuit == "paused" && d.CircuitReason == "access":
		n.Heading = t.T("%s refused since %s.", name, t.clock(refusedSince(d.Lane), now))
	case d.Circuit == "paused" && d.CircuitReason == "systemic":
		n.Heading = t.T("%s paused since %s: its pages are not understood.", name, t.clock(d.CircuitSince, now))
	case d.Circuit == "paused":
		n.Heading = t.T("%s paused by an operator since %s.", name, t.clock(d.CircuitSince, now))
	case browserless(d.Lane):
		n.Tone, n.Icon = "warn", "unplug"
		n.Heading = t.T("%s needs a browser, which is missing here.", name)
	case d.Circuit == "open", d.Circuit == "probing":
		n.Heading = t.T("%s: %s.", name, lowerFirst(p.Word))
	case d.Trouble == "refused":
		n.Heading = t.T("%s refused since %s.", name, t.clock(d.TroubleSince, now))
	case d.Trouble == "unreachable":
		n.Heading = t.T("%s not reachable since %s.", name, t.clock(d.TroubleSince, now))
	default:
		return n, false
	}
	return n, true
}

// laneHelp words a Lane that is not asked as usual for its own card: what
// happened, what Mangrove does about it, and what a person can do.
func (t tongue) laneHelp(d scraperclient.LaneDetail, now time.Time) (laneNotice, bool) {
	p := t.circuitWords(d.Lane, now)
	n := laneNotice{Tone: p.Tone, Icon: p.Icon}
	untouched := " " + t.T("No Series is marked as failing because of this.")
	switch {
	case d.Circuit == "paused":
		if plainKey(d.Site) {
			n.Command, n.Resume = "mangrove resume "+d.Site, d.Site
		}
		since := t.clock(d.CircuitSince, now)
		switch d.CircuitReason {
		case "access":
			n.Heading = t.T("The Site refuses to answer")
			n.Text = t.T("Mangrove has sent nothing since %s and will not until you resume.", since) + untouched
			if d.RetryAfter.After(now) {
				n.Text = t.T("It asked for quiet until %s.", t.clock(d.RetryAfter, now)) + " " + n.Text
			}
			n.Text += " " + t.T("Look at the Site in a browser first; if it answers there, resume:")
		case "systemic":
			n.Heading = t.T("Its pages are not understood")
			n.Text = t.T("Two downloads within an hour met pages that Mangrove could not read, so it has sent nothing since %s. A newer Mangrove may read them. When it does, resume:", since)
		default:
			n.Heading = t.T("Paused by an operator")
			n.Text = t.T("Nothing has been sent since %s. To go on:", since)
		}
	case browserless(d.Lane):
		n.Tone, n.Icon = "warn", "unplug"
		n.Heading, n.Text, n.Command = t.T("It needs a browser, which is missing here"), t.installBrowser()+untouched, browserCommand
	case d.Trouble == "refused":
		n.Heading = t.T("The Site refused since %s", t.clock(d.TroubleSince, now))
		n.Text = t.T("It is asked again at its next turn; if it refuses again, its Lane is paused.") + untouched
	// Before an outage: a Site whose pages are all new looks like one.
	case d.Canary != nil && d.Canary.State == "failing":
		n.Tone, n.Icon, n.Heading = "warn", "puzzle", t.T("Its pages are no longer understood")
		n.Text = t.T("Mangrove reads “%s” regularly to see whether it still understands this Site, and since %s it does not: %s.", knownName(*d.Canary), t.clock(d.Canary.FailingSince, now), t.trialWords(d.Canary.Outcome)) +
			" " + t.T("Most likely the Site has changed its pages.") + untouched + " " +
			t.T("If a file of yours describes this Site, mend it; mangrove site check says what finds nothing. Otherwise save the bundle of the incident and send it with a report.")
		if d.Canary.IncidentID > 0 {
			n.Incident = incidentAddress(d.Canary.IncidentID)
		}
	case d.Trouble == "unreachable":
		n.Heading = t.T("Not reachable since %s", t.clock(d.TroubleSince, now))
		n.Text = t.T("No read has arrived at the Site since. It is tried again at its next turn, so nothing needs doing unless this machine has lost its network.") + untouched
		if d.Circuit == "open" {
			n.Text = t.T("The Site rests until %s and is then tried with one read; this ends by itself.", t.clock(d.CircuitUntil, now)) + untouched
		}
	case d.Circuit == "open", d.Circuit == "probing":
		n.Heading = t.T("The Site has not answered since %s", t.clock(d.CircuitSince, now))
		n.Text = t.T("It gets some minutes of quiet, and then one read tries it; this ends by itself.") + untouched
	default:
		return n, false
	}
	return n, true
}

// laneLine says in one line what a Lane does now.
func (t tongue) laneLine(d scraperclient.LaneDetail, now time.Time) (line string, busy bool) {
	waits := t.T("%d Series wait; other Sites go on.", d.Series)
	if d.Jobs > 0 {
		waits = t.T("%s and %s wait; other Sites go on.", t.T("%d Series", d.Series), t.T("%d downloads", d.Jobs))
	}
	switch d.Circuit {
	case "paused":
		return t.T("Paused") + ". " + waits, false
	case "open", "probing":
		return t.T("Resting") + ". " + waits, false
	}
	switch d.Activity {
	case "polling":
		if d.Current == "" {
			return t.T("Polling its Series"), true
		}
		return t.T("Polling %s", d.Current), true
	case "inspecting":
		return t.T("Looking what there is of %s", cmp.Or(d.Current, t.T("a Series"))), true
	case "downloading":
		if d.Current == "" {
			return t.T("Downloading a chapter"), true
		}
		return t.T("Downloading %s", d.Current), true
	}
	switch {
	case d.Series == 0:
		return t.T("Nothing here is followed."), false
	case d.NextDue.IsZero():
		return t.T("Nothing to do just now."), false
	case d.NextDue.Before(now):
		return t.T("Nothing to do just now; the next Series is due."), false
	}
	return t.T("Nothing to do until %s.", t.clock(d.NextDue, now)), false
}

// evidence says how fresh the ages of a Site's Series are (B34): when its Lane
// last read anything, or why it does not.
func (t tongue) evidence(d scraperclient.LaneDetail, now time.Time) string {
	switch {
	case d.Circuit == "paused" && d.CircuitReason == "access", d.Trouble == "refused":
		return t.T("Lane refused since %s; this age is not being re-tested", t.clock(refusedSince(d.Lane), now))
	case d.Circuit == "paused":
		return t.T("Lane paused since %s; this age is not being re-tested", t.clock(d.CircuitSince, now))
	case browserless(d.Lane):
		return t.T("Lane has no browser to read with; this age is not being re-tested")
	case d.Trouble == "unreachable":
		return t.T("Site not reachable since %s; this age is not being re-tested", t.clock(d.TroubleSince, now))
	case d.Circuit == "open", d.Circuit == "probing":
		return t.T("Lane resting since %s; this age is not being re-tested", t.clock(d.CircuitSince, now))
	}
	last := d.LastGoodRead
	for _, p := range d.Passes {
		if p.Read() > 0 && p.Ended.After(last) {
			last = p.Ended
		}
	}
	switch {
	case d.Activity == "polling":
		return t.T("Lane is reading now")
	case last.IsZero():
		return t.T("Lane has read nothing yet")
	}
	return t.T("Lane last read %s ago", t.span(max(now.Sub(last), time.Second)))
}

// askedFor says that a Forced Poll waits and what for. It clears nothing
// (POLL-6): the failure stands until a good read.
func (t tongue) askedFor(at time.Time, l *scraperclient.Lane, now time.Time) string {
	text := t.T("Requested %s, not read yet.", t.clock(at, now)) + " "
	if l != nil {
		switch l.Circuit {
		case "paused":
			return text + t.T("Its Lane is paused.")
		case "open", "probing":
			if l.CircuitUntil.After(now) {
				return text + t.T("Its Site rests until %s.", t.clock(l.CircuitUntil, now))
			}
		}
	}
	return text + t.T("The next Pass takes it.")
}

func lowerFirst(s string) string {
	if s == "" || s[0] < 'A' || s[0] > 'Z' {
		return s
	}
	return string(s[0]+'a'-'A') + s[1:]
}
