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
func laneWaits(l *scraperclient.Lane, site string, now time.Time) waiting {
	never := now.Add(farAway)
	switch {
	case l == nil:
		return waiting{}
	case l.Circuit == "paused" && l.CircuitReason == "access":
		return waiting{site + " refuses since " + Clock(refusedSince(*l), now) + " and is not asked until somebody resumes it", "after Resume", never}
	case l.Circuit == "paused" && l.CircuitReason == "systemic":
		return waiting{site + " is paused since " + Clock(l.CircuitSince, now) + ", because its pages are not understood, and is not asked until somebody resumes it", "after Resume", never}
	case l.Circuit == "paused":
		return waiting{site + " is paused by an operator since " + Clock(l.CircuitSince, now) + " and is not asked until a Resume", "after Resume", never}
	case browserless(*l):
		return waiting{site + " is read through a browser, and the server has none", "once there is a browser", never}
	case l.Circuit == "open" && l.CircuitUntil.After(now):
		return waiting{site + " has not answered since " + Clock(l.CircuitSince, now) + " and rests until " + Clock(l.CircuitUntil, now), "after " + Clock(l.CircuitUntil, now), l.CircuitUntil}
	case l.Circuit == "open", l.Circuit == "probing":
		return waiting{site + " has not answered since " + Clock(l.CircuitSince, now) + " and is being tried with one read", "once it answers", now}
	}
	return waiting{}
}

// firstPoll says when the first Poll of a Series comes that lists its chapters, or
// why it waits and until when: "a moment" would be untrue of a Site that rests.
func firstPoll(st *scraperclient.State, site string, now time.Time) string {
	which := "first"
	if st.Polled {
		which = "next"
	}
	if w := laneWaits(st.Lane, site, now); w.why != "" {
		return w.why + ". The " + which + " Poll comes " + w.next + "."
	}
	switch {
	case !st.LastGoodRead.IsZero():
		return "The last good Poll listed none."
	case st.Lane != nil && st.Lane.Trouble == "refused":
		return site + " refused since " + Clock(st.Lane.TroubleSince, now) + ". " + firstNext(st, now)
	case st.Lane != nil && st.Lane.Trouble == "unreachable":
		return site + " is not reachable since " + Clock(st.Lane.TroubleSince, now) + ". " + firstNext(st, now)
	case st.Failure != nil:
		return "No Poll has listed any yet. " + firstNext(st, now)
	case st.NextPollAt.After(now) && st.ForcedPoll.IsZero():
		return firstNext(st, now)
	}
	return firstSoon
}

// firstSoon is said of a Series that nothing holds back.
const firstSoon = "The first Poll lists them; it takes a moment."

func firstNext(st *scraperclient.State, now time.Time) string {
	if st.NextPollAt.After(now) && st.ForcedPoll.IsZero() {
		return "The next Poll is about " + Clock(st.NextPollAt, now) + "."
	}
	return "The next Poll is due."
}
