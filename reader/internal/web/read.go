package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"mangrove/internal/fault"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/progress"
	"mangrove/reader/internal/scraperclient"
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

type bookLink struct{ Href, Label string }

// missing says why there is no next chapter to read.
type missing struct{ Heading, Text, Tone, Icon string }

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
	v.Src = fmt.Sprintf("/read/%d/pages/%d?v=%s", book.ID, page+1, data.Version)
	v.LastPageOfBook = page == len(list)-1
	if page > 0 {
		v.PrevPage = fmt.Sprintf("/read/%d?page=%d", book.ID, page)
	}
	return nil
}

// neighbours finds the chapters before and after, and why the one after is
// missing if it is.
func (s *Server) neighbours(ctx context.Context, v *readView, books []progress.Shelved, at int, title catalog.Title) {
	link := func(b progress.Shelved) *bookLink {
		return &bookLink{Href: readAddress(b.ID, 0), Label: upperFirst(chapterName(b.Number, b.Name))}
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
	st, err := s.Scraper.GetSeries(limited, titleKey(title))
	if err == nil {
		if c, ok := following(st.Chapters, books[at].Book, next); ok {
			v.Missing = missingWords(c, st, now)
		}
	}
	if next != nil {
		v.NextBook = link(*next)
		return
	}
	if v.Missing != nil {
		return
	}
	v.Missing = &missing{Heading: "That was the newest chapter", Icon: "check", Tone: "quiet"}
	switch {
	case err != nil && fault.Is(err, fault.Away):
		p := s.Scraper.Presence()
		v.Missing.Text = "Scraper: unreachable since " + Clock(p.Since, now) + ". New chapters come when it is back."
	case err != nil || title.Status == "completed":
		v.Missing.Text = "There is nothing after it here."
	case !st.NextPollAt.IsZero() && st.NextPollAt.After(now):
		v.Missing.Text = "Mangrove looks for the next one about " + Clock(st.NextPollAt, now) + "."
	default:
		v.Missing.Text = "Mangrove looks for the next one when the Series is followed."
	}
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

func missingWords(c scraperclient.Chapter, st scraperclient.State, now time.Time) *missing {
	m := &missing{Heading: upperFirst(chapterName(c.Number, c.Title)) + " is not here yet", Icon: "clock", Tone: "quiet"}
	switch {
	case c.DownloadState == "downloading" && c.PagesTotal > 0:
		m.Icon, m.Tone, m.Text = "down", "info", fmt.Sprintf("It is arriving now: %d of %d pages.", c.PagesDone, c.PagesTotal)
	case c.DownloadState == "downloading", c.DownloadState == "waiting":
		m.Icon, m.Tone, m.Text = "down", "info", "It is on its way."
	case c.DownloadState == "set_aside":
		m.Icon, m.Tone, m.Text = "puzzle", "warn", "It was set aside: "+c.SetAsideReason
	case c.LibraryState == "missing":
		m.Icon, m.Tone, m.Text = "gone", "warn", "Its file is gone from the library."
	case st.Job != nil && st.Job.State != "done" && st.Job.State != "cancelled":
		p := jobWords(st.Job, now)
		m.Tone, m.Text = p.Tone, p.Word+". "+st.Job.Reason
	default:
		m.Text = "The Site lists it; it was not downloaded."
	}
	m.Text = strings.TrimSpace(m.Text)
	return m
}

// mark is one place to save, as the script sends it. Page counts from 0.
type mark struct {
	Page  *int `json:"page"`
	Asked bool `json:"asked"`
}

// saveProgress takes a place as JSON from the script, or as a form, which then
// leads to the page.
func (s *Server) saveProgress(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r.PathValue("book"))
	if err != nil {
		return err
	}
	form := false
	var m mark
	switch kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) {
	case "application/json":
		dec := json.NewDecoder(io.LimitReader(r.Body, 4096))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&m); err != nil || m.Page == nil {
			return invalid("a place")
		}
	case "application/x-www-form-urlencoded":
		if err := parseForm(r); err != nil {
			return err
		}
		n, err := number(r.PostFormValue("page"))
		if err != nil || n > 1<<30 {
			return invalid("a place")
		}
		page := int(n - 1)
		m, form = mark{Page: &page, Asked: true}, true
	default:
		s.plain(w, http.StatusUnsupportedMediaType, "Send a place as JSON or as a form.")
		return nil
	}
	if *m.Page < 0 || *m.Page > 1<<30 {
		return notFound("a page")
	}
	place, err := s.Shelves.SaveMark(r.Context(), progress.Mark{
		UserID: who(r).ID, BookID: id, Page: *m.Page, Asked: m.Asked, Device: device(r.UserAgent()),
	})
	if err != nil {
		return err
	}
	if form {
		return redirect(w, r, fmt.Sprintf("/read/%d?page=%d", id, *m.Page+1))
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(map[string]any{"page": place.Page, "finished": place.Finished})
}

// setFinished marks a chapter read or unread and leads back to its Series.
func (s *Server) setFinished(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r.PathValue("book"))
	if err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	book, err := s.Shelves.Book(r.Context(), id)
	if err != nil {
		return err
	}
	if err := s.Shelves.SetFinished(r.Context(), who(r).ID, id, r.PostFormValue("finished") != ""); err != nil {
		return err
	}
	return redirect(w, r, seriesAddress(book.TitleID))
}

// device is a word for the kind of machine, good enough to ask "continue from
// page 31 on the phone?" and too coarse to tell people apart.
func device(userAgent string) string {
	switch {
	case strings.Contains(userAgent, "iPad") || strings.Contains(userAgent, "Tablet"):
		return "tablet"
	case strings.Contains(userAgent, "Mobi") || strings.Contains(userAgent, "Android"):
		return "phone"
	}
	return "computer"
}
