package catalog

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLettersStandInTheOrder(t *testing.T) {
	t.Parallel()
	all := Letters()
	if all[0].Start != "" {
		t.Errorf("the first letter begins at %q, behind some titles", all[0].Start)
	}
	for i, l := range all {
		if i > 0 && strings.Compare(all[i-1].Start, l.Start) >= 0 {
			t.Errorf("%q (%s) does not begin behind %q", l.Start, l.Label, all[i-1].Start)
		}
		if l.Label == "" || l.Script == "" {
			t.Errorf("%+v has no label or no script", l)
		}
	}
}

func TestLetterOf(t *testing.T) {
	t.Parallel()
	for order, want := range map[string]string{
		"": "#", "...": "#", "0000000007 days": "#", "ash": "A", "a": "A", "zoo": "Z", "øre": "Æ", "ωμεγα": "Ω", "σοφια": "Σ", "волшебная": "В", "яблоко": "Я", "їжак": "Є",
		"שלום": "ש", "مكتبة": "م", "يوم": "ي", "शहर": "अ", "รัก": "ก", "はな": "は", "がく": "か", "ン": "ワ", "魔女": "馬", "人形": "人", "一": "一", "가을": "ㄱ", "까치": "ㄱ", "힘": "ㅎ", "\U0001f600": "…",
	} {
		if got := Letters()[LetterOf(order)].Label; got != want {
			t.Errorf("%q stands under %s, want %s", order, got, want)
		}
	}
}

// Whatever letters a library has, the rail is bounded, in the order, and leads to each of
// them: to itself or to the script it belongs to.
func TestRailModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		numbers := slices.Collect(maps.Keys(rapid.MapOf(rapid.IntRange(0, len(Letters())-1), rapid.Just(true)).Draw(rt, "letters")))
		slices.Sort(numbers)
		most := rapid.IntRange(1, 60).Draw(rt, "most")
		rail := Rail(numbers, most)
		scripts := map[string]bool{}
		for _, n := range numbers {
			scripts[Letters()[n].Script] = true
			if !slices.ContainsFunc(rail, func(s Stop) bool { return s.Number == n || s.Number < n && s.Script == Letters()[n].Script }) {
				rt.Errorf("nothing leads to %s", Letters()[n].Label)
			}
		}
		for i, s := range rail {
			if !slices.Contains(numbers, s.Number) || i > 0 && rail[i-1].Number >= s.Number {
				rt.Errorf("%+v does not begin where titles do, or not in the order", s)
			}
		}
		if len(rail) > max(most, len(scripts)) {
			rt.Errorf("%d entries of %d scripts, at most %d are wanted", len(rail), len(scripts), most)
		}
	})
}

func TestTheRailKeepsTheScriptOfMostLetters(t *testing.T) {
	t.Parallel()
	var numbers []int
	for _, l := range "1abcdefghijklmnopqrstuvwxyzあかさた人日水金" {
		numbers = append(numbers, LetterOf(string(l)))
	}
	for most, want := range map[int]string{30: "#ABCDEFGHIJKLMNOPQRSTUVWXYZあ漢", 32: "#ABCDEFGHIJKLMNOPQRSTUVWXYZあ人日水金", 40: "#ABCDEFGHIJKLMNOPQRSTUVWXYZあかさた人日水金"} {
		got := ""
		for _, s := range Rail(numbers, most) {
			got += s.Label
		}
		if got != want {
			t.Errorf("with room for %d it is %s, want %s", most, got, want)
		}
	}
}
