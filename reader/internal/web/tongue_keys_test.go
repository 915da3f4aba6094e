package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template/parse"
	"unicode"

	"mangrove/reader/internal/language"
)

// Every message that is said has words in every language, and no file keeps words
// that are said nowhere.
func TestMessageFilesAreWhole(t *testing.T) {
	t.Parallel()
	said := saidKeys(t)
	all, err := language.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all.All() {
		for _, key := range p.Missing(said) {
			if strings.ContainsFunc(strings.NewReplacer("%s", "", "%d", "").Replace(key), unicode.IsLetter) {
				t.Errorf("%s has no message %q", p.Tag(), key)
			}
		}
		for _, key := range p.Keys() {
			if !slices.Contains(said, key) {
				t.Errorf("%s has a message that nothing says: %q", p.Tag(), key)
			}
		}
	}
}

// A number with its noun has plural forms in English too.
func TestCountedMessagesHavePluralForms(t *testing.T) {
	t.Parallel()
	all, err := language.Load()
	if err != nil {
		t.Fatal(err)
	}
	// A number that is a bound, or that counts within "of so many", is never one thing.
	counts, invariable := regexp.MustCompile(`%d (?:[a-z]+ )?[A-Za-z]+s\b`), regexp.MustCompile(`%d (?:[a-z]+ )?Series|(of|at most|1 to) %d [a-z]+s`)
	forms := all.All()[0].Keys() // English has messages for its plural forms alone
	for _, key := range saidKeys(t) {
		if counts.MatchString(key) && !invariable.MatchString(key) && !slices.Contains(forms, key) {
			t.Errorf("en.json has no plural forms for %q", key)
		}
	}
}

// goFiles are the files of the package by name, tests left out.
func goFiles(t *testing.T) map[string]*ast.File {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if out[name], err = parser.ParseFile(token.NewFileSet(), name, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func saidKeys(t *testing.T) []string {
	t.Helper()
	keys, err := scriptKeys()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range goFiles(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "T" {
				return true
			}
			if text, ok := call.Args[0].(*ast.BasicLit); ok {
				key, err := strconv.Unquote(text.Value)
				if err != nil {
					t.Fatal(err)
				}
				keys = append(keys, key)
			}
			return true
		})
	}
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range s.templates["en"].Templates() {
		if one.Tree != nil {
			keys = append(keys, keysOf(one.Tree.Root)...)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// keysOf are the messages that a template says.
func keysOf(n parse.Node) (keys []string) {
	for _, call := range regexp.MustCompile(`\bt ("(?:[^"\\]|\\.)*")`).FindAllStringSubmatch(n.String(), -1) {
		if key, err := strconv.Unquote(call[1]); err == nil {
			keys = append(keys, key)
		}
	}
	return keys
}
