package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sameEverywhere are words that no language writes otherwise: names of programs, of
// units, and tags of languages.
func sameEverywhere() []string {
	return []string{"Mangrove", "MB", "ntfy", "Gotify", "Webhook", "Matrix", "en", "de", "pt", "BR"}
}

// No template holds words of its own: what a person reads or hears is a message. This
// is what keeps a page from being added in English alone.
func TestTemplatesHoldNoWords(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(templateFiles, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range wordsIn(string(data)) {
			t.Errorf("%s says %q, which is no message: write {{t %q}}", name, text, text)
		}
	}
}

// wordsIn are the words of a template that people read or hear and that are in no
// message. What the elements for code hold, and what says that it is English, is left
// as it is.
func wordsIn(template string) (found []string) {
	template = regexp.MustCompile(`(?s){{.*?}}`).ReplaceAllString(template, "\x00")
	heard := regexp.MustCompile(`\s(?:aria-label|aria-description|aria-roledescription|aria-valuetext|title|placeholder|alt|label|data-confirm|data-slow)="([^"]*)"`)
	word := regexp.MustCompile(`\pL{2,}`)
	// Addresses that stand as examples, and the attributes of a tag that begins elsewhere.
	form := regexp.MustCompile(`[a-z]+://\S*|[a-z-]+="[^"]*"`)
	say := func(text string) {
		for _, w := range word.FindAllString(form.ReplaceAllString(text, ""), -1) {
			if !slices.Contains(sameEverywhere(), w) {
				found = append(found, strings.TrimSpace(strings.ReplaceAll(text, "\x00", "…")))
				return
			}
		}
	}
	quiet := "" // the element within which nothing is ours to word
	for rest := template; ; {
		open := strings.IndexByte(rest, '<')
		if open < 0 {
			say(rest)
			return found
		}
		if quiet == "" {
			say(rest[:open])
		}
		end := strings.IndexByte(rest[open:], '>')
		if end < 0 {
			return append(found, "a tag that does not end")
		}
		tag := rest[open : open+end+1]
		rest = rest[open+end+1:]
		for _, m := range heard.FindAllStringSubmatch(tag, -1) {
			say(m[1])
		}
		name := strings.ToLower(regexp.MustCompile(`^</?([a-zA-Z0-9!]*)`).FindStringSubmatch(tag)[1])
		switch {
		case quiet != "":
			if tag == "</"+quiet+">" {
				quiet = ""
			}
		case slices.Contains([]string{"code", "pre", "kbd", "samp", "style", "script"}, name) && tag[1] != '/':
			quiet = name
		}
	}
}

func TestWordsInATemplate(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]string{
		`<p>Left over</p>`: "Left over", `<p>{{if .X}}Job{{else}}{{t "None"}}{{end}}</p>`: "…Job………", `<b aria-label="Name {{.}}">{{.}}</b>`: "Name …", `<code>go test</code> {{t "Type it"}}`: "",
		`<input placeholder="My phone">`: "My phone", `Mangrove <kbd>Esc</kbd> {{.}}: 5 MB`: "", `<a class="btn plain" href="/settings">{{t "Settings"}}</a>`: "",
	} {
		if got := strings.Join(wordsIn(template), "|"); got != want {
			t.Errorf("%s: found %q, want %q", template, got, want)
		}
	}
}

// No sentence of a page stands in Go but as the key of a message, and nothing is worded
// in English because its language was not at hand.
func TestGoHoldsNoSentences(t *testing.T) {
	t.Parallel()
	for name, file := range goFiles(t) {
		for _, text := range sentencesOf(file) {
			t.Errorf("%s says %q, which is no message", name, text)
		}
	}
}

// inEnglishBy names what is worded in English on purpose: a command's output.
func inEnglishBy() []string { return []string{"ReasonWords"} }

// toPrograms are sentences that answer a reading app or a script, which come in no
// language: their callers branch on the status. The last are names of the program and
// of a system.
func toPrograms() []string {
	return []string{
		"This key is not known here.", "Sign in with your name and an app password.", "This key may not do that.", "Sign in first.", "Send a place as JSON or as a form.",
		"Mangrove", "Android",
	}
}

// forPrograms are the calls whose strings no page shows: logs, errors that are worded
// once elsewhere, headers, patterns and what is compared.
func forPrograms() []string {
	return []string{
		"Error", "Warn", "Info", "Debug", "New", "Newf", "Errorf", "notFound", "invalid", "numberIn", "Set", "Add", "Get", "Contains", "CutPrefix", "HasPrefix", "HasSuffix", "MustCompile", "Format", "NewReplacer",
	}
}

// sentencesOf are the sentences of a file that are no keys of messages: what begins as
// a sentence does, or carries one on. What is typed, what is markup and what is only
// compared is none.
func sentencesOf(file *ast.File) (found []string) {
	sentence := regexp.MustCompile(`(^|[.;:,] )\p{Lu}\p{Ll}+( |$|[.:,])|^ \p{Ll}+|\pL{2,} \pL{2,}.*[.!?]$|[^.][.!?] $|^\pL+[,:;]?( \pL+[,:;]?)+$|%[sd] \p{Ll}{2,}`)
	var walk func(n ast.Node) bool
	all := func(list []ast.Expr) {
		for _, e := range list {
			ast.Inspect(e, walk)
		}
	}
	walk = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.Field:
			return false
		case *ast.FuncDecl:
			// tongue's own pass their key on.
			return !slices.Contains(append(inEnglishBy(), "T", "inPage"), n.Name.Name)
		case *ast.CaseClause:
			for _, s := range n.Body {
				ast.Inspect(s, walk)
			}
			return false
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				return false
			}
		case *ast.MapType:
			return false
		case *ast.KeyValueExpr:
			ast.Inspect(n.Value, walk)
			return false
		case *ast.CallExpr:
			name := ""
			switch f := n.Fun.(type) {
			case *ast.Ident:
				name = f.Name
			case *ast.SelectorExpr:
				name = f.Sel.Name
				ast.Inspect(f.X, walk)
			}
			switch {
			case slices.Contains(forPrograms(), name):
			case name == "T" && len(n.Args) > 0:
				if _, plain := n.Args[0].(*ast.BasicLit); !plain {
					found = append(found, "a key that is put together")
				}
				all(n.Args[1:])
			default:
				all(n.Args)
			}
			return false
		case *ast.CompositeLit:
			if id, ok := n.Type.(*ast.Ident); ok && id.Name == "tongue" && len(n.Elts) == 0 {
				found = append(found, "tongue{}")
			}
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if n.Kind == token.STRING && err == nil && sentence.MatchString(text) && !strings.HasPrefix(text, "<") && !strings.HasPrefix(text, "mangrove ") && !slices.Contains(toPrograms(), text) {
				found = append(found, text)
			}
		}
		return true
	}
	ast.Inspect(file, walk)
	return found
}

func TestSentencesInGo(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		`t.T("Saved.")`: "", `"Saved."`: "Saved.", `t.T("%s is queued", name+" again")`: " again", `name + " is queued."`: " is queued.", `pill{"check", "Serving", "ok", state}`: "Serving", `t.T("Saved" + more)`: "a key that is put together",
		`func() string { return "a download is under way" }`: "a download is under way", `fmt.Sprintf("%d of them", n)`: "%d of them", `fmt.Sprintf("%d kB", n)`: "",
		`s.Log.Warn("a page could not be made")`: "", `kind == "Not understood"`: "", `"mangrove restart " + name`: "", `tongue{}.clock(at, now)`: "tongue{}", `map[string]any{"Since": since}`: "", `row.Meta + ". Has no password"`: ". Has no password",
		`func() string { switch x { case "Done": return t.T("Done"); case "x": return "It is done." }; return "" }`: "It is done.",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar x = "+code, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(sentencesOf(file), "|"); got != want {
			t.Errorf("%s: found %q, want %q", code, got, want)
		}
	}
}

// No script shows a sentence but by T('…').
func TestScriptsHoldNoSentences(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(staticFiles, "static/*.js")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(staticFiles, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range sentencesOfScript(string(data)) {
			t.Errorf("%s says %q: write T('…')", name, text)
		}
	}
}

func sentencesOfScript(script string) (found []string) {
	script = regexp.MustCompile(`(?m)(^|\s)//.*$`).ReplaceAllString(script, "")
	script = regexp.MustCompile(`\bT\('(?:[^'\\]|\\.)*'`).ReplaceAllString(script, "T(")
	sentence := regexp.MustCompile(`^\p{Lu}\p{Ll}+([ .,:]|$)|\p{L}{2,}[.,:;]? \p{Ll}{2,}.*[.!?]$`)
	keys := regexp.MustCompile(`\b(Home|End|Shift|Enter|Escape|Esc|Tab|Space|Arrow)\b`)
	for _, m := range regexp.MustCompile("'((?:[^'\\\\\n]|\\\\.)*)'|\"((?:[^\"\\\\\n]|\\\\.)*)\"|`([^`]*)`").FindAllStringSubmatch(script, -1) {
		if text := m[1] + m[2] + m[3]; sentence.MatchString(keys.ReplaceAllString(text, "")) {
			found = append(found, text)
		}
	}
	return found
}
