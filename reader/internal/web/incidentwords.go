package web

import (
	"cmp"
	"fmt"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// kindWords word what kind of failure an incident is.
func (t tongue) kindWords(kind string) pill {
	switch kind {
	case "parser":
		return pill{"puzzle", t.T("Not understood"), "warn", kind}
	case "access":
		return pill{"lock", t.T("Refused"), "bad", kind}
	case "network":
		return pill{"unplug", t.T("No answer"), "quiet", kind}
	case "storage":
		return pill{"folder", t.T("Could not be written"), "bad", kind}
	case "page":
		return pill{"cut", t.T("Page not whole"), "warn", kind}
	case "conflict":
		return pill{"rows", t.T("File in the way"), "warn", kind}
	case "stall":
		return pill{"clock", t.T("No progress"), "warn", kind}
	}
	return pill{"warn", t.T("Unforeseen"), "warn", kind}
}

// incidentHeading says what happened, to what.
func (t tongue) incidentHeading(in scraperclient.Incident) string {
	switch in.Kind {
	case "parser":
		if in.About == "canary" {
			return t.T("The Site is no longer understood")
		}
		if in.ChapterID != "" {
			return t.T("Page list not understood")
		}
		return t.T("Series page not understood")
	case "access":
		return t.T("The Site refused")
	case "network":
		if in.About == "circuit" {
			return t.T("The Site did not answer")
		}
		return t.T("A download got no answer twice")
	case "storage":
		return t.T("The library could not be written")
	case "page":
		if in.About == "file" {
			return t.T("A file in the library is damaged")
		}
		return t.T("A page never came whole")
	case "conflict":
		return t.T("Another file stands where a chapter belongs")
	case "stall":
		return t.T("A download stopped moving")
	}
	return t.T("Something unforeseen failed")
}

// incidentAbout names what an incident is about.
func (t tongue) incidentAbout(in scraperclient.Incident) string {
	site := cmp.Or(in.SiteName, in.Key.Site, t.T("the library"))
	if in.Key.SeriesID == "" || in.About == "circuit" || in.About == "hold" {
		return site
	}
	name := cmp.Or(in.Title, in.Key.SeriesID)
	if in.ChapterNumber != "" || in.ChapterID != "" {
		name = t.T("%s, %s", name, t.T("chapter %s", cmp.Or(in.ChapterNumber, in.ChapterID)))
	}
	return name + " · " + site
}

// endOfIncident says how an incident ended, "" while it waits.
func (t tongue) endOfIncident(in scraperclient.Incident, now time.Time) string {
	if in.ResolvedAt.IsZero() {
		return ""
	}
	at := t.dated(in.ResolvedAt, now)
	switch in.Resolution {
	case "resumed":
		return t.T("Resumed %s", at)
	case "retried":
		return t.T("Retried %s", at)
	case "released":
		return t.T("Released %s", at)
	case "good_read":
		return t.T("Read well %s", at)
	case "operator":
		return t.T("Seen to %s", at)
	}
	return t.T("Over since %s", at)
}

// decisionWords word one decision, and its tone.
func (t tongue) decisionWords(d scraperclient.Decision, in scraperclient.Incident) (text, tone string) {
	site := cmp.Or(in.SiteName, in.Key.Site, t.T("The Site"))
	switch d.What + " " + d.To {
	case "job quarantined":
		return t.T("Job %s is quarantined: it is not tried again by itself. The pages it has stay.", d.ID), "bad"
	case "job queued", "job requested":
		return t.T("Job %s goes back to the queue, with what it has done.", d.ID), "warn"
	case "job retry_wait":
		return t.T("Job %s waits for its one retry.", d.ID), "warn"
	case "chapter set_aside":
		return t.T("Chapter %s is set aside. The Job goes on with the others.", cmp.Or(in.ChapterNumber, d.ID)), "warn"
	case "circuit paused":
		switch d.Reason {
		case "systemic":
			return t.T("%s is paused: two downloads within an hour met pages that were not understood.", site), "bad"
		case "access":
			return t.T("%s is paused: nothing is sent there until someone resumes it.", site), "bad"
		}
		return t.T("%s is paused until someone resumes it.", site), "bad"
	case "circuit open":
		return t.T("%s rests for some minutes. Then one read tries it.", site), "warn"
	case "hold held":
		return t.T("All downloads stop. Polls, reading and these pages go on."), "bad"
	case "canary failing":
		return t.T("The Series by which %s is tried was not understood twice in a row. Polls and downloads go on.", site), "warn"
	case "poll errors":
		return t.T("The Series stands on the Worklist as not understood. What was known of it stays."), "warn"
	}
	// The words of a newer scraper.
	return fmt.Sprintf("%s %s: %s.", upperFirst(d.What), d.ID, d.To), ""
}

// leftAlone says what was not touched.
func (t tongue) leftAlone(in scraperclient.Incident) string {
	for _, d := range in.Decided {
		if d.What == "circuit" && in.About != "circuit" {
			return t.T("Nothing else was touched: no faster pace, no file removed, and every other Site goes on.")
		}
	}
	switch in.About {
	case "canary":
		return t.T("No Series is marked as failing because of this, no Job was touched, and the Site goes on being asked.")
	case "series":
		return t.T("Nothing else was touched: its chapters, its files and every other Series are as they were.")
	case "circuit":
		return t.T("No Series is marked as failing because of this, and every other Site goes on.")
	case "file":
		return t.T("Nothing was removed and nothing fetched: the file is as it was found, and can be read where it is whole.")
	case "hold":
		return t.T("Nothing was removed, and nothing that cannot be seen is taken for deleted.")
	}
	return t.T("Nothing else was touched: no faster pace, no file removed, and the Site goes on.")
}

// noEvidence says why no answer is shown.
func (t tongue) noEvidence(kind, about string) string {
	if about == "file" {
		return t.T("This is about a file on the disk, not about what the Site answered.")
	}
	switch kind {
	case "storage", "conflict":
		return t.T("This is about the disk and not about what the Site answered, so nothing of it was kept.")
	case "network":
		return t.T("No answer came, so there is nothing to show.")
	case "stall":
		return t.T("Nothing arrived for so long that there is nothing to show.")
	}
	return t.T("No answer was kept with this incident.")
}

// incidentHelp says what a person can do.
type incidentHelp struct {
	Text string
	// Command is what an operator types, "" where nothing needs doing.
	Command string
	// Retry is where the form of the same act goes, "" without one.
	Retry string
	// Again is where the form goes that fetches Chapter once more, "" without one.
	Again, Chapter string
	// Href leads where something can be done, Link says so.
	Href, Link string
}

func (t tongue) sendBundle() string {
	return t.T("If it fails again, save the bundle and send it with a report: it holds what is needed to mend the adapter, and nothing about you.")
}

// helpFor words what helps, by what failed and what it stopped.
func (t tongue) helpFor(in scraperclient.Incident) incidentHelp {
	var h incidentHelp
	if plainKey(in.Key.Site) && plainKey(in.Key.SeriesID) && (in.About == "job" || in.About == "chapter") {
		h.Command = "mangrove retry " + in.Key.Site + " " + in.Key.SeriesID
	}
	if in.JobID > 0 && in.ResolvedAt.IsZero() && (in.About == "job" || in.About == "chapter") {
		h.Retry = jobAddress(in.JobID)
	}
	switch in.Kind {
	case "parser":
		if in.About == "canary" {
			h.Text = t.T("Most often the Site changed its pages. If a file of yours describes it, mend the file: mangrove site check, with the address of this Series, says what finds nothing. Where the Series itself is gone, name another.") + " " + t.sendBundle()
			h.Href, h.Link = laneAddress(in.Key.Site), t.T("See the Lane")
			break
		}
		if in.About == "series" {
			h.Text = t.T("Most often the Site changed its page. Polling again helps if that was brief.") + " " + t.sendBundle()
			break
		}
		h.Text = t.T("Most often the Site changed its answer. Retrying helps if that was brief.") + " " + t.sendBundle()
	case "access":
		h.Text = t.T("Look at the Site in a browser first. If it asks for quiet, wait at least as long. Mangrove solves no challenge and does not disguise itself. When it answers again, resume it on its Lane.")
		h.Href, h.Link = laneAddress(in.Key.Site), t.T("See the Lane")
	case "network":
		if in.About == "circuit" {
			h.Text = t.T("Nothing needs doing: the Site is tried again by itself, unless this machine has lost its network.")
			h.Href, h.Link = laneAddress(in.Key.Site), t.T("See the Lane")
			break
		}
		h.Text = t.T("See whether the Site opens in a browser. When it does, retry:")
	case "storage":
		h.Text = t.T("Mend what the reason names: free space, give permission, or mount the library again. Never make its marker file by hand in an empty folder. Then release the Hold:")
		h.Command = "mangrove release storage"
	case "page":
		if in.About == "file" {
			h.Text = t.T("Its bytes are no longer those that were downloaded. Look at the disk: one that begins to fail damages more. Put the file back from a backup, or have the chapter fetched again: what is there is shown until the new one has come.")
			h.Command = "mangrove library verify"
			if in.ResolvedAt.IsZero() && in.Key.Site != localSite {
				h.Again, h.Chapter = siteAddress(in.Key)+"/again", in.ChapterID
			}
			break
		}
		h.Text = t.T("The Site serves this page broken, or hides it from programs. The chapter is tried again when the Site lists it changed, or with a retry:")
	case "conflict":
		h.Text = t.T("Both files are kept. Move the one that stands in the library out of the way if it is not wanted, then retry:")
	case "stall":
		h.Text = t.T("It was put back once; the next time it is set aside. See whether the Site answers slowly in a browser too. To start it again:")
	default:
		h.Text = t.T("This is a fault of Mangrove’s own. The scraper’s log says more at this time.") + " " + t.sendBundle()
	}
	return h
}
