package declared

import (
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// stated is what a chapter's label came to.
type stated struct{ number, volume, title string }

// listed reads labels, each an entry's markup, of a Series with a title by a
// description whose chapters have more keys.
func listed(t *testing.T, title, more string, labels ...string) []source.Chapter {
	t.Helper()
	s := comic(t, "  address: a@href\n  date: time", "  address: a@href\n"+more)
	var items strings.Builder
	for i, l := range labels {
		fmt.Fprintf(&items, `<li><a href="/c/%d">%s</a></li>`, i, l)
	}
	page := "<main><h1>" + html.EscapeString(title) + "</h1><ul>" + items.String() + "</ul></main>"
	got := check(t, s, answers{seriesAt: page})
	if got.Outcome != poll.OK || len(got.Reading.Chapters) != len(labels) {
		t.Fatalf("%s: %d chapters of %d", got, len(got.Reading.Chapters), len(labels))
	}
	return got.Reading.Chapters
}

// The cases of chapter numbers and absent ones, as a description reads them that
// says no more than where the label stands, or nothing at all of it.
func TestCasesOfChapterLabels(t *testing.T) {
	tests := []struct {
		name, series string
		labels       map[string]stated
	}{
		{"S-001", "x", map[string]stated{
			`<span>Chapter 216</span><span>19th Floor</span>`: {"216", "", "19th Floor"}, `<b>Ch. 7</b>2nd Try`: {"7", "", "2nd Try"}, `Ch. <b>12</b>.5`: {"12.5", "", ""},
			`<div>Vol. 2</div><div>Ch. 4</div><div>12 Moths</div>`: {"4", "2", "12 Moths"},
		}},
		{"S-002", "x", map[string]stated{"Chapter 5": {"5", "", ""}, "Print Version 193.5": {"193.5", "", "Print Version 193.5"}, "Side Edition 194.5": {"194.5", "", "Side Edition 194.5"}}},
		{"S-003", "Lantern 14", map[string]stated{"Lantern 14 1": {"1", "", ""}, "Lantern 14 - 2": {"2", "", ""}, "Lantern 14 Ch.3": {"3", "", ""}, "Lantern 14": {"", "", "Lantern 14"}}},
		{"S-004", "x", map[string]stated{"183 - Home in 80 Steps": {"183", "", "Home in 80 Steps"}, "7 - 12 Angry Cats": {"7", "", "12 Angry Cats"}}},
		{"S-005", "x", map[string]stated{
			"002v2": {"2", "", "v2"}, "002a": {"2.1", "", ""}, "002b": {"2.2", "", ""}, "123 - Frost Arc 002": {"123", "", "Frost Arc 002"}, "002 part 001": {"2", "", "part 001"},
			"Vol. 1 Ch. 10": {"10", "1", ""}, "Vol.1 Ch. 4: Act 9": {"4", "1", "Act 9"}, "S2 - Chapter 00": {"0", "2", ""}, "Chapter 12 the 2nd": {"12", "", "the 2nd"},
		}},
		{"S-006", "x", map[string]stated{"218": {"218", "", ""}, "½": {"0.5", "", ""}, "219": {"219", "", ""}, "第１２．５話": {"12.5", "", ""}, "第①話": {"1", "", ""}}},
		{"S-007", "x", map[string]stated{"Vol 1 Ch 2.5 - Vol 2 Extras": {"2.5", "1", "Vol 2 Extras"}, "v09 - Winter Siege Part 1": {"", "9", "Winter Siege Part 1"}}},
		{"S-009", "x", map[string]stated{"Notice": {"", "", "Notice"}, "41": {"41", "", ""}}},
		{"S-010", "x", map[string]stated{"Oneshot": {"", "", "Oneshot"}}},
		{"S-011", "x", map[string]stated{"Vol. 1": {"", "1", ""}, "Vol. 2": {"", "2", ""}, "Vol. 3 Ch. 0": {"0", "3", ""}}},
		{"S-100", "x", map[string]stated{
			"#7 - Detour Part 1 of 2": {"7", "", "Detour Part 1 of 2"}, "#8 - Detour Part 2 of 2": {"8", "", "Detour Part 2 of 2"}, "#4 - Trial 3 of 6": {"4", "", "Trial 3 of 6"},
		}},
		{"S-101", "3000 QX", map[string]stated{"3000 QX 0366 [1984-04-28]": {"366", "", "[1984-04-28]"}}},
		{"S-101", "100 Arrows", map[string]stated{"100 Arrows 12": {"12", "", ""}}},
		{"S-102", "Long Voyage", map[string]stated{"Long Voyage 1042": {"1042", "", ""}, "Long Voyage 1999": {"1999", "", ""}, "Long Voyage (2019) 5": {"5", "", "(2019) 5"}}},
		{"B32", "x", map[string]stated{
			"10.5": {"10.5", "", ""}, "10.50": {"10.5", "", ""}, "Extra": {"", "", "Extra"}, "-1": {"", "", "-1"}, "NaN": {"", "", "NaN"}, "1e3": {"", "", "1e3"}, "９": {"9", "", ""},
			"007": {"7", "", ""}, strings.Repeat("1", 40): {"", "", strings.Repeat("1", 40)},
		}},
	}
	for _, tt := range tests {
		for _, how := range []struct{ name, keys string }{{"by itself", ""}, {"as a label", "  label: a"}, {"as a number", "  number: a"}} {
			t.Run(tt.name+" "+how.name, func(t *testing.T) {
				var labels []string
				for l := range tt.labels {
					labels = append(labels, l)
				}
				for i, c := range listed(t, tt.series, how.keys, labels...) {
					want := tt.labels[labels[i]]
					if got := (stated{c.Number, c.Volume, c.Title}); got != want {
						t.Errorf("%q is %q, want %q", labels[i], got, want)
					}
				}
			})
		}
	}
}

// A number and a title of their own go before what the label says; the label says
// the rest.
func TestALabelBesideANumber(t *testing.T) {
	got := listed(t, "x", "  label: [a u, a]\n  number: a b\n  title: a i", "<b>3</b> <u>Vol. 2 Ch. 9: Rain</u>", "Vol. 4 Ch. 10: Snow", "<b>5</b> <u>Vol. 2</u> <i>Own</i>", "Ch. 6: <i>Mine</i>")
	want := []stated{{"3", "2", "Rain"}, {"10", "4", "Snow"}, {"5", "2", "Own"}, {"6", "", "Mine"}}
	var read []stated
	for _, c := range got {
		read = append(read, stated{c.Number, c.Volume, c.Title})
	}
	if d := cmp.Diff(want, read, cmp.AllowUnexported(stated{})); d != "" {
		t.Error(d)
	}
	// A title alone is a title, whatever it begins with.
	if c := listed(t, "x", "  title: a", "7 Little Moths")[0]; c.Number != "" || c.Title != "7 Little Moths" {
		t.Errorf("%+v", c)
	}
}

// S-001: a label that jumps is no number; a number that the Site states is one.
func TestANumberThatJumpsIsDoubted(t *testing.T) {
	labels := []string{"Chapter 21619th Floor", "Chapter 215", "Chapter 214", "Chapter 213"}
	c := listed(t, "x", "", labels...)
	if c[0].Number != "" || c[0].Title != labels[0] || c[1].Number != "215" {
		t.Errorf("%+v", c[:2])
	}
	if c := listed(t, "x", "  number: {from: a, match: '\\d+'}", labels...); c[0].Number != "21619" {
		t.Errorf("a stated number is doubted: %+v", c[0])
	}
}

// S-008, S-012, S-014, S-104, S-105 and B33: the number is never a place in the list, and equal ones
// are kept apart by their ids, in the Site's order.
func TestEqualNumbersAreChaptersOfTheirOwn(t *testing.T) {
	var labels []string
	for v := 1; v <= 2; v++ {
		for n := 1; n <= 7; n++ {
			labels = append(labels, fmt.Sprintf("Vol. %d Ch. %d", v, n))
		}
	}
	labels = append(labels, "Ch. 52.1", "Ch. 52.2", "Ch. 52.15", "Ch. 52.25", "Unknown", "Ch. 53", "Ch. 53")
	ids := map[string]bool{}
	for i, c := range listed(t, "x", "", labels...) {
		if ids[c.ID] = true; c.Order != i || c.ID != fmt.Sprintf("/c/%d", i) {
			t.Errorf("%d became %+v", i, c)
		}
	}
	if len(ids) != len(labels) {
		t.Errorf("%d chapters of %d", len(ids), len(labels))
	}
}
