package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"mangrove/internal/fault"
	"mangrove/reader/internal/scraperclient"
)

// mostHours is the longest interval that may be chosen (A7).
const mostHours = 168

// pollingView is what those who run Mangrove may change of how Sites are polled.
type pollingView struct {
	Adaptive  bool
	Sites     []siteSetting
	Languages languagesSetting
	Canary    []canaryChoice
}

// canaryChoice is how often known Series may be read.
type canaryChoice struct {
	Hours  int
	Word   string
	Chosen bool
}

// canaryChoices are those that are offered, and the present one.
func (t tongue) canaryChoices(hours int) (out []canaryChoice) {
	offered := []int{6, 12, 24, 72, 168, 0}
	if !slices.Contains(offered, hours) {
		offered = append([]int{hours}, offered...)
	}
	for _, h := range offered {
		word := t.T("Never")
		if h > 0 {
			word = upperFirst(t.everyWords(time.Duration(h) * time.Hour))
		}
		out = append(out, canaryChoice{h, word, h == hours})
	}
	return out
}

// languagesSetting is the languages of follows that name none.
type languagesSetting struct {
	// Chosen is what stands in the field, Says what holds now.
	Chosen, Says string
	// Problem says why a choice was not taken, "" if it was.
	Problem string
}

func (t tongue) languagesSettingOf(tags []string) languagesSetting {
	if len(tags) == 0 {
		return languagesSetting{Says: t.T("Each Site's own")}
	}
	names := make([]string, 0, len(tags))
	for _, tag := range tags {
		names = append(names, t.in().Name(tag))
	}
	return languagesSetting{Chosen: strings.Join(tags, ", "), Says: t.join(names)}
}

// siteSetting is the interval of one Site.
type siteSetting struct {
	ID, Path, Name string
	// Chosen is what stands in the field, "" for the Site's own interval.
	Chosen string
	// Own is that interval as a word of the field, Says what holds now.
	Own, Says string
	// Problem says why a choice was not taken, "" if it was.
	Problem string
}

func (t tongue) pollingOf(got scraperclient.Settings) *pollingView {
	v := &pollingView{Adaptive: got.Adaptive, Languages: t.languagesSettingOf(got.Languages), Canary: t.canaryChoices(got.CanaryHours)}
	for _, site := range got.Sites {
		v.Sites = append(v.Sites, t.settingOf(site))
	}
	return v
}

func (t tongue) settingOf(site scraperclient.SiteSettings) siteSetting {
	out := siteSetting{
		ID: settingID(site.Site), Path: "/settings/scraper/sites/" + url.PathEscape(site.Site) + "/interval", Name: cmp.Or(site.Name, site.Site),
		Own: strconv.FormatFloat(site.Default.Hours(), 'f', -1, 64), Says: t.T("%s, the Site's own", upperFirst(t.everyWords(site.Default))),
	}
	if site.Hours > 0 {
		out.Chosen = strconv.Itoa(site.Hours)
		out.Says = t.T("%s, chosen here; its own is %s", upperFirst(t.everyWords(time.Duration(site.Hours)*time.Hour)), t.everyWords(site.Default))
	}
	return out
}

func settingID(site string) string { return elementID("interval-", site) }

// everyWords words an interval: "every hour", "every 12 hours", "every 7 days".
func (t tongue) everyWords(d time.Duration) string {
	switch {
	case d == time.Hour:
		return t.T("every hour")
	case d > 48*time.Hour && d%(24*time.Hour) == 0:
		return t.T("every %d days", int(d/(24*time.Hour)))
	case d < time.Hour:
		return t.T("every %d minutes", int(d.Minutes()))
	}
	return t.T("every %s hours", t.in().Decimal(d.Hours(), 0, 2))
}

// setAdaptive switches whether quiet Series are read less often (A13).
func (s *Server) setAdaptive(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	if err := s.Scraper.SetAdaptive(r.Context(), r.PostFormValue("on") != ""); err != nil {
		return err
	}
	return redirect(w, r, "/settings/scraper")
}

// setCanary chooses how often each Site is tried by its known Series (H18).
func (s *Server) setCanary(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	hours, err := strconv.Atoi(r.PostFormValue("hours"))
	if err != nil || hours < 0 || hours > mostHours {
		return fault.Newf(fault.Invalid, "set", "how often known Series are read", "%q is none of what was offered", r.PostFormValue("hours"))
	}
	if err := s.Scraper.SetCanary(r.Context(), hours); err != nil {
		return err
	}
	return redirect(w, r, "/settings/scraper#canary")
}

// setLanguages chooses the languages of follows that name none; an empty field
// takes the choice back. What is no language is said beside the field.
func (s *Server) setLanguages(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	text := r.PostFormValue("languages")
	err := s.Scraper.SetLanguages(r.Context(), strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }))
	if err == nil {
		return redirect(w, r, "/settings/scraper#languages")
	}
	if !fault.Is(err, fault.Invalid) {
		return err
	}
	return s.refusePolling(w, r, func(v *pollingView) {
		v.Languages.Chosen = text
		v.Languages.Problem = s.say(r.Context()).T("One of these is no language as it is written here, like en, de or pt-BR. Nothing was changed.")
	})
}

// refusePolling shows the settings again with what was not taken said beside its field.
func (s *Server) refusePolling(w http.ResponseWriter, r *http.Request, say func(*pollingView)) error {
	v, err := s.scraperView(r.Context(), scraperQuery{Page: 1})
	if err != nil {
		return err
	}
	v.Frame = s.frame(r, s.say(r.Context()).T("Scraper"), "scraper")
	if v.Polling != nil {
		say(v.Polling)
	}
	s.render(w, r, http.StatusBadRequest, "settings-scraper", v)
	return nil
}

// setInterval chooses how far apart the Polls of a Site's Series lie; an empty
// field takes the choice back. What is no such number is said beside the field.
func (s *Server) setInterval(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	site, text := r.PathValue("site"), strings.TrimSpace(r.PostFormValue("hours"))
	hours, err := strconv.Atoi(cmp.Or(text, "0"))
	if err == nil && (text == "" || hours > 0) {
		err = s.Scraper.SetPollInterval(r.Context(), site, hours)
		if err == nil {
			return redirect(w, r, "/settings/scraper#"+settingID(site))
		}
		if !fault.Is(err, fault.Invalid) {
			return err
		}
	}
	return s.refusePolling(w, r, func(v *pollingView) {
		for i := range v.Sites {
			if v.Sites[i].ID == settingID(site) {
				v.Sites[i].Problem = s.say(r.Context()).T("Hours are a whole number from 1 to %d. Nothing was changed.", mostHours)
			}
		}
	})
}
