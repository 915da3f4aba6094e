package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"mangrove/internal/fault"
	"mangrove/internal/unreadable"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/progress"
	"mangrove/reader/internal/reading"
)

// readView is the reading view of one book.
type readView struct {
	Title, Theme   string
	Name           string
	Chapter        string
	EndOf          string
	Credit         string
	Back           string
	UserID         int64
	BookID         int64
	TitleID        int64
	Direction      string
	Page, Count    int
	Width, Height  int
	Src, Next      string
	PrevPage       string
	Data           string
	NextBook       *bookLink
	PrevBook       *bookLink
	Missing        *missing
	Problem        string
	SaveTo         string
	LastPageOfBook bool
	// Known is the version of the person's place, for the form without script.
	Known int64
	// Further is the page, from 1, at which the person is on another device, 0 where
	// that is not further than the page shown.
	Further int
	// FurtherDevice is that device in words.
	FurtherDevice string

	nextID          int64
	nextPages       int
	nextFingerprint string
}

// readData is what the script needs: the address of each page and its size, so
// that nothing jumps when a picture arrives.
type readData struct {
	User  int64 `json:"user"`
	Book  int64 `json:"book"`
	Title int64 `json:"title"`
	// File changes with the file that the pages come from.
	File string `json:"file"`
	// Page is shown first; Asked says that the address named it.
	Page  int       `json:"page"`
	Asked bool      `json:"asked"`
	Place placeData `json:"place"`
	// Device is what this one is called elsewhere.
	Device   string      `json:"device"`
	Settings readingData `json:"settings"`
	Sizes    [][2]int    `json:"sizes"`
	Next     string      `json:"next"`
	Prev     string      `json:"prev"`
	// Ahead are the first pages of the next chapter.
	Ahead []string `json:"ahead"`
}

// opened is a book that a request names, with its title and the books around it.
type opened struct {
	book  catalog.Book
	title catalog.Title
	// books are those of the title in reading order; at is where book stands.
	books []progress.Shelved
	at    int
}

func (s *Server) opened(r *http.Request) (opened, error) {
	var o opened
	id, err := number(r.PathValue("book"))
	if err != nil {
		return o, err
	}
	if o.book, err = s.Shelves.Book(r.Context(), id); err != nil {
		return o, err
	}
	if o.title, err = s.Shelves.Title(r.Context(), o.book.TitleID); err != nil {
		return o, err
	}
	if o.books, err = s.Shelves.Shelved(r.Context(), o.title.ID, who(r).ID); err != nil {
		return o, err
	}
	o.at = max(0, slices.IndexFunc(o.books, func(b progress.Shelved) bool { return b.ID == id }))
	return o, nil
}

// read shows a book at ?page, or where the person was.
func (s *Server) read(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	o, err := s.opened(r)
	if err != nil {
		return err
	}
	say := s.say(ctx)
	id, book, title, books, at := o.book.ID, o.book, o.title, o.books, o.at
	v := readView{
		Name: title.Name, Chapter: upperFirst(say.chapterName(book.Number, "")), EndOf: say.chapterName(book.Number, book.Name), Credit: title.License, Back: seriesAddress(title.ID),
		UserID: who(r).ID, BookID: id, TitleID: title.ID, SaveTo: "/read/" + strconv.FormatInt(id, 10) + "/progress",
	}
	switch {
	case book.Number == "":
		v.Chapter = book.Name
	case book.Name != "":
		v.Chapter += " · " + book.Name
	}
	v.Title = say.T("%s, %s", title.Name, say.chapterName(book.Number, book.Name))
	list, err := s.pagesOf(ctx, book)
	switch {
	case book.Unreadable():
		why := say.refusalOf(book.Why)
		v.Problem = why.Text + " " + why.Next + " " + say.T("Your place in it is kept.")
	case !book.Here():
		v.Problem = say.T("Its file is gone from the library. Your place in it is kept, and it can be read again when the file is back.")
	case fault.Is(err, fault.Storage):
		v.Problem = say.T("The file of this chapter cannot be read just now. The disk may be away; your place in it is kept.")
	case unreadable.Of(err) != "":
		why := say.refusalOf(unreadable.Of(err))
		v.Problem = why.Text + " " + why.Next
	case fault.Is(err, fault.Page), fault.Is(err, fault.Parser), fault.Is(err, fault.Invalid):
		v.Problem = say.T("The file of this chapter is damaged.")
	case err != nil:
		return err
	}
	if err := s.neighbours(ctx, who(r), &v, books, at, title); err != nil {
		return err
	}
	if v.Missing != nil && who(r).Role == account.Guest {
		// Who only reads can ask for nothing.
		v.Missing.Act = nil
	}
	if v.Problem != "" {
		s.render(w, r, http.StatusOK, "read-problem", v)
		return nil
	}
	set, err := s.readingSettings(ctx, who(r).ID, title)
	if err != nil {
		return err
	}
	if err := v.open(say, r, book, books[at].Place, list, set); err != nil {
		return err
	}
	s.render(w, r, http.StatusOK, "read", v)
	return nil
}

// open decides which page is shown first.
func (v *readView) open(say tongue, r *http.Request, book catalog.Book, place progress.Place, list []catalog.Page, set reading.Settings) error {
	data := readData{
		User: who(r).ID, Book: book.ID, Title: book.TitleID, File: short(book.Fingerprint), Place: placeOf(say, place, time.Now()), Device: device(r.UserAgent()), Settings: readingOf(set),
		Ahead: []string{},
	}
	v.Direction = set.Direction
	page := 0
	if place.Begun && !place.Finished {
		page = place.Page
	}
	if asked := r.URL.Query().Get("page"); asked != "" {
		n, err := number(asked)
		if err != nil || n > int64(len(list)) {
			return notFound("a page")
		}
		page, data.Asked = int(n-1), true
	}
	page = min(page, len(list)-1)
	for _, p := range list {
		data.Sizes = append(data.Sizes, [2]int{p.Width, p.Height})
	}
	data.Page = page
	if v.NextBook != nil {
		data.Next = v.NextBook.Href
	}
	if v.PrevBook != nil {
		data.Prev = v.PrevBook.Href
	}
	for n := range min(v.nextPages, 2) {
		data.Ahead = append(data.Ahead, pageAddress(v.nextID, n, v.nextFingerprint))
	}
	v.Known = data.Place.Version
	if place.Begun && !place.Finished && place.Page > page {
		v.Further, v.FurtherDevice = place.Page+1, say.onDevice(place.Device)
	}
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	v.Data, v.Page, v.Count, v.Width, v.Height = string(text), page+1, len(list), list[page].Width, list[page].Height
	v.Src = pageAddress(book.ID, page, book.Fingerprint)
	v.LastPageOfBook = page == len(list)-1
	if page > 0 {
		v.PrevPage = fmt.Sprintf("/read/%d?page=%d", book.ID, page)
	}
	return nil
}
