package label

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mangrove/scraper/internal/source"
)

// rows reads a CSV of testdata without its head.
func rows(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[1:]
}

// said is what l says in the words of the program a row is from. The five differ
// in convention where nothing can be right or wrong; each difference is one line
// here, and what is left is a miss.
func said(l Label, repo, input, field string) []string {
	through := func(first, last string) string {
		if last != "" {
			return first + "-" + last
		}
		return first
	}
	number, volume := through(l.Number, l.Last), through(l.Volume, l.LastVolume)
	out := []string{number}
	if field == "volume" {
		out = []string{volume}
	}
	switch repo {
	case "Casvt/Kapowarr":
		// It writes 1 where no volume is named, and numbers a book or a tome that
		// holds no issues as the issue. Letters are pairs of digits behind the point.
		tome := number == "" && (strings.Contains(input, " T") || strings.Contains(input, " Book "))
		if field == "volume" && (volume == "" || tome) {
			out = append(out, "1")
		}
		if field == "chapter_number" && number == "" {
			out = append(out, volume)
		}
		if field == "chapter_number" && l.Suffix != "" {
			whole, _, _ := strings.Cut(l.Number, ".")
			out = append(out, whole+"."+pairs(l.Suffix))
		}
	case "comictagger/comictagger", "ajslater/comicfn2dict":
		// The number is the volume's where there is no other, and keeps its letters.
		// The year a run began with, in brackets, is its volume, and so is a part.
		if field == "volume" && volume == "" {
			out = append(out, l.Part, yearOf(input))
		}
		if field == "chapter_number" && number == "" {
			out = append(out, volume)
		}
		if field == "chapter_number" {
			whole, _, _ := strings.Cut(l.Number, ".")
			out = append(out, whole+"."+l.Suffix, whole+l.Suffix, l.Special+l.Number)
			if half, ok := strings.CutSuffix(l.Number, ".5"); ok {
				out = append(out, strings.TrimPrefix(half, "0")+"½")
			}
		}
	}
	return out
}

// yearOf returns the year in brackets that stands before the number of an issue.
func yearOf(input string) string {
	before, _, ok := strings.Cut(input, ") #")
	if _, y, found := strings.Cut(before, "("); ok && found {
		return y
	}
	return "no year"
}

func pairs(suffix string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(suffix) {
		n := strconv.Itoa(int(r-'a') + 1)
		b.WriteString(strings.Repeat("0", max(2-len(n), 0)) + n)
	}
	return b.String()
}

// wanted is a row's expectation as we write numbers.
func wanted(repo, expected string) string {
	if expected == "<none>" || expected == "-1.0" && repo == "mihonapp/mihon" {
		return ""
	}
	if strings.HasPrefix(expected, "-") {
		return expected // no number of ours is negative
	}
	expected = strings.NewReplacer("(", "", ")", "", ", ", "-").Replace(expected)
	var out []string
	for _, p := range strings.Split(expected, "-") {
		switch d, ok := source.Decimal(p); {
		case ok:
			p = d
		case strings.Trim(p, "0123456789.½") == "" || strings.Trim(p, "0123456789.ABELRUY") == "":
			p = strings.TrimLeft(p, "0")
			if len(p) > 1 && p[0] > '9' {
				p = p[:1] + strings.TrimLeft(p[1:], "0")
			}
		}
		out = append(out, p)
	}
	return strings.Join(out, "-")
}

// least is the share of the expectations that must be met.
const least = 0.97

// TestExpectations holds the parser to what five programs' own tests say of
// real names. Every miss stands with its reason in testdata/misses.csv, and
// nothing else does: a new miss fails, and so does one that is cured.
func TestExpectations(t *testing.T) {
	reasons := map[string]string{}
	for _, r := range rows(t, "misses.csv") {
		if len(r) != 5 || strings.TrimSpace(r[4]) == "" {
			t.Fatalf("misses.csv: %v has no reason", r)
		}
		reasons[strings.Join(r[:4], "|")] = r[4]
	}
	asked, met, other := 0, 0, 0
	for _, r := range rows(t, "title-number-expectations.csv") {
		repo, series, input, field, expected := r[0], r[3], r[4], r[5], r[6]
		if field != "chapter_number" && field != "volume" {
			other++
			continue
		}
		asked++
		if repo == "mihonapp/mihon" && series == "random" {
			series = "some other name"
		}
		l := Parse(series, input)
		ok := false
		for _, s := range said(l, repo, input, field) {
			ok = ok || s == wanted(repo, expected) || s == expected
		}
		key := strings.Join([]string{repo, input, field, expected}, "|")
		_, listed := reasons[key]
		switch {
		case ok && listed:
			t.Errorf("%s is met now; take it off misses.csv", key)
		case !ok && !listed:
			t.Errorf("%q %q: %s is %q, want %q (%+v)", repo, input, field, said(l, repo, input, field), wanted(repo, expected), l)
		}
		if ok {
			met++
		}
		if !ok && listed {
			delete(reasons, key)
		}
	}
	for key := range reasons {
		t.Errorf("misses.csv lists %s, which is no row or is met", key)
	}
	share := float64(met) / float64(asked)
	t.Logf("%d of %d expectations of a number or a volume are met (%.2f %%); %d rows ask for a series' name, a year, an edition or a gap, which a label does not hold",
		met, asked, 100*share, other)
	if share < least {
		t.Errorf("the share met is %.4f, want at least %.2f", share, least)
	}
}
