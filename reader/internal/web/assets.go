package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
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
		sum := sha256.Sum256(data)
		out[name] = asset{data, mediaType(name), "/static/" + hex.EncodeToString(sum[:])[:12] + "/" + name}
		return nil
	})
	return out, err
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

// manifest lets a phone put Mangrove on its home screen.
func (s *Server) manifest(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "application/manifest+json")
	w.Header().Set("Cache-Control", "public, max-age=86400")
	_, _ = w.Write([]byte(`{"name":"Mangrove","short_name":"Mangrove","start_url":"` + basePath(r) + `/","scope":"` + basePath(r) + `/","display":"standalone",` +
		`"background_color":"#0e1312","theme_color":"#0b3a2f","icons":[{"src":"` + basePath(r) + s.assets["mark.svg"].address +
		`","sizes":"any","type":"image/svg+xml","purpose":"any"}]}`))
	return nil
}
