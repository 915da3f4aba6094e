package declared

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a Site's zone must not depend on what the machine has
)

// sectionText is what the sections of a description have in common.
type sectionText struct {
	name     string
	at       place
	read     text
	answer   text
	script   *scriptText
	landmark text
	missing  text
	// otherwise is read when read is not given.
	otherwise text
	names     []string
}

func (d *decoder) section(s *Described, t sectionText) section {
	var out section
	switch t.answer.s {
	case "", "html":
	case "json":
		out.json = true
		if t.script != nil {
			d.problem(t.script.At, "%s.script is for HTML; a JSON answer needs none", t.name)
		}
	default:
		d.problem(t.answer.at, "%s.answer is html or json, not %q", t.name, t.answer.s)
	}
	if t.read.given() {
		out.ownRead = true
		out.read = d.pattern(t.read, t.at, t.name+".read", s, t.names...)
	} else if t.otherwise.given() {
		out.read = s.address
	}
	if t.script != nil {
		out.script = d.script(t.script, t.name+".script")
	}
	if t.name == "chapters" && !out.ownRead {
		out.json = s.series.json
	}
	out.landmark, out.landText = d.expr(t.landmark, t.name+".landmark", out.json), t.landmark.s
	out.missing = d.expr(t.missing, t.name+".missing", out.json)
	return out
}

func (d *decoder) script(t *scriptText, where string) *script {
	out := &script{from: must("script")}
	if t.From.given() {
		if e, ok := d.expr(t.From, where+".from", false).(css); ok {
			out.from = e
		}
	}
	out.match, out.each = d.regexp(t.Match, where+".match"), d.regexp(t.Each, where+".each")
	if t.Each.given() && t.Path.given() {
		d.problem(t.Path.at, "%s: path is for JSON and each for what is none; use one", where)
	}
	if t.Path.given() {
		p, err := parsePath(t.Path.s)
		if err != nil {
			d.problem(t.Path.at, "%s.path: %s", where, err)
		}
		out.path = p
	}
	if !t.From.given() && !t.Match.given() && !t.Each.given() {
		d.problem(t.At, "%s needs from, match or each, to know which script is meant", where)
	}
	return out
}

func (d *decoder) regexp(t text, where string) *regexp.Regexp {
	if !t.given() {
		return nil
	}
	re, err := regexp.Compile(t.s)
	if err != nil {
		d.problem(t.at, "%s: %s", where, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		return nil
	}
	if re.NumSubexp() > 1 {
		d.problem(t.at, "%s: it has %d groups; only the first counts, so use (?:…) for the others", where, re.NumSubexp())
	}
	return re
}

func (d *decoder) pattern(t text, at place, where string, s *Described, names ...string) pattern {
	if !t.given() {
		d.problem(at, "%s is missing", where)
		return pattern{segments: []string{"?"}}
	}
	p, err := parsePattern(t.s, names...)
	if err != nil {
		d.problem(t.at, "%s: %q %s", where, t.s, err)
		return pattern{segments: []string{"?"}}
	}
	if len(s.hosts) > 0 && !within(p.fill(nil), s.hosts) {
		d.problem(t.at, "%s: %s is not one of hosts", where, p.host)
	}
	return p
}

// expr compiles a selector or a path; nil when it is not given or wrong.
func (d *decoder) expr(t text, where string, inJSON bool) expr {
	if t.s == "" {
		return nil
	}
	if _, ok := d.places[where]; !ok {
		d.places[where] = t.at
	}
	e, err := parseExpr(t.s, inJSON)
	if err != nil {
		d.problem(t.at, "%s: %s", where, err)
		return nil
	}
	return e
}

func parseExpr(s string, inJSON bool) (expr, error) {
	if inJSON {
		p, err := parsePath(s)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
	c, err := parseCSS(s)
	if err != nil {
		return nil, fmt.Errorf("%q is no CSS selector: %w", s, err)
	}
	return c, nil
}

// must is for selectors of our own.
func must(s string) css {
	c, err := parseCSS(s)
	if err != nil {
		panic(err) // a mistake in this package, at its first test
	}
	return c
}

// values returns what compiles the values of one section.
func (d *decoder) values(sect string, inJSON bool) func(*valueText, string) *value {
	return func(t *valueText, key string) *value {
		if t == nil {
			return nil
		}
		where := sect + "." + key
		v := &value{name: where, at: t.At, constant: t.Constant.s, match: d.regexp(t.Match, where+".match")}
		for _, f := range t.From {
			if e := d.expr(f, where, inJSON); e != nil {
				v.alts = append(v.alts, e)
			}
		}
		if t.Template.given() {
			v.template = d.template(t.Template, where+".template", inJSON)
		}
		if len(t.From) == 0 && !t.Template.given() && !t.Constant.given() {
			d.problem(t.At, "%s needs from, template or constant", where)
		}
		if t.Constant.given() && (len(t.From) > 0 || t.Template.given() || t.Match.given()) {
			d.problem(t.Constant.at, "%s: a constant stands alone", where)
		}
		if t.Words != nil {
			v.words = map[string]string{}
			for k, w := range t.Words {
				v.words[strings.ToLower(k)] = w.s
			}
		}
		if (len(t.Formats) > 0 || t.Zone.given()) && where != "chapters.date" {
			d.problem(t.At, "%s: formats and zone are for chapters.date", where)
		}
		for _, f := range t.Formats {
			format, err := parseFormat(f.s)
			if err != nil {
				d.problem(f.at, "%s.formats: %s", where, err)
				continue
			}
			v.formats = append(v.formats, format)
		}
		if t.Zone.given() {
			z, err := time.LoadLocation(t.Zone.s)
			if err != nil {
				d.problem(t.Zone.at, "%s.zone: %q is no zone, such as Asia/Tokyo", where, t.Zone.s)
			}
			v.zone = z
		}
		return v
	}
}

// templateNames are what a template may name beside what it finds.
var templateNames = []string{"series_id", "chapter_id"}

func (d *decoder) template(t text, where string, inJSON bool) []piece {
	var out []piece
	for rest := t.s; rest != ""; {
		before, after, open := strings.Cut(rest, "{")
		if before != "" {
			out = append(out, piece{words: before})
		}
		if !open {
			break
		}
		name, behind, closed := strings.Cut(after, "}")
		if !closed || name == "" {
			d.problem(t.at, "%s: a brace is empty or not closed", where)
			return []piece{{words: ""}}
		}
		p := piece{name: name}
		if !slices.Contains(templateNames, name) {
			p.name = ""
			if p.expr = d.expr(text{name, t.at}, where, inJSON); p.expr == nil {
				return []piece{{words: ""}}
			}
		}
		out, rest = append(out, p), behind
	}
	return out
}
