package declared

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Limits of a JSON document; its size is bounded where it is fetched.
const (
	maxJSONDepth = 64
	maxJSONParts = 500_000
)

// object is a JSON object that remembers the order of its keys: some Sites keep
// a list in one.
type object struct {
	keys   []string
	values map[string]any
}

// parseJSON reads the first JSON value of data; with whole, nothing may follow.
// Numbers stay as they are written.
func parseJSON(data []byte, whole bool) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	left := maxJSONParts
	v, err := jsonValue(d, 0, &left)
	if err != nil || !whole {
		return v, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON")
	}
	return v, nil
}

func jsonValue(d *json.Decoder, depth int, left *int) (any, error) {
	if *left--; *left < 0 {
		return nil, errors.New("the JSON has too many parts")
	}
	if depth > maxJSONDepth {
		return nil, errors.New("the JSON is nested too deep")
	}
	t, err := d.Token()
	if err != nil {
		return nil, errors.New("it is no JSON")
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := jsonValue(d, depth+1, left)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, closing(d)
	case json.Delim('{'):
		o := &object{values: map[string]any{}}
		for d.More() {
			k, err := d.Token()
			key, ok := k.(string)
			if err != nil || !ok {
				return nil, errors.New("it is no JSON")
			}
			v, err := jsonValue(d, depth+1, left)
			if err != nil {
				return nil, err
			}
			if _, twice := o.values[key]; !twice {
				o.keys = append(o.keys, key)
			}
			o.values[key] = v
		}
		return o, closing(d)
	}
	if _, isDelim := t.(json.Delim); isDelim {
		return nil, errors.New("it is no JSON")
	}
	return t, nil
}

func closing(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return errors.New("it is no JSON")
	}
	return nil
}

// step is one step of a path: a key, an index, or every child.
type step struct {
	key   string
	index int // -1 for a key
	every bool
}

// path leads through a JSON document: "a.b", "a[0]", "a[*].b", `a["b c"]`, "$".
type path []step

func parsePath(s string) (path, error) {
	rest := strings.TrimSpace(s)
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "$"), ".")
	var out path
	for rest != "" {
		if len(out) > maxJSONDepth {
			return nil, fmt.Errorf("%q is too long for a path", s)
		}
		switch {
		case strings.HasPrefix(rest, "["):
			inside, after, ok := strings.Cut(rest[1:], "]")
			if !ok {
				return nil, fmt.Errorf("%q: a bracket is not closed", s)
			}
			st := step{index: -1}
			if n, err := strconv.Atoi(inside); err == nil && n >= 0 {
				st.index = n
			} else if inside == "*" {
				st.every = true
			} else if len(inside) > 2 && (inside[0] == '"' || inside[0] == '\'') && inside[len(inside)-1] == inside[0] {
				st.key = inside[1 : len(inside)-1]
			} else {
				return nil, fmt.Errorf("%q: %q is no index, * or name in quotes", s, inside)
			}
			out, rest = append(out, st), strings.TrimPrefix(after, ".")
		default:
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			name := rest[:end]
			if name == "" || strings.ContainsAny(name, " ]@>#\"'") {
				return nil, fmt.Errorf("%q is no path into JSON, such as data.list[*].name", s)
			}
			out = append(out, step{key: name, index: -1, every: name == "*"})
			rest = rest[end:]
			if strings.HasPrefix(rest, ".") {
				if rest = rest[1:]; rest == "" {
					return nil, fmt.Errorf("%q ends with a dot", s)
				}
			}
		}
	}
	return out, nil
}

// walk returns what p leads to from v, at most most things.
func (p path) walk(v any, most int) []any {
	at := []any{v}
	for _, s := range p {
		var next []any
		for _, v := range at {
			next = append(next, s.from(v)...)
			if len(next) > maxJSONParts {
				return nil
			}
		}
		at = next
	}
	return at[:min(len(at), most)]
}

func (s step) from(v any) []any {
	switch v := v.(type) {
	case []any:
		if s.every {
			return v
		}
		if s.index >= 0 && s.index < len(v) {
			return []any{v[s.index]}
		}
	case *object:
		if s.every {
			all := make([]any, 0, len(v.keys))
			for _, k := range v.keys {
				all = append(all, v.values[k])
			}
			return all
		}
		if got, ok := v.values[s.key]; ok && s.index < 0 {
			return []any{got}
		}
	}
	return nil
}

// scalar is v as text; lists and objects have none.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}
