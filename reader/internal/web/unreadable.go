package web

import (
	"net/http"

	"mangrove/reader/internal/catalog"
)

// refusedShown is how many files that cannot be read their page shows.
const refusedShown = 500

// refusedView is the page in words.
type refusedView struct {
	Frame
	Titles []refusedTitle
	// More says how many are not shown, "" for none.
	More string
}

// refusedTitle is one title with its files that cannot be read.
type refusedTitle struct {
	ID         int64
	Name, Href string
	Files      []refusedFile
}

// refusedFile is one of them.
type refusedFile struct {
	ID         int64
	Name, Path string
	State      pill
	refusal
}

// refusedPage lists the files of the library that cannot be read.
func (s *Server) refusedPage(w http.ResponseWriter, r *http.Request) error {
	books, err := s.Shelves.Refused(r.Context(), refusedShown)
	if err != nil {
		return err
	}
	all, err := s.Shelves.CountRefused(r.Context())
	if err != nil {
		return err
	}
	say := s.say(r.Context())
	v := refusedView{Frame: s.frame(r, say.T("Files that cannot be read"), "scraper"), Titles: say.refusedTitles(books)}
	if more := all - len(books); more > 0 {
		v.More = say.T("And %d more files, once these are mended.", more)
	}
	s.render(w, r, http.StatusOK, "unreadable", v)
	return nil
}

func (t tongue) refusedTitles(books []catalog.Refused) []refusedTitle {
	var out []refusedTitle
	for _, b := range books {
		if n := len(out); n == 0 || out[n-1].ID != b.TitleID {
			out = append(out, refusedTitle{ID: b.TitleID, Name: b.TitleName, Href: seriesAddress(b.TitleID)})
		}
		why := t.refusalOf(b.Why)
		of := &out[len(out)-1]
		name := b.Name
		if b.Number != "" || name == "" {
			name = upperFirst(t.chapterName(b.Number, ""))
		}
		of.Files = append(of.Files, refusedFile{
			ID: b.ID, Name: name, Path: b.Path, State: pill{Icon: why.Icon, Word: why.Word, Tone: "warn"}, refusal: why,
		})
	}
	return out
}

// refusedWords counts the files that cannot be read, "" for none.
func (t tongue) refusedWords(n int) string {
	if n == 0 {
		return ""
	}
	return t.T("%d files cannot be read.", n)
}
