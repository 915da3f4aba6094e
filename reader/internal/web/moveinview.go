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
func moveInSaid(word string) string {
	switch word {
	case "adopted":
		return "Adopted. What is not here yet is marked as read when it comes."
	case "undone":
		return "Undone. Your files, and what you read since, stay."
	case "forgotten":
		return "The dry run is forgotten. Nothing was changed by it."
	case "no-folders":
		return "The library folder holds no files of other programs. Put a folder of CBZ files into it; it is catalogued where it lies."
	case "busy":
		return "A download of one of the Series is under way, so its folder was left alone. Press again once it is done; what was done already is not done twice."
	case "stale":
		return "It was changed elsewhere meanwhile. This is how it is now; nothing was done twice."
	}
	return ""
}

// fileWords say whose file it is.
func fileWords(kind string) string {
	switch kind {
	case backup.Mihon:
		return "Backup of Mihon"
	case backup.Kotatsu:
		return "Backup of Kotatsu"
	case moving.Folders:
		return "Files of other programs"
	}
	return "File of Mangrove"
}

func reportOf(i moving.Import, now time.Time) reportRow {
	all := i.All()
	row := reportRow{ID: i.ID, Href: importAddress(i.ID), Name: i.Name}
	switch i.State {
	case moving.Planned:
		row.Planning, row.State = true, pill{Icon: "search", Word: "Dry run", Tone: "info", Exact: i.State}
		row.Meta = joinMeta(fileWords(i.Kind), count(all.Items, "Series", "Series"), "read "+ago(i.CreatedAt, now))
	case moving.Adopted:
		row.Undo = now.Before(i.UndoUntil())
		row.State = pill{Icon: "check", Word: "Adopted", Tone: "ok", Exact: i.State}
		until := "kept"
		if row.Undo {
			until = "undo until " + dated(i.UndoUntil(), now)
		}
		row.Meta = joinMeta(fileWords(i.Kind), thousands(all.Kept)+" of "+count(all.Items, "Series", "Series")+" adopted "+ago(i.AdoptedAt, now), until)
	default:
		row.State = pill{Icon: "undo", Word: "Undone", Tone: "quiet", Exact: i.State}
		row.Meta = joinMeta(fileWords(i.Kind), count(all.Kept, "Series", "Series")+" adopted and undone "+ago(i.UndoneAt, now))
	}
	return row
}

func (s *Server) importView(r *http.Request, i moving.Import) (importView, error) {
	now := time.Now()
	v := importView{Frame: s.frame(r, "Move in", "me"), reportRow: reportOf(i, now), Said: moveInSaid(r.URL.Query().Get("said"))}
	v.Frame.Back = "/move-in"
	v.Heading, v.Sub = "Move in: "+i.Name, v.Meta+"."
	if v.Planning {
		v.Sub = joinMeta(fileWords(i.Kind), count(i.All().Items, "Series", "Series")) + ". This is a dry run: nothing has been changed."
	}
	v.figures(i)
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
		g := importGroup(i, word, c)
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
			g.Rows = append(g.Rows, importRow(i, item, within(r, r.URL.RequestURI())))
		}
		v.Groups = append(v.Groups, g)
	}
	if v.Undo {
		v.UndoUntil = dated(i.UndoUntil(), now)
	}
	return v, nil
}

// figures count what there is, and what one press would do.
func (v *importView) figures(i moving.Import) {
	matched, ambiguous, unknown, none := i.Counts[moving.Matched], i.Counts[moving.Ambiguous], i.Counts[moving.Unknown], i.Counts[moving.NoAdapter]
	v.Figures = []figure{
		{Name: "Matched", Figure: thousands(matched.Items), Note: count(matched.Chapters, "chapter", "chapters")},
		{Name: "Ambiguous", Figure: thousands(ambiguous.Items), Note: "none"},
		{Name: "No adapter", Figure: thousands(none.Items), Note: cmp.Or(some(none.Items, "kept, and shown as such"), "none")},
		{Name: "Unknown", Figure: thousands(unknown.Items), Note: cmp.Or(some(unknown.Items, "with reasons"), "none")},
		{Name: "Read marks", Figure: thousands(i.All().Read), Note: "come along"},
	}
	if ambiguous.Items > 0 {
		v.Figures[1].Note = "stayed out"
		if v.Planning {
			v.Figures[1].Note = "need your eye"
		}
	}
	v.Adopts = matched.Items - matched.Left + none.Items - none.Left
	v.Ticks = []string{
		"Files stay where they are, not renamed or rewritten", "Nobody is moved back in a chapter that is read here already",
		"Read marks of chapters that are not here yet wait for them", "New follows are polled, and download nothing until you say so",
	}
	switch i.Kind {
	case backup.Mangrove:
		v.Ticks[3] = "Follows download as the file says"
	case moving.Folders:
		v.Figures = append(v.Figures[:2], v.Figures[3])
		v.Ticks = []string{
			v.Ticks[0], "They become chapters of the Series, with what was read of them", "Chapters that the Site lists by the same number are not downloaded again",
		}
	}
}

func importGroup(i moving.Import, word string, c moving.Count) itemGroup {
	g := itemGroup{Word: word, Sub: thousands(c.Items)}
	switch word {
	case moving.Ambiguous:
		g.Heading = "Ambiguous"
		if i.State == moving.Planned {
			g.Sub += ", say which it is; what is not chosen stays out"
		} else {
			g.Sub += ", stayed out"
		}
	case moving.NoAdapter:
		g.Heading, g.Sub = "No adapter", g.Sub+", kept in your library and shown as such"
	case moving.Unknown:
		g.Heading, g.Sub = "Unknown", g.Sub+", left alone"
	case moving.Matched:
		g.Heading = "Matched"
	}
	return g
}

func importRow(i moving.Import, item moving.Item, back string) itemRow {
	planning := i.State == moving.Planned
	row := itemRow{
		Position: item.Position, Title: item.Title, Reason: ReasonWords(item), Planning: planning, Left: item.State == moving.Left,
		CanLeave: planning && item.Site != "", Act: importAddress(i.ID) + "/items/" + strconv.Itoa(item.Position), Back: back,
	}
	if i.Kind == moving.Folders {
		row.Reason = strings.TrimSuffix(row.Reason, ".") + ". Files in “" + item.LocalID + "”."
	}
	row.Meta = joinMeta(some(item.Chapters, count(item.Chapters, "chapter", "chapters")), some(item.Read, thousands(item.Read)+" read"),
		some(len(item.Categories), "in "+strings.Join(item.Categories, ", ")))
	if !item.Favourite && i.Kind != moving.Folders {
		row.Meta = joinMeta(row.Meta, "only read, not followed")
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
			row.Options = append(row.Options, candidateRow{n, c.Title, whereWords(c), !row.Left && item.Site == c.Site && item.SeriesID == c.SeriesID})
		}
		none := candidateRow{-1, "None of these", "Keep it as a Series of its own, without an adapter", item.Word == moving.NoAdapter}
		if i.Kind == moving.Folders {
			none.Where, none.Chosen = "Leave the folder a title of its own", row.Left
		}
		row.Options = append(row.Options, none)
	}
	return row
}

func whereWords(c moving.Candidate) string {
	if c.Site == localSite {
		return "Files in the library folder, " + c.SeriesID
	}
	return cmp.Or(c.SiteName, c.Site)
}

// ReasonWords say why a Series of an import is what it is.
func ReasonWords(i moving.Item) string {
	source := cmp.Or(i.Source, "its Site")
	switch i.Reason {
	case moving.ByAddress:
		text := cmp.Or(i.SiteName, i.Site) + " reads its address"
		if i.LocalID != "" {
			text += "; the files in “" + i.LocalID + "” count as its chapters"
		}
		return text + "."
	case moving.ByOwnName:
		return "It has the same name here, on " + cmp.Or(i.SiteName, i.Site) + "."
	case moving.ByTitle:
		return "The only title of this name here: " + whereWords(moving.Candidate{Site: i.Site, SeriesID: i.SeriesID, SiteName: i.SiteName}) + "."
	case moving.Titles:
		return count(len(i.Candidates), "title", "titles") + " of this name are here."
	case moving.WithoutAdapter:
		return "Nothing here reads " + source + "."
	case moving.UnreadAddress:
		return cmp.Or(i.SiteName, source) + " is read here, but not by this address: " + cmp.Or(i.Address, "none is given") + "."
	case moving.NotFollowed:
		return "No Series of this name is followed or in the library. It stays a title of its own."
	case moving.Files:
		return "It was read from files of the other program, and no title of this name is here. Put its files into the library folder first, then move in again."
	case moving.NoTitle:
		return "The file says neither its title nor its address."
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
