package fakesite

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Comic is a face in the plain markup of a small comic Site: a page for each
// Series with its list of chapters, a page for each chapter with its images.
// An address that a test gives its own answer to is no longer the face's.
type Comic struct {
	// Chapters is how many each Series lists, newest first; Pages how many images
	// a chapter has.
	Chapters, Pages int
	// Image is what every image is, Type the type it is sent with.
	Image []byte
	Type  string
}

// ComicDescription describes the face to those who read Sites described in YAML:
// host is where it is served, series are the ids it lists.
func ComicDescription(host string, series ...string) string {
	var listed []string
	for _, id := range series {
		listed = append(listed, "{id: "+id+", title: "+id+"}")
	}
	return `name: Comic
hosts: ["` + host + `"]
languages: [en]
pacing: 500ms
listed: [` + strings.Join(listed, ", ") + `]
series:
  address: http://` + host + `/series/{id}
  landmark: main
  title: h1
chapters:
  item: li
pages:
  landmark: main
  image: img
`
}

// Serve lets the face answer for s.
func (c Comic) Serve(s *Site) {
	s.Handle("/series/*", http.HandlerFunc(c.series))
	s.Handle("/c/*", http.HandlerFunc(c.chapter))
	s.On("/images/*", Bytes(c.Type, c.Image))
}

func (c Comic) series(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(r.URL.Path, "/series/")
	var list strings.Builder
	for n := c.Chapters; n > 0; n-- {
		fmt.Fprintf(&list, `<li><a href="/c/%s-%d">Chapter %d</a></li>`, id, n, n)
	}
	html(w, `<main><h1>`+id+`</h1><ul>`+list.String()+`</ul></main>`)
}

func (c Comic) chapter(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(r.URL.Path, "/c/")
	var list strings.Builder
	for n := range c.Pages {
		list.WriteString(`<img src="/images/` + id + `/` + strconv.Itoa(n+1) + `.jpg">`)
	}
	html(w, `<main>`+list.String()+`</main>`)
}

func html(w http.ResponseWriter, page string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(page))
}
