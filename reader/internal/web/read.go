package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"mangrove/internal/fault"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/progress"
)

// readView is the reading view of one book.
type readView struct {
	Title, Theme   string
	Name           string
	Chapter        string
	EndOf          string
	Credit         string
	Back           string
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
}

// readData is what the script needs: the address of each page and its size, so
// that nothing jumps when a picture arrives.
type readData struct {
	Book      int64    `json:"book"`
	Title     int64    `json:"title"`
	Version   string   `json:"version"`
	Page      int      `json:"page"`
	Stored    int      `json:"stored"`
	Finished  bool     `json:"finished"`
	Device    string   `json:"device"`
	When      string   `json:"when"`
	Asked     bool     `json:"asked"`
	Direction string   `json:"direction"`
	Sizes     [][2]int `json:"sizes"`
	Next      string   `json:"next"`
	Prev      string   `json:"prev"`
}

// read shows a book at ?page, or where the person was.
func (s *Server) read(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	id, err := number(r.PathValue("book"))
	if err != nil {
		return err
	}
	book, err := s.Shelves.Book(ctx, id)
	if err != nil {
		return err
	}
	title, err := s.Shelves.Title(ctx, book.TitleID)
	if err != nil {
		return err
	}
	books, err := s.Shelves.Shelved(ctx, title.ID, who(r).ID)
	if err != nil {
		return err
	}
	at := 0
	for i := range books {
		if books[i].ID == id {
			at = i
		}
	}
	v := readView{
		Name: title.Name, Chapter: upperFirst(chapterName(book.Number, "")), EndOf: chapterName(book.Number, book.Name), Credit: title.License, Back: seriesAddress(title.ID),
		BookID: id, TitleID: title.ID, Direction: title.Direction, SaveTo: "/read/" + strconv.FormatInt(id, 10) + "/progress",
	}
	switch {
	case book.Number == "":
		v.Chapter = book.Name
	case book.Name != "":
		v.Chapter += " · " + book.Name
	}
	v.Title = title.Name + ", " + chapterName(book.Number, book.Name)
	if v.Direction == "" {
		v.Direction = "ltr"
	}
	list, err := s.pagesOf(ctx, book)
	switch {
	case !book.Here():
		v.Problem = "Its file is gone from the library. Your place in it is kept, and it can be read again when the file is back."
	case fault.Is(err, fault.Storage):
		v.Problem = "The file of this chapter cannot be read just now. The disk may be away; your place in it is kept."
	case fault.Is(err, fault.Page), fault.Is(err, fault.Parser), fault.Is(err, fault.Invalid):
		v.Problem = "The file of this chapter is damaged."
	case err != nil:
		return err
	}
	s.neighbours(ctx, &v, books, at, title)
	if v.Problem != "" {
		s.render(w, r, http.StatusOK, "read-problem", v)
		return nil
	}
	if err := v.open(r, book, books[at].Place, list); err != nil {
		return err
	}
	s.render(w, r, http.StatusOK, "read", v)
	return nil
}

// open decides which page is shown first.
func (v *readView) open(r *http.Request, book catalog.Book, place progress.Place, list []catalog.Page) error {
	data := readData{
		Book: book.ID, Title: book.TitleID, Version: short(book.Fingerprint), Stored: place.Page, Finished: place.Finished, Device: place.Device,
		Direction: v.Direction,
	}
	if place.Begun {
		data.When = Clock(place.ChangedAt, time.Now())
	} else {
		data.Stored = -1
	}
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
