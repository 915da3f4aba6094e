package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// keepPlan is what a device has to fetch to keep one chapter for reading without a
// connection, and what it shows of it then.
type keepPlan struct {
	Book    int64  `json:"book"`
	Name    string `json:"name"`
	Chapter string `json:"chapter"`
	// Order is the chapter's place in its title.
	Order int      `json:"order"`
	Href  string   `json:"href"`
	Pages []string `json:"pages"`
	// Bytes is how much the pages take.
	Bytes int64 `json:"bytes"`
}

// keepPlan answers what a chapter kept on a device needs.
func (s *Server) keepPlan(w http.ResponseWriter, r *http.Request) error {
	o, err := s.opened(r)
	if err != nil {
		return err
	}
	if !o.book.Here() {
		return notFound("a chapter")
	}
	list, err := s.pagesOf(r.Context(), o.book)
	if err != nil {
		return err
	}
	base := basePath(r)
	p := keepPlan{
		Book: o.book.ID, Name: o.title.Name, Chapter: upperFirst(s.say(r.Context()).chapterName(o.book.Number, o.book.Name)), Order: o.at, Href: base + readAddress(o.book.ID, 0),
		Pages: []string{},
	}
	for _, page := range list {
		p.Pages = append(p.Pages, base+pageAddress(o.book.ID, page.Position, o.book.Fingerprint))
		p.Bytes += page.Size
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(p)
}

// saved shows what this device keeps; only the device knows.
func (s *Server) saved(w http.ResponseWriter, r *http.Request) error {
	s.render(w, r, http.StatusOK, "saved", struct{ Frame }{s.frame(r, s.say(r.Context()).T("On this device"), "saved")})
	return nil
}

// offline is the page that the worker shows when the reader cannot be reached. It
// holds nothing of anybody: the worker keeps it for everyone.
func (s *Server) offline(w http.ResponseWriter, r *http.Request) error {
	s.render(w, r, http.StatusOK, "offline", nil)
	return nil
}

// offlineFiles are what the offline page needs besides itself.
var offlineFiles = []string{"tokens.css", "app.css", "icons.svg", "mark.svg", "icon-180.png", "words.js", "keep.js", "offline.js"}

// worker answers the worker's script, at the root because it may serve nothing
// above itself. Before its text stands what it keeps; another Mangrove keeps other
// files, so that its worker differs and takes over.
func (s *Server) worker(w http.ResponseWriter, r *http.Request) error {
	base := basePath(r)
	page, err := s.draw(r.Context(), "offline", nil)
	if err != nil {
		return err
	}
	files := []string{base + "/offline"}
	for _, name := range offlineFiles {
		files = append(files, base+s.assets[name].address)
	}
	list, err := json.Marshal(files)
	if err != nil {
		return err
	}
	shell := "mangrove-shell-" + digest(append(append(bytes.Clone(page), list...), s.assets["worker.js"].data...))
	h := w.Header()
	h.Set("Content-Type", mediaType("worker.js"))
	h.Set("Cache-Control", "no-cache")
	// A worker's own policy decides what it may fetch.
	h.Set("Content-Security-Policy", strings.Replace(policy, "; require-trusted-types-for 'script'", "", 1))
	_, err = fmt.Fprintf(w, "const files = %s, shell = %q;\n%s", list, shell, s.assets["worker.js"].data)
	return err
}
