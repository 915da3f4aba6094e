package web

import (
	"cmp"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// knownName is what a person calls the Series by which a Site is tried.
func knownName(c scraperclient.Canary) string { return cmp.Or(c.Title, c.Key.SeriesID) }

// canaryFact says how the Series was read by which a Site is tried (H18).
func (t tongue) canaryFact(c scraperclient.Canary, now time.Time) laneFact {
	f := laneFact{Name: t.T("Known Series")}
	if c.IncidentID > 0 {
		f.Href = incidentAddress(c.IncidentID)
	}
	switch c.State {
	case "well":
		f.Text = t.T("read well %s", t.dated(c.Good, now))
	case "doubtful":
		f.Text = t.T("not understood %s, read again %s", t.dated(c.Ran, now), t.clock(c.Next, now))
	case "failing":
		f.Text = t.T("not understood since %s", t.dated(c.FailingSince, now))
	default:
		f.Text = t.T("not read yet")
	}
	return f
}

// trialWords word why a trial at a known Series was bad.
func (t tongue) trialWords(outcome string) string {
	switch outcome {
	case "no_landmark":
		return t.T("a page lacks the part that every page of its kind has")
	case "gone":
		return t.T("the Series is not there any more")
	case "moved":
		return t.T("the Site sends readers to another host")
	case "no_chapter":
		return t.T("the list of chapters is empty")
	case "fewer":
		return t.T("more than half of the chapters are missing from the list")
	case "no_pages":
		return t.T("a chapter has no pages any more")
	case "bad_pages":
		return t.T("the pages of a chapter have no usable address")
	}
	return t.T("a page could not be read as before")
}
