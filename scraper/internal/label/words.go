package label

// kind is what a marker's number counts.
type kind int

const (
	chapter kind = iota + 1
	volume
	season
	part
	pages
)

// mark is a word with its number.
type mark struct {
	kind kind
	// pos and end enclose the word and its number.
	pos, end int
	num      num
	// short is true for a single letter.
	short bool
	word  string
}

// wording is a word that stands before its number.
type wording struct {
	word string
	kind kind
	// tight is true where the number must follow at once: a single letter is a
	// marker only then.
	tight bool
}

// before are the words that stand before a number; a longer word precedes those
// it begins with.
func before() []wording {
	return []wording{
		{"chapters", chapter, false}, {"chapter", chapter, false}, {"chatper", chapter, false}, {"chapitre", chapter, false},
		{"chap", chapter, false}, {"chp", chapter, false}, {"chương", chapter, false}, {"ch", chapter, false},
		{"capítulo", chapter, false}, {"cápitulo", chapter, false}, {"capitulo", chapter, false}, {"capitolo", chapter, false},
		{"cap", chapter, false}, {"kapitel", chapter, false}, {"kapitola", chapter, false}, {"kap", chapter, false},
		{"rozdział", chapter, false}, {"hoofdstuk", chapter, false}, {"bölüm", chapter, false}, {"bab", chapter, false},
		{"episode", chapter, false}, {"episodio", chapter, false}, {"episódio", chapter, false}, {"épisode", chapter, false},
		{"eps", chapter, false}, {"ep", chapter, false}, {"issues", chapter, false}, {"issue", chapter, false},
		{"глава", chapter, false}, {"главы", chapter, false}, {"розділ", chapter, false}, {"гл", chapter, false},
		{"эпизод", chapter, false}, {"tập", chapter, false}, {"ตอนที่", chapter, false}, {"ตอน", chapter, false},
		{"الفصل", chapter, false}, {"فصل", chapter, false}, {"章", chapter, false}, {"삽화", chapter, true},
		{"#", chapter, false}, {"c", chapter, true}, {"n", chapter, true},
		{"volumes", volume, false}, {"volume", volume, false}, {"volumen", volume, false}, {"vol", volume, false},
		{"v", volume, true}, {"tome", volume, false}, {"tomo", volume, false}, {"tom", volume, false}, {"t", volume, true},
		{"book", volume, false}, {"band", volume, false}, {"quyển", volume, false},
		{"тома", volume, false}, {"томa", volume, false}, {"том", volume, false}, {"卷", volume, true}, {"เล่ม", volume, false},
		{"season", season, false}, {"saison", season, false}, {"temporada", season, false}, {"시즌", season, false}, {"s", season, true},
		{"part", part, false}, {"parte", part, false}, {"partie", part, false}, {"teil", part, false}, {"часть", part, false}, {"pt", part, false},
		{"pages", pages, false}, {"pg", pages, false}, {"ver", pages, true}, {"version", pages, true},
	}
}

// behind are the words that stand after a number, without a blank or with one.
func behind() []wording {
	return []wording{
		{"話", chapter, true}, {"话", chapter, true}, {"回", chapter, true}, {"章", chapter, true}, {"局", chapter, true}, {"幕", chapter, true},
		{"羽", chapter, true}, {"歩", chapter, true}, {"節", chapter, true}, {"节", chapter, true}, {"夜", chapter, true},
		{"화", chapter, true}, {"회", chapter, true}, {"장", chapter, true},
		{"巻", volume, true}, {"卷", volume, true}, {"册", volume, true}, {"冊", volume, true}, {"권", volume, true},
		{"том", volume, false}, {"глава", chapter, false}, {"bölüm", chapter, false}, {"season", season, false},
		{"pages", pages, false}, {"covers", pages, false}, {"page", pages, false},
	}
}

// aside is a word for a chapter out of line.
type aside struct{ word, means string }

func asides() []aside {
	return []aside{
		{"oneshot", "oneshot"}, {"one-shot", "oneshot"}, {"one shot", "oneshot"}, {"読切", "oneshot"}, {"読み切り", "oneshot"}, {"단편", "oneshot"},
		{"side story", "side story"}, {"side stories", "side story"}, {"외전", "side story"}, {"外伝", "side story"}, {"番外", "extra"},
		{"extra", "extra"}, {"экстра", "extra"}, {"bonus", "extra"}, {"おまけ", "omake"}, {"omake", "omake"}, {"special", "special"}, {"spécial", "special"},
		{"特別", "special"}, {"特别", "special"}, {"prologue", "prologue"}, {"prolog", "prologue"}, {"프롤로그", "prologue"}, {"序章", "prologue"}, {"prelúdio", "prologue"},
		{"epilogue", "epilogue"}, {"epilog", "epilogue"}, {"에필로그", "epilogue"}, {"эпилог", "epilogue"}, {"preview", "preview"}, {"미리보기", "preview"}, {"試し読み", "preview"},
		{"預告", "preview"}, {"予告", "preview"}, {"notice", "notice"}, {"announcement", "notice"},
	}
}
