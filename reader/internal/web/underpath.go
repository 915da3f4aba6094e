package web

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
)

// Everything in here, templates included, writes addresses as if the library
// lived at the root: "/library". Behind a reverse proxy it may live under a path
// (MANGROVE_BASE_PATH), and that path is put before an address in three places
// only, through which all of them leave: draw, redirect and the routes. So no
// page can forget it. Scripts find it in data-base of the document, and a test
// reads them for addresses without it.

// addressAttributes are the attributes of HTML that hold an address of ours.
// Others, such as value, are text, whatever it begins with.
func addressAttributes() []string {
	return []string{"href", "src", "srcset", "action", "formaction", "poster", "data-live", "data-search", "data-fetch", "data-again", "data-base"}
}

// underPath puts base before every address of ours in finished HTML. The
// templates escape quotes, so that what stands between two of them is a whole
// attribute, and no text can look like one.
func underPath(page []byte, base string) []byte {
	if base == "" {
		return page
	}
	const begin = `="/`
	names := addressAttributes()
	var out bytes.Buffer
	out.Grow(len(page) + len(page)/8)
	for {
		i := bytes.Index(page, []byte(begin))
		if i < 0 {
			out.Write(page)
			return out.Bytes()
		}
		value := i + len(begin) - 1
		name := page[:i]
		name = name[bytes.LastIndexAny(name, " \n\t<")+1:]
		out.Write(page[:value])
		page = page[value:]
		// "//" is another host, and stays one.
		if !slices.Contains(names, string(name)) || len(page) > 1 && page[1] == '/' {
			continue
		}
		out.WriteString(base)
		if string(name) == "srcset" {
			end := max(bytes.IndexByte(page, '"'), 0)
			out.Write(bytes.ReplaceAll(page[:end], []byte(", /"), []byte(", "+base+"/")))
			page = page[end:]
		}
	}
}

type basePathKey struct{}

// below answers requests under base as route says, and tells everybody else
// where the library is. Handlers see the whole path in r.URL.
func (s *Server) below(mux *http.ServeMux) http.Handler {
	if s.BasePath == "" {
		return mux
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.plain(w, http.StatusNotFound, s.say(s.asked(r).Context()).T("Mangrove lives under %s/ (MANGROVE_BASE_PATH). A proxy in front has to pass the path on as it is.", s.BasePath))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), basePathKey{}, s.BasePath)))
	})
}

// basePath is the path the library lives under, as the request knows it.
func basePath(r *http.Request) string {
	base, _ := r.Context().Value(basePathKey{}).(string)
	return base
}

// within is an address of a request as the rest of the package writes it:
// without the path the library lives under.
func within(r *http.Request, address string) string {
	return strings.TrimPrefix(address, basePath(r))
}
