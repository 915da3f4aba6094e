package samplesite

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

// site serves one catalogue.
type site struct {
	content   fs.FS
	catalogue Catalogue
	pages     *template.Template
	css       []byte
	images    map[string]time.Time // every image that may be served, and its date
}

// SiteHandler serves a catalogue whose images lie in content, in the markup of
// the package comment. Only images that the catalogue names are served.
func SiteHandler(content fs.FS, catalogue Catalogue) http.Handler {
	s := &site{content: content, catalogue: catalogue, images: map[string]time.Time{}}
	s.pages = template.Must(template.New("").Funcs(template.FuncMap{
		"image":   func(p string) string { return path.Join("/images", p) },
		"add":     func(a, b int) int { return a + b },
		"newest":  newestFirst,
		"iso":     func(t time.Time) string { return t.Format(time.DateOnly) },
		"written": func(t time.Time) string { return t.Format("2 January 2006") },
	}).ParseFS(files, "site.html"))
	css, err := files.ReadFile("site.css")
	if err != nil {
		panic(err) // it is embedded
	}
	s.css = css
	for _, series := range catalogue.Series {
		for _, c := range series.Chapters {
			for _, p := range c.Pages {
				s.images[p] = c.Published
			}
		}
		if _, known := s.images[series.Cover]; !known {
			s.images[series.Cover] = newest(series)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.front)
	mux.HandleFunc("GET /series/{series}", s.series)
	mux.HandleFunc("GET /series/{series}/{chapter}", s.chapter)
	mux.HandleFunc("GET /images/{path...}", s.image)
	mux.HandleFunc("GET /site.css", func(w http.ResponseWriter, r *http.Request) {
		serve(w, r, "text/css; charset=utf-8", time.Time{}, s.css)
	})
	mux.HandleFunc("GET /credits", s.credits)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) { s.missing(w, "page") })
	return mux
}

// view is what the templates see.
type view struct {
	Site    string
	Heading string
	Titles  []Series
	Series  Series
	Chapter Chapter
	// Prev and Next are neighbours that can be read here.
	Prev, Next Chapter
}

func (s *site) front(w http.ResponseWriter, r *http.Request) {
	var changed time.Time
	for _, series := range s.catalogue.Series {
		if n := newest(series); n.After(changed) {
			changed = n
		}
	}
	s.render(w, r, "front", changed, view{Heading: s.catalogue.Title, Titles: s.catalogue.Series})
}

func (s *site) series(w http.ResponseWriter, r *http.Request) {
	series, ok := find(s.catalogue.Series, func(v Series) string { return v.ID }, r.PathValue("series"))
	if !ok {
		s.missing(w, "title")
		return
	}
	s.render(w, r, "series", newest(series), view{Heading: series.Title, Series: series})
}

func (s *site) chapter(w http.ResponseWriter, r *http.Request) {
	series, ok := find(s.catalogue.Series, func(v Series) string { return v.ID }, r.PathValue("series"))
	if !ok {
		s.missing(w, "title")
		return
	}
	here := slices.DeleteFunc(slices.Clone(series.Chapters), func(c Chapter) bool { return c.External != "" })
	i := slices.IndexFunc(here, func(c Chapter) bool { return c.ID == r.PathValue("chapter") })
	if i < 0 {
		s.missing(w, "episode")
		return
	}
	v := view{Heading: here[i].Title + " · " + series.Title, Series: series, Chapter: here[i]}
	if i > 0 {
		v.Prev = here[i-1]
	}
	if i+1 < len(here) {
		v.Next = here[i+1]
	}
	s.render(w, r, "chapter", here[i].Published, v)
}

func (s *site) image(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("path")
	changed, known := s.images[name]
	if !known {
		http.Error(w, "No such image", http.StatusNotFound)
		return
	}
	data, err := fs.ReadFile(s.content, name)
	if err != nil {
		http.Error(w, "No such image", http.StatusNotFound)
		return
	}
	serve(w, r, imageType(name), changed, data)
}

func (s *site) credits(w http.ResponseWriter, r *http.Request) {
	data, err := fs.ReadFile(s.content, "CREDITS.md")
	if err != nil {
		s.missing(w, "page")
		return
	}
	serve(w, r, "text/plain; charset=utf-8", time.Time{}, data)
}

func (s *site) missing(w http.ResponseWriter, what string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusNotFound)
	_ = s.pages.ExecuteTemplate(w, "missing", view{Site: s.catalogue.Title, Heading: "No such " + what}) // the client may be gone
}

func (s *site) render(w http.ResponseWriter, r *http.Request, page string, changed time.Time, v view) {
	v.Site = s.catalogue.Title
	var b bytes.Buffer
	if err := s.pages.ExecuteTemplate(&b, page, v); err != nil {
		http.Error(w, "The page could not be made", http.StatusInternalServerError)
		return
	}
	serve(w, r, "text/html; charset=utf-8", changed, b.Bytes())
}

// serve sends data with its ETag, or 304 to who has it.
func serve(w http.ResponseWriter, r *http.Request, contentType string, changed time.Time, data []byte) {
	sum := sha256.Sum256(data)
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:12])+`"`)
	w.Header().Set("Cache-Control", "no-cache") // keep it, but ask
	http.ServeContent(w, r, "", changed, bytes.NewReader(data))
}

// newest is the date of the latest chapter.
func newest(s Series) (t time.Time) {
	for _, c := range s.Chapters {
		if c.Published.After(t) {
			t = c.Published
		}
	}
	return t
}

func newestFirst(chapters []Chapter) []Chapter {
	out := slices.Clone(chapters)
	slices.Reverse(out)
	return out
}

// imageType is the media type of a content file, or "" for what is no image.
func imageType(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".png":
		return "image/png"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	case ".avif":
		return "image/avif"
	}
	return ""
}
