package web

import (
	"time"

	"mangrove/reader/internal/scraperclient"
)

// waiting is why a Site is not asked now. The zero value means that it is.
type waiting struct {
	// why is a sentence without its full stop, next what comes instead of the time
	// of the next Poll, until is when it ends by itself: far away where it does not.
	why, next string
	until     time.Time
}

// farAway is later than any Poll: what only a person ends.
const farAway = 100 * 365 * 24 * time.Hour

// laneWaits words why nothing of a Site is read now.
func (t tongue) laneWaits(l *scraperclient.Lane, site string, now time.Time) waiting {
	never := now.Add(farAway)
	switch {
	case l == nil:
		return waiting{}
	case l.Circuit == "paused" && l.CircuitReason == "access":
		return waiting{t.T("%s refuses since %s and is not asked until somebody resumes it", site, t.clock(refusedSince(*l), now)), t.T("after Resume"), never}
	case l.Circuit == "paused" && l.CircuitReason == "systemic":
		return waiting{
			t.T("%s is paused since %s, because its pages are not understood, and is not asked until somebody resumes it", site, t.clock(l.CircuitSince, now)), t.T("after Resume"), never,
		}
	case l.Circuit == "paused":
		return waiting{t.T("%s is paused by an operator since %s and is not asked until a Resume", site, t.clock(l.CircuitSince, now)), t.T("after Resume"), never}
	case browserless(*l):
		return waiting{t.T("%s is read through a browser, and the server has none", site), t.T("once there is a browser"), never}
	case l.Circuit == "open" && l.CircuitUntil.After(now):
		return waiting{
			t.T("%s has not answered since %s and rests until %s", site, t.clock(l.CircuitSince, now), t.clock(l.CircuitUntil, now)), t.T("after %s", t.clock(l.CircuitUntil, now)), l.CircuitUntil,
		}
	case l.Circuit == "open", l.Circuit == "probing":
		return waiting{t.T("%s has not answered since %s and is being tried with one read", site, t.clock(l.CircuitSince, now)), t.T("once it answers"), now}
	}
	return waiting{}
}

// firstPoll says when the first Poll of a Series comes that lists its chapters, or
// why it waits and until when: "a moment" would be untrue of a Site that rests.
func (t tongue) firstPoll(st *scraperclient.State, site string, now time.Time) string {
	if w := t.laneWaits(st.Lane, site, now); w.why != "" {
		if st.Polled {
			return w.why + ". " + t.T("The next Poll comes %s.", w.next)
		}
		return w.why + ". " + t.T("The first Poll comes %s.", w.next)
	}
	switch {
	case !st.LastGoodRead.IsZero():
		return t.T("The last good Poll listed none.")
	case st.Lane != nil && st.Lane.Trouble == "refused":
		return t.T("%s refused since %s.", site, t.clock(st.Lane.TroubleSince, now)) + " " + t.firstNext(st, now)
	case st.Lane != nil && st.Lane.Trouble == "unreachable":
		return t.T("%s is not reachable since %s.", site, t.clock(st.Lane.TroubleSince, now)) + " " + t.firstNext(st, now)
	case st.Failure != nil:
		return t.T("No Poll has listed any yet.") + " " + t.firstNext(st, now)
	case st.NextPollAt.After(now) && st.ForcedPoll.IsZero():
		return t.firstNext(st, now)
	}
	return t.firstSoon()
}

// firstSoon is said of a Series that nothing holds back.
func (t tongue) firstSoon() string { return t.T("The first Poll lists them; it takes a moment.") }

func (t tongue) firstNext(st *scraperclient.State, now time.Time) string {
	if st.NextPollAt.After(now) && st.ForcedPoll.IsZero() {
		return t.T("The next Poll is about %s.", t.clock(st.NextPollAt, now))
	}
	return t.T("The next Poll is due.")
}
