package web

import (
	"context"
	"strings"
	"time"

	"mangrove/internal/fault"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/progress"
	"mangrove/reader/internal/scraperclient"
)

type bookLink struct{ Href, Label string }

// missing says why there is no next chapter to read, and what can be done.
type missing struct {
	Heading, Text, Tone, Icon string
	Act                       *missingAct
}

// missingAct is one thing to do about it: a link, or a form of one button.
type missingAct struct {
	Label, Href, Post string
}

// lookAct asks for a Forced Poll.
func (t tongue) lookAct(title catalog.Title) *missingAct {
	return &missingAct{Label: t.T("Look now"), Post: siteAddress(titleKey(title)) + "/poll"}
}

// neighbours finds the chapters before and after, and why the one after is
// missing if it is.
func (s *Server) neighbours(ctx context.Context, u account.User, v *readView, books []progress.Shelved, at int, title catalog.Title) error {
	say := s.say(ctx)
	link := func(b progress.Shelved) *bookLink {
		return &bookLink{Href: readAddress(b.ID, 0), Label: upperFirst(say.chapterName(b.Number, b.Name))}
	}
	for i := at - 1; i >= 0; i-- {
		if books[i].Here() {
			v.PrevBook = link(books[i])
			break
		}
	}
	var next *progress.Shelved
	for i := at + 1; i < len(books); i++ {
		if books[i].Here() {
			next = &books[i]
			break
		}
	}
	// Does the Site list a chapter in between that is not here?
	limited, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	now := time.Now()
	_, follows, err := s.Shelves.Wish(ctx, u.ID, titleKey(title))
	if err != nil {
		return err
	}
	st, err := s.Scraper.GetSeries(limited, titleKey(title))
	if err == nil {
		if c, ok := following(st.Chapters, books[at].Book, next); ok {
			v.Missing = say.missingWords(c, st, now)
			v.Missing.Act = say.actOn(c, st, u, title, follows)
		}
	}
	if next != nil {
		v.NextBook, v.nextID, v.nextPages, v.nextFingerprint = link(*next), next.ID, next.PageCount, next.Fingerprint
		return nil
	}
	if v.Missing != nil {
		return nil
	}
	v.Missing = &missing{Heading: say.T("That was the newest chapter"), Icon: "check", Tone: "quiet"}
	switch {
	case err != nil && fault.Is(err, fault.Away):
		p := s.Scraper.Presence()
		v.Missing.Text = say.T("Scraper: unreachable since %s. New chapters come when it is back.", say.clock(p.Since, now))
	case err != nil || title.Status == "completed" || titleKey(title).Site == localSite:
		v.Missing.Text = say.T("There is nothing after it here.")
	case follows && !st.ForcedPoll.IsZero():
		v.Missing.Text = say.T("You asked to look for the next one; that comes in the next Pass.")
	case !st.NextPollAt.IsZero() && st.NextPollAt.After(now):
		v.Missing.Text = say.T("Mangrove looks for the next one about %s.", say.clock(st.NextPollAt, now))
		v.Missing.Act = say.lookAct(title)
	case follows:
		v.Missing.Text = say.T("Mangrove looks for the next one soon.")
		v.Missing.Act = say.lookAct(title)
	default:
		v.Missing.Text = say.T("Mangrove looks for the next one when the Series is followed.")
		v.Missing.Act = &missingAct{Label: say.T("Follow"), Post: siteAddress(titleKey(title)) + "/follow"}
	}
	return nil
}

// actOn is what one person can do about a chapter that the Site lists and the
// library lacks: nil where it comes by itself or somebody else has to act.
func (t tongue) actOn(c scraperclient.Chapter, st scraperclient.State, u account.User, title catalog.Title, follows bool) *missingAct {
	running := st.Job != nil && st.Job.State != "done" && st.Job.State != "cancelled"
	switch {
	case st.Job != nil && u.Role == account.Administrator && (running || c.DownloadState == "set_aside"):
		return &missingAct{Label: t.T("See the download"), Href: jobAddress(st.Job.ID)}
	case running:
		return nil
	case !follows:
		return &missingAct{Label: t.T("Follow and download"), Post: siteAddress(titleKey(title)) + "/follow"}
	}
	return t.lookAct(title)
}

// following finds the first chapter after current that the Site lists and the
// library lacks, before next if there is a next.
func following(chapters []scraperclient.Chapter, current catalog.Book, next *progress.Shelved) (scraperclient.Chapter, bool) {
	var best scraperclient.Chapter
	found := false
	for _, c := range chapters {
		if c.LibraryState == "published" || c.Language != current.Language || c.Number == current.Number && c.Number != "" {
			continue
		}
		n := catalog.Decimal(c.Number)
		if catalog.Order(n, c.SourceOrder, current.Number, current.SourceOrder) <= 0 {
			continue
		}
		if next != nil && catalog.Order(n, c.SourceOrder, next.Number, next.SourceOrder) >= 0 {
			continue
		}
		if !found || catalog.Order(n, c.SourceOrder, catalog.Decimal(best.Number), best.SourceOrder) < 0 {
			best, found = c, true
		}
	}
	return best, found
}

func (t tongue) missingWords(c scraperclient.Chapter, st scraperclient.State, now time.Time) *missing {
	m := &missing{Heading: t.T("%s is not here yet", upperFirst(t.chapterName(c.Number, c.Title))), Icon: "clock", Tone: "quiet"}
	switch {
	case c.DownloadState == "downloading" && c.PagesTotal > 0:
		m.Icon, m.Tone, m.Text = "down", "info", t.T("It is arriving now: %d of %d pages.", c.PagesDone, c.PagesTotal)
	case c.DownloadState == "downloading", c.DownloadState == "waiting":
		m.Icon, m.Tone, m.Text = "down", "info", t.T("It is on its way.")
	case c.DownloadState == "set_aside":
		m.Icon, m.Tone, m.Text = "puzzle", "warn", t.T("It was set aside: %s", c.SetAsideReason)
	case c.LibraryState == "missing":
		m.Icon, m.Tone, m.Text = "gone", "warn", t.T("Its file is gone from the library.")
	case st.Job != nil && st.Job.State != "done" && st.Job.State != "cancelled":
		p := t.jobWords(st.Job, now)
		m.Tone, m.Text = p.Tone, p.Word+". "+st.Job.Reason
	default:
		m.Text = t.T("The Site lists it; it was not downloaded.")
	}
	m.Text = strings.TrimSpace(m.Text)
	return m
}
