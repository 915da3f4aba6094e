package declared

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// comic is plain with lines changed.
func comic(t *testing.T, changes ...string) *Described {
	t.Helper()
	return good(t, "comic.yaml", strings.NewReplacer(changes...).Replace(plain))
}

const seriesAt, chapterAt = "https://comic.example/series/x", "https://comic.example/c/1"

func check(t *testing.T, s *Described, a source.Fetcher) poll.Result {
	t.Helper()
	return poll.Check(t.Context(), s.Adapter(), a, source.Ask{SeriesID: "x"})
}

func seriesPage(list string) answers {
	return answers{seriesAt: "<main><h1>Title</h1><ul>" + list + "</ul></main>"}
}

func TestSeriesValues(t *testing.T) {
	s := comic(t, "  title: h1", `  title: [h2, h1]
  native_title: h1@lang
  authors: {from: span.by, match: 'by (.*)'}
  status: {from: p.status, words: {Läuft: ongoing}}
  direction: {constant: rtl}
  tags: "p.tags b"
  cover: img@data-src|src
  license: {template: "{p.license} ({series_id})"}
  description: p.text`)
	page := `<base href="/deep/"><main><h1 lang="ja">A  <b>title</b><script>no</script></h1><span class=by>by One</span><span class=by>by Two</span><span class=by>nobody</span>
		<p class=status>läuft</p><p class=tags><b>a</b><b>b</b><b>a</b></p><img src="data:x" data-src="cover.jpg"><p class=license>CC</p><p class=text>one<br>two</p></main>`
	got := check(t, s, answers{seriesAt: page})
	want := source.Series{
		ID: "x", Title: "A title", NativeTitle: "ja", Authors: []string{"One", "Two"}, Status: "ongoing", Direction: "rtl", Tags: []string{"a", "b"},
		CoverURL: "https://comic.example/deep/cover.jpg", License: "CC (x)", Description: "one two", URL: seriesAt,
	}
	if d := cmp.Diff(want, got.Reading.Series); d != "" || got.Outcome != poll.NoChapter {
		t.Error(got, d)
	}
}

func TestChapterValues(t *testing.T) {
	s := comic(t, "  item: li\n  address: a@href\n  date: time", `  item: li
  skip: .locked
  number: b
  title: i
  group: span
  language: {from: "@lang", words: {English: en}}
  external: "@data-out"
  date: {from: time, formats: ["D MMM YYYY HH:mm", unix], zone: Asia/Tokyo}`)
	got := check(t, s, seriesPage(`
		<li lang=English><a href="/c/3#x">x</a><b>Vol. 2 Chapter 010.50</b><i>Three</i><span>N</span><span>S</span><time>3rd Feb 2024 08:00</time></li>
		<li class=x><div class=locked></div><a href="/c/0">x</a></li>
		<li><a href="//publisher.example/2">x</a><b>Extra: tea</b><time>1700000000</time></li>
		<li data-out=yes lang=xx-nonsense-word><a href=" /c/1
">x</a><b>9th of never</b><time>soon</time></li>`))
	want := []source.Chapter{
		{ID: "/c/3", Number: "10.5", Volume: "2", Title: "Three", Groups: []string{"N", "S"}, Language: "en", URL: "https://comic.example/c/3", Published: time.Date(2024, 2, 2, 23, 0, 0, 0, time.UTC)},
		{ID: "/2", Title: "Extra: tea", Language: "en", URL: "https://publisher.example/2", Order: 1, External: true, Published: time.Unix(1700000000, 0).UTC()},
		{ID: "/c/1", Number: "9", Title: "9th of never", URL: "https://comic.example/c/1", Order: 2, External: true},
	}
	if d := cmp.Diff(want, got.Reading.Chapters); d != "" || got.Outcome != poll.OK {
		t.Error(got, d)
	}
}

// S-047, POLL-10: what kind of page it is decides the word.
func TestOutcomes(t *testing.T) {
	s := comic(t, "  title: h1", "  title: h1\n  missing: p.removed", "  item: li", "  item: li\n  landmark: ul\n  missing: p.empty")
	tests := []struct {
		name, page string
		want       poll.Outcome
	}{
		{"well", "<main><h1>T</h1><ul><li><a href=/c/1>1</a></ul></main>", poll.OK},
		{"removed", "<main><h1>T</h1><p class=removed></p></main>", poll.NotFound},
		{"a notice in place of the list", "<main><h1>T</h1><ul></ul><p class=empty></p></main>", poll.NotFound},
		{"a notice beside the list", "<main><h1>T</h1><p class=empty></p><ul><li><a href=/c/1>1</a></ul></main>", poll.OK},
		{"no chapter", "<main><h1>T</h1><ul></ul></main>", poll.NoChapter},
		{"no list", "<main><h1>T</h1></main>", poll.Unfetchable},
		{"maintenance", "<html><body></body></html>", poll.Unfetchable},
		{"no title", "<main><ul><li><a href=/c/1>1</a></ul></main>", poll.Errors},
		{"an entry without address", "<main><h1>T</h1><ul><li>1</ul></main>", poll.Errors},
		{"one id at two addresses", "<main><h1>T</h1><ul><li><a href=/c/1>1</a><li><a href=//publisher.example/c/1>1</a></ul></main>", poll.Errors},
		{"one entry twice", "<main><h1>T</h1><ul><li><a href=/c/1>1</a><li><a href=/c/1>1</a></ul></main>", poll.OK},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := check(t, s, answers{seriesAt: tt.page}); got.Outcome != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestASiteOfOneSeries(t *testing.T) {
	s := comic(t, "series/{id}", "archive", "pacing: 1s", "listed: [{id: comic, title: The Comic}]")
	if d := cmp.Diff([]source.Series{{ID: "comic", Title: "The Comic", URL: "https://comic.example/archive"}}, s.Listed()); d != "" {
		t.Error(d)
	}
	if id, url, ok := s.Recognise("https://comic.example/archive"); id != "comic" || url != "https://comic.example/archive" || !ok {
		t.Errorf("recognised as %q %q %v", id, url, ok)
	}
	if got := poll.Check(t.Context(), s, answers{}, source.Ask{SeriesID: "other"}); got.Outcome != poll.NotFound {
		t.Error(got)
	}
}

func TestIDsAreEscapedAndRefused(t *testing.T) {
	s := comic(t, "  title: h1", "  title: h1\n  read: https://comic.example/page?series={id}&x=1")
	for id, want := range map[string]string{
		"a b": "https://comic.example/series/a%20b", "a/b": "https://comic.example/series/a%2Fb", "?": "https://comic.example/series/%3F", "Yotsubato!": "https://comic.example/series/Yotsubato!",
		"": "", "..": "", ".": "", "a\nb": "", strings.Repeat("x", 513): "", "\xff": "", "{id}": "https://comic.example/series/%7Bid%7D",
	} {
		got := s.Address(id)
		if got != want {
			t.Errorf("the address of %q is %q, want %q", id, got, want)
		}
		if back, _, ok := s.Recognise(got); want != "" && (back != id || !ok) {
			t.Errorf("%q is recognised as %q", got, back)
		}
	}
	if got := s.seriesAddress(source.Ask{SeriesID: "a&b"}); got != "https://comic.example/page?series=a%26b&x=1" {
		t.Error(got)
	}
	if id, _, ok := s.Recognise("https://comic.example/page?x=1&series=a%26b"); id != "a&b" || !ok {
		t.Errorf("recognised as %q", id)
	}
}

// S-053, S-111: a date in the future hides no chapter, and is none.
func TestADateYetToComeIsNone(t *testing.T) {
	tomorrow := time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)
	got := check(t, comic(t), seriesPage(`<li><a href=/c/3>3</a><time>2999-01-01</time></li><li><a href=/c/2>2</a><time>`+tomorrow+`</time></li><li><a href=/c/1>1</a><time>2020-01-02</time></li>`))
	if c := got.Reading.Chapters; len(c) != 3 || !c[0].Published.IsZero() || c[1].Published.IsZero() || c[2].Published.Year() != 2020 {
		t.Errorf("%s: %v", got, c)
	}
}

func TestDates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the bubble's clock stands at 2000-01-01
		tokyo, err := time.LoadLocation("Asia/Tokyo")
		if err != nil {
			t.Fatal(err)
		}
		tests := []struct {
			in, format string
			zone       *time.Location
			want       string
		}{
			{"2026-06-04", "iso", tokyo, "2026-06-04T00:00:00Z"},
			{"2026-12-01T10:00:00+00:00", "iso", tokyo, "2026-12-01T10:00:00Z"},
			{"2026-02-11T08:00:00", "iso", tokyo, "2026-02-10T23:00:00Z"},
			{"4. juni 2026", "D. MMMM YYYY", nil, ""},
			{"4 June 2026", "D MMMM YYYY", nil, "2026-06-04T00:00:00Z"},
			{"Jun 4th, 26 3:05 pm", "MMM D, YY h:mm a", nil, "2026-06-04T15:05:00Z"},
			{"3 days ago", "relative", nil, "1999-12-29T00:00:00Z"},
			{"an hour ago", "relative", nil, "1999-12-31T00:00:00Z"},
			{"Yesterday", "relative", tokyo, "1999-12-31T00:00:00Z"},
			{"2 weeks ago", "relative", nil, "1999-12-18T00:00:00Z"},
			{"soon", "relative", nil, ""},
			{"99999999999999999999", "unix", nil, ""},
			{"0", "unix", nil, ""},
			{"0001-01-01", "iso", nil, ""},
		}
		for _, tt := range tests {
			f, err := parseFormat(tt.format)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if at := parseDate(tt.in, []dateFormat{f}, tt.zone, time.Now()); !at.IsZero() {
				got = at.Format(time.RFC3339)
			}
			if got != tt.want {
				t.Errorf("%q as %s is %q, want %q", tt.in, tt.format, got, tt.want)
			}
		}
	})
}
