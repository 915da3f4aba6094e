package declared

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/language"

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

// Described is a described Site, checked and ready to be read. It is the adapter,
// without the search that only some have: see Adapter.
type Described struct {
	file  string
	site  source.Site
	hosts []string // of pages; site.Hosts has those of images too
	// charset is the declared one, or "".
	charset string
	listed  []source.Series

	address pattern
	also    []pattern

	series   seriesPart
	chapters chaptersPart
	pages    pagesPart
	search   *searchPart
}

type seriesPart struct {
	section
	id, title, nativeTitle, authors, description, status, tags, cover, direction, license *value
}

type chaptersPart struct {
	section
	item, skip                                                               expr
	oldest                                                                   bool
	next                                                                     *value
	nextLimit                                                                int
	count, id, address, number, volume, title, group, language, date, extern *value
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

// The bounds of what a person may set, and what stands when nothing is said.
const (
	defaultPacing = 2 * time.Second
	leastPacing   = 500 * time.Millisecond
	mostPacing    = 10 * time.Minute
	mostImages    = 4
	mostListLife  = 24 * time.Hour
	defaultNext   = 50
	mostNext      = 200
)

var (
	keyForm    = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)
	prefixForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)
	hostForm   = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$`)
)

// compile turns a description into a Site; what is wrong goes to the decoder.
func (d *decoder) compile(key string, in description) *Described {
	s := &Described{file: d.file, charset: in.Charset.s}
	if !keyForm.MatchString(key) {
		d.problem(place{}, "the file's name is the Site's key: small letters, digits and -, at most 40")
	}
	if in.Key.given() && in.Key.s != key {
		d.problem(in.Key.at, "key is %q, but the file's name makes it %q", in.Key.s, key)
	}
	d.need(in.Name, in.At, "name")
	s.hosts = d.hostList(in.Hosts, "hosts")
	if len(in.Hosts) == 0 {
		d.problem(in.At, "hosts is missing: the hosts Mangrove may ask, for example hosts: [comic.example]")
	}
	s.site = source.Site{
		Key: key, Name: in.Name.s, Hosts: slices.Concat(s.hosts, d.hostList(in.ImageHosts, "image_hosts")),
		Pacing:         d.duration(in.Pacing, "pacing", defaultPacing, leastPacing, mostPacing),
		ImagesInFlight: d.number(in.ImagesInFlight, "images_in_flight", 0, 1, mostImages),
		ListLife:       d.duration(in.ListLife, "list_life", 0, time.Second, mostListLife),
		Browser:        d.flag(in.Browser, "browser"), WorkPrefix: key + "-",
	}
	if in.WorkPrefix.given() {
		if !prefixForm.MatchString(in.WorkPrefix.s) {
			d.problem(in.WorkPrefix.at, "work_prefix %q begins the names of folders: small letters, digits, - and _, at most 40", in.WorkPrefix.s)
		}
		s.site.WorkPrefix = in.WorkPrefix.s
	}
	for _, l := range in.Languages {
		tag, err := language.Parse(l.s)
		if err != nil {
			d.problem(l.at, "languages: %q is no language, such as en, pt-BR or ja", l.s)
			continue
		}
		s.site.Languages = append(s.site.Languages, tag.String())
	}
	if in.Charset.given() {
		if _, err := htmlindex.Get(in.Charset.s); err != nil {
			d.problem(in.Charset.at, "charset: %q is no character set, such as shift_jis", in.Charset.s)
		}
	}
	d.compileSeries(s, in)
	d.compileChapters(s, in)
	d.compilePages(s, in)
	d.compileSearch(s, in)
	d.compileListed(s, in)
	return s
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

func (d *decoder) hostList(in []text, where string) []string {
	var out []string
	for _, h := range in {
		host := strings.ToLower(h.s)
		if !hostForm.MatchString(host) {
			d.problem(h.at, "%s: %q is no host, such as comic.example; leave out https:// and what follows a /", where, h.s)
			continue
		}
		out = append(out, host)
	}
	return out
}

func (d *decoder) need(t text, at place, where string) {
	if !t.given() {
		d.problem(at, "%s is missing", where)
	}
}

func (d *decoder) duration(t text, where string, otherwise, least, most time.Duration) time.Duration {
	if !t.given() {
		return otherwise
	}
	v, err := time.ParseDuration(t.s)
	if err != nil {
		d.problem(t.at, "%s: %q is no length of time, such as 2s, 500ms or 1m", where, t.s)
		return otherwise
	}
	if v < least || v > most {
		d.problem(t.at, "%s: %s is not between %s and %s", where, t.s, least, most)
	}
	return v
}

func (d *decoder) number(t text, where string, otherwise, least, most int) int {
	if !t.given() {
		return otherwise
	}
	n, err := strconv.Atoi(t.s)
	if err != nil || n < least || n > most {
		d.problem(t.at, "%s: %q is no number between %d and %d", where, t.s, least, most)
		return otherwise
	}
	return n
}

func (d *decoder) flag(t text, where string) bool {
	if t.given() && t.s != "true" && t.s != "false" {
		d.problem(t.at, "%s is true or false, not %q", where, t.s)
	}
	return t.s == "true"
}

// Keys are the dotted names of everything a description may hold, in the order
// docs/sites.md lists them.
func Keys() []string {
	var out []string
	var walk func(t reflect.Type, before string)
	walk = func(t reflect.Type, before string) {
		for i := range t.NumField() {
			key := t.Field(i).Tag.Get("yaml")
			if key == "" {
				continue
			}
			out = append(out, before+key)
			inner := t.Field(i).Type
			for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct && inner != textType && inner != valueType {
				walk(inner, before+key+".")
			}
		}
	}
	walk(reflect.TypeFor[description](), "")
	return out
}
