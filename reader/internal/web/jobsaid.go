package web

import (
	"cmp"
	"context"
	"strconv"

	"mangrove/reader/internal/scraperclient"
)

// said words what came of what a form asked for; nil when none did.
func (s *Server) said(ctx context.Context, t told) *said {
	switch {
	case t.did == "pace":
		return &said{"ok", "check", "Saved. It holds from the next request on."}
	case t.did == "floor":
		return &said{"ok", "check", "Saved. It holds from the next chapter on."}
	case t.did == "discovery":
		return &said{"ok", "check", "Saved."}
	case t.job == 0 && t.did == "start" && t.changed == "yes":
		return &said{"ok", "check", cmp.Or(some(t.many, count(t.many, "download is queued.", "downloads are queued.")), "There was nothing left to start.")}
	case t.job == 0 && t.did == "retry" && t.changed == "yes":
		return &said{"ok", "check", cmp.Or(some(t.many, count(t.many, "download is looked at again; what has arrived is kept.", "downloads are looked at again; what has arrived is kept.")),
			"There was nothing left to retry.")}
	case t.job == 0:
		return nil
	}
	// What the address says is only which Job; what became of it is the scraper's to say.
	j, _, err := s.Scraper.GetJob(ctx, t.job)
	if err != nil {
		return nil
	}
	return saidOf(j, t)
}

func saidOf(j scraperclient.QueueJob, t told) *said {
	name := cmp.Or(j.Title, j.Series.SeriesID)
	job := "Job " + strconv.FormatInt(j.ID, 10)
	switch t.did {
	case "high":
		return &said{"ok", "check", name + " goes first on its Site, once the chapter under way is done."}
	case "normal":
		return &said{"ok", "check", name + " goes in turn."}
	case "low":
		return &said{"ok", "check", name + " goes after the others of its Site."}
	case "accept":
		if t.changed != "yes" {
			return &said{"info", "clock", "That chapter is not set aside for its pages any more. Nothing was changed."}
		}
		return &said{"ok", "check", "It is published without them, and marked so, once the others are there."}
	case "start", "pause", "resume", "retry", "cancel":
	default:
		return nil
	}
	switch t.changed {
	case "other":
		return &said{"warn", "clock", name + ": another download of it is under way, so " + job + " was left as it is."}
	case "no":
		return &said{"info", "clock", job + ", " + name + ", is already " + jobIs(j.State) + ". Nothing was changed."}
	case "yes":
	default:
		return nil
	}
	text := map[string]string{
		"start":  " is queued.",
		"pause":  " is paused. What has arrived is kept.",
		"resume": " goes on.",
		"retry":  " is looked at again. What has arrived is kept.",
		"cancel": " is cancelled. What is in the library stays.",
	}[t.did]
	return &said{"ok", "check", name + text}
}

// jobIs is a Job's state in a sentence that says "is already".
func jobIs(state string) string {
	switch state {
	case "requested":
		return "asked for"
	case "inspecting":
		return "being looked at"
	case "ready":
		return "waiting for your word"
	case "retry_wait":
		return "waiting for its retry"
	case "unavailable":
		return "set aside: its title is unavailable"
	}
	return state
}
