package web

import (
	"cmp"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// addView is the follow page in words.
type addView struct {
	Frame
	Address string
	Away    bool
	// Unread is true when no Site here reads the address.
	Unread bool
	// Sites are those that can be read, in words.
	Sites string
	Found *addFound
}

// addFound is a Series that can be followed.
type addFound struct {
	// Name is what it is called; Named is false when that is only its address.
	Name   string
	Named  bool
	Native string
	By     string
	Text   string
	Cover  string
	// SiteName and URL are where it is read.
	SiteName, URL, License string
	// Title is what goes along in the form.
	Title string
	// Following is true for who follows it already; Href opens the Series, ""
	// while there is no page of it.
	Following bool
	Href      string
	// Lists says what the Site lists, "" when that is not known.
	Lists string
	Here  int
	// Download is how many chapters following would fetch, 0 when not known.
	Download  int
	Languages []languageChoice
}

// languageChoice is a language in which the Site has chapters.
type languageChoice struct {
	Tag, Name string
	Count     int
}

func foundOf(k seriesKnown, at scraperclient.Recognised, title string, now time.Time) *addFound {
	f := &addFound{Title: clipTitle(title), URL: at.URL, SiteName: cmp.Or(at.SiteName, at.Site), Following: k.Wish != nil}
	f.Name, f.Named = f.Title, f.Title != ""
	if k.Title != nil || k.State != nil || k.Wish != nil {
		v := k.view(now)
		f.Href, f.Native, f.By, f.Text, f.Cover, f.License, f.Here = siteAddress(k.Key), v.Native, v.By, v.Description, v.Cover, v.Credit, v.Coverage.Have
		// What the Site or the catalog says stands above what came along.
		if v.Name != k.Key.SeriesID {
			f.Name, f.Named = v.Name, true
		}
	}
	if k.State != nil {
		f.chapters(k.say, k.State.Chapters, now)
	}
	if f.Name == "" {
		f.Name = addressName(at)
	}
	if f.By == "" {
		f.By = upperFirst(k.say.T("on %s", f.SiteName))
	}
	return f
}

// chapters words what the Site lists, and offers its languages if it has several.
func (f *addFound) chapters(say tongue, list []scraperclient.Chapter, now time.Time) {
	at, missing, there := map[string]int{}, 0, 0
	var newest time.Time
	for _, c := range list {
		if !c.GoneSince.IsZero() {
			continue
		}
		there++
		if c.LibraryState != "published" {
			missing++
		}
		if c.PublishedAt.After(newest) {
			newest = c.PublishedAt
		}
		if c.Language == "" {
			continue
		}
		i, ok := at[c.Language]
		if !ok {
			i = len(f.Languages)
			at[c.Language] = i
			f.Languages = append(f.Languages, languageChoice{Tag: c.Language, Name: say.in().Name(c.Language)})
		}
		f.Languages[i].Count++
	}
	if there > 0 {
		f.Lists = say.T("%d chapters", there)
		if !newest.IsZero() {
			f.Lists = say.T("%s, the last one %s", f.Lists, say.clock(newest, now))
		}
	}
	if len(f.Languages) < 2 {
		// There is nothing to choose, so the count is what would be fetched.
		f.Languages = nil
		if missing > 0 {
			f.Download = missing
		}
	}
}
