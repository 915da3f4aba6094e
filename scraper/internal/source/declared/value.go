package declared

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// node is a part of a page: an element, or a value of a JSON document.
type node struct {
	html *html.Node
	json any
	// markup is true when html counts.
	markup bool
}

// vars are what a template may name besides what it finds.
type vars map[string]string

// expr finds texts in a node.
type expr interface {
	// texts are what is found, in order, at most most; those found empty are ""
	texts(n node, most int) []string
	// nodes are the parts found.
	nodes(n node, most int) []node
}

func (c css) texts(n node, most int) []string {
	if n.html == nil {
		return nil
	}
	found := c.find(n.html)
	out := make([]string, 0, min(len(found), most))
	for _, f := range found[:min(len(found), most)] {
		out = append(out, c.one(f))
	}
	return out
}

func (c css) nodes(n node, most int) []node {
	if n.html == nil {
		return nil
	}
	found := c.find(n.html)
	out := make([]node, 0, min(len(found), most))
	for _, f := range found[:min(len(found), most)] {
		out = append(out, node{html: f, markup: true})
	}
	return out
}

func (p path) texts(n node, most int) []string {
	var out []string
	for _, v := range p.walk(n.json, most) {
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, v := range list[:min(len(list), most-len(out))] {
			out = append(out, tidy(scalar(v)))
		}
	}
	return out
}

func (p path) nodes(n node, most int) []node {
	found := p.walk(n.json, most)
	if len(found) == 1 {
		// A path to one list means what is in it.
		if list, ok := found[0].([]any); ok {
			found = list
		}
	}
	out := make([]node, 0, min(len(found), most))
	for _, v := range found[:min(len(found), most)] {
		out = append(out, node{json: v})
	}
	return out
}

// piece is a part of a template: words, or what to put there.
type piece struct {
	words string
	name  string // of a variable
	expr  expr
}

// value is a compiled valueText.
type value struct {
	name     string
	at       place
	alts     []expr
	template []piece
	constant string
	match    *regexp.Regexp
	words    map[string]string
	formats  []dateFormat
	zone     zone
}

// apart has the texts of elements read with a space between them: what stands in
// two elements is two words, however close they are in the markup.
func (v *value) apart() {
	if v == nil {
		return
	}
	one := func(e expr) expr {
		if c, ok := e.(css); ok {
			c.apart = true
			return c
		}
		return e
	}
	for i := range v.alts {
		v.alts[i] = one(v.alts[i])
	}
	for i := range v.template {
		if v.template[i].expr != nil {
			v.template[i].expr = one(v.template[i].expr)
		}
	}
}

// maxEach bounds how many texts one value may yield.
const maxEach = 200

// first is the first text found that is not empty after match and words; "" for
// a nil value.
func (v *value) first(n node, known vars) string {
	if v == nil {
		return ""
	}
	if v.constant != "" {
		return v.constant
	}
	if v.template != nil {
		if s := v.shape(v.fill(n, known)); s != "" {
			return s
		}
	}
	for _, e := range v.alts {
		for _, s := range e.texts(n, maxEach) {
			if s = v.shape(s); s != "" {
				return s
			}
		}
	}
	return ""
}

// each are all texts the first alternative that finds any finds.
func (v *value) each(n node, known vars, most int) []string {
	if v == nil {
		return nil
	}
	if v.constant != "" || v.template != nil {
		if s := v.first(n, known); s != "" {
			return []string{s}
		}
		return nil
	}
	for _, e := range v.alts {
		var out []string
		for _, s := range e.texts(n, most) {
			if s = v.shape(s); s != "" {
				out = append(out, s)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// shape cuts a text to what match takes of it and puts our word for it.
func (v *value) shape(s string) string {
	if v.match != nil && s != "" {
		m := v.match.FindStringSubmatch(s)
		switch {
		case m == nil:
			return ""
		case len(m) > 1:
			s = strings.TrimSpace(m[1])
		default:
			s = strings.TrimSpace(m[0])
		}
	}
	if w, ok := v.words[strings.ToLower(s)]; ok {
		return w
	}
	return s
}

// fill puts a template together; "" when a part of it is not there.
func (v *value) fill(n node, known vars) string {
	var b strings.Builder
	for _, p := range v.template {
		s := p.words
		switch {
		case p.expr != nil:
			for _, s = range p.expr.texts(n, maxEach) {
				if s != "" {
					break
				}
			}
		case p.name != "":
			s = known[p.name]
		}
		if s == "" {
			return ""
		}
		b.WriteString(s)
		if b.Len() > maxText {
			return ""
		}
	}
	return b.String()
}
