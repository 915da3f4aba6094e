package declared

import (
	"context"
	"strings"
	"testing"
	"time"

	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// led answers every request from another address.
type led struct {
	to, body string
	asked    *[]string
}

func (l led) Get(_ context.Context, r source.Request) (*source.Response, error) {
	if l.asked != nil {
		*l.asked = append(*l.asked, r.URL)
	}
	return &source.Response{URL: l.to, Permanent: true, Body: []byte(l.body)}, nil
}

// S-043, POLL-13: a redirect is another title unless the page proves the id.
func TestRedirects(t *testing.T) {
	page := "<main data-id=x><h1>T</h1><ul><li><a href=/c/1>1</a></ul></main>"
	byAddress, byPage := comic(t), comic(t, "  title: h1", "  title: h1\n  id: main@data-id")
	tests := []struct {
		name  string
		site  *Described
		to    string
		want  poll.Outcome
		moved bool
	}{
		{"to the front", byAddress, "https://comic.example/", poll.NotFound, false},
		{"to another title", byAddress, "https://comic.example/series/y", poll.NotFound, false},
		{"to a longer name", byAddress, "https://comic.example/series/x/a-slug", poll.OK, true},
		{"to another host", byAddress, "https://evil.example/series/x", poll.NotFound, false},
		{"to another name, proved", byPage, "https://comic.example/series/y", poll.OK, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := check(t, tt.site, led{to: tt.to, body: page})
			if got.Outcome != tt.want || (got.Reading.MovedTo != "") != tt.moved {
				t.Errorf("%s, moved to %q", got, got.Reading.MovedTo)
			}
		})
	}
	var asked []string
	_, err := byPage.Series(t.Context(), led{to: seriesAt, body: page, asked: &asked}, source.Ask{SeriesID: "x", URL: "https://comic.example/series/y"})
	if err != nil || asked[0] != "https://comic.example/series/y" {
		t.Errorf("a page that proves its id is asked for at %v (%v)", asked, err)
	}
}

// S-050, S-051, S-109: a part of a list is never taken for the whole.
func TestPagedLists(t *testing.T) {
	item := func(ids ...string) string {
		out := ""
		for _, id := range ids {
			out += "<li><a href=/c/" + id + ">" + id + "</a>"
		}
		return out
	}
	page := func(next string, ids ...string) string {
		out := "<main><h1>T</h1><ul>" + item(ids...) + "</ul>"
		if next != "" {
			out += `<a rel=next href="` + next + `">more</a>`
		}
		return out + "</main>"
	}
	byLink := comic(t, "  item: li", "  item: li\n  next: a[rel=next]@href\n  next_limit: 3")
	byNumber := comic(t, "  item: li", "  item: li\n  read: https://comic.example/list/{id}?p={page}\n  order: oldest\n  next_limit: 4")
	counted := comic(t, "  item: li", "  item: li\n  count: h1@title")
	p2, p3, p4 := seriesAt+"?p=2", seriesAt+"?p=3", seriesAt+"?p=4"
	l := "https://comic.example/list/x?p="
	tests := []struct {
		name  string
		site  *Described
		pages answers
		want  poll.Outcome
		ids   string
	}{
		{"one page", byLink, answers{seriesAt: page("", "3", "2")}, poll.OK, "/c/3 /c/2"},
		{"three pages", byLink, answers{seriesAt: page("?p=2", "3"), p2: page("?p=3", "2"), p3: page("", "1")}, poll.OK, "/c/3 /c/2 /c/1"},
		{"a list that moved meanwhile", byLink, answers{seriesAt: page("?p=2", "3", "2"), p2: page("", "2", "1")}, poll.OK, "/c/3 /c/2 /c/1"},
		{"the second is gone", byLink, answers{seriesAt: page("?p=2", "3")}, poll.Errors, ""},
		{"the second is the first", byLink, answers{seriesAt: page("?p=2", "3"), p2: page("?p=3", "3")}, poll.Errors, ""},
		{"in a circle", byLink, answers{seriesAt: page("?p=2", "3"), p2: page("/series/x", "2")}, poll.Errors, ""},
		{"without end", byLink, answers{seriesAt: page("?p=2", "4"), p2: page("?p=3", "3"), p3: page("?p=4", "2"), p4: page("", "1")}, poll.Errors, ""},
		{"to another host", byLink, answers{seriesAt: page("//evil.example/", "3")}, poll.Errors, ""},
		{"the second has no landmark", comic(t, "  item: li", "  item: li\n  landmark: ul\n  next: a[rel=next]@href"), answers{seriesAt: page("?p=2", "3"), p2: "<h1>Back soon</h1>"}, poll.Unfetchable, ""},
		{"by number, oldest first", byNumber, answers{seriesAt: page("", "9"), l + "1": page("", "1", "2"), l + "2": page("", "3"), l + "3": page("")}, poll.OK, "/c/3 /c/2 /c/1"},
		{"by number to a 404", byNumber, answers{seriesAt: page(""), l + "1": page("", "1"), l + "2": page("", "2")}, poll.OK, "/c/2 /c/1"},
		{"by number, the same again", byNumber, answers{seriesAt: page(""), l + "1": page("", "1"), l + "2": page("", "1")}, poll.Errors, ""},
		{"the list's own page is gone", byNumber, answers{seriesAt: page("")}, poll.NotFound, ""},
		{"counted", counted, answers{seriesAt: strings.Replace(page("", "2", "1"), "<h1>", "<h1 title=2>", 1)}, poll.OK, "/c/2 /c/1"},
		{"fewer than counted", counted, answers{seriesAt: strings.Replace(page("", "2", "1"), "<h1>", "<h1 title=3>", 1)}, poll.Errors, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := check(t, tt.site, tt.pages)
			var ids []string
			for i, c := range got.Reading.Chapters {
				if ids = append(ids, c.ID); c.Order != i {
					t.Errorf("chapter %s has order %d", c.ID, c.Order)
				}
			}
			if got.Outcome != tt.want || strings.Join(ids, " ") != tt.ids {
				t.Errorf("%s: %v, want %s: %s", got, ids, tt.want, tt.ids)
			}
		})
	}
}

func TestHostilePages(t *testing.T) {
	sites := []*Described{comic(t), comic(t, "  image: img", `  script: {match: 'p = '}`), comic(t, "  title: h1", "  title: h1\n  answer: json", "item: li\n  address: a@href\n  date: time", "item: x\n  address: y", "landmark: main\n  title", "landmark: x\n  title")}
	long := strings.Repeat("x", 1<<20)
	for name, body := range map[string]string{
		"nested":           strings.Repeat("<div>", 300_000),
		"nested list":      "<main><h1>T</h1>" + strings.Repeat("<li><a href=/c/1>", 60_000),
		"many items":       "<main><h1>T</h1>" + strings.Repeat("<li><a href=/c/1>1</a>", maxChapters+10),
		"many elements":    "<main><h1>T</h1>" + strings.Repeat("<p>", 170_000),
		"long words":       "<main><h1>" + long + "</h1><li><a href='/c/" + long + "'>1</a><img src='/" + long + "'>",
		"NULs":             "<main><h1>\x00T\x00</h1><li><a href='/c/\x00'>\x00</a><img src='/\x00'>",
		"surrogates":       "<main><h1>\xed\xa0\x80</h1><li><a href='/c/\xed\xa0\x80'>x</a>",
		"BOM":              "\xef\xbb\xbf<main><h1>T</h1><li><a href=/c/1>1</a>",
		"deep JSON":        strings.Repeat("[", 100_000),
		"deep script":      "<main><script>p = " + strings.Repeat(`{"a":`, 100_000) + "</script>",
		"numbers":          `{"x":[{"y":1e400,"n":-0},{"y":9223372036854775808}]}`,
		"twice":            `{"x":1,"X":2,"x":[]}`,
		"wide JSON":        "[" + strings.Repeat("0,", 510_000) + "0]",
		"attributes":       "<main " + strings.Repeat("a=b ", 100_000) + "><h1>T</h1>",
		"attribute srcset": "<main><h1>T</h1><img srcset='" + strings.Repeat(", ,a ", 100_000) + "'>",
	} {
		began := time.Now()
		for _, s := range sites {
			readAll(t, s, seriesAt, []byte(body))
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s took %s", name, took)
		}
	}
}

func FuzzPages(f *testing.F) {
	f.Add([]byte("<main><h1>T</h1><li><a href=/c/1>Ch. 1</a><img srcset='a 1x, b 2x'></main><script>p = [1]</script>"))
	f.Add([]byte(`{"x":[{"y":"z"}]}`))
	f.Add([]byte("<base href='//x'><main><h1 lang=1>"))
	var sites []*Described
	for _, more := range []string{"", "search:\n  read: https://comic.example/?s={query}\n  item: li\n  title: a\n"} {
		s, problems := Parse("comic.yaml", []byte(strings.Replace(plain, "image: img", "script: {match: 'p = ', path: \"[0]\"}", 1)+more))
		if s == nil {
			f.Fatal(problems)
		}
		sites = append(sites, s.Described)
	}
	s, problems := Parse("comic.yaml", []byte(plain))
	if s == nil {
		f.Fatal(problems)
	}
	sites = append(sites, s.Described)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, s := range sites {
			readAll(t, s, seriesAt, body)
		}
	})
}
