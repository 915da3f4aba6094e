package label

import (
	"strconv"
	"testing"

	"mangrove/scraper/internal/source"
)

func TestFill(t *testing.T) {
	t.Parallel()
	tests := []struct{ series, shown, number, volume, title string }{
		{"", "Vol.3 Ch.12.5 - Rain", "12.5", "3", "Rain"},
		{"", "Chapter 7", "7", "", ""},
		{"", "Notice", "", "", "Notice"},
		{"", "-1", "", "", "-1"},
		{"", "Extra 3", "3", "", "Extra 3"},
		{"", "Oneshot", "", "", "Oneshot"},
		{"", "Chapter 10-11", "10", "", "Chapter 10-11"},
		{"", "002 part 001", "2", "", "part 001"},
		{"", "002v2", "2", "", "v2"},
		{"", "Ch. 2v2: Rain", "2", "", "Rain (v2)"},
		{"", "Vol. 2", "", "2", ""},
		{"Lantern 14", "Lantern 14", "", "", "Lantern 14"},
		{"Lantern 14", "Lantern 14 - 2", "2", "", ""},
		{"", "", "", "", ""},
	}
	for _, tt := range tests {
		var c source.Chapter
		Fill(&c, tt.series, tt.shown)
		if c.Number != tt.number || c.Volume != tt.volume || c.Title != tt.title {
			t.Errorf("%q is number %q, volume %q, title %q; want %q %q %q", tt.shown, c.Number, c.Volume, c.Title, tt.number, tt.volume, tt.title)
		}
	}
}

// S-001: a jump of more than two orders of magnitude is not believed.
func TestDoubt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		numbers []string
		doubted string
	}{
		{"glued to its title", []string{"214", "215", "21619", "213"}, "21619"},
		{"a hundredfold is the most", []string{"2", "200", "1"}, ""},
		{"more is not", []string{"2", "200.5", "1"}, "200.5"},
		{"below one counts as one", []string{"0", "0.5", "60"}, ""},
		{"one alone", []string{"4034"}, ""},
		{"the list's first chapters are gone", []string{"1", "300", "301", "302"}, ""},
		{"two of them", []string{"1", "2", "3", "999", "99999"}, "999 99999"},
		{"none has a number", []string{"", ""}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var list []source.Chapter
			shown := map[string]string{}
			for i, n := range tt.numbers {
				id := strconv.Itoa(i)
				list = append(list, source.Chapter{ID: id, Number: n, Title: "title"})
				shown[id] = "Chapter " + n
			}
			stated := append([]source.Chapter(nil), list...)
			Doubt(list, shown)
			got := ""
			for i, c := range list {
				if c.Number != tt.numbers[i] {
					got += " " + tt.numbers[i]
					if c.Number != "" || c.Title != "Chapter "+tt.numbers[i] {
						t.Errorf("it became %+v", c)
					}
				}
			}
			if want := tt.doubted; got != want && got != " "+want {
				t.Errorf("doubted%s, want %s", got, want)
			}
			Doubt(stated, nil)
			for i, c := range stated {
				if c.Number != tt.numbers[i] {
					t.Errorf("the number %s, which the Site states, is doubted", tt.numbers[i])
				}
			}
		})
	}
}
