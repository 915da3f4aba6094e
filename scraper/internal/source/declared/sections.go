package declared

import (
	"regexp"
	"slices"
	"strings"

	"mangrove/scraper/internal/source"
)

// section is where the values of one kind of page come from.
type section struct {
	read     pattern
	ownRead  bool
	json     bool // the answer is JSON
	script   *script
	landmark expr
	landText string
	missing  expr
}

// values reports whether the section's values are paths into JSON.
func (s section) values() bool { return s.json || s.script != nil }

// script cuts a list out of a page's scripts.
type script struct {
	from  css
	match *regexp.Regexp
	path  path
	each  *regexp.Regexp
}

type seriesPart struct {
	section
	id, title, nativeTitle, authors, description, status, tags, cover, direction, license *value
}

type chaptersPart struct {
	section
	item, skip                                                                      expr
	oldest                                                                          bool
	next                                                                            *value
	nextLimit                                                                       int
	count, id, address, label, number, volume, title, group, language, date, extern *value
}

type pagesPart struct {
	section
	chapter, source, count *value
	image                  expr
	byPath                 bool
}

type searchPart struct {
	section
	item                      expr
	id, address, title, cover *value
}

func (d *decoder) compileListed(s *Described, in description) {
	for _, l := range in.Listed {
		d.need(l.ID, l.At, "listed.id")
		d.need(l.Title, l.At, "listed.title")
		if l.ID.given() && !goodID(l.ID.s) {
			d.problem(l.ID.at, "listed.id: %q cannot be an id", l.ID.s)
		}
		if slices.ContainsFunc(s.listed, func(o source.Series) bool { return o.ID == l.ID.s }) {
			d.problem(l.ID.at, "listed.id: %q stands twice", l.ID.s)
		}
		s.listed = append(s.listed, source.Series{ID: l.ID.s, Title: l.Title.s, URL: s.address.fill(vars{"id": l.ID.s})})
	}
	if s.address.fixed && in.Series.Address.given() && len(s.listed) != 1 {
		d.problem(in.Series.Address.at, "series.address names no {id}: it is the address of one Series, which listed must name")
	}
}

func (d *decoder) compileSeries(s *Described, in description) {
	t := in.Series
	if t.At == (place{}) {
		d.problem(in.At, "series is missing: how the page of a Series is read")
		return
	}
	s.address = d.pattern(t.Address, t.At, "series.address", s, "id")
	for _, a := range t.Also {
		s.also = append(s.also, d.pattern(a, a.at, "series.also", s, "id"))
	}
	p := &s.series
	p.section = d.section(s, sectionText{"series", t.At, t.Read, t.Answer, t.Script, t.Landmark, t.Missing, t.Address, []string{"id"}})
	if !t.Landmark.given() {
		d.problem(t.At, "series.landmark is missing: a part that every Series page has, whatever it lists, so that a maintenance page is not taken for one")
	}
	if t.Title == nil {
		d.problem(t.At, "series.title is missing")
	}
	v := d.values("series", p.values())
	p.id, p.title, p.nativeTitle, p.authors = v(t.ID, "id"), v(t.Title, "title"), v(t.NativeTitle, "native_title"), v(t.Authors, "authors")
	p.description, p.status, p.tags, p.cover = v(t.Description, "description"), v(t.Status, "status"), v(t.Tags, "tags"), v(t.Cover, "cover")
	p.direction, p.license = v(t.Direction, "direction"), v(t.License, "license")
	d.ourWords(p.status, t.Status, source.Statuses(), "series.status")
	d.ourWords(p.direction, t.Direction, source.Directions(), "series.direction")
}

func (d *decoder) compileChapters(s *Described, in description) {
	t := in.Chapters
	if t.At == (place{}) {
		d.problem(in.At, "chapters is missing: how the list of chapters is read")
		return
	}
	p := &s.chapters
	p.section = d.section(s, sectionText{"chapters", t.At, t.Read, t.Answer, t.Script, t.Landmark, t.Missing, text{}, []string{"id", "page"}})
	if !p.ownRead && t.Answer.given() {
		d.problem(t.Answer.at, "chapters.answer is for a list that is read on its own: chapters.read is missing")
	}
	inJSON := p.values() || (!p.ownRead && s.series.values())
	d.need(t.Item, t.At, "chapters.item")
	p.item = d.expr(t.Item, "chapters.item", inJSON)
	p.skip = d.expr(t.Skip, "chapters.skip", inJSON)
	switch t.Order.s {
	case "", "newest":
	case "oldest":
		p.oldest = true
	default:
		d.problem(t.Order.at, "chapters.order is newest or oldest: what stands first in the Site's list, not %q", t.Order.s)
	}
	page := d.values("chapters", p.json)
	p.next, p.count = page(t.Next, "next"), page(t.Count, "count")
	p.nextLimit = d.number(t.NextLimit, "chapters.next_limit", defaultNext, 1, mostNext)
	if p.next != nil && strings.Contains(p.read.raw, "{page}") {
		d.problem(p.next.at, "chapters.next and {page} in chapters.read are two ways of turning pages; use one")
	}
	v := d.values("chapters", inJSON)
	p.id, p.address, p.number, p.volume, p.title = v(t.ID, "id"), v(t.Address, "address"), v(t.Number, "number"), v(t.Volume, "volume"), v(t.Title, "title")
	if p.label = v(t.Label, "label"); t.Label == nil && t.Number == nil && t.Title == nil && !inJSON {
		// What a visitor presses is what the chapter is called by.
		p.label = &value{name: "chapters.label", at: t.At, alts: []expr{must("a"), must("text")}}
	}
	p.label.apart()
	p.number.apart()
	p.group, p.language, p.date, p.extern = v(t.Group, "group"), v(t.Language, "language"), v(t.Date, "date"), v(t.External, "external")
	if p.address == nil {
		if inJSON {
			d.problem(t.At, "chapters.address is missing: where the page of a chapter lies")
		} else {
			p.address = &value{name: "chapters.address", at: t.At, alts: []expr{css{attrs: []string{"href"}}, must("a@href")}}
		}
	}
	if p.date != nil && p.date.formats == nil {
		p.date.formats = []dateFormat{{word: "iso"}}
	}
}

func (d *decoder) compilePages(s *Described, in description) {
	t := in.Pages
	if t.At == (place{}) {
		d.problem(in.At, "pages is missing: how the images of a chapter are found")
		return
	}
	p := &s.pages
	p.section = d.section(s, sectionText{"pages", t.At, t.Read, t.Answer, t.Script, t.Landmark, text{}, text{}, []string{"id", "chapter"}})
	if !t.Landmark.given() {
		d.problem(t.At, "pages.landmark is missing: a part that every chapter page has")
	}
	if t.Image.given() || !p.values() {
		d.need(t.Image, t.At, "pages.image")
		p.image = d.expr(t.Image, "pages.image", p.values())
	} else {
		p.image = path{}
	}
	p.source = d.values("pages", p.values())(t.Source, "source")
	if p.source == nil {
		p.source = &value{name: "pages.source", at: t.At, alts: []expr{path{}}}
		if !p.values() {
			p.source.alts = []expr{css{attrs: []string{"data-src", "data-lazy-src", "data-original", "data-srcset", "srcset", "src"}}}
		}
	}
	page := d.values("pages", p.json)
	p.chapter, p.count = page(t.Chapter, "chapter"), page(t.Count, "count")
	switch t.Identity.s {
	case "", "address":
	case "path":
		p.byPath = true
	default:
		d.problem(t.Identity.at, "pages.identity is address or path, not %q", t.Identity.s)
	}
}

func (d *decoder) compileSearch(s *Described, in description) {
	t := in.Search
	if t == nil {
		return
	}
	p := &searchPart{}
	s.search = p
	p.section = d.section(s, sectionText{"search", t.At, t.Read, t.Answer, t.Script, t.Landmark, text{}, text{}, []string{"query"}})
	d.need(t.Read, t.At, "search.read")
	if t.Read.given() && !strings.Contains(t.Read.s, "{query}") {
		d.problem(t.Read.at, "search.read must name {query}")
	}
	d.need(t.Item, t.At, "search.item")
	p.item = d.expr(t.Item, "search.item", p.values())
	v := d.values("search", p.values())
	p.id, p.address, p.title, p.cover = v(t.ID, "id"), v(t.Address, "address"), v(t.Title, "title"), v(t.Cover, "cover")
	if t.Title == nil {
		d.problem(t.At, "search.title is missing")
	}
	if p.address == nil && p.id == nil {
		if p.values() {
			d.problem(t.At, "search needs id or address, to know which Series was found")
		} else {
			p.address = &value{name: "search.address", at: t.At, alts: []expr{css{attrs: []string{"href"}}, must("a@href")}}
		}
	}
}

// ourWords checks that a table of words leads to words of ours, and adds ours.
func (d *decoder) ourWords(v *value, t *valueText, ours []string, where string) {
	if v == nil {
		return
	}
	words := map[string]string{"complete": "completed", "finished": "completed", "on going": "ongoing", "publishing": "ongoing", "canceled": "cancelled"}
	for _, w := range ours {
		words[w] = w
	}
	for k, w := range t.Words {
		if !slices.Contains(ours, w.s) {
			d.problem(w.at, "%s.words.%s: %q is none of %s", where, k, w.s, strings.Join(ours[1:], ", "))
		}
	}
	for k, w := range v.words {
		words[k] = w
	}
	v.words = words
}
