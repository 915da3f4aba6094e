package web

import (
	"context"
	"html/template"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"mangrove/reader/internal/account"
	"mangrove/reader/internal/forwarded"
	"mangrove/reader/internal/language"
)

// tongue words what pages say in one person's language. The zero value is English.
type tongue struct{ printer *language.Printer }

func (t tongue) in() *language.Printer {
	if t.printer == nil {
		return language.English()
	}
	return t.printer
}

// T words a message; its key is the English sentence.
func (t tongue) T(key string, arguments ...any) string { return t.in().T(key, arguments...) }

// Marks around text from outside in a message, until its HTML is made.
const outside, inside = "\ue000", "\ue001"

// inPage is T for a template. In a language that runs from right to left the text
// that stands in a message is kept apart from it, since it may run the other way.
func (t tongue) inPage(key string, arguments ...any) any {
	if t.in().Direction() == "ltr" {
		return t.T(key, arguments...)
	}
	for i, a := range arguments {
		if text, ok := a.(string); ok {
			arguments[i] = outside + strings.NewReplacer(outside, "", inside, "").Replace(text) + inside
		}
	}
	text := template.HTMLEscapeString(t.T(key, arguments...))
	return template.HTML(strings.NewReplacer(outside, "<bdi>", inside, "</bdi>").Replace(text))
}

// name is a name from outside, kept apart in the same way.
func (t tongue) name(name string) any {
	if t.in().Direction() == "ltr" {
		return name
	}
	return template.HTML("<bdi>" + template.HTMLEscapeString(name) + "</bdi>")
}

// meta is a line of facts with dots between, such as joinMeta makes. In a language that
// runs from right to left each fact is kept apart: "61 MB" and the name behind it would
// be read as one piece otherwise, and in the wrong order.
func (t tongue) meta(line string) any {
	if t.in().Direction() == "ltr" {
		return line
	}
	parts := strings.Split(line, " · ")
	for i, p := range parts {
		parts[i] = `<bdi dir="rtl">` + template.HTMLEscapeString(p) + `</bdi>`
	}
	return template.HTML(strings.Join(parts, " · "))
}

// verbatim is a sentence of another program, which is English and stays as it is: the
// reason of a failure, the answer of a service. A page in another language says so,
// for those who have it read to them and for what runs the other way.
func (t tongue) verbatim(text string) any {
	if t.in().Tag() == "en" {
		return text
	}
	return template.HTML(`<span lang="en" dir="auto">` + template.HTMLEscapeString(text) + `</span>`)
}

// languageCookie keeps a person's choice for where nobody is signed in yet.
const languageCookie = "language"

type askedKey struct{}

// asked notes the language that a browser asks for, where everything that is said
// to it can find it.
func (s *Server) asked(r *http.Request) *http.Request {
	choice := ""
	if c, err := r.Cookie(languageCookie); err == nil {
		choice = c.Value
	}
	accept := r.Header.Get("Accept-Language")
	w := wish{tongue: tongue{s.languages.For(choice, accept)}, browser: tongue{s.languages.For("", accept)}}
	return r.WithContext(context.WithValue(r.Context(), askedKey{}, w))
}

// wish is the language for anybody with this browser, and the browser's wish.
type wish struct {
	tongue
	browser tongue
}

// say is the language of whoever a request is answered for: the person's own choice
// before what the browser asks for.
func (s *Server) say(ctx context.Context) tongue {
	asked, _ := ctx.Value(askedKey{}).(wish)
	// A guest's sign-in may be shared, so that their choice is the browser's.
	if u := callerOf(ctx).User; u.ID != 0 && u.Role != account.Guest {
		if p := s.languages.Of(u.Language); p != nil {
			return tongue{p}
		}
		return asked.browser
	}
	return asked.tongue
}

// languages are the choices there are, each in its own words.
func (s *Server) languageChoices(r *http.Request) []choiceOf {
	chosen := who(r).Language
	if who(r).Role == account.Guest {
		chosen = ""
		if c, err := r.Cookie(languageCookie); err == nil {
			chosen = c.Value
		}
	}
	out := []choiceOf{{Label: s.say(r.Context()).T("As the browser says"), Chosen: s.languages.Of(chosen) == nil}}
	for _, p := range s.languages.All() {
		out = append(out, choiceOf{Value: p.Tag(), Label: p.Self(), Chosen: p.Tag() == chosen})
	}
	return out
}

// setLanguage keeps the language a person chose: with the person, and with the
// browser for where nobody is signed in.
func (s *Server) setLanguage(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	tag := r.PostFormValue("language")
	if tag != "" && s.languages.Of(tag) == nil {
		return invalid("a language")
	}
	if u := who(r); u.Role != account.Guest {
		if err := s.Accounts.SetLanguage(r.Context(), u.ID, tag); err != nil {
			return err
		}
	}
	c := &http.Cookie{
		Name: languageCookie, Value: tag, Path: basePath(r) + "/", MaxAge: int((365 * 24 * time.Hour).Seconds()),
		HttpOnly: true, Secure: forwarded.Secure(r), SameSite: http.SameSiteLaxMode,
	}
	if tag == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
	return redirect(w, r, "/me#language")
}

// scriptKeys are the messages that the scripts show: every T('…') in them.
func scriptKeys() ([]string, error) {
	names, err := fs.Glob(staticFiles, "static/*.js")
	if err != nil {
		return nil, err
	}
	calls := regexp.MustCompile(`\bT\('((?:[^'\\\\]|\\\\.)+)'`)
	var keys []string
	for _, name := range names {
		data, err := fs.ReadFile(staticFiles, name)
		if err != nil {
			return nil, err
		}
		for _, call := range calls.FindAllSubmatch(data, -1) {
			keys = append(keys, strings.ReplaceAll(string(call[1]), `\'`, "'"))
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

// clock says when in as few words as are clear: the time today, "yesterday,
// 23:40", "12 Aug" this year, "12 Aug 2025" otherwise.
func (t tongue) clock(at, now time.Time) string {
	at, now = at.Local(), now.Local()
	switch day := startOf(now); {
	case at.IsZero():
		return t.T("an unknown time")
	case onDay(at, day):
		return at.Format("15:04")
	case onDay(at, day.AddDate(0, 0, -1)):
		return t.T("yesterday, %s", at.Format("15:04"))
	case onDay(at, day.AddDate(0, 0, 1)):
		return t.T("tomorrow, %s", at.Format("15:04"))
	case at.Year() == now.Year():
		return at.Format(t.T("2 Jan"))
	}
	return at.Format(t.T("2 Jan 2006"))
}

func startOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// onDay reports whether a time lies in the day that begins then.
func onDay(at, day time.Time) bool { return !at.Before(day) && at.Before(day.AddDate(0, 0, 1)) }

func today(at, now time.Time) bool {
	return !at.IsZero() && onDay(at.Local(), startOf(now.Local()))
}

// moment is clock at the start of a sentence: "Today, 14:02".
func (t tongue) moment(at, now time.Time) string { return upperFirst(t.within(at, now)) }

// within is clock with the word for today.
func (t tongue) within(at, now time.Time) string {
	if today(at, now) {
		return t.T("today, %s", t.clock(at, now))
	}
	return t.clock(at, now)
}

// ago words when something was: "just now", "12 min ago", "yesterday, 23:40".
func (t tongue) ago(at, now time.Time) string {
	switch d := now.Sub(at); {
	case d < 2*time.Minute:
		return t.T("just now")
	case d < time.Hour:
		return t.T("%s ago", t.span(d))
	}
	return t.within(at, now)
}

// dated is clock with the time of day where clock says only the day.
func (t tongue) dated(at, now time.Time) string {
	c := t.clock(at, now)
	if at.IsZero() || strings.Contains(c, ":") {
		return c
	}
	return t.T("%s, %s", c, at.Local().Format("15:04"))
}

// span words a duration in its largest unit: "40 seconds", "3 min", "5 h", "12 days".
func (t tongue) span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return t.seconds(d)
	case d < time.Hour:
		return t.T("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return t.T("%d h", int(d.Hours()))
	}
	return t.T("%d days", int(d.Hours()/24))
}

// lasting is span where nothing stands before it: languages that bend their nouns
// say "12 days" and "for 12 days" differently.
func (t tongue) lasting(d time.Duration) string {
	if d >= 48*time.Hour {
		return t.T("%d whole days", int(d.Hours()/24))
	}
	return t.span(d)
}

// seconds words a wait, rounded up so that it is never too short.
func (t tongue) seconds(d time.Duration) string {
	return t.T("%d seconds", max(int((d+time.Second-1)/time.Second), 1))
}

// number words a number as the language writes it.
func (t tongue) number(n int) string { return t.T("%d", n) }

// chapterName is how a chapter is called in a sentence: "chapter 34", "the one-shot".
func (t tongue) chapterName(number, name string) string {
	switch {
	case number != "":
		return t.T("chapter %s", number)
	case name != "":
		return t.T("“%s”", name)
	}
	return t.T("the one-shot")
}

// join joins names: "a, b and c".
func (t tongue) join(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	last := len(names) - 1
	return t.T("%s and %s", strings.Join(names[:last], t.T(", ")), names[last])
}

func (t tongue) byLine(authors []string) string {
	switch len(authors) {
	case 0:
		return ""
	case 1:
		return t.T("By %s", authors[0])
	case 2:
		return t.T("By %s and %s", authors[0], authors[1])
	}
	return t.T("By %s and others", authors[0])
}

// by is the line below a title: who made it, how it stands and where it is read.
func (t tongue) by(authors []string, status, site string) string {
	parts := []string{t.byLine(authors), t.status(status)}
	if site != "" {
		parts = append(parts, t.T("on %s", site))
	}
	return upperFirst(joinMeta(parts...))
}

// status words how a Series stands; a word of a Site's own is left as it is.
func (t tongue) status(word string) string {
	switch word {
	case "ongoing":
		return t.T("ongoing")
	case "completed":
		return t.T("completed")
	case "hiatus":
		return t.T("hiatus")
	case "cancelled":
		return t.T("cancelled")
	}
	return word
}

// withoutPages words which of the Site's pages a book was published without.
func (t tongue) withoutPages(missing []int32) string {
	if len(missing) > 3 {
		return t.T("Without %d pages", len(missing))
	}
	var names []string
	for _, n := range missing {
		names = append(names, t.number(int(n)))
	}
	if len(names) == 1 {
		return t.T("Without page %s", names[0])
	}
	return t.T("Without pages %s", strings.Join(names, t.T(", ")))
}

// onDevice words where a place was left.
func (t tongue) onDevice(device string) string {
	switch device {
	case "tablet":
		return t.T("on the tablet")
	case "phone":
		return t.T("on the phone")
	case "computer":
		return t.T("on the computer")
	}
	return t.T("on the other device")
}
