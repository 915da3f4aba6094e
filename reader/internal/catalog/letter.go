package catalog

import (
	"slices"
	"strings"
)

// Letter is a place in the order by title that a reader of the library jumps to: it
// goes from its Start to that of the next.
type Letter struct {
	// Start is the first text of the order that belongs to it, as reader.shelf_order
	// writes it: small letters without marks, by code point.
	Start string
	// Label is what stands on the rail.
	Label string
	// Script is what it belongs to: where a library has many letters, those of a script
	// with few titles become one.
	Script string
}

// script is a run of letters: each begins at its first sign, and one that is written
// before a colon is shown as the sign after it.
type script struct{ name, whole, letters string }

// scripts are written in the order of code points. Signs that begin no letter here
// belong to the one before, so that every title has one.
func scripts() []script {
	return []script{
		{"signs", "#", ":#"},
		{"latin", "A–Z", "a:A b:B c:C d:D e:E f:F g:G h:H i:I j:J k:K l:L m:M n:N o:O p:P q:Q r:R s:S t:T u:U v:V w:W x:X y:Y z:Z {:Æ"},
		{"greek", "Α–Ω", "Ͱ:Α β:Β γ:Γ δ:Δ ε:Ε ζ:Ζ η:Η θ:Θ ι:Ι κ:Κ λ:Λ μ:Μ ν:Ν ξ:Ξ ο:Ο π:Π ρ:Ρ ς:Σ τ:Τ υ:Υ φ:Φ χ:Χ ψ:Ψ ω:Ω"},
		{"cyrillic", "А–Я", "Ѐ:А б:Б в:В г:Г д:Д е:Е ж:Ж з:З и:И к:К л:Л м:М н:Н о:О п:П р:Р с:С т:Т у:У ф:Ф х:Х ц:Ц ч:Ч ш:Ш щ:Щ ъ:Ъ ы:Ы ь:Ь э:Э ю:Ю я:Я ѐ:Є"},
		{"armenian", "Ա", "\u0530:Ա"},
		{"hebrew", "א", "\u0590:א ב ג ד ה ו ז ח ט י ך:כ ל ם:מ ן:נ ס ע ף:פ ץ:צ ק ר ש ת"},
		{"arabic", "ا", "\u0600:ا ب ت ث ج ح خ د ذ ر ز س ش ص ض ط ظ ع غ ف ق ك ل م ن ه و ى:ي"},
		{"indic", "अ", "\u0900:अ"},
		{"thai", "ก", "\u0e00:ก"},
		{"georgian", "ა", "\u0e80:ა"},
		{"others", "…", "\u1100:…"},
		{"hiragana", "あ", "\u3040:あ か さ た な は ま や ら ゎ:わ"},
		{"katakana", "ア", "\u30a0:ア カ サ タ ナ ハ マ ヤ ラ ヮ:ワ"},
		{"bopomofo", "ㄅ", "\u3100:ㄅ"},
		// By radicals, the order of a dictionary that code points keep.
		{"han", "漢", "\u3400:一 人 刀 口 土 女 山 心 手 日 木 水 火 玉 目 竹 糸 艸 言 金 門 馬 魚 鳥"},
		{"hangul", "가", "\ua000:ㄱ 나:ㄴ 다:ㄷ 라:ㄹ 마:ㅁ 바:ㅂ 사:ㅅ 아:ㅇ 자:ㅈ 차:ㅊ 카:ㅋ 타:ㅌ 파:ㅍ 하:ㅎ"},
		{"more", "…", "\ud7b0:…"},
	}
}

// Letters are all places to jump to, in the order. A letter's number is its place here.
func Letters() []Letter { return alphabet }

// alphabet is a table, read only.
var alphabet = func() (out []Letter) {
	for _, s := range scripts() {
		for _, l := range strings.Fields(s.letters) {
			start, label, ok := strings.Cut(l, ":")
			if !ok {
				label = start
			}
			out = append(out, Letter{Start: start, Label: label, Script: s.name})
		}
	}
	return out
}()

// LetterStarts are their starts, for the database.
func LetterStarts() []string {
	out := make([]string, len(alphabet))
	for i, l := range alphabet {
		out[i] = l.Start
	}
	return out
}

// LetterOf is the number of the letter that a place in the order by title has.
func LetterOf(order string) int {
	n, found := slices.BinarySearchFunc(alphabet, order, func(l Letter, order string) int { return strings.Compare(l.Start, order) })
	if found {
		return n
	}
	return n - 1
}

// Stop is one entry of the rail: a letter, or a whole script.
type Stop struct {
	Letter
	// Number is that of its first letter.
	Number int
}

// Rail makes of the letters that there are, by number and ascending, at most about most
// entries: where they are more, the scripts with the fewest letters become one entry each.
func Rail(numbers []int, most int) (out []Stop) {
	has := map[string]int{}
	for _, n := range numbers {
		has[alphabet[n].Script]++
	}
	fewest := scripts()
	slices.SortStableFunc(fewest, func(a, b script) int { return has[a.name] - has[b.name] })
	entries, whole := len(numbers), map[string]string{}
	for _, s := range fewest {
		if entries > most && has[s.name] > 1 {
			whole[s.name] = s.whole
			entries -= has[s.name] - 1
		}
	}
	for _, n := range numbers {
		stop := Stop{Letter: alphabet[n], Number: n}
		if label, ok := whole[stop.Script]; ok {
			if len(out) > 0 && out[len(out)-1].Script == stop.Script {
				continue
			}
			stop.Label = label
		}
		out = append(out, stop)
	}
	return out
}
