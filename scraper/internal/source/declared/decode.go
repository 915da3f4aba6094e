package declared

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// text is one scalar and its place. A text that is not in the file is empty and
// has the place zero.
type text struct {
	s  string
	at place
}

func (t text) given() bool { return t.at != place{} }

// decoder fills structs from a file's nodes and collects what is wrong, so that
// a person sees all of it at once.
type decoder struct {
	file     string
	problems []Problem
	// beside are files the description is read with: that of a password.
	beside []string
	// places are where selectors and paths stand, by dotted name.
	places map[string]place
}

// maxProblems bounds what one file may be told.
const maxProblems = 50

func (d *decoder) problem(at place, format string, args ...any) {
	if len(d.problems) < maxProblems {
		d.problems = append(d.problems, Problem{d.file, at.line, at.column, fmt.Sprintf(format, args...)})
	}
}

// maxNesting bounds how deep a file's parts may lie: a description needs five.
const maxNesting = 12

// body is what data holds, nil with a problem where that is no description.
func (d *decoder) body(data []byte) ast.Node {
	if line, ok := tangled(data); ok {
		d.problem(place{line, 1}, "this is no line of a description: too much is nested in it")
		return nil
	}
	file, err := parse(data)
	if err != nil {
		var at place
		message := err.Error()
		var known yaml.Error
		if errors.As(err, &known) {
			message = known.GetMessage()
			if t := known.GetToken(); t != nil && t.Position != nil {
				at = place{t.Position.Line, t.Position.Column}
			}
		}
		d.problem(at, "this is not YAML: %s", oneLine(message))
		return nil
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc == nil || doc.Body == nil || doc.Body.Type() == ast.CommentType {
			continue
		}
		if body != nil {
			d.problem(placeOf(doc.Body), "a second document begins here; a file describes one Site")
			return nil
		}
		body = doc.Body
	}
	if body == nil {
		d.problem(place{1, 1}, "the file is empty")
		return nil
	}
	return body
}

// decode reads a body into the struct that to points at.
func (d *decoder) decode(body ast.Node, to any) {
	d.into(body, reflect.ValueOf(to).Elem(), "", 0)
}

// parse guards against the parser's own faults: a file may be anything.
func parse(data []byte) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("it cannot be read at all")
		}
	}()
	return parser.ParseBytes(data, 0)
}

// maxMarks is how many marks of YAML one line may hold, and how many brackets may
// be open at once.
const (
	maxMarks = 300
	maxOpen  = 4 * maxNesting
)

// tangled names a line that would lead the parser to descend without end: it
// works through nested marks again and again.
func tangled(data []byte) (line int, found bool) {
	open := 0
	for l := range bytes.Lines(data) {
		line++
		marks := 0
		for _, b := range l {
			switch b {
			case '[', '{':
				open++
			case ']', '}':
				open = max(open-1, 0)
			case '-', '?', ':', '!', '&', '*', '|', '>':
				marks++
			}
			if open > maxOpen || marks > maxMarks {
				return line, true
			}
		}
	}
	return 0, false
}

var (
	textType  = reflect.TypeFor[text]()
	valueType = reflect.TypeFor[valueText]()
	placeType = reflect.TypeFor[place]()
)

// into fills v from n. where is the dotted name of n, "" for the whole file.
func (d *decoder) into(n ast.Node, v reflect.Value, where string, depth int) {
	if depth > maxNesting {
		d.problem(placeOf(n), "%s is nested too deep", where)
		return
	}
	switch n.Type() {
	case ast.AnchorType, ast.AliasType, ast.TagType, ast.MergeKeyType:
		d.problem(placeOf(n), "%s: anchors, aliases and tags are not used in these files; put text that begins with & * or ! in quotes", named(where))
		return
	}
	switch {
	case v.Type() == textType:
		d.scalar(n, v.Addr().Interface().(*text), where)
	case v.Type() == valueType:
		d.value(n, v.Addr().Interface().(*valueText), where, depth)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.into(n, v.Elem(), where, depth)
	case v.Kind() == reflect.Slice:
		d.list(n, v, where, depth)
	case v.Kind() == reflect.Map:
		d.words(n, v, where)
	default:
		d.fields(n, v, where, depth)
	}
}

func (d *decoder) scalar(n ast.Node, to *text, where string) {
	at := placeOf(n)
	switch s := n.(type) {
	case *ast.StringNode:
		*to = text{s.Value, at}
	case *ast.LiteralNode:
		*to = text{strings.TrimSpace(s.Value.Value), at}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		*to = text{n.GetToken().Value, at}
	case *ast.NullNode:
		d.problem(at, "%s is empty; text that begins with # must be in quotes", named(where))
		return
	default:
		d.problem(at, "%s must be one text, not %s", named(where), kindOf(n))
		return
	}
	if to.s == "" {
		d.problem(at, "%s is empty", named(where))
	}
	if len(to.s) > maxSetting {
		d.problem(at, "%s is longer than %d bytes", named(where), maxSetting)
		to.s = ""
	}
}

// maxSetting bounds one text of a description.
const maxSetting = 4096

// value reads a text, a list of texts of which the first that finds something
// counts, or a mapping.
func (d *decoder) value(n ast.Node, to *valueText, where string, depth int) {
	to.At = placeOf(n)
	switch n.Type() {
	case ast.MappingType, ast.MappingValueType:
		d.fields(n, reflect.ValueOf(&to.valueKeys).Elem(), where, depth)
	default:
		d.list(n, reflect.ValueOf(&to.From).Elem(), where, depth)
	}
}

// list reads a sequence; a single thing is a list of one.
func (d *decoder) list(n ast.Node, v reflect.Value, where string, depth int) {
	nodes := []ast.Node{n}
	if seq, ok := n.(*ast.SequenceNode); ok {
		if nodes = seq.Values; len(nodes) == 0 {
			d.problem(placeOf(n), "%s is an empty list", named(where))
		}
	}
	if len(nodes) > maxList {
		d.problem(placeOf(n), "%s has more than %d entries", named(where), maxList)
		return
	}
	for _, each := range nodes {
		one := reflect.New(v.Type().Elem()).Elem()
		d.into(each, one, where, depth+1)
		v.Set(reflect.Append(v, one))
	}
}

// maxList bounds one list or table of words of a description.
const maxList = 200

func (d *decoder) words(n ast.Node, v reflect.Value, where string) {
	v.Set(reflect.MakeMap(v.Type()))
	d.entries(n, where, func(key string, at place, val ast.Node) {
		var t text
		d.scalar(val, &t, where+"."+key)
		if v.Len() >= maxList {
			d.problem(at, "%s has more than %d entries", named(where), maxList)
			return
		}
		v.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(t))
	})
}

// fields reads a mapping into a struct by its yaml tags.
func (d *decoder) fields(n ast.Node, v reflect.Value, where string, depth int) {
	t := v.Type()
	known := keysOf(t)
	for i := range t.NumField() {
		if t.Field(i).Type == placeType {
			*(v.Field(i).Addr().Interface().(*place)) = placeOf(n)
		}
	}
	d.entries(n, where, func(key string, at place, val ast.Node) {
		i, ok := known[key]
		if !ok {
			d.problem(at, "%s: there is no key %q here%s", named(where), key, nearest(key, known))
			return
		}
		d.into(val, v.FieldByIndex(i), strings.TrimPrefix(where+"."+key, "."), depth+1)
	})
}

func (d *decoder) entries(n ast.Node, where string, each func(key string, at place, val ast.Node)) {
	m, ok := n.(ast.MapNode)
	if !ok {
		d.problem(placeOf(n), "%s must be keys with values, not %s", named(where), kindOf(n))
		return
	}
	for it := m.MapRange(); it.Next(); {
		key := it.Key()
		at := placeOf(key)
		if key.IsMergeKey() || key.GetToken() == nil {
			d.problem(at, "%s: merge keys are not used in these files", named(where))
			continue
		}
		each(key.GetToken().Value, at, it.Value())
	}
}

// keysOf maps the yaml keys of a struct, and of those it embeds, to its fields.
func keysOf(t reflect.Type) map[string][]int {
	out := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		if k := f.Tag.Get("yaml"); k != "" {
			out[k] = f.Index
		}
	}
	return out
}
