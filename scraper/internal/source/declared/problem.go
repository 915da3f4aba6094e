package declared

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Problem is one thing that is wrong with a description.
type Problem struct {
	// File is the path it was read from; Line and Column begin at 1, and are 0
	// when the problem has no place in the file.
	File         string
	Line, Column int
	Message      string
}

// String renders a problem the way compilers do, so that editors find the place.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// place is where something stands in a file.
type place struct{ line, column int }

func placeOf(n ast.Node) place {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return place{1, 1}
	}
	p := n.GetToken().Position
	// A mapping's own token is the colon of its first entry; the key is meant.
	switch m := n.(type) {
	case *ast.MappingNode:
		if len(m.Values) > 0 && !m.IsFlowStyle {
			return placeOf(m.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return placeOf(m.Key)
	}
	return place{p.Line, p.Column}
}

func kindOf(n ast.Node) string {
	switch n.Type() {
	case ast.MappingType, ast.MappingValueType:
		return "keys with values"
	case ast.SequenceType:
		return "a list"
	case ast.NullType:
		return "nothing"
	}
	return "a text"
}

func named(where string) string {
	if where == "" {
		return "the file"
	}
	return where
}

// nearest proposes the known key that looks most like key.
func nearest(key string, known map[string][]int) string {
	best, least := "", 3
	for k := range known {
		if n := distance(key, k); n < least || (n == least && best != "" && k < best) {
			best, least = k, n
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is how many letters must change to make a from b.
func distance(a, b string) int {
	if len(a) > 40 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}

func oneLine(s string) string { return clip(strings.Join(strings.Fields(s), " "), 200) }
