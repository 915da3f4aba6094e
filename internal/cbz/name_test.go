package cbz

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// TestFolderName shows B47 to B58.
func TestFolderName(t *testing.T) {
	t.Parallel()
	const key = "sample\x00pepper"
	tail := " [" + shortHash(key) + "]"
	for _, tt := range []struct{ name, title, want string }{
		{"plain", "Pepper & Carrot", "Pepper & Carrot"},
		{"japanese", "よつばと！", "よつばと！"},
		{"arrows", "I give up ><", "I give up"},
		{"slash", "What/If?", "What-If"},
		{"reserved characters", `a:b|c*d"e`, "a-b-cd'e"},
		{"trailing dots", "And Then...", "And Then"},
		{"trailing space", "Wait ", "Wait"},
		{"a device", "CON", "CON"}, // the hash makes it another name
		{"a device with an ending", "NUL.txt", "_NUL.txt"},
		{"a port with an ending", "com¹.x", "_com¹.x"},
		{"dot", ".", "Untitled"},
		{"dot dot", "..", "Untitled"},
		{"empty", "", "Untitled"},
		{"spaces", " \t\u3000", "Untitled"},
		{"only reserved", "<>?*", "Untitled"},
		{"escape", "../../etc/cron.d/x", "etc-cron.d-x"},
		{"absolute", "/etc/passwd", "etc-passwd"},
		{"backslashes", `a\..\..\b`, "a-..-..-b"},
		{"drive", `C:\x`, "C--x"},
		{"NUL byte", "a\x00b", "ab"},
		{"right-to-left override", "exe\u202egpj.cbz", "exegpj.cbz"},
		{"zero width", "a\u200bb\ufeffc", "abc"},
		{"bad UTF-8", "a\xff\xed\xa0\x80b", "ab"},
		{"emoji", "Cat 🐈 story", "Cat 🐈 story"},
		{"leading dash", "--help", "help"},
		{"leading dot", ".hidden", "hidden"},
		{"shell", "$(rm -rf ~) `x` ; & !", "$(rm -rf ~) `x` ; & !"},
		{"decomposed", norm.NFD.String("Café ガーデン"), norm.NFC.String("Café ガーデン")},
		{"marks", "a" + strings.Repeat("\u0323", 1000), norm.NFC.String("a" + strings.Repeat("\u0323", 9))},
		{"86 wide characters", strings.Repeat("転", 86), strings.Repeat("転", 62)},
		{"300 bytes", strings.Repeat("x", 300), strings.Repeat("x", 188)},
		{"cut before a space", strings.Repeat("x", 187) + " yy", strings.Repeat("x", 187)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := FolderName(tt.title, key)
			if want := tt.want + tail; got != want {
				t.Errorf("FolderName(%q) = %q, want %q", tt.title, got, want)
			}
			if why := illegal(got); why != "" {
				t.Errorf("FolderName(%q) = %q: %s", tt.title, got, why)
			}
		})
	}
}

func TestChapterName(t *testing.T) {
	t.Parallel()
	const key = "sample\x00pepper\x00episode-3"
	tail := " [" + shortHash(key) + "].cbz"
	for _, tt := range []struct{ name, series, number, volume, title, want string }{
		{"all", "Pepper & Carrot", "3", "1", "Title", "Pepper & Carrot - v01 c003 - Title"},
		{"half a chapter", "S", "10.5", "", "", "S - c010.5"},
		{"long number", "S", "1234", "123", "", "S - v123 c1234"},
		{"no number", "S", "", "", "Oneshot", "S - Oneshot"},
		{"a word for a number", "S", "Extra", "", "", "S - cExtra"},
		{"full width", "S", "９", "", "", "S - c９"},
		{"nothing", "", "", "", "", "Untitled"},
		{"a path for a number", "S", "../../1", "/", "", "S - c001"},
		{"forty digits", "S", strings.Repeat("7", 40), "", "", "S - c" + strings.Repeat("7", 20)},
		{"a device for a Series", "NUL.", "1", "", "", "NUL - c001"},
		{"long both", strings.Repeat("s", 200), "1", "", strings.Repeat("t", 200),
			strings.Repeat("s", 90) + " - c001 - " + strings.Repeat("t", 84)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ChapterName(tt.series, tt.number, tt.volume, tt.title, key)
			if want := tt.want + tail; got != want {
				t.Errorf("ChapterName = %q, want %q", got, want)
			}
			if why := illegal(got); why != "" {
				t.Errorf("ChapterName = %q: %s", got, why)
			}
		})
	}
}

// TestNamesNeverCollide is S-022, S-024 and S-026: titles that no file system
// can tell apart, of different keys.
// It shows S-024, F87.
func TestNamesNeverCollide(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("転", 86)
	seen := map[string]string{}
	for key, title := range map[string]string{
		"a\x001": "Echo", "b\x009": "Echo", "a\x002": "Echo", "a\x003": "ECHO", "a\x004": "echo ",
		"a\x005": long, "a\x006": long + "1", "a\x007": long + "2", "a\x008": "Ash", "a\x009": "ASH",
	} {
		name := FolderName(title, key)
		if name != FolderName(title, key) {
			t.Errorf("the name of %q is not stable", title)
		}
		folded := strings.ToLower(name)
		if other, twice := seen[folded]; twice {
			t.Errorf("%q and %q share the name %q", key, other, folded)
		}
		seen[folded] = key
	}
}

func TestNamesAreLegal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.String(),
			rapid.StringOf(rapid.RuneFrom([]rune(" .-~_/\\:*?\"<>|aNULCOM1\u0301\u0323\u202e\u200d\ufeff\u0000転Å\U0010ffff"))),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.SampledFrom([]string{"CON", "nul", "Aux.txt", "LPT9", "com1.", "PRN ", "COM²"}),
		)
		title, series, number, volume := text.Draw(t, "title"), text.Draw(t, "series"), text.Draw(t, "number"), text.Draw(t, "volume")
		for _, name := range []string{FolderName(title, number), ChapterName(series, number, volume, title, volume)} {
			if why := illegal(name); why != "" {
				t.Fatalf("%q: %s", name, why)
			}
		}
	})
}

// illegal says what rule of PUB-5 a name breaks; it is written apart from the
// code under test, from Microsoft's "Naming Files, Paths, and Namespaces".
func illegal(name string) string {
	switch {
	case name == "" || len(name) > 200:
		return "wrong length"
	case !utf8.ValidString(name):
		return "not UTF-8"
	case !norm.NFC.IsNormalString(name):
		return "not NFC"
	case strings.ContainsAny(name, `/\:*?"<>|`):
		return "a reserved character"
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }):
		return "a control character"
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return "a dot or space at the end"
	case strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") || strings.HasPrefix(name, " "):
		return "a dot, dash or space at the start"
	}
	stem := strings.ToLower(strings.TrimSpace(strings.SplitN(name, ".", 2)[0]))
	for _, device := range []string{"con", "prn", "aux", "nul", "com1", "com9", "com²", "lpt1", "lpt9"} {
		if stem == device {
			return "a device"
		}
	}
	return ""
}
