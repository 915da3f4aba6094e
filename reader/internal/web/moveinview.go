package web

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"mangrove/reader/internal/backup"
	"mangrove/reader/internal/moving"
)

// What of a group is shown on the page of all, and on a page of its own.
const (
	someItems = 10
	manyItems = 100
)

// moveInView is where files are chosen and what came of earlier ones.
type moveInView struct {
	Frame
	Problem, Said string
	Reports       []reportRow
	// Runs is true for those who may save everybody's.
	Runs bool
}

// reportRow is one import in the list.
type reportRow struct {
	ID             int64
	Href, Name     string
	Meta           string
	State          pill
	Undo, Planning bool
}

// importView is one import: a dry run, or the report of what was done.
type importView struct {
	Frame
	reportRow
	Heading, Sub, Said string
	Figures            []figure
	Groups             []itemGroup
	// Shows is the word that alone is shown, "" for all; Back leads to all again.
	Shows, All, Next string
	// Adopts counts what one press would adopt.
	Adopts    int
	Ticks     []string
	UndoUntil string
}

// itemGroup is the items of one word.
type itemGroup struct {
	Word, Heading, Sub string
	// More leads to all of them, "" when all are shown.
	More string
	Rows []itemRow
}

// itemRow is one Series of an import.
type itemRow struct {
	Position                 int
	Href, Title, Was, Meta   string
	Reason                   string
	Icon, Tone               string
	Planning, Left, CanLeave bool
	Options                  []candidateRow
	// Act and Back are where its forms go.
	Act, Back string
}

// candidateRow is a title that an ambiguous Series may be.
type candidateRow struct {
	Value       int
	Name, Where string
	Chosen      bool
}

// moveInSaid words what was just done.
func (t tongue) moveInSaid(word string) string {
	switch word {
	case "adopted":
		return t.T("Adopted. What is not here yet is marked as read when it comes.")
	case "undone":
		return t.T("Undone. Your files, and what you read since, stay.")
	case "forgotten":
		return t.T("The dry run is forgotten. Nothing was changed by it.")
	case "no-folders":
		return t.T("The library folder holds no files of other programs. Put a folder of CBZ files into it; it is catalogued where it lies.")
	case "busy":
		return t.T("A download of one of the Series is under way, so its folder was left alone. Press again once it is done; what was done already is not done twice.")
	case "stale":
		return t.T("It was changed elsewhere meanwhile. This is how it is now; nothing was done twice.")
	}
	return ""
}

// fileWords say whose file it is.
func (t tongue) fileWords(kind string) string {
	switch kind {
	case backup.Mihon:
		return t.T("Backup of Mihon")
	case backup.Kotatsu:
		return t.T("Backup of Kotatsu")
	case moving.Folders:
		return t.T("Files of other programs")
	}
	return t.T("File of Mangrove")
}

func (t tongue) reportOf(i moving.Import, now time.Time) reportRow {
	all := i.All()
	row := reportRow{ID: i.ID, Href: importAddress(i.ID), Name: i.Name}
	switch i.State {
	case moving.Planned:
		row.Planning, row.State = true, pill{Icon: "search", Word: t.T("Dry run"), Tone: "info", Exact: i.State}
		row.Meta = joinMeta(t.fileWords(i.Kind), t.T("%d Series", all.Items), t.T("read %s", t.ago(i.CreatedAt, now)))
	case moving.Adopted:
		row.Undo = now.Before(i.UndoUntil())
		row.State = pill{Icon: "check", Word: t.T("Adopted"), Tone: "ok", Exact: i.State}
		until := t.T("kept")
		if row.Undo {
			until = t.T("undo until %s", t.dated(i.UndoUntil(), now))
		}
		row.Meta = joinMeta(t.fileWords(i.Kind), t.T("%d of %d Series adopted %s", all.Kept, all.Items, t.ago(i.AdoptedAt, now)), until)
	default:
		row.State = pill{Icon: "undo", Word: t.T("Undone"), Tone: "quiet", Exact: i.State}
		row.Meta = joinMeta(t.fileWords(i.Kind), t.T("%d Series adopted and undone %s", all.Kept, t.ago(i.UndoneAt, now)))
	}
	return row
}

func (s *Server) importView(r *http.Request, i moving.Import) (importView, error) {
	now, say := time.Now(), s.say(r.Context())
	v := importView{Frame: s.frame(r, say.T("Move in"), "me"), reportRow: say.reportOf(i, now), Said: say.moveInSaid(r.URL.Query().Get("said"))}
	v.Frame.Back = "/move-in"
	v.Heading, v.Sub = say.T("Move in: %s", i.Name), v.Meta+"."
	if v.Planning {
		v.Sub = joinMeta(say.fileWords(i.Kind), say.T("%d Series", i.All().Items)) + ". " + say.T("This is a dry run: nothing has been changed.")
	}
	v.figures(say, i)
	for _, word := range moving.Words() {
		if r.URL.Query().Get("show") == word {
			v.Shows, v.All = word, importAddress(i.ID)
		}
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("from"))
	for _, word := range moving.Words() {
		c := i.Counts[word]
		if c.Items == 0 || v.Shows != "" && v.Shows != word {
			continue
		}
		most, start := someItems, 0
		if v.Shows != "" {
			most, start = manyItems, max(from, 0)
		}
		items, err := s.Moving.ImportItems(r.Context(), i.ID, word, start, most+1)
		if err != nil {
			return v, err
		}
		g := say.importGroup(i, word, c)
		if len(items) > most {
			address := importAddress(i.ID) + "?show=" + url.QueryEscape(word)
			if v.Shows == "" {
				g.More = address
			} else {
				v.Next = address + "&from=" + strconv.Itoa(items[most].Position)
			}
			items = items[:most]
		}
		for _, item := range items {
			g.Rows = append(g.Rows, say.importRow(i, item, within(r, r.URL.RequestURI())))
		}
		v.Groups = append(v.Groups, g)
	}
	if v.Undo {
		v.UndoUntil = say.dated(i.UndoUntil(), now)
	}
	return v, nil
}

// figures count what there is, and what one press would do.
func (v *importView) figures(say tongue, i moving.Import) {
	matched, ambiguous, unknown, none := i.Counts[moving.Matched], i.Counts[moving.Ambiguous], i.Counts[moving.Unknown], i.Counts[moving.NoAdapter]
	v.Figures = []figure{
		{Name: say.T("Matched"), Figure: say.number(matched.Items), Note: say.T("%d chapters", matched.Chapters)},
		{Name: say.T("Ambiguous"), Figure: say.number(ambiguous.Items), Note: say.T("none")},
		{Name: say.T("No adapter"), Figure: say.number(none.Items), Note: cmp.Or(some(none.Items, say.T("kept, and shown as such")), say.T("none"))},
		{Name: say.T("Unknown"), Figure: say.number(unknown.Items), Note: cmp.Or(some(unknown.Items, say.T("with reasons")), say.T("none"))},
		{Name: say.T("Read marks"), Figure: say.number(i.All().Read), Note: say.T("come along")},
	}
	if ambiguous.Items > 0 {
		v.Figures[1].Note = say.T("stayed out")
		if v.Planning {
			v.Figures[1].Note = say.T("need your eye")
		}
	}
	v.Adopts = matched.Items - matched.Left + none.Items - none.Left
	v.Ticks = []string{
		say.T("Files stay where they are, not renamed or rewritten"), say.T("Nobody is moved back in a chapter that is read here already"),
		say.T("Read marks of chapters that are not here yet wait for them"), say.T("New follows are polled, and download nothing until you say so"),
	}
	switch i.Kind {
	case backup.Mangrove:
		v.Ticks[3] = say.T("Follows download as the file says")
	case moving.Folders:
		v.Figures = append(v.Figures[:2], v.Figures[3])
		v.Ticks = []string{
			v.Ticks[0], say.T("They become chapters of the Series, with what was read of them"), say.T("Chapters that the Site lists by the same number are not downloaded again"),
		}
	}
}

func (t tongue) importGroup(i moving.Import, word string, c moving.Count) itemGroup {
	g := itemGroup{Word: word, Sub: t.number(c.Items)}
	switch word {
	case moving.Ambiguous:
		g.Heading = t.T("Ambiguous")
		if i.State == moving.Planned {
			g.Sub = t.T("%s, say which it is; what is not chosen stays out", g.Sub)
		} else {
			g.Sub = t.T("%s, stayed out", g.Sub)
		}
	case moving.NoAdapter:
		g.Heading, g.Sub = t.T("No adapter"), t.T("%s, kept in your library and shown as such", g.Sub)
	case moving.Unknown:
		g.Heading, g.Sub = t.T("Unknown"), t.T("%s, left alone", g.Sub)
	case moving.Matched:
		g.Heading = t.T("Matched")
	}
	return g
}

func (t tongue) importRow(i moving.Import, item moving.Item, back string) itemRow {
	planning := i.State == moving.Planned
	row := itemRow{
		Position: item.Position, Title: item.Title, Reason: t.reasonWords(item), Planning: planning, Left: item.State == moving.Left,
		CanLeave: planning && item.Site != "", Act: importAddress(i.ID) + "/items/" + strconv.Itoa(item.Position), Back: back,
	}
	if i.Kind == moving.Folders {
		row.Reason = row.Reason + " " + t.T("Files in “%s”.", item.LocalID)
	}
	row.Meta = joinMeta(some(item.Chapters, t.T("%d chapters", item.Chapters)), some(item.Read, t.T("%d read", item.Read)),
		some(len(item.Categories), t.T("in %s", strings.Join(item.Categories, t.T(", ")))))
	if !item.Favourite && i.Kind != moving.Folders {
		row.Meta = joinMeta(row.Meta, t.T("only read, not followed"))
	}
	switch item.Word {
	case moving.Matched:
		row.Icon, row.Tone = "check", "quiet"
		if item.State == moving.Adopted {
			row.Href = siteAddress(item.Key)
		}
	case moving.NoAdapter:
		row.Icon, row.Tone = "puzzle", "quiet"
		if item.State == moving.Adopted && item.Favourite {
			row.Href = siteAddress(item.Key)
		}
	default:
		row.Icon, row.Tone = "search", "warn"
	}
	if planning && item.Reason == moving.Titles {
		for n, c := range item.Candidates {
			row.Options = append(row.Options, candidateRow{n, c.Title, t.whereWords(c), !row.Left && item.Site == c.Site && item.SeriesID == c.SeriesID})
		}
		none := candidateRow{-1, t.T("None of these"), t.T("Keep it as a Series of its own, without an adapter"), item.Word == moving.NoAdapter}
		if i.Kind == moving.Folders {
			none.Where, none.Chosen = t.T("Leave the folder a title of its own"), row.Left
		}
		row.Options = append(row.Options, none)
	}
	return row
}

func (t tongue) whereWords(c moving.Candidate) string {
	if c.Site == localSite {
		return t.T("Files in the library folder, %s", c.SeriesID)
	}
	return cmp.Or(c.SiteName, c.Site)
}

// ReasonWords say why a Series of an import is what it is, in English.
func ReasonWords(i moving.Item) string { return tongue{}.reasonWords(i) }

func (t tongue) reasonWords(i moving.Item) string {
	source := cmp.Or(i.Source, t.T("its Site"))
	switch i.Reason {
	case moving.ByAddress:
		if i.LocalID != "" {
			return t.T("%s reads its address; the files in “%s” count as its chapters.", cmp.Or(i.SiteName, i.Site), i.LocalID)
		}
		return t.T("%s reads its address.", cmp.Or(i.SiteName, i.Site))
	case moving.ByOwnName:
		return t.T("It has the same name here, on %s.", cmp.Or(i.SiteName, i.Site))
	case moving.ByTitle:
		return t.T("The only title of this name here: %s.", t.whereWords(moving.Candidate{Site: i.Site, SeriesID: i.SeriesID, SiteName: i.SiteName}))
	case moving.Titles:
		return t.T("%d titles of this name are here.", len(i.Candidates))
	case moving.WithoutAdapter:
		return t.T("Nothing here reads %s.", source)
	case moving.UnreadAddress:
		return t.T("%s is read here, but not by this address: %s.", cmp.Or(i.SiteName, source), cmp.Or(i.Address, t.T("none is given")))
	case moving.NotFollowed:
		return t.T("No Series of this name is followed or in the library. It stays a title of its own.")
	case moving.Files:
		return t.T("It was read from files of the other program, and no title of this name is here. Put its files into the library folder first, then move in again.")
	case moving.NoTitle:
		return t.T("The file says neither its title nor its address.")
	}
	return ""
}

// foreign words the page of a Series that nothing here reads.
func (k seriesKnown) foreign(v *seriesView) {
	source, ok := moving.ForeignSource(k.Key.Site)
	if !ok {
		return
	}
	v.NoAdapter, v.Elsewhere = cmp.Or(source, k.say.T("its Site")), "/search?q="+url.QueryEscape(k.name())
	v.Waiting, v.First = k.say.T("Nothing asks for it."), k.say.T("Nothing here reads its Site, so no chapter is known.")
}
