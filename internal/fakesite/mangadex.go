package fakesite

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
)

// MangaDex is a face that answers as the API of that name does (v5): the feed of a
// Series in pages of at most 500 within a window of 10,000, and servers that hand
// out a chapter's images for a while. Its fields are the faults a test asks for;
// they are set before it is served.
type MangaDex struct {
	// Chapters is how many the feed lists, newest first, numbered from 1.
	Chapters int
	// Total is said in place of the true number when it is not 0.
	Total int
	// Cap is how many entries a page has at most; 0 means 500.
	Cap int
	// Overlap is how many entries a later page repeats of the one before.
	Overlap int
	// Hidden is how many entries are counted but not shown, from the tenth on.
	Hidden int
	// Stuck answers every page with the first.
	Stuck bool
	// Endless never runs out of entries.
	Endless bool
	// External marks every chapter as one that is read at a publisher's.
	External bool
	// Later is the status of every page but the first; 0 means 200.
	Later int
	// Pages are the file names of each chapter's images; none means two.
	Pages []string

	servers atomic.Int32
}

// ServeFeed lets the face answer for one Series of s: its feed, and the servers of
// all chapters. Images lie below /tokenN/data/abc/, N being the how manieth server
// it is; what they are is the test's to say.
func (f *MangaDex) ServeFeed(s *Server, seriesID string) {
	s.Handle("/manga/"+seriesID+"/feed", http.HandlerFunc(f.feed))
	pages := f.Pages
	if len(pages) == 0 {
		pages = []string{"1-a.png", "2-b.png"}
	}
	s.Handle("/at-home/server/*", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"result":"ok","baseUrl":"%s/token%d","chapter":{"hash":"abc","data":["%s"],"dataSaver":[]}}`, s.URL, f.servers.Add(1), strings.Join(pages, `","`))
	}))
}

// MangaDexChapter is a chapter of a feed, its id made of n, with attributes written
// as JSON members.
func MangaDexChapter(n int, attributes string) string {
	return fmt.Sprintf(`{"id":"00000000-0000-4000-8000-%012d","type":"chapter","attributes":{%s},"relationships":[]}`, n, attributes)
}

// MangaDexCollection is a list as the API wraps one.
func MangaDexCollection(total int, items ...string) string {
	return fmt.Sprintf(`{"result":"ok","response":"collection","data":[%s],"limit":500,"offset":0,"total":%d}`, strings.Join(items, ","), total)
}

func (f *MangaDex) feed(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	offset, _ := strconv.Atoi(q.Get("offset"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	w.Header().Set("Content-Type", "application/json")
	if offset > 0 && f.Later != 0 {
		w.WriteHeader(f.Later)
		return
	}
	if limit > 500 || offset+limit > 10_000 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	tag := fmt.Sprintf(`"%d"`, f.Chapters)
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if f.Cap > 0 {
		limit = min(limit, f.Cap)
	}
	from := offset
	switch {
	case f.Stuck:
		from = 0
	case offset > 0:
		from = offset - f.Overlap
	}
	to := min(offset+limit, f.Chapters)
	if f.Stuck {
		to = limit
	}
	if f.Endless {
		to = from + limit
	}
	elsewhere := ""
	if f.External {
		elsewhere = `,"externalUrl":"https://publisher.example/read"`
	}
	var items []string
	for n := from; n < to; n++ {
		if n < 10 || n >= 10+f.Hidden {
			items = append(items, MangaDexChapter(n, fmt.Sprintf(`"chapter":"%d","translatedLanguage":"en","pages":3%s`, n+1, elsewhere)))
		}
	}
	total := f.Chapters
	if f.Total != 0 {
		total = f.Total
	}
	_, _ = fmt.Fprint(w, MangaDexCollection(total, items...))
}
