package web

import (
	"cmp"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// kindWords word what kind of failure an incident is.
func kindWords(kind string) pill {
	switch kind {
	case "parser":
		return pill{"puzzle", "Not understood", "warn", kind}
	case "access":
		return pill{"lock", "Refused", "bad", kind}
	case "network":
		return pill{"unplug", "No answer", "quiet", kind}
	case "storage":
		return pill{"folder", "Could not be written", "bad", kind}
	case "page":
		return pill{"cut", "Page not whole", "warn", kind}
	case "conflict":
		return pill{"rows", "File in the way", "warn", kind}
	case "stall":
		return pill{"clock", "No progress", "warn", kind}
	}
	return pill{"warn", "Unforeseen", "warn", kind}
}

// incidentHeading says what happened, to what.
func incidentHeading(in scraperclient.Incident) string {
	switch in.Kind {
	case "parser":
		if in.About == "canary" {
			return "The Site is no longer understood"
		}
		if in.ChapterID != "" {
			return "Page list not understood"
		}
		return "Series page not understood"
	case "access":
		return "The Site refused"
	case "network":
		if in.About == "circuit" {
			return "The Site did not answer"
		}
		return "A download got no answer twice"
	case "storage":
		return "The library could not be written"
	case "page":
		if in.About == "file" {
			return "A file in the library is damaged"
		}
		return "A page never came whole"
	case "conflict":
		return "Another file stands where a chapter belongs"
	case "stall":
		return "A download stopped moving"
	}
	return "Something unforeseen failed"
}

// incidentAbout names what an incident is about.
func incidentAbout(in scraperclient.Incident) string {
	site := cmp.Or(in.SiteName, in.Key.Site, "the library")
	if in.Key.SeriesID == "" || in.About == "circuit" || in.About == "hold" {
		return site
	}
	name := cmp.Or(in.Title, in.Key.SeriesID)
	if in.ChapterNumber != "" || in.ChapterID != "" {
		name += ", chapter " + cmp.Or(in.ChapterNumber, in.ChapterID)
	}
	return name + " · " + site
}

// endOfIncident says how an incident ended, "" while it waits.
func endOfIncident(in scraperclient.Incident, now time.Time) string {
	if in.ResolvedAt.IsZero() {
		return ""
	}
	at := " " + dated(in.ResolvedAt, now)
	switch in.Resolution {
	case "resumed":
		return "Resumed" + at
	case "retried":
		return "Retried" + at
	case "released":
		return "Released" + at
	case "good_read":
		return "Read well" + at
	case "operator":
		return "Seen to" + at
	}
	return "Over since" + at
}

// decisionWords word one decision, and its tone.
func decisionWords(d scraperclient.Decision, in scraperclient.Incident) (text, tone string) {
	site := cmp.Or(in.SiteName, in.Key.Site, "The Site")
	switch d.What + " " + d.To {
	case "job quarantined":
		return "Job " + d.ID + " is quarantined: it is not tried again by itself. The pages it has stay.", "bad"
	case "job queued", "job requested":
		return "Job " + d.ID + " goes back to the queue, with what it has done.", "warn"
	case "job retry_wait":
		return "Job " + d.ID + " waits for its one retry.", "warn"
	case "chapter set_aside":
		return "Chapter " + cmp.Or(in.ChapterNumber, d.ID) + " is set aside. The Job goes on with the others.", "warn"
	case "circuit paused":
		switch d.Reason {
		case "systemic":
			return site + " is paused: two downloads within an hour met pages that were not understood.", "bad"
		case "access":
			return site + " is paused: nothing is sent there until someone resumes it.", "bad"
		}
		return site + " is paused until someone resumes it.", "bad"
	case "circuit open":
		return site + " rests for some minutes. Then one read tries it.", "warn"
	case "hold held":
		return "All downloads stop. Polls, reading and these pages go on.", "bad"
	case "canary failing":
		return "The Series by which " + site + " is tried was not understood twice in a row. Polls and downloads go on.", "warn"
	case "poll errors":
		return "The Series stands on the Worklist as not understood. What was known of it stays.", "warn"
	}
	return upperFirst(d.What) + " " + d.ID + ": " + d.To + ".", ""
}

// leftAlone says what was not touched.
func leftAlone(in scraperclient.Incident) string {
	for _, d := range in.Decided {
		if d.What == "circuit" && in.About != "circuit" {
			return "Nothing else was touched: no faster pace, no file removed, and every other Site goes on."
		}
	}
	switch in.About {
	case "canary":
		return "No Series is marked as failing because of this, no Job was touched, and the Site goes on being asked."
	case "series":
		return "Nothing else was touched: its chapters, its files and every other Series are as they were."
	case "circuit":
		return "No Series is marked as failing because of this, and every other Site goes on."
	case "file":
		return "Nothing was removed and nothing fetched: the file is as it was found, and can be read where it is whole."
	case "hold":
		return "Nothing was removed, and nothing that cannot be seen is taken for deleted."
	}
	return "Nothing else was touched: no faster pace, no file removed, and the Site goes on."
}

// noEvidence says why no answer is shown.
func noEvidence(kind, about string) string {
	if about == "file" {
		return "This is about a file on the disk, not about what the Site answered."
	}
	switch kind {
	case "storage", "conflict":
		return "This is about the disk and not about what the Site answered, so nothing of it was kept."
	case "network":
		return "No answer came, so there is nothing to show."
	case "stall":
		return "Nothing arrived for so long that there is nothing to show."
	}
	return "No answer was kept with this incident."
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

const sendBundle = "If it fails again, save the bundle and send it with a report: it holds what is needed to mend the adapter, and nothing about you."

// helpFor words what helps, by what failed and what it stopped.
func helpFor(in scraperclient.Incident) incidentHelp {
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
			h.Text = "Most often the Site changed its pages. If a file of yours describes it, mend the file: mangrove site check, with the address of this Series, says what finds nothing. Where the Series itself is gone, name another. " + sendBundle
			h.Href, h.Link = laneAddress(in.Key.Site), "See the Lane"
			break
		}
		if in.About == "series" {
			h.Text = "Most often the Site changed its page. Polling again helps if that was brief. " + sendBundle
			break
		}
		h.Text = "Most often the Site changed its answer. Retrying helps if that was brief. " + sendBundle
	case "access":
		h.Text = "Look at the Site in a browser first. If it asks for quiet, wait at least as long. Mangrove solves no challenge and does not disguise itself. When it answers again, resume it on its Lane."
		h.Href, h.Link = laneAddress(in.Key.Site), "See the Lane"
	case "network":
		if in.About == "circuit" {
			h.Text = "Nothing needs doing: the Site is tried again by itself, unless this machine has lost its network."
			h.Href, h.Link = laneAddress(in.Key.Site), "See the Lane"
			break
		}
		h.Text = "See whether the Site opens in a browser. When it does, retry:"
	case "storage":
		h.Text = "Mend what the reason names: free space, give permission, or mount the library again. Never make its marker file by hand in an empty folder. Then release the Hold:"
		h.Command = "mangrove release storage"
	case "page":
		if in.About == "file" {
			h.Text = "Its bytes are no longer those that were downloaded. Look at the disk: one that begins to fail damages more. Put the file back from a backup, or have the chapter fetched again: what is there is shown until the new one has come."
			h.Command = "mangrove library verify"
			if in.ResolvedAt.IsZero() && in.Key.Site != localSite {
				h.Again, h.Chapter = siteAddress(in.Key)+"/again", in.ChapterID
			}
			break
		}
		h.Text = "The Site serves this page broken, or hides it from programs. The chapter is tried again when the Site lists it changed, or with a retry:"
	case "conflict":
		h.Text = "Both files are kept. Move the one that stands in the library out of the way if it is not wanted, then retry:"
	case "stall":
		h.Text = "It was put back once; the next time it is set aside. See whether the Site answers slowly in a browser too. To start it again:"
	default:
		h.Text = "This is a fault of Mangrove’s own. The scraper’s log says more at this time. " + sendBundle
	}
	return h
}
