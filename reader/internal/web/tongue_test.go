package web

import (
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"google.golang.org/protobuf/types/known/timestamppb"

	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/language"
)

// in asks for a page with the languages that a browser prefers.
func (s *site) in(b *http.Client, path, accept string) (*http.Response, string) {
	s.t.Helper()
	return s.do(b, s.request(http.MethodGet, path, "", "Accept-Language", accept))
}

func TestPagesAreInTheBrowsersLanguage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	_, claim := s.in(s.anyone, "/claim", "de-AT,de;q=0.9,en;q=0.5")
	has(t, claim, `<html lang="de" dir="ltr"`, "Mach diese Bibliothek zu deiner", "Einmalcode")
	mo := s.claim()
	s.publish("c1", "1", 2)
	s.post(mo, "/sites/sample/s/follow", nil)
	for _, tt := range []struct {
		accept, page, lang string
		says               []string
	}{
		{"", "/library", "en", []string{"<h1>Library</h1>", "1 title", "1 chapter"}},
		{"nl,fr;q=0.8", "/library", "en", []string{"<h1>Library</h1>"}},
		{"de", "/library", "de", []string{"<h1>Bibliothek</h1>", "1 Titel", "1 Kapitel ungelesen", "Zum Inhalt springen"}},
		{"ar-EG", "/library", "ar", []string{"<h1>المكتبة</h1>", "عنوان واحد", "فصل واحد غير مقروء", "الانتقال إلى المحتوى"}},
		{"de", "/", "de", []string{"Zuletzt hinzugefügt"}}, {"ar", "/", "ar", []string{"المضافة حديثًا"}},
		{"de", "/series/1", "de", []string{"Kapitel 1", "Du folgst", "Anfangen zu lesen"}}, {"ar", "/series/1", "ar", []string{"الفصل 1", "تتابعها", "ابدأ القراءة"}},
		{"de", "/read/1", "de", []string{"Ende von Kapitel 1", "Leseeinstellungen"}}, {"ar", "/read/1", "ar", []string{"نهاية", "إعدادات القراءة", `id="stage" dir="ltr"`}},
		{"de", "/nowhere", "de", []string{"Diese Seite gibt es nicht"}}, {"ar", "/nowhere", "ar", []string{"لا توجد صفحة كهذه"}},
		{"de", "/me", "de", []string{"Passwort ändern", "Wie der Browser sagt", "Deutsch", "العربية"}},
		{"de", "/offline", "de", []string{"Mangrove ist nicht erreichbar"}},

		// Those who run Mangrove are answered in their language, too.
		{"de", "/settings/scraper", "de", []string{"<h1>Scraper</h1>", "Wartet auf dich", "Nächtliche Suche", "Alle Downloads stoppen"}}, {"ar", "/settings/scraper", "ar", []string{"<h1>الجالب</h1>", "البحث الليلي"}},
		{"de", "/incidents", "de", []string{"<h1>Vorfälle</h1>", "Nichts wartet auf jemanden"}}, {"ar", "/incidents", "ar", []string{"<h1>الحوادث</h1>", `id="main">`}},
		{"de", "/settings/health", "de", []string{"<h1>Zustand der Dienste</h1>", "Was der Scraper meldet"}}, {"ar", "/settings/health", "ar", []string{"<h1>صحة الخدمات</h1>"}},
		{"de", "/settings/notifications", "de", []string{"<h1>Benachrichtigungen</h1>", "Ein Dienst ist stillgelegt"}}, {"ar", "/settings/notifications", "ar", []string{"<h1>الإشعارات</h1>"}},
		{"de", "/settings/scraper/unreadable", "de", []string{"Jede Datei lässt sich lesen."}}, {"ar", "/settings/scraper/unreadable", "ar", []string{"كل الملفات تُقرأ."}},
	} {
		resp, body := s.in(mo, tt.page, tt.accept)
		direction := map[bool]string{true: "rtl", false: "ltr"}[tt.lang == "ar"]
		has(t, body, append(tt.says, `<html lang="`+tt.lang+`" dir="`+direction+`"`)...)
		if got := resp.Header.Get("Content-Language"); got != tt.lang {
			t.Errorf("%s for %q says that it is in %q", tt.page, tt.accept, got)
		}
		if !strings.Contains(strings.Join(resp.Header.Values("Vary"), ","), "Accept-Language") {
			t.Errorf("%s does not say that it differs by language", tt.page)
		}
	}
	if _, body := s.do(s.anyone, s.request(http.MethodPost, "/sign-in", "name=mo&password=wrong", "Content-Type", "application/x-www-form-urlencoded", "Accept-Language", "de")); !strings.Contains(body, "Der Name oder das Passwort stimmt nicht.") {
		t.Error("what is wrong is not said in the language")
	}
}

func TestAPersonsLanguage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	lang := func(b *http.Client, accept, want string) {
		t.Helper()
		_, body := s.in(b, "/me", accept)
		if !strings.Contains(body, `<html lang="`+want+`"`) {
			t.Errorf("for %q the page is not in %s: %.80s", accept, want, body)
		}
	}
	if resp, _ := s.post(mo, "/language", url.Values{"language": {"ar"}}); resp.StatusCode != http.StatusSeeOther {
		t.Fatalf("choosing a language: %d", resp.StatusCode)
	}
	lang(mo, "de", "ar")
	// The choice is the person's, on every device.
	other := browser(t)
	s.do(other, s.request(http.MethodPost, "/sign-in", url.Values{"name": {"mo"}, "password": {password}}.Encode(), "Content-Type", "application/x-www-form-urlencoded"))
	lang(other, "de", "ar")
	// And this browser's, once nobody is signed in.
	s.post(mo, "/sign-out", nil)
	if _, body := s.in(mo, "/sign-in", "de"); !strings.Contains(body, `<html lang="ar"`) {
		t.Error("the sign-in page forgot the language")
	}
	for _, bad := range []string{"fr", "xx", "../de", "<b>", strings.Repeat("d", 5000)} {
		if resp, _ := s.post(other, "/language", url.Values{"language": {bad}}); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("the language %.20q is answered with %d", bad, resp.StatusCode)
		}
	}
	s.post(other, "/language", url.Values{"language": {""}})
	lang(other, "de", "de")
	// A guest's sign-in may be shared: the choice stays with the browser.
	guest := s.person("gus", account.Guest)
	s.post(guest, "/language", url.Values{"language": {"de"}})
	lang(guest, "ar", "de")
}

// What hangs in a message from outside can neither turn nor open it.
func TestTextFromOutsideInAMessage(t *testing.T) {
	t.Parallel()
	all, err := language.Load()
	if err != nil {
		t.Fatal(err)
	}
	arabic := tongue{all.For("ar", "")}
	got := arabic.inPage("Back to %s", "<b>A%s\ue001\ue000</b>")
	if want := "العودة إلى <bdi>&lt;b&gt;A%s&lt;/b&gt;</bdi>"; stringOf(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := stringOf(arabic.name("<i>")); got != "<bdi>&lt;i&gt;</bdi>" {
		t.Errorf("a name is %q", got)
	}
}

func stringOf(v any) string {
	if html, ok := v.(template.HTML); ok {
		return string(html)
	}
	return v.(string)
}

func TestWordsOfTime(t *testing.T) {
	t.Parallel()
	all, err := language.Load()
	if err != nil {
		t.Fatal(err)
	}
	german, arabic := tongue{all.For("de", "")}, tongue{all.For("ar", "")}
	now := time.Date(2026, 8, 12, 14, 2, 0, 0, time.Local)
	for _, tt := range []struct{ got, want string }{
		{german.clock(now.AddDate(0, 0, -1), now), "gestern, 14:02"}, {german.clock(now.AddDate(0, -1, 0), now), "12.7."}, {german.clock(now.AddDate(-1, 0, 0), now), "12.08.2025"},
		{german.moment(now, now), "Heute, 14:02"}, {german.ago(now.Add(-12*time.Minute), now), "vor 12 Min."}, {german.span(72 * time.Hour), "3 Tagen"},
		{arabic.clock(now.AddDate(0, -1, 0), now), "12/7"}, {arabic.clock(now.AddDate(-1, 0, 0), now), "12/8/2025"}, {arabic.span(72 * time.Hour), "3 أيام"},
		{german.join([]string{"A", "B", "C"}), "A, B und C"}, {arabic.join([]string{"A", "B"}), "A وB"}, {tongue{}.join([]string{"A", "B", "C"}), "A, B and C"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

// Styles name no side but by the direction of the script.
func TestStylesAreLogical(t *testing.T) {
	t.Parallel()
	files, err := loadAssets()
	if err != nil {
		t.Fatal(err)
	}
	sides := regexp.MustCompile(`[;{] *((?:margin|padding|border)-(?:left|right)[a-z-]*|left|right|float|text-align) *: *([^;}]*)`)
	four := regexp.MustCompile(`[;{] *((?:margin|padding|border-width)) *: *([^\s;}()]+) ([^\s;}()]+|[a-z]+\([^;}]*?\)) ([^\s;}()]+|[a-z]+\([^;}]*?\)) ([^\s;}()]+|[a-z]+\([^;}]*?\)) *[;}]`)
	for name, a := range files {
		if !strings.HasSuffix(name, ".css") {
			continue
		}
		for _, m := range sides.FindAllStringSubmatch(string(a.data), -1) {
			if m[1] != "text-align" && m[1] != "float" || strings.Contains(m[2], "left") || strings.Contains(m[2], "right") {
				t.Errorf("%s: %s: %s", name, m[1], m[2])
			}
		}
		for _, m := range four.FindAllStringSubmatch(string(a.data), -1) {
			if m[3] != m[5] {
				t.Errorf("%s: %s names its sides: %s", name, m[1], strings.TrimFunc(m[0], unicode.IsPunct))
			}
		}
	}
}

// What another program said stays as it is, and says that it is English; in English
// itself there is nothing to say.
func TestWhatOthersSayIsMarked(t *testing.T) {
	t.Parallel()
	german, arabic := spoken(t, "de"), spoken(t, "ar")
	for _, tt := range []struct {
		got  any
		want string
	}{
		{english.verbatim("no <list> in the page"), "no <list> in the page"}, {german.verbatim("no <list>"), `<span lang="en" dir="auto">no &lt;list&gt;</span>`},
		{german.meta("4 Kapitel · <b>"), "4 Kapitel · <b>"}, {arabic.meta("61 MB · <b>"), `<bdi dir="rtl">61 MB</bdi> · <bdi dir="rtl">&lt;b&gt;</bdi>`},
	} {
		if got := stringOf(tt.got); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func spoken(t *testing.T, tag string) tongue {
	t.Helper()
	all, err := language.Load()
	if err != nil {
		t.Fatal(err)
	}
	return tongue{all.For(tag, "")}
}

// The supervisor has few sentences of its own, and those are worded; what a service
// printed is not.
func TestWhatTheSupervisorSaysIsWorded(t *testing.T) {
	t.Parallel()
	german, arabic := spoken(t, "de"), spoken(t, "ar")
	for _, tt := range []struct{ got, want remark }{
		{german.supervisorSays("exit code 2"), remark{Text: "Exit-Code 2"}}, {german.supervisorSays("signal: killed"), remark{Text: "Signal: killed"}},
		{german.supervisorSays("3 failures within an hour"), remark{Text: "3 Ausfälle binnen einer Stunde"}}, {arabic.supervisorSays("3 failures within an hour"), remark{Text: "3 تعطّلات خلال ساعة"}},
		{german.supervisorSays("3 liveness checks missed in a row; it was ended"), remark{Text: "3 Lebenszeichen hintereinander ausgeblieben; er wurde beendet"}},
		{german.supervisorSays("exit code 2, and more"), remark{Text: "exit code 2, and more", Free: true}}, {german.supervisorSays("the schema is newer"), remark{Text: "the schema is newer", Free: true}},
		{english.supervisorSays("exit code 99999999999999999999"), remark{Text: "exit code 99999999999999999999", Free: true}},
	} {
		if tt.got != tt.want {
			t.Errorf("got %+v, want %+v", tt.got, tt.want)
		}
	}
}

// The pages of those who run Mangrove say in their language what they know, with the
// reasons of other programs marked as English.
func TestTheOperatorsPagesInOtherLanguages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.scraper.SetLanes(time.Time{}, lane("alpha", 0, refused))
	j := order(12, "quarantined", "Potion Shop", func(j *scraperv1.QueueJob) { j.Job.Class, j.Job.Reason = "network", "get alpha.example: time-out" })
	j.Chapters = []*scraperv1.JobChapter{{Chapter: &scraperv1.Chapter{ChapterId: "b", Number: "2"}, State: "set_aside", Class: "page", Reason: "page 14 is no whole image"}}
	s.scraper.SetJobs(j)
	s.scraper.SetIncidents(incident(1043, nil))
	s.scraper.SetHolds(&scraperv1.Hold{Kind: "storage", Since: timestamppb.Now(), Detail: "write: no space left on device"})
	report := parked(time.Now())
	s.standing.Store(&report)
	for _, tt := range []struct {
		accept, page string
		says         []string
	}{
		{"de", "/settings/scraper", []string{"Kein Platz zum Ablegen", `<span lang="en" dir="auto">Write: no space left on device</span>. Seit `, "In Quarantäne", "2 s (eigen)", "3 Downloads behalten ihren Platz."}},
		{"ar", "/settings/scraper", []string{"لا مساحة للحفظ", "3 تنزيلات تحتفظ بدورها.", "تجربة قراءة واحدة", `<bdi dir="rtl">4 فصول</bdi> · <bdi dir="rtl">Alpha</bdi>`}},
		{"de", "/jobs/12", []string{"Beiseitegelegt, bis du entscheidest", `<span lang="en" dir="auto">Get alpha.example: time-out</span>. Die Verbindung scheiterte`, `<span lang="en" dir="auto">Page 14 is no whole image</span>`, "Ohne sie nehmen", "Auftrag 12: einmal holen"}},
		{"ar", "/jobs/12", []string{"مُنحّى حتى تقرر", "نوع التعثر:", "المهمة <bdi>12</bdi>: طلب واحد"}},
		{"de", "/incidents", []string{"Seitenliste nicht verstanden", `<span lang="en" dir="auto">no list in the page</span>`, "Pepper, Kapitel 91 · Sample"}},
		{"de", "/incidents/1043", []string{"Vorfall 1.043", "ganz, 1 Geheimnis entfernt", "1 Antwort davor", "Auftrag 7781 ist in Quarantäne", "Sample ist angehalten: zwei Downloads", "38 kB, geeignet für einen Fehlerbericht", `<pre class="evidence" lang="en" dir="ltr"`}},
		{"ar", "/incidents/1043", []string{"الحادثة 1,043", "المهمة 7781 في الحجر", "وسم كمعالَجة"}},
		{"de", "/settings/health", []string{"Der Scraper ist binnen einer Stunde 3-mal abgebrochen und wartet auf dich.", "Exit-Code 2", "keiner von 3 übrig, einer wieder: ", "noch 0 von 3 Ausfällen in dieser Stunde frei", "<code>mangrove reset-budget scraper</code>", `lang="en" dir="ltr" tabindex="0"`}},
		{"ar", "/settings/health", []string{"الجالب: 3 توقفات مفاجئة خلال ساعة", "رمز الخروج 2", "تحتاج إلى إصلاح"}},
	} {
		_, body := s.in(mo, tt.page, tt.accept)
		has(t, body, tt.says...)
	}
}
