package web

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"mangrove/reader/internal/account"
	"mangrove/reader/internal/backup"
	"mangrove/reader/internal/forwarded"
	"mangrove/reader/internal/pages"
)

// maxBody is the largest request body (C25).
const maxBody = 1 << 20

// maxUpload is the largest request body of the one route that takes a file.
const maxUpload = backup.MaxFile + maxBody

// policy is C12, word for word: nothing inline, nothing from elsewhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; " +
	"manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; object-src 'none'; require-trusted-types-for 'script'"

// bounded limits a request's body: a picture may be larger than a form, and a backup
// larger than both (C25).
func (s *Server) bounded(next http.Handler) http.Handler {
	forms, pictures := http.MaxBytesHandler(next, maxBody), http.MaxBytesHandler(next, pages.MaxUpload+maxBody)
	backups := http.MaxBytesHandler(next, maxUpload)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, s.BasePath)
		switch {
		case r.Method == http.MethodPost && path == "/move-in":
			backups.ServeHTTP(w, r)
		case r.Method == http.MethodPost && strings.HasPrefix(path, "/collections/") && strings.HasSuffix(path, "/cover"):
			pictures.ServeHTTP(w, r)
		default:
			forms.ServeHTTP(w, r)
		}
	})
}

// pageHeaders sets what every answer carries (C12, C14). Static files and
// images set their own caching and, images, their own policy.
func pageHeaders(h http.Header, r *http.Request) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if forwarded.Secure(r) {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

func (s *Server) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pageHeaders(w.Header(), r)
		next.ServeHTTP(w, r)
	})
}

// knownHost refuses requests for names that are not ours, so that a name that
// someone points at this machine cannot read it through a browser (C2).
func (s *Server) knownHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !allowedHost(r.Host, s.Hosts) {
			pageHeaders(w.Header(), r)
			s.plain(w, http.StatusMisdirectedRequest,
				s.say(s.asked(r).Context()).T("Mangrove does not answer to this name. Add it to MANGROVE_HOSTS, or use the machine's address."))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func allowedHost(host string, names []string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return name == "localhost" || name != "" && slices.Contains(names, name)
}

// safePath keeps a redirect on this site (C15): one slash at the start, and
// nothing a browser reads as another host. Anything else leads Home.
func safePath(to string) string {
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || len(to) > 2048 {
		return "/"
	}
	for _, r := range to {
		if r == '\\' || r < 0x20 || r == 0x7f {
			return "/"
		}
	}
	return to
}

func redirect(w http.ResponseWriter, r *http.Request, to string) error {
	http.Redirect(w, r, basePath(r)+safePath(to), http.StatusSeeOther)
	return nil
}

type callerKey struct{}

// caller is who a handler answers; only handlers of routes that are not public
// ask.
func caller(r *http.Request) account.Caller {
	return callerOf(r.Context())
}

func callerOf(ctx context.Context) account.Caller {
	c, _ := ctx.Value(callerKey{}).(account.Caller)
	return c
}

// who is the person a handler answers.
func who(r *http.Request) account.User { return caller(r).User }

// authenticated finds out who asks; ok is false for nobody.
func (s *Server) authenticated(r *http.Request) (*http.Request, bool, error) {
	c, ok, err := s.Accounts.Authenticate(r)
	if err != nil || !ok {
		return r, false, err
	}
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, c)), true, nil
}

// sees reports whether somebody may see what a request is about. It is the one
// place where a guest who is limited to some collections is kept to them: every
// route asks it once it is known who asks, with the title, the book or the Series
// in the path. Lists are kept to them by the database.
func (s *Server) sees(c account.Caller, r *http.Request) (bool, error) {
	if c.Role != account.Guest {
		return true, nil
	}
	ctx := r.Context()
	if r.PathValue("title") != "" {
		id, err := number(r.PathValue("title"))
		if err != nil {
			return false, nil
		}
		return s.Shelves.SeesTitle(ctx, c.ID, id)
	}
	if r.PathValue("book") != "" {
		id, err := number(r.PathValue("book"))
		if err != nil {
			return false, nil
		}
		return s.Shelves.SeesBook(ctx, c.ID, id)
	}
	if key := keyOf(r); key.Site != "" && key.SeriesID != "" {
		return s.Shelves.SeesSeries(ctx, c.ID, key)
	}
	return true, nil
}

// plainHTTP reports whether a page should say that it comes without encryption:
// not to this machine, and not where that is meant (C4).
func (s *Server) plainHTTP(r *http.Request) bool {
	return !forwarded.Secure(r) && !s.PlainHTTP && !forwarded.Client(r).IsLoopback()
}

// mayClaim reports whether an unclaimed library answers a request: to this
// machine, and to those an operator has named (C7).
func (s *Server) mayClaim(r *http.Request) bool {
	client := forwarded.Client(r)
	return client.IsLoopback() || slices.ContainsFunc(s.ClaimFrom, func(p netip.Prefix) bool { return client.IsValid() && p.Contains(client) })
}
