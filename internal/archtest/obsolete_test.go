package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestNothingReadsAnObsoletePath: what docs/upgrading.md calls unused and safe to delete
// stands in no program and no script (features H7).
func TestNothingReadsAnObsoletePath(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "upgrading.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Obsolete paths\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var names []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(section, -1) {
		names = append(names, path.Base(row[1]))
	}
	if !found || !slices.Contains(names, "sentinel") || len(names) < 5 {
		t.Fatalf("docs/upgrading.md lists %q", names)
	}
	literals := 0
	for _, p := range packages(t) {
		for _, file := range p.GoFiles {
			parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				value, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				literals++
				for _, name := range names {
					if names := strings.Split(value, "/"); slices.Contains(names, name) {
						t.Errorf("%s/%s: %q is an obsolete path", p.ImportPath, file, value)
					}
				}
				return true
			})
		}
	}
	if literals < 1000 {
		t.Errorf("only %d strings were looked at", literals)
	}
	scripts, err := filepath.Glob(filepath.Join(root, "deploy", "*"))
	if err != nil || len(scripts) < 5 {
		t.Fatal(scripts, err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			continue // a folder
		}
		for _, name := range names {
			if strings.Contains(string(text), "/"+name) {
				t.Errorf("%s names the obsolete path %s", script, name)
			}
		}
	}
}
