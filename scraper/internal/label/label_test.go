package label

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mangrove/scraper/internal/source"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestParse(t *testing.T) {
	tests := []struct {
		name, series, label string
		want                Label
	}{
		{"an element glued to the next", "", "Chapter 216 19th Floor", Label{Number: "216", Title: "19th Floor"}},
		{"an ordinal behind", "", "Ch. 7 2nd Try", Label{Number: "7", Title: "2nd Try"}},
		{"words before a half", "Some Series", "Print Version 193.5", Label{Number: "193.5", Title: "Print Version 193.5"}},
		{"words before a half, no name", "", "Side Edition 194.5", Label{Number: "194.5"}},
		{"the name ends with a number", "Lantern 14", "Lantern 14 1", Label{Number: "1"}},
		{"the name, a dash", "Lantern 14", "Lantern 14 - 2", Label{Number: "2"}},
		{"the name, a word", "Lantern 14", "Lantern 14 Ch.3", Label{Number: "3"}},
		{"the name alone", "Lantern 14", "Lantern 14", Label{}},
		{"the name goes on", "Lantern 1", "Lantern 14", Label{Number: "14", Title: "Lantern 14"}},
		{"a number in the title", "", "183 - Home in 80 Steps", Label{Number: "183", Title: "Home in 80 Steps"}},
		{"a number begins the title", "", "7 - 12 Angry Cats", Label{Number: "7", Title: "12 Angry Cats"}},
		{"a revision", "", "002v2", Label{Number: "2", Revision: "2"}},
		{"a letter", "", "002a", Label{Number: "2.1", Suffix: "a"}},
		{"the next letter", "", "002b", Label{Number: "2.2", Suffix: "b"}},
		{"an arc", "", "123 - Frost Arc 002", Label{Number: "123", Title: "Frost Arc 002"}},
		{"a part", "", "002 part 001", Label{Number: "2", Part: "1", Title: "part 001"}},
		{"volume and chapter", "", "Vol. 1 Ch. 10", Label{Number: "10", Volume: "1"}},
		{"an act in the title", "", "Vol.1 Ch. 4: Act 9", Label{Number: "4", Volume: "1", Title: "Act 9"}},
		{"a season, chapter 0", "", "S2 - Chapter 00", Label{Number: "0", Season: "2", Volume: "2"}},
		{"the 2nd", "", "Chapter 12 the 2nd", Label{Number: "12", Title: "the 2nd"}},
		{"one half", "A Series", "½", Label{Number: "0.5"}},
		{"full-width", "", "第１２．５話", Label{Number: "12.5"}},
		{"circled", "", "第①話", Label{Number: "1"}},
		{"Chinese numerals", "", "第二十三話", Label{Number: "23"}},
		{"Arabic digits", "", "الفصل ٧١", Label{Number: "71"}},
		{"two volumes", "", "Vol 1 Ch 2.5 - Vol 2 Extras", Label{Number: "2.5", Volume: "1", Special: "extra", Title: "Vol 2 Extras"}},
		{"a volume and a part of its title", "", "v09 - Winter Siege Part 1", Label{Volume: "9", Part: "1", Title: "Winter Siege Part 1"}},
		{"of 2", "", "#7 - Detour Part 1 of 2", Label{Number: "7", Part: "1", Title: "Detour Part 1 of 2"}},
		{"2 of 2", "", "#8 - Detour Part 2 of 2", Label{Number: "8", Part: "2", Title: "Detour Part 2 of 2"}},
		{"3 of 6", "", "#4 - Trial 3 of 6", Label{Number: "4", Part: "3", Title: "Trial 3 of 6"}},
		{"the name begins with a number", "3000 QX", "3000 QX 0366 [1984-04-28]", Label{Number: "366", Title: "[1984-04-28]"}},
		{"a small one", "100 Arrows", "100 Arrows 12", Label{Number: "12"}},
		{"above a thousand", "", "Long Voyage 1042", Label{Number: "1042"}},
		{"like a year", "Long Voyage", "Long Voyage 1999", Label{Number: "1999"}},
		{"a year before", "", "Long Voyage (2019) 5", Label{Number: "5"}},
		{"thousands", "One Piece", "1,074", Label{Number: "1074"}},
		{"backwards is no range", "", "Chapter 12-2", Label{Number: "12.2"}},
		{"a range", "", "Chapter 1-10", Label{Number: "1", Last: "10"}},
		{"a dash with blanks is no range", "", "Ch. 1 - 10 Little Cats", Label{Number: "1", Title: "10 Little Cats"}},
		{"Korean with a season", "나는 엄마다", "시즌1 제1화 - 엄마와 딸", Label{Number: "1", Season: "1", Volume: "1", Title: "엄마와 딸"}},
		{"season and episode glued", "", "S02E05 Dusk", Label{Number: "5", Season: "2", Volume: "2", Title: "Dusk"}},
		{"3D is a word", "A Series", "Chapter 3D Glasses", Label{Title: "Chapter 3D Glasses"}},
		{"a season behind is no volume", "", "Chapter 141 - Season 2 - 68", Label{Number: "141", Season: "2", Title: "Season 2 - 68"}},
		{"Russian", "", "Том 1. Глава 1 - Танец", Label{Number: "1", Volume: "1", Title: "Танец"}},
		{"Vietnamese", "", "Tập 12", Label{Number: "12"}},
		{"German", "", "Kapitel 3: Nacht", Label{Number: "3", Title: "Nacht"}},
		{"a one-shot", "", "Oneshot", Label{Special: "oneshot", Title: "Oneshot"}},
		{"an extra without a number", "A Series", "Extra 3", Label{Special: "extra", Title: "Extra 3"}},
		{"an epilogue counts for itself", "A Series", "Epilogue 6", Label{Special: "epilogue", Title: "Epilogue 6"}},
		{"a special by letters", "Beastars", "Beastars SP01", Label{Number: "1", Special: "SP"}},
		{"a date", "A Series", "2024-05-01", Label{Title: "2024-05-01"}},
		{"a date without dashes", "A Series", "A Series - 20190626.jpg", Label{Title: "20190626"}},
		{"a month in Japanese", "アフタヌーン", "２０２２年２月号", Label{Title: "２０２２年２月号"}},
		{"a time", "A Series", "00:30", Label{Title: "00:30"}},
		{"pages", "A Series", "52 Pages", Label{Title: "52 Pages"}},
		{"not a number", "A Series", "NaN", Label{Title: "NaN"}},
		{"an exponent", "A Series", "1e3", Label{Title: "1e3"}},
		{"negative", "A Series", "-1", Label{Title: "1"}},
		{"forty digits", "A Series", "Chapter 1234567890123456789012345678901234567890", Label{Title: "Chapter 1234567890123456789012345678901234567890"}},
		{"nothing", "", "", Label{}},
		{"blanks", "A", " \t\u3000 ", Label{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Parse(tt.series, tt.label)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tt.label, diff)
			}
		})
	}
}

// Two labels of one list are never the same chapter but for a revision (S-005).
func TestLabelsStayApart(t *testing.T) {
	seen := map[string]string{}
	for _, label := range []string{"002a", "002b", "002", "123 - Frost Arc 002", "Vol. 1 Ch. 10", "Vol.1 Ch. 4: Act 9", "S2 - Chapter 00", "Chapter 12 the 2nd"} {
		l := Parse("", label)
		key := l.Volume + "/" + l.Number
		if other, twice := seen[key]; twice {
			t.Errorf("%q and %q are both %s", label, other, key)
		}
		seen[key] = label
	}
	if a, b := Parse("", "002"), Parse("", "002v2"); a.Number != b.Number || b.Revision != "2" {
		t.Errorf("002 is %+v, 002v2 is %+v", a, b)
	}
}

// The golden counts what is read from real titles in many languages, so that a
// change of the parser shows its reach.
func TestRealTitles(t *testing.T) {
	all, number, volume, neither := 0, 0, 0, 0
	for _, r := range rows(t, "real-chapter-titles.csv") {
		l := Parse(r[0], r[1])
		check(t, r[1], l)
		all++
		switch {
		case l.Number != "":
			number++
		case l.Volume != "":
			volume++
		default:
			neither++
		}
	}
	got := fmt.Sprintf("titles %d\nwith a number %d\nwith a volume only %d\nwith neither %d\n", all, number, volume, neither)
	golden := filepath.Join("testdata", "real-chapter-titles.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("real titles (-want +got):\n%s", diff)
	}
}

// check says what holds of any label.
func check(t interface{ Errorf(string, ...any) }, label string, l Label) {
	for _, n := range []string{l.Number, l.Last, l.Volume, l.LastVolume, l.Season, l.Part, l.Revision} {
		if d, ok := source.Decimal(n); n != "" && (!ok || d != n) {
			t.Errorf("%q: %q is no decimal", label, n)
		}
	}
	if l.Last != "" && l.Number == "" || l.LastVolume != "" && l.Volume == "" {
		t.Errorf("%q ends a range that never began: %+v", label, l)
	}
	if !utf8.ValidString(l.Title) || len(l.Title) > maxBytes {
		t.Errorf("%q has the title %q", label, l.Title)
	}
}

// A plain label gives back the number it was made of.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, v := rapid.IntRange(0, 99999).Draw(t, "number"), rapid.IntRange(0, 999).Draw(t, "volume")
		form := rapid.SampledFrom([]string{"Vol.%d Ch.%d", "Volume %d Chapter %d", "%d巻 第%d話", "Том %d Глава %d", "v%02d c%03d", "Tome %d Chapitre %d"}).Draw(t, "form")
		label := fmt.Sprintf(form, v, n)
		l := Parse("Some Series", label)
		if l.Number != fmt.Sprint(n) || l.Volume != fmt.Sprint(v) {
			t.Fatalf("%q is volume %q, number %q", label, l.Volume, l.Number)
		}
	})
}

// Time grows with the length and no faster, whatever the label is made of.
func TestHostileLabels(t *testing.T) {
	for _, piece := range []string{"1", "c1", "Ch.1 ", "第1話", "(", "[1", "1-", "#", "vol", "1 of ", "十", "½", "a1", "\xff", "one-shot", "２", "1/", "-"} {
		long := strings.Repeat(piece, 1<<20/len(piece))
		begun := time.Now()
		for range 5 {
			check(t, piece, Parse(long, long))
			check(t, piece, Parse("", long))
		}
		if took := time.Since(begun); took > 4*time.Second {
			t.Errorf("ten labels of %q took %s", piece, took)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range [][2]string{{"Lantern 14", "Lantern 14 Ch.3"}, {"", "第１２．５話"}, {"", "v3/c #6-7 ½ + annual.cbr"}, {"1", "1"}, {"", "#B01½"}, {"x", "1-2-3v.4 (of 5)"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, series, label string) { check(t, label, Parse(series, label)) })
}
