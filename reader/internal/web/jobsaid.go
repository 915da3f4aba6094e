package web

import (
	"cmp"
	"context"
	"strconv"

	"mangrove/reader/internal/scraperclient"
)

// said words what came of what a form asked for; nil when none did.
func (s *Server) said(ctx context.Context, t told) *said {
	say := s.say(ctx)
	switch {
	case t.did == "pace":
		return &said{"ok", "check", say.T("Saved. It holds from the next request on.")}
	case t.did == "floor":
		return &said{"ok", "check", say.T("Saved. It holds from the next chapter on.")}
	case t.did == "discovery":
		return &said{"ok", "check", say.T("Saved.")}
	case t.job == 0 && t.did == "start" && t.changed == "yes":
		return &said{"ok", "check", cmp.Or(some(t.many, say.T("%d downloads are queued.", t.many)), say.T("There was nothing left to start."))}
	case t.job == 0 && t.did == "retry" && t.changed == "yes":
		return &said{"ok", "check", cmp.Or(some(t.many, say.T("%d downloads are looked at again; what has arrived is kept.", t.many)), say.T("There was nothing left to retry."))}
	case t.job == 0:
		return nil
	}
	// What the address says is only which Job; what became of it is the scraper's to say.
	j, _, err := s.Scraper.GetJob(ctx, t.job)
	if err != nil {
		return nil
	}
	return say.saidOf(j, t)
}

func (t tongue) saidOf(j scraperclient.QueueJob, to told) *said {
	name, job := cmp.Or(j.Title, j.Series.SeriesID), strconv.FormatInt(j.ID, 10)
	switch to.did {
	case "high":
		return &said{"ok", "check", t.T("%s goes first on its Site, once the chapter under way is done.", name)}
	case "normal":
		return &said{"ok", "check", t.T("%s goes in turn.", name)}
	case "low":
		return &said{"ok", "check", t.T("%s goes after the others of its Site.", name)}
	case "accept":
		if to.changed != "yes" {
			return &said{"info", "clock", t.T("That chapter is not set aside for its pages any more. Nothing was changed.")}
		}
		return &said{"ok", "check", t.T("It is published without them, and marked so, once the others are there.")}
	case "start", "pause", "resume", "retry", "cancel":
	default:
		return nil
	}
	switch to.changed {
	case "other":
		return &said{"warn", "clock", t.T("%s: another download of it is under way, so Job %s was left as it is.", name, job)}
	case "no":
		return &said{"info", "clock", t.alreadyWords(j, name, job)}
	case "yes":
	default:
		return nil
	}
	var text string
	switch to.did {
	case "start":
		text = t.T("%s is queued.", name)
	case "pause":
		text = t.T("%s is paused. What has arrived is kept.", name)
	case "resume":
		text = t.T("%s goes on.", name)
	case "retry":
		text = t.T("%s is looked at again. What has arrived is kept.", name)
	case "cancel":
		text = t.T("%s is cancelled. What is in the library stays.", name)
	}
	return &said{"ok", "check", text}
}

// alreadyWords says that a Job is already as it was asked to become.
func (t tongue) alreadyWords(j scraperclient.QueueJob, name, job string) string {
	switch j.State {
	case "requested":
		return t.T("Job %s, %s, is already asked for. Nothing was changed.", job, name)
	case "inspecting":
		return t.T("Job %s, %s, is already being looked at. Nothing was changed.", job, name)
	case "ready":
		return t.T("Job %s, %s, is already waiting for your word. Nothing was changed.", job, name)
	case "queued":
		return t.T("Job %s, %s, is already queued. Nothing was changed.", job, name)
	case "downloading":
		return t.T("Job %s, %s, is already downloading. Nothing was changed.", job, name)
	case "paused":
		return t.T("Job %s, %s, is already paused. Nothing was changed.", job, name)
	case "retry_wait":
		return t.T("Job %s, %s, is already waiting for its retry. Nothing was changed.", job, name)
	case "unavailable":
		return t.T("Job %s, %s, is already set aside: its title is unavailable. Nothing was changed.", job, name)
	case "quarantined":
		return t.T("Job %s, %s, is already quarantined. Nothing was changed.", job, name)
	case "done":
		return t.T("Job %s, %s, is already done. Nothing was changed.", job, name)
	case "cancelled":
		return t.T("Job %s, %s, is already cancelled. Nothing was changed.", job, name)
	}
	return t.T("Job %s, %s, is already like that. Nothing was changed.", job, name)
}
