package web

import (
	"cmp"
	"strings"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// moveView is the preview of a move in words.
type moveView struct {
	Frame
	// Path is the address of the forms, Back that of the Series.
	Path, Back            string
	Name, Cover, SiteName string
	// URL is where it is read now.
	URL, Address string
	Proposal     *proposalNotice
	Away         bool
	Problem      *moveProblem
	To           *movePlace
	Stays        []fact
	Next         []string
}

// moveForm is the field for an address.
type moveForm struct {
	Path, Address string
	Primary       bool
}

// Form is the field of this page.
func (v moveView) Form(primary bool) moveForm { return moveForm{v.Path, v.Address, primary} }

// moveProblem says why nothing can be moved.
type moveProblem struct{ Heading, Text, Href, Link string }

// movePlace is where a Series would be read.
type movePlace struct {
	SiteName, URL string
	// Address is what the form sends; Open is where a browser may look.
	Address, Open string
	// Same is true when only the address changes.
	Same bool
}

// fact is one line of a list of facts.
type fact struct{ Name, Text string }

// proposalNotice tells a proposal on a Series page.
type proposalNotice struct {
	Heading, URL, Text string
	// Href leads to the preview, "" for those who may not move it and where no
	// Site here reads the address.
	Href string
}

func (p *proposal) notice(say tongue, key scraperclient.Key, site string, runs bool) *proposalNotice {
	if p == nil {
		return nil
	}
	n := &proposalNotice{Heading: say.proposalWords(site, p.Because), URL: p.URL}
	switch {
	case p.Unread && p.Sites != "":
		n.Text = say.T("No Site here reads that address. What can be read: %s.", p.Sites)
	case p.Unread:
		n.Text = say.T("No Site here reads that address.")
	case p.Found == nil:
	case runs:
		n.Text = say.T("Mangrove can read it there, on %s. Nothing moves until you say so.", cmp.Or(p.Found.SiteName, p.Found.Site))
		n.Href = moveAddress(key, p.URL)
	default:
		n.Text = say.T("Mangrove can read it there. An administrator can move it.")
	}
	return n
}

// proposalWords say why a move is proposed.
func (t tongue) proposalWords(site, because string) string {
	if because == "same_title" {
		return t.T("%s lists this title at another address", site)
	}
	return t.T("%s sends readers elsewhere for good", site)
}

// movedWords say since when a move waits for its first good read.
func (t tongue) movedWords(at, now time.Time) string {
	if c := t.clock(at, now); !strings.Contains(c, ":") {
		return t.T("Moved on %s; not read there yet", c)
	}
	return t.T("Moved %s; not read there yet", t.within(at, now))
}

func (t tongue) unreadProblem(p pasted) *moveProblem {
	out := &moveProblem{Heading: t.T("No Site here reads this address"), Text: t.T("It has to be the page of the Series, as a browser shows it.")}
	if p.Sites != "" {
		out.Text += " " + t.T("What can be read: %s.", p.Sites)
	}
	return out
}

func (t tongue) underWay(state string) *moveProblem {
	out := &moveProblem{
		Heading: t.T("A download of it is under way"),
		Text:    t.T("What it has fetched so far lies under the old name, so it has to end first. Then it can move. Nothing was moved."),
	}
	if state != "" {
		out.Text = t.T("It stands at “%s”.", state) + " " + out.Text
	}
	return out
}

// moveStays lists what a move leaves as it is.
func moveStays(k seriesKnown, v seriesView, now time.Time) []fact {
	t := k.say
	stays := []fact{{t.T("Follows"), t.T("Everybody who follows it goes on doing so, with the same languages and the same choice about new chapters.")}}
	if have := v.Coverage.Have; have > 0 {
		stays = append(stays,
			fact{t.T("Files"), t.T("%d chapters in the library stay where they are and can be read meanwhile.", have)},
			fact{t.T("Progress"), t.T("What each person has read stays read, to the page.")})
	} else {
		stays = append(stays, fact{t.T("Files"), t.T("Nothing of it is in the library yet.")})
	}
	if f := k.State.Failure; f != nil {
		stays = append(stays, fact{t.T("Age"), t.T("%s, for %s. The age stands until the first good read there.", t.failureWords(f, now).Word, t.span(max(now.Sub(f.Since), time.Second)))})
	}
	return stays
}

// moveNext tells what happens after a move.
func (t tongue) moveNext(site string, here bool) []string {
	next := []string{t.T("%s is asked in its next Pass. Until then the Series says that it was moved and not read there yet.", site)}
	if here {
		return append(next, t.T("The first good read there finds its chapters by number: those you have are not fetched again."),
			t.T("A chapter that is listed there under another number counts as new, and one that is not listed there stays here."))
	}
	return append(next, t.T("The first good read there lists its chapters."))
}

func nameOf(s scraperclient.Series) string { return cmp.Or(s.Title, s.SeriesID) }
