package web

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"mangrove/internal/fault"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/scraperclient"
)

// searchView is the search page in words.
type searchView struct {
	Frame
	Query, Problem string
	// Shelf is what the library has of it.
	Shelf  []tile
	Groups []siteGroup
	// Open and Mute are the Sites that can be searched and that cannot.
	Open, Mute string
	Away       bool
}

// siteGroup is one Site on the search page. It is an element of its own, which
// the script replaces where it stands.
type siteGroup struct {
	ID, Name, Query string
	// say is the language of who searches.
	say   tongue
	State pill
	// Ask is the address that searches the Site, with the word for it; Fetch is
	// the same for the script, "" while the Site is not to be asked.
	Ask, Word, Fetch string
	// Start is true when the script is to fetch it by itself.
	Start  bool
	Notice *laneNotice
	// Text says what there is to say instead of rows, or below them.
	Text       string
	Rows, More []foundRow
}

// foundRow is one title that a Site found.
type foundRow struct {
	Name, Meta, Cover string
	// Follow leads to the follow page, Open to the Series; at most one is set.
	Follow, Open string
	Following    bool
}

// foundShown is how many rows of a group stand open.
const foundShown = 8

func searchAddress(query, site string) string {
	v := url.Values{"q": {query}}
	if site != "" {
		v.Set("site", site)
		return "/search?" + v.Encode() + "#" + groupID(site)
	}
	return "/search?" + v.Encode()
}

func groupID(site string) string { return elementID("found-", site) }

// groupOf is the group of a Site that has not been asked: ready to be, or why not.
func (t tongue) groupOf(l scraperclient.LaneDetail, query string, now time.Time) siteGroup {
	g := siteGroup{
		say: t, ID: groupID(l.Site), Name: laneName(l.Lane), Query: query, State: pill{"clock", t.T("Not asked yet"), "quiet", ""},
		Ask: searchAddress(query, l.Site), Word: t.T("Search %s", laneName(l.Lane)), Start: true,
		Fetch: "/search/site/" + url.PathEscape(l.Site) + "?" + url.Values{"q": {query}}.Encode(),
	}
	if l.Circuit != "" && l.Circuit != "closed" {
		g.rests(l, now)
	}
	return g
}

// rests words a Site that is not asked as usual.
func (g *siteGroup) rests(l scraperclient.LaneDetail, now time.Time) {
	item, ok := g.say.laneHeading(l, now)
	if !ok {
		return
	}
	p := g.say.circuitWords(l.Lane, now)
	g.Start, g.Fetch, g.Ask, g.State = false, "", "", pill{p.Icon, g.say.T("Not asked"), p.Tone, ""}
	item.Heading = strings.TrimSuffix(item.Heading, ".")
	item.Text = g.say.T("It was not searched; the others do not wait for it. What you follow there is in your library as always.")
	switch {
	case l.RetryAfter.After(now):
		item.Text = g.say.T("It asked for quiet until %s, so it was not searched. What you follow there is in your library as always.", g.say.clock(l.RetryAfter, now))
	case l.Circuit == "open" && l.CircuitUntil.After(now):
		item.Text = g.say.T("It has not answered since %s and is tried again after %s.", g.say.clock(l.CircuitSince, now), g.say.clock(l.CircuitUntil, now)) + " " + item.Text
	}
	g.Notice = &item
}

func (g *siteGroup) stands(icon, word, tone, text string) {
	g.State, g.Text, g.Word, g.Start = pill{icon, word, tone, ""}, text, g.say.T("Try again"), false
}

// found takes what the Site found.
func (g *siteGroup) found(list []scraperclient.Series, cards map[scraperclient.Key]catalog.Card) {
	if len(list) == 0 {
		g.stands("search", g.say.T("Nothing found"), "quiet", g.say.T("%s finds nothing called “%s”. The title in its own script, or one word of it, may do better.", g.Name, g.Query))
		g.Ask = ""
		return
	}
	g.stands("check", g.say.T("%d found", len(list)), "ok", "")
	g.Ask = ""
	for _, s := range list {
		g.Rows = append(g.Rows, g.say.foundRowOf(s, cards))
	}
	if len(g.Rows) > foundShown+2 {
		g.Rows, g.More = g.Rows[:foundShown], g.Rows[foundShown:]
	}
}

func (t tongue) foundRowOf(s scraperclient.Series, cards map[scraperclient.Key]catalog.Card) foundRow {
	row := foundRow{Name: clipTitle(nameOf(s))}
	parts := []string{s.NativeTitle, t.byLine(s.Authors), t.status(s.Status)}
	if c, ok := cards[s.Key]; ok {
		here := t.tileOf(c)
		row.Open, row.Cover, row.Following = here.Href, here.Cover, c.Following
		parts = append(parts, lowerFirst(here.Meta))
	} else if webAddress(s.URL) != "" {
		row.Follow = addAddress(s.URL, row.Name)
	}
	if row.Cover == "" && s.HasCover {
		row.Cover = siteCoverAddress(s.Key)
	}
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	row.Meta = strings.Join(said, " · ")
	return row
}

// failed words a search that yielded nothing.
func (g *siteGroup) failed(err error, l scraperclient.LaneDetail, p scraperclient.Presence, now time.Time) {
	closed := l.Circuit == "" || l.Circuit == "closed"
	switch class := fault.Of(err); {
	case errors.Is(err, scraperclient.ErrNotSearchable), class == fault.NotFound:
		g.stands("search", g.say.T("Cannot be searched"), "quiet", g.say.T("%s has no search that Mangrove can read. Paste the address of the Series instead.", g.Name))
		g.Ask, g.Fetch = "", ""
	case class == fault.Away || p.Away:
		g.away(p, now)
	case (class == fault.Access || class == fault.Network) && !closed:
		g.rests(l, now)
	case class == fault.Access:
		g.stands("lock", g.say.T("Refused"), "bad", g.say.T("%s refused this search just now. Nothing is held against its Series.", g.Name))
	case class == fault.Network:
		g.stands("unplug", g.say.T("Could not be asked"), "warn", g.say.T("%s could not be reached just now. The others do not wait for it.", g.Name))
	case class == fault.Stall:
		g.stands("clock", g.say.T("Timed out"), "warn", g.say.T("%s did not answer in time. The others did not wait for it.", g.Name))
	case class == fault.Invalid:
		g.stands("warn", g.say.T("Not understood"), "warn", g.say.T("%s cannot search for this. Try fewer or other words.", g.Name))
	default:
		g.stands("puzzle", g.say.T("Not understood"), "warn", g.say.T("Mangrove does not understand what %s answered. The scraper’s log says why.", g.Name))
	}
}

func (g *siteGroup) away(p scraperclient.Presence, now time.Time) {
	word := g.say.T("Scraper: unreachable")
	if p.Away {
		word = g.say.T("Scraper: unreachable since %s", g.say.clock(p.Since, now))
	}
	g.stands("unplug", word, "warn", g.say.T("Only the library can be searched until it is back."))
}

func (g *siteGroup) tooMany(err error) {
	text := g.say.T("You have asked for many things just now.")
	var tooMany *account.TooManyError
	if errors.As(err, &tooMany) {
		text = g.say.T("You have asked for many things just now. It can be searched in %s.", g.say.seconds(tooMany.Wait))
	}
	g.stands("clock", g.say.T("Not asked yet"), "quiet", text)
}
