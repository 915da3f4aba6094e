package web

import (
	"bytes"
	"context"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"go.uber.org/zap"

	"mangrove/reader/internal/account"
	"mangrove/reader/internal/scraperclient"
)

// Frame is what every page around its content shows.
type Frame struct {
	Title string
	// Place is the entry of the navigation that is current, "" for none.
	Place string
	// Back is where the arrow of a phone's bar leads, "" for none.
	Back  string
	Theme string
	// Person is the name of who is signed in.
	Person string
	// Initials stand for the person where there is no room for the name.
	Initials string
	// UserID is whom a device keeps for what it keeps for later.
	UserID  int64
	Scraper scraperLine
	// Running counts what waits for a person; nil for those who do not run Mangrove.
	Running *running
	Now     time.Time
	// Guest is somebody who only reads.
	Guest bool
	// PlainHTTP says to those who can change it that pages come without encryption.
	PlainHTTP bool
	// Live is the address of the page's event stream, "" for none.
	Live string
}

// scraperLine is the scraper's state in one line of the side navigation.
type scraperLine struct {
	Away       bool
	Tone, Text string
	Sub        string
}

func (s *Server) frame(r *http.Request, title, place string) Frame {
	u, say := who(r), s.say(r.Context())
	return Frame{
		Running: runningOf(say, u, s.Scraper.Presence()),
		Title:   title, Place: place, Theme: theme(r), Person: u.Name, Initials: initials(u.Name), UserID: u.ID,
		Scraper: say.scraperLine(s.Scraper.Presence(), time.Now()), Now: time.Now(),
		Guest: u.Role == account.Guest, PlainHTTP: u.Role == account.Administrator && s.plainHTTP(r),
	}
}

func (t tongue) scraperLine(p scraperclient.Presence, now time.Time) scraperLine {
	if p.Away {
		return scraperLine{Away: true, Tone: "warn", Text: t.T("Scraper: unreachable"), Sub: t.T("since %s", t.clock(p.Since, now))}
	}
	l := scraperLine{Tone: "ok", Text: t.T("Scraper is working"), Sub: t.T("nothing to do just now")}
	if p.Status == nil {
		return l
	}
	switch n := p.Status.DownloadsRunning; {
	case n > 0:
		l.Sub = t.T("%d downloads running", n)
	case p.Status.JobsOutstanding > 0:
		l.Sub = t.T("%d downloads waiting", p.Status.JobsOutstanding)
	}
	return l
}

// theme is the person's choice, kept in a cookie so that the first paint is
// right; "" follows the system.
func theme(r *http.Request) string {
	if r == nil {
		return ""
	}
	if c, err := r.Cookie("theme"); err == nil && (c.Value == "dark" || c.Value == "light") {
		return c.Value
	}
	return ""
}

func initials(name string) string {
	var out []rune
	for _, word := range strings.Fields(name) {
		out = append(out, unicode.ToUpper([]rune(word)[0]))
	}
	if runes := []rune(name); len(out) == 1 && len(runes) > 1 {
		out = append(out, unicode.ToUpper(runes[1]))
	}
	return string(out[:min(2, len(out))])
}

// loadTemplates reads the templates once for each language, so that none has to be
// told in which it speaks.
func (s *Server) loadTemplates() (map[string]*template.Template, error) {
	keys, err := scriptKeys()
	if err != nil {
		return nil, err
	}
	all := map[string]*template.Template{}
	for _, p := range s.languages.All() {
		t := tongue{p}
		words, err := p.Words(keys)
		if err != nil {
			return nil, err
		}
		all[p.Tag()], err = template.New("").Funcs(template.FuncMap{
			"asset": func(name string) string { return s.assets[name].address },
			"exact": func(t time.Time) string { return t.Format(time.RFC3339) },
			"path":  url.PathEscape,
			"add":   func(a, b int) int { return a + b },
			// problem is what is wrong with a field, with the id that the field names.
			"problem": func(id, text string) map[string]string { return map[string]string{"ID": id, "Text": text} },
			// What is said in the language of the page: t words a message, name is text
			// from outside, verbatim a sentence of another program, meta a line of several
			// facts, when is clock, tongue
			// the language itself, and scriptWords is for the scripts.
			"t":           t.inPage,
			"name":        t.name,
			"verbatim":    t.verbatim,
			"meta":        t.meta,
			"when":        t.clock,
			"tongue":      t.in,
			"scriptWords": func() string { return words },
		}).ParseFS(templateFiles, "templates/*.html")
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// render executes the whole template before a byte is sent: a page is complete
// or it is a failure page.
func (s *Server) render(w http.ResponseWriter, r *http.Request, code int, name string, data any) {
	ctx := context.Background()
	if r != nil {
		ctx = r.Context()
	}
	page, err := s.draw(ctx, name, data)
	if err != nil {
		s.Log.Error("a page could not be made", zap.String("page", name), zap.Error(err))
		s.plain(w, http.StatusInternalServerError, s.say(ctx).T("Mangrove failed to make this page; its log says why."))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Add("Vary", "Accept-Language")
	w.Header().Set("Content-Language", s.say(ctx).in().Tag())
	w.WriteHeader(code)
	if r == nil || r.Method != http.MethodHead {
		_, _ = w.Write(page)
	}
}

// draw executes one template in the language of whoever it is for. Text from outside may hold marks that turn or
// hide what stands around it (and so does no template of ours): they are taken
// out here, once, for every page and every live piece. The escaping of HTML is
// the templates' own work.
func (s *Server) draw(ctx context.Context, name string, data any) ([]byte, error) {
	var out bytes.Buffer
	if err := s.templates[s.say(ctx).in().Tag()].ExecuteTemplate(&out, name, data); err != nil {
		return nil, err
	}
	clean := bytes.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
			return -1
		}
		return r
	}, out.Bytes())
	return underPath(clean, s.BasePath), nil
}
