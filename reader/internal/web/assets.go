package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"mime"
	"net/http"
	"path"
)

//go:embed static
var staticFiles embed.FS

//go:embed templates/*.html
var templateFiles embed.FS

type asset struct {
	data      []byte
	mediaType string
	// address holds the digest of the content, so that it can be kept for ever.
	address string
}

// assets are the embedded files by name.
type assets map[string]asset

func loadAssets() (assets, error) {
	out := assets{}
	sub, err := fs.Sub(staticFiles, "static")
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(sub, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(sub, name)
		if err != nil {
			return err
		}
		out[name] = asset{data, mediaType(name), "/static/" + digest(data) + "/" + name}
		return nil
	})
	return out, err
}

// digest names a content in an address.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:12]
}

// mediaType is fixed here: the machine's own table differs from one to the next.
func mediaType(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".webmanifest":
		return "application/manifest+json"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// static answers an embedded file under its own digest; an old digest is gone.
func (s *Server) static(w http.ResponseWriter, r *http.Request) error {
	a, ok := s.assets[r.PathValue("file")]
	if !ok || a.address != within(r, r.URL.Path) {
		return notFound("a file")
	}
	h := w.Header()
	h.Set("Content-Type", a.mediaType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(a.data)
	return nil
}

// favicon answers the mark at the address browsers ask for by themselves.
func (s *Server) favicon(w http.ResponseWriter, _ *http.Request) error {
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Cache-Control", "public, max-age=86400")
	_, _ = w.Write(s.assets["mark.svg"].data)
	return nil
}

// manifest lets a phone or a computer install Mangrove.
func (s *Server) manifest(w http.ResponseWriter, r *http.Request) error {
	base, say := basePath(r), s.say(r.Context())
	type icon struct {
		Src     string `json:"src"`
		Sizes   string `json:"sizes"`
		Type    string `json:"type"`
		Purpose string `json:"purpose"`
	}
	type shortcut struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	m := struct {
		ID         string     `json:"id"`
		Name       string     `json:"name"`
		ShortName  string     `json:"short_name"`
		StartURL   string     `json:"start_url"`
		Scope      string     `json:"scope"`
		Display    string     `json:"display"`
		Background string     `json:"background_color"`
		Theme      string     `json:"theme_color"`
		Icons      []icon     `json:"icons"`
		Shortcuts  []shortcut `json:"shortcuts"`
	}{
		ID: base + "/", Name: "Mangrove", ShortName: "Mangrove", StartURL: base + "/", Scope: base + "/", Display: "standalone", Background: "#0e1312", Theme: "#0b3a2f",
		Shortcuts: []shortcut{{say.T("Library"), base + "/library"}, {say.T("On this device"), base + "/saved"}},
	}
	for _, i := range []struct{ file, sizes, purpose string }{
		{"mark.svg", "any", "any"}, {"icon-192.png", "192x192", "any"}, {"icon-512.png", "512x512", "any"}, {"icon-maskable.png", "512x512", "maskable"},
	} {
		a := s.assets[i.file]
		m.Icons = append(m.Icons, icon{base + a.address, i.sizes, a.mediaType, i.purpose})
	}
	w.Header().Set("Content-Type", "application/manifest+json")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Add("Vary", "Accept-Language")
	return json.NewEncoder(w).Encode(m)
}
