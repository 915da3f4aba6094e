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
	// Muted is true when Mute names several.
	Muted bool
	Away  bool
}

// siteGroup is one Site on the search page. It is an element of its own, which
// the script replaces where it stands.
type siteGroup struct {
	ID, Name, Query string
	State           pill
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
func groupOf(l scraperclient.LaneDetail, query string, now time.Time) siteGroup {
	g := siteGroup{
		ID: groupID(l.Site), Name: laneName(l.Lane), Query: query, State: pill{"clock", "Not asked yet", "quiet", ""},
		Ask: searchAddress(query, l.Site), Word: "Search " + laneName(l.Lane), Start: true,
		Fetch: "/search/site/" + url.PathEscape(l.Site) + "?" + url.Values{"q": {query}}.Encode(),
	}
	if l.Circuit != "" && l.Circuit != "closed" {
		g.rests(l, now)
	}
	return g
}

// rests words a Site that is not asked as usual.
func (g *siteGroup) rests(l scraperclient.LaneDetail, now time.Time) {
	item, ok := laneItem(l, now)
	if !ok {
		return
	}
	p := circuitWords(l.Lane, now)
	g.Start, g.Fetch, g.Ask, g.State = false, "", "", pill{p.Icon, "Not asked", p.Tone, ""}
	item.Heading = strings.TrimSuffix(item.Heading, ".")
	item.Text = "It was not searched; the others do not wait for it. What you follow there is in your library as always."
	switch {
	case l.RetryAfter.After(now):
		item.Text = "It asked for quiet until " + Clock(l.RetryAfter, now) + ", so it was not searched. What you follow there is in your library as always."
	case l.Circuit == "open" && l.CircuitUntil.After(now):
		item.Text = "It has not answered since " + Clock(l.CircuitSince, now) + " and is tried again after " + Clock(l.CircuitUntil, now) + ". " + item.Text
	}
	g.Notice = &item
}

func (g *siteGroup) say(icon, word, tone, text string) {
	g.State, g.Text, g.Word, g.Start = pill{icon, word, tone, ""}, text, "Try again", false
}

// found takes what the Site found.
func (g *siteGroup) found(list []scraperclient.Series, cards map[scraperclient.Key]catalog.Card) {
	if len(list) == 0 {
		g.say("search", "Nothing found", "quiet", g.Name+" finds nothing called “"+g.Query+"”. The title in its own script, or one word of it, may do better.")
		g.Ask = ""
		return
	}
	g.say("check", thousands(len(list))+" found", "ok", "")
	g.Ask = ""
	for _, s := range list {
		g.Rows = append(g.Rows, foundRowOf(s, cards))
	}
	if len(g.Rows) > foundShown+2 {
		g.Rows, g.More = g.Rows[:foundShown], g.Rows[foundShown:]
	}
}

func foundRowOf(s scraperclient.Series, cards map[scraperclient.Key]catalog.Card) foundRow {
	row := foundRow{Name: clipTitle(nameOf(s))}
	parts := []string{s.NativeTitle, byLine(s.Authors), s.Status}
	if c, ok := cards[s.Key]; ok {
		t := tileOf(c)
		row.Open, row.Cover, row.Following = t.Href, t.Cover, c.Following
		parts = append(parts, lowerFirst(t.Meta))
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
		g.say("search", "Cannot be searched", "quiet", g.Name+" has no search that Mangrove can read. Paste the address of the Series instead.")
		g.Ask, g.Fetch = "", ""
	case class == fault.Away || p.Away:
		g.away(p, now)
	case (class == fault.Access || class == fault.Network) && !closed:
		g.rests(l, now)
	case class == fault.Access:
		g.say("lock", "Refused", "bad", g.Name+" refused this search just now. Nothing is held against its Series.")
	case class == fault.Network:
		g.say("unplug", "Could not be asked", "warn", g.Name+" could not be reached just now. The others do not wait for it.")
	case class == fault.Stall:
		g.say("clock", "Timed out", "warn", g.Name+" did not answer in time. The others did not wait for it.")
	case class == fault.Invalid:
		g.say("warn", "Not understood", "warn", g.Name+" cannot search for this. Try fewer or other words.")
	default:
		g.say("puzzle", "Not understood", "warn", "Mangrove does not understand what "+g.Name+" answered. The scraper’s log says why.")
	}
}

func (g *siteGroup) away(p scraperclient.Presence, now time.Time) {
	word := "Scraper: unreachable"
	if p.Away {
		word += " since " + Clock(p.Since, now)
	}
	g.say("unplug", word, "warn", "Only the library can be searched until it is back.")
}

func (g *siteGroup) tooMany(err error) {
	text := "You have asked for many things just now."
	var tooMany *account.TooManyError
	if errors.As(err, &tooMany) {
		text = "You have asked for many things just now. It can be searched in " + seconds(tooMany.Wait) + "."
	}
	g.say("clock", "Not asked yet", "quiet", text)
}
