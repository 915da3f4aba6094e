package mangadex

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/scraper/internal/source"
)

func TestChapters(t *testing.T) {
	const id = "00000000-0000-4000-8000-000000000007"
	page := "https://mangadex.org/chapter/" + id
	group := `,"relationships":[{"id":"g1","type":"scanlation_group","attributes":{"name":"North\nGroup"}},{"id":"g2","type":"scanlation_group"},{"id":"u","type":"user"}]`
	tests := []struct {
		name, attributes, rest string
		want                   source.Chapter
	}{
		{"a release", `"volume":"2","chapter":"010.50","title":" A  title\u0000 ","translatedLanguage":"en","externalUrl":null,"pages":18`, "",
			source.Chapter{Volume: "2", Number: "10.5", Title: "A title", Language: "en", URL: page}},
		{"groups with and without a name", `"chapter":"1","pages":18`, group, source.Chapter{Number: "1", URL: page, Groups: []string{"North Group", "g2"}}},
		{"a one-shot", `"volume":null,"chapter":null,"title":"Oneshot","pages":22`, "", source.Chapter{Title: "Oneshot", URL: page}},
		{"a release of a volume", `"volume":"3","chapter":null,"title":null,"pages":200`, "", source.Chapter{Volume: "3", URL: page}},
		{"zero is a number", `"volume":"0","chapter":"0","title":"","pages":9`, "", source.Chapter{Volume: "0", Number: "0", URL: page}},
		{"half a number", `"chapter":"½","pages":9`, "", source.Chapter{Number: "0.5", Title: "Chapter ½", URL: page}},
		{"a mended release", `"chapter":"10.5v2","volume":"２","pages":9`, "", source.Chapter{Number: "10.5", Volume: "2", Title: "Chapter 10.5v2", URL: page}},
		{"a mended release with a title", `"chapter":"10.5v2","title":"Rain","pages":9`, "", source.Chapter{Number: "10.5", Title: "Rain", URL: page}},
		{"two in one", `"chapter":"10-11","pages":9`, "", source.Chapter{Number: "10", Title: "Chapter 10-11", URL: page}},
		{"a comma", `"chapter":" 10,5 ","pages":9`, "", source.Chapter{Number: "10.5", Title: "Chapter 10,5", URL: page}},
		{"a season", `"chapter":"S1","pages":9`, "", source.Chapter{Title: "Chapter S1", URL: page}},
		{"letters", `"chapter":"SP01","pages":9`, "", source.Chapter{Title: "Chapter SP01", URL: page}},
		{"nothing in particular", `"chapter":"-1","volume":"TBD","pages":9`, "", source.Chapter{Title: "Chapter -1", URL: page}},
		{"no end of digits", `"chapter":"` + strings.Repeat("1", 40) + `","pages":9`, "", source.Chapter{Title: "Chapter " + strings.Repeat("1", 40), URL: page}},
		{"blank", `"chapter":" ","volume":"","pages":9`, "", source.Chapter{URL: page}},
		{"a number that is none, with a title", `"chapter":"Extra","volume":"none","title":"Notice","pages":9`, "", source.Chapter{Title: "Notice", URL: page}},
		{"read at its publisher", `"chapter":"7","externalUrl":"https://publisher.example/7","pages":0`, "", source.Chapter{Number: "7", External: true, URL: "https://publisher.example/7"}},
		{"read at its publisher, with a page", `"chapter":"373","externalUrl":"https://publisher.example/373","pages":1`, "",
			source.Chapter{Number: "373", External: true, URL: "https://publisher.example/373"}},
		{"read at no address that may be shown", `"chapter":"7","externalUrl":"javascript:alert(1)","pages":3`, "", source.Chapter{Number: "7", External: true, URL: page}},
		{"no page", `"chapter":"7","pages":0`, "", source.Chapter{Number: "7", External: true, URL: page}},
		{"taken down", `"chapter":"7","pages":12,"isUnavailable":true`, "", source.Chapter{Number: "7", External: true, URL: page}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rest := tt.rest
			if rest == "" {
				rest = `,"relationships":[]`
			}
			var e entry
			if err := json.Unmarshal([]byte(`{"id":"`+id+`","type":"chapter","attributes":{`+tt.attributes+`}`+rest+`}`), &e); err != nil {
				t.Fatal(err)
			}
			got, err := e.chapter("x", 0)
			tt.want.ID = id
			if d := cmp.Diff(tt.want, got); d != "" || err != nil {
				t.Errorf("%v\n%s", err, d)
			}
		})
	}
}

func TestPublished(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.FixedZone("", -8*3600))
	at := func(s string) *string { return &s }
	past := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	tests := []struct {
		name  string
		dates []*string
		want  time.Time
		ok    bool
	}{
		{"in UTC", []*string{at("2026-12-01T10:00:00+00:00")}, past, true},
		{"in another zone", []*string{at("2026-12-01T16:00:00+06:00")}, past, true},
		{"without a zone", []*string{at("2026-12-01T10:00:00")}, past, true},
		{"a day", []*string{at("2026-06-04")}, time.Date(2026, 6, 4, 0, 0, 0, 0, time.UTC), true},
		{"not yet, but readable", []*string{at("2037-12-31T00:00:00+00:00"), at("2026-12-01T10:00:00+00:00")}, past, true},
		{"not yet at all", []*string{at("2037-12-31T00:00:00+00:00"), at("2037-12-31T00:00:00+00:00")}, time.Time{}, true},
		{"not said", []*string{nil, at("")}, time.Time{}, true},
		{"no date", []*string{at("soon")}, time.Time{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := published("x", "y", now, tt.dates...)
			if got != tt.want || (err == nil) != tt.ok {
				t.Errorf("%v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

func TestArrange(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
	chapters := []source.Chapter{
		{ID: "v1c1", Volume: "1", Number: "1"}, {ID: "v1", Volume: "1"}, {ID: "v10c100", Volume: "10", Number: "100"}, {ID: "v2c9", Volume: "2", Number: "9"},
		{ID: "v2c10", Volume: "2", Number: "10"}, {ID: "c101-old", Number: "101", Published: day(1)}, {ID: "c101-new", Number: "101", Published: day(2)}, {ID: "notice"},
		{ID: "c101.5", Number: "101.5"},
	}
	arrange(chapters)
	var got []string
	for _, c := range chapters {
		got = append(got, c.ID)
	}
	if d := cmp.Diff("c101.5 c101-new c101-old notice v10c100 v2c10 v2c9 v1c1 v1", strings.Join(got, " ")); d != "" {
		t.Error(d)
	}
}

func TestTitles(t *testing.T) {
	tests := []struct {
		name, attributes                    string
		languages                           []string
		title, native, direction, shortText string
	}{
		{"made in Japan", `"title":{"en":"Night"},"altTitles":[{"ja":"夜"},{"fr":"Nuit"}],"originalLanguage":"ja"`, nil, "Night", "夜", "rtl", ""},
		{"in a wanted language", `"title":{"en":"Night"},"altTitles":[{"ja":"夜"},{"fr":"Nuit"}],"originalLanguage":"ja"`, []string{"fr", "en"}, "Nuit", "夜", "rtl", ""},
		{"in no wanted language", `"title":{"ja-ro":"Yoru"},"altTitles":[{"ja":"夜"}],"originalLanguage":"ja"`, nil, "Yoru", "夜", "rtl", ""},
		{"in its own only", `"title":{"ko":"밤"},"altTitles":[],"originalLanguage":"ko"`, nil, "밤", "", "ltr", ""},
		{"a long strip", `"title":{"en":"Night"},"originalLanguage":"ko","tags":[{"attributes":{"name":{"en":"Long Strip"}}}]`, nil, "Night", "", "strip", ""},
		{"made in Hong Kong", `"title":{"en":"Night"},"originalLanguage":"zh-hk"`, nil, "Night", "", "ltr", ""},
		{"made nowhere", `"title":{"en":"Night"},"originalLanguage":null`, nil, "Night", "", "", ""},
		{"with a text", `"title":{"en":"Night"},"originalLanguage":"en","description":{"fr":"Un","de":"Ein"}`, nil, "Night", "", "ltr", "Ein"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e entity
			if err := json.Unmarshal([]byte(`{"id":"`+gapsID+`","type":"manga","attributes":{`+tt.attributes+`},"relationships":[
				{"type":"artist","attributes":{"name":"B"}},{"type":"author","attributes":{"name":"A"}},{"type":"artist","attributes":{"name":"A"}},
				{"type":"cover_art","attributes":{"fileName":"../x.jpg"}},{"type":"manga","attributes":{"name":{"en":"other"}}}]}`), &e); err != nil {
				t.Fatal(err)
			}
			s, err := adapter(t, Config{Languages: tt.languages}).series("x", e)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{s.Title, s.Direction, s.Description, strings.Join(s.Authors, ","), s.CoverURL}
			if d := cmp.Diff([]string{tt.title, tt.direction, tt.shortText, "A,B", ""}, got); d != "" || s.NativeTitle != tt.native {
				t.Errorf("native %q\n%s", s.NativeTitle, d)
			}
		})
	}
}

func TestPlain(t *testing.T) {
	tests := []struct{ name, from, want string }{
		{"paragraphs", "One\r\n two \n\n\n\nThree", "One\ntwo\n\nThree"},
		{"emphasis", "**Won** the *prize* and ***all*** of __it__", "Won the *prize* and all of it"},
		{"links", "- [Shop](https://a.example/x_(y)), ![p](https://b.example/i.png) [brackets] stay", "- Shop, p [brackets] stay"},
		{"rules and headings", "Text\n\n---\n\n## More\n***\nEnd", "Text\n\nMore\n\nEnd"},
		{"control characters", "a\x00b\x1bc\u0085d", "abcd"},
		{"markup stays text", "<b>x</b>", "<b>x</b>"},
		{"a long one", strings.Repeat("é", 30_000), strings.Repeat("é", 10_000) + "…"},
		{"unclosed marks", "**a [b](", "**a [b]("},
		{"none", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, plain(tt.from)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestLanguage(t *testing.T) {
	for code, want := range map[string]string{
		"en": "en", "pt-br": "pt-BR", "es-la": "es-419", "ja-ro": "ja-Latn", "zh-hk": "zh-HK", "": "", " x\x00 ": "x", strings.Repeat("a", 99): "und",
	} {
		if got := language(code); got != want {
			t.Errorf("%q is %q, want %q", code, got, want)
		}
	}
}
