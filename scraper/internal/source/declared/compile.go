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

// Described is a described Site, checked and ready to be read. It is the adapter,
// without the search that only some have: see Adapter.
type Described struct {
	file  string
	site  source.Site
	hosts []string // of pages; site.Hosts has those of images too
	// charset is the declared one, or "".
	charset string
	places  map[string]place
	listed  []source.Series

	address pattern
	also    []pattern

	series   seriesPart
	chapters chaptersPart
	pages    pagesPart
	search   *searchPart
}

// The bounds of what a person may set, and what stands when nothing is said.
const (
	defaultPacing = 2 * time.Second
	leastPacing   = 500 * time.Millisecond
	mostPacing    = 10 * time.Minute
	mostImages    = 4
	mostListLife  = 24 * time.Hour
	leastInterval = time.Hour
	mostInterval  = 14 * 24 * time.Hour
	defaultNext   = 50
	mostNext      = 200
)

var prefixForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)

// compile turns a description into a Site; what is wrong goes to the decoder.
func (d *decoder) compile(key string, in description) *Described {
	d.places = map[string]place{}
	s := &Described{file: d.file, charset: in.Charset.s, places: d.places}
	d.key(key, in.Key)
	d.need(in.Name, in.At, "name")
	s.hosts = d.hostList(in.Hosts, "hosts")
	if len(in.Hosts) == 0 {
		d.problem(in.At, "hosts is missing: the hosts Mangrove may ask, for example hosts: [comic.example]")
	}
	s.site = source.Site{
		Key: key, Name: in.Name.s, Hosts: slices.Concat(s.hosts, d.hostList(in.ImageHosts, "image_hosts")),
		Pacing:         d.duration(in.Pacing, "pacing", defaultPacing, leastPacing, mostPacing),
		ListPacing:     d.duration(in.ListPacing, "list_pacing", 0, leastPacing, mostPacing),
		Interval:       d.duration(in.Interval, "interval", 0, leastInterval, mostInterval),
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
		if tag := d.language(l, "languages"); tag != "" {
			s.site.Languages = append(s.site.Languages, tag)
		}
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
	d.compileCanary(s, in.Canary)
	return s
}

// compileCanary takes the Series by which the Site is tried.
func (d *decoder) compileCanary(s *Described, t text) {
	switch {
	case !t.given():
		if s.address.fixed && len(s.listed) == 1 {
			// There is but one.
			s.site.Canary = s.listed[0].ID
		}
		return
	case !goodID(t.s):
		d.problem(t.at, "canary: %q cannot be an id; it is what stands for {id} in the address of a Series that will stay", t.s)
	case s.address.fixed && len(s.listed) == 1 && s.listed[0].ID != t.s:
		d.problem(t.at, "canary: the Site has one Series, which listed calls %q", s.listed[0].ID)
	}
	s.site.Canary = t.s
}

// key holds the file's name, and what it says itself, to what a key may be.
func (d *decoder) key(key string, said text) {
	if !source.GoodKey(key) {
		d.problem(place{}, "the file's name is the Site's key: small letters, digits and -, at most 40")
	}
	if said.given() && said.s != key {
		d.problem(said.at, "key is %q, but the file's name makes it %q", said.s, key)
	}
}

// language is the tag a text names; "" where it names none.
func (d *decoder) language(t text, where string) string {
	if !t.given() {
		return ""
	}
	tag, err := language.Parse(t.s)
	if err != nil {
		d.problem(t.at, "%s: %q is no language, such as en, pt-BR or ja", where, t.s)
		return ""
	}
	return tag.String()
}

func (d *decoder) hostList(in []text, where string) []string {
	var out []string
	for _, h := range in {
		host := strings.ToLower(h.s)
		if !source.GoodHost(host) {
			d.problem(h.at, "%s: %q is no host, such as comic.example; leave out https:// and what follows a /; *.comic.example is every host below it", where, h.s)
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

// keyNames are the dotted names of everything a description of a type may hold; a
// test holds docs/sites.md to them.
func keyNames(of reflect.Type) []string {
	var out []string
	var walk func(t reflect.Type, before string)
	walk = func(t reflect.Type, before string) {
		for _, f := range reflect.VisibleFields(t) {
			key := f.Tag.Get("yaml")
			if key == "" {
				continue
			}
			out = append(out, before+key)
			inner := f.Type
			for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct && inner != textType && inner != valueType {
				walk(inner, before+key+".")
			}
		}
	}
	walk(of, "")
	return out
}
