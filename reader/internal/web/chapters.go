package web

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/progress"
	"mangrove/reader/internal/scraperclient"
)

// row is one chapter on a Series page.
type row struct {
	// ID is the element's id, stable for the chapter.
	ID string
	// Href is "" for a chapter that is not here.
	Href       string
	Head, Name string
	Meta       string
	// Mark is "new", "here" (being read), "seen" or "".
	Mark string
	// State is what is said at the right; Value of Max is drawn below it.
	State      pill
	Value, Max int
	BarTone    string
	BarLabel   string

	Here, Finished bool
	Arriving, Gone bool
	BookID         int64
	// Again is the id of a chapter that may be fetched once more, AgainAt where its
	// form goes; "" where nobody may, or the file is there and whole.
	Again, AgainAt string
	// Refused is true when its file is here and cannot be read.
	Refused bool

	number, volume string
	order          int
	current        bool
	language       string
}

// rows joins what the Site lists with what the library has, newest first.
func (k seriesKnown) rows(now time.Time) []row {
	books := map[string]progress.Shelved{}
	for _, b := range k.Books {
		books[b.ChapterID] = b
	}
	next, reading := progress.Resume(k.Books)
	var out []row
	add := func(c scraperclient.Chapter, b progress.Shelved, have bool) {
		r := k.say.rowOf(c, b, have, now)
		if r.Again != "" && k.Runs {
			r.AgainAt = siteAddress(k.Key) + "/again"
		}
		r.current = reading && next.Kind == progress.Continue && have && b.ID == next.Book.ID
		out = append(out, r)
	}
	languages := map[string]bool{}
	if k.State != nil {
		for _, c := range k.State.Chapters {
			b, have := books[c.ID]
			delete(books, c.ID)
			languages[c.Language] = true
			add(c, b, have)
		}
	}
	for _, b := range k.Books {
		if _, left := books[b.ChapterID]; left {
			languages[b.Language] = true
			add(chapterOf(b.Book), b, true)
		}
	}
	if len(languages) > 1 {
		for i := range out {
			if out[i].language != "" {
				out[i].Meta = joinMeta(k.say.in().Name(out[i].language), out[i].Meta)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b row) int {
		return cmp.Or(catalog.Order(b.number, b.order, a.number, a.order), cmp.Compare(b.BookID, a.BookID))
	})
	return out
}

// chapterOf is what the catalog alone knows of a chapter.
func chapterOf(b catalog.Book) scraperclient.Chapter {
	return scraperclient.Chapter{
		ID: b.ChapterID, Number: b.Number, Volume: b.Volume, Title: b.Name, Language: b.Language, Groups: b.Groups, SourceOrder: b.SourceOrder,
	}
}

func (t tongue) rowOf(c scraperclient.Chapter, b progress.Shelved, have bool, now time.Time) row {
	sum := sha256.Sum256([]byte(c.ID))
	r := row{
		ID: "ch-" + hex.EncodeToString(sum[:6]), Head: upperFirst(t.chapterName(c.Number, "")), Name: c.Title,
		number: catalog.Decimal(c.Number), volume: c.Volume, order: c.SourceOrder, language: c.Language, Gone: !c.GoneSince.IsZero(),
	}
	if c.Number == "" {
		r.Head, r.Name = cmp.Or(c.Title, t.T("One-shot")), ""
	}
	var meta string
	if len(c.Groups) > 0 {
		meta = strings.Join(c.Groups, t.T(", "))
	}
	if !c.PublishedAt.IsZero() {
		meta = joinMeta(meta, t.clock(c.PublishedAt, now))
	}
	if r.Gone {
		meta = joinMeta(meta, t.T("gone from the Site since %s", t.clock(c.GoneSince, now)))
	}
	r.Meta = meta
	if have {
		r.BookID, r.Finished = b.ID, b.Place.Finished
	}
	switch {
	case have && b.Unreadable():
		why := t.refusalOf(b.Why)
		r.Refused = true
		if c.LibraryState == "published" && !r.Gone {
			r.Again = c.ID
		}
		r.State = pill{Icon: why.Icon, Word: why.Word, Tone: "warn"}
		r.Meta = joinMeta(r.Meta, why.Text+" "+why.Next)
	case have && b.Here():
		r.Here = true
		r.Href = readAddress(b.ID, 0)
		r.State = pill{Icon: "down", Word: t.T("%d p.", b.PageCount)}
		if len(b.Missing) > 0 {
			r.State = pill{Icon: "puzzle", Word: t.withoutPages(b.Missing), Tone: "warn"}
		}
		switch {
		case b.Place.Finished:
			r.Mark = "seen"
		case b.Place.Begun:
			r.Mark = "here"
			r.Value, r.Max, r.BarTone = b.Place.Page+1, b.PageCount, "ok"
			r.BarLabel = t.T("Read to page %d of %d", r.Value, r.Max)
		default:
			r.Mark = "new"
		}
	case c.DownloadState == "downloading":
		r.Arriving = true
		r.State = pill{Icon: "down", Word: t.T("Arriving"), Tone: "info"}
		if c.PagesTotal > 0 {
			r.State.Word = t.T("%s of %s", t.number(c.PagesDone), t.T("%d pages", c.PagesTotal))
			r.Value, r.Max, r.BarTone = c.PagesDone, c.PagesTotal, "info"
			r.BarLabel = t.T("Downloading: %s", r.State.Word)
		}
	case c.DownloadState == "waiting":
		r.State = pill{Icon: "clock", Word: t.T("Queued")}
	case c.DownloadState == "set_aside":
		r.State = pill{Icon: "puzzle", Word: t.T("Set aside"), Tone: "warn"}
		r.Meta = joinMeta(r.Meta, c.SetAsideReason)
	case c.LibraryState == "published":
		// The scraper has it; the catalog hears of it in a moment.
		r.Arriving = true
		r.State = pill{Icon: "down", Word: t.T("Arriving"), Tone: "info"}
	case c.LibraryState == "missing" || have:
		r.State = pill{Icon: "gone", Word: t.T("File is gone"), Tone: "warn"}
		if c.LibraryState == "missing" && !r.Gone {
			r.Again = c.ID
		}
	default:
		r.State = pill{Word: t.T("Not here")}
	}
	return r
}

func joinMeta(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}
