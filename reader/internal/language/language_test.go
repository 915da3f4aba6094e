package language

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func load(t *testing.T) *Languages {
	t.Helper()
	all, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// mostSigns bounds a message: it stands in a page, and is no page.
const mostSigns = 600

// A message says what its key says: the same values, no markup and nothing endless.
// A plural form may leave out the number that it stands for, and only that.
func TestMessagesAgreeWithTheirKeys(t *testing.T) {
	t.Parallel()
	for _, p := range load(t).All() {
		for key, m := range p.own {
			forms := m.Forms
			if forms == nil {
				forms = map[string]string{"other": m.Text}
			}
			for form, text := range forms {
				if text == "" || !utf8.ValidString(text) || utf8.RuneCountInString(text) > mostSigns {
					t.Errorf("%s: the message of %q is empty or endless", p.Tag(), key)
				}
				if strings.ContainsAny(text, "<>&{}") {
					t.Errorf("%s: %q holds markup", p.Tag(), text)
				}
				got, want := kinds(text), kinds(key)
				if form != "other" && len(got) < len(want) {
					if i := slices.Index(want, "d"); i >= 0 {
						want = slices.Delete(want, i, i+1)
					}
				}
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("%s: %q has not the values of %q", p.Tag(), text, key)
				}
			}
		}
	}
}

// kinds are the letters of the verbs of a format.
func kinds(format string) (out []string) {
	for _, verb := range verbs(format) {
		out = append(out, verb[len(verb)-1:])
	}
	return out
}

// Every language has the plural forms that its rules ask for.
func TestPluralForms(t *testing.T) {
	t.Parallel()
	for _, p := range load(t).All() {
		needed := map[string][]string{"en": {"one", "other"}, "de": {"one", "other"}, "ar": {"one", "two", "few", "many", "other"}}[p.Tag()]
		if needed == nil {
			t.Fatalf("say here which plural forms %s has", p.Tag())
		}
		for key, m := range p.own {
			for _, form := range needed {
				if _, ok := m.Forms[form]; m.Forms != nil && !ok {
					t.Errorf("%s: %q has no form for %s", p.Tag(), key, form)
				}
			}
		}
	}
}

// Dates are numbers outside English: Go knows English names of months alone.
func TestDateLayoutsNameNoMonths(t *testing.T) {
	t.Parallel()
	for _, p := range load(t).All()[1:] {
		for _, key := range []string{"2 Jan", "2 Jan 2006"} {
			if layout := p.T(key); regexp.MustCompile(`\p{L}`).MatchString(layout) {
				t.Errorf("%s words %q as %q", p.Tag(), key, layout)
			}
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	all := load(t)
	german, arabic, english := all.For("de", ""), all.For("ar", ""), English()
	for _, tt := range []struct{ got, want string }{
		{english.T("%d chapters", 1), "1 chapter"}, {english.T("%d chapters", 3012), "3,012 chapters"}, {english.T("Not written anywhere"), "Not written anywhere"},
		{german.T("%d chapters", 3012), "3.012 Kapitel"}, {german.T("Library"), "Bibliothek"}, {german.T("Not written anywhere"), "Not written anywhere"},
		{german.T("Not written for %s", "you"), "Not written for you"},
		{arabic.T("%d chapters", 1), "فصل واحد"}, {arabic.T("%d chapters", 2), "فصلان"}, {arabic.T("%d chapters", 5), "5 فصول"}, {arabic.T("%d chapters", 11), "11 فصلًا"}, {arabic.T("%d chapters", 100), "100 فصل"},
		{arabic.T("%d chapters, %s on this device", 1, "3 MB"), "فصل واحد، 3 MB على هذا الجهاز"},
		{german.Name("ja"), "Japanisch"}, {english.Name("not a tag"), "not a tag"}, {german.Self(), "Deutsch"}, {arabic.Self(), "العربية"},
		{arabic.Direction(), "rtl"}, {german.Direction(), "ltr"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestFor(t *testing.T) {
	t.Parallel()
	all := load(t)
	for _, tt := range []struct{ choice, asked, want string }{
		{"", "", "en"}, {"", "de", "de"}, {"", "de-AT,en;q=0.5", "de"}, {"", "ar-EG", "ar"}, {"", "nl,fr;q=0.9", "en"}, {"", "nl,de;q=0.2", "de"},
		{"ar", "de", "ar"}, {"de-CH", "ar", "de"}, {"fr", "de", "de"}, {"../../en", "de", "de"}, {strings.Repeat("a", 600), "de", "de"},
		{"", "de, " + strings.Repeat("x", 4000), "de"}, {"", strings.Repeat("de", 4000), "en"}, {"", ";;;=,,", "en"},
	} {
		if got := all.For(tt.choice, tt.asked).Tag(); got != tt.want {
			t.Errorf("For(%.20q, %.20q) = %s, want %s", tt.choice, tt.asked, got, tt.want)
		}
	}
}

// What a browser asks for is text from outside.
func FuzzFor(f *testing.F) {
	all, err := Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Add("de", "ar-EG,en;q=0.1")
	f.Fuzz(func(t *testing.T, choice, asked string) {
		if all.Of(all.For(choice, asked).Tag()) == nil {
			t.Error("a language that there is not")
		}
	})
}
