package declared

import (
	"strings"
	"testing"
	"time"
)

// plain is a description without a fault; tests change a line of it.
const plain = `name: Comic
hosts: [comic.example]
languages: [en]
pacing: 1s
series:
  address: https://comic.example/series/{id}
  landmark: main
  title: h1
chapters:
  item: li
  address: a@href
  date: time
pages:
  landmark: main
  image: img
`

func TestProblemsNameTheirPlace(t *testing.T) {
	if _, problems := Parse("comic.yaml", []byte(plain)); len(problems) > 0 {
		t.Fatal(problems)
	}
	replace := func(old, new string) string {
		if !strings.Contains(plain, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(plain, old, new, 1)
	}
	script := func(s string) string { return replace("  image: img", "  script: "+s) }
	tests := []struct{ name, yaml, want string }{
		{"an unknown key", replace("  title: h1", "  titel: h1\n  title: h1"), `comic.yaml:8:3: series: there is no key "titel" here; did you mean "title"?`},
		{"an unknown key at the top", "nonsense: 1\n" + plain, `comic.yaml:1:1: the file: there is no key "nonsense" here`},
		{"an unknown key in a value", replace("title: h1", "title: {from: h1, matches: x}"), `comic.yaml:8:21: series.title: there is no key "matches" here; did you mean "match"?`},
		{"a key twice", plain + "name: Other\n", `comic.yaml:16:1: this is not YAML: mapping key "name" already defined at [1:1]`},
		{"no YAML", "name: [", `comic.yaml:1:7: this is not YAML:`},
		{"nothing", "# only words\n", `comic.yaml:1:1: the file is empty`},
		{"a list", "- a\n", `comic.yaml:1:1: the file must be keys with values, not a list`},
		{"two documents", plain + "---\nname: x\n", `comic.yaml:17:1: a second document begins here`},
		{"an alias", replace("name: Comic", "name: &a Comic"), `comic.yaml:1:7: name: anchors, aliases and tags are not used`},
		{"a comment instead of a selector", replace("landmark: main\n  title", "landmark: #main\n  title"), `series.landmark is empty; text that begins with # must be in quotes`},
		{"a list for a text", replace("name: Comic", "name: [a, b]"), `comic.yaml:1:7: name must be one text, not a list`},
		{"a text for keys", replace("pages:\n  landmark: main\n  image: img", "pages: x"), `comic.yaml:13:8: pages must be keys with values, not a text`},
		{"another key than the file's", "key: other\n" + plain, `comic.yaml:1:6: key is "other", but the file's name makes it "comic"`},
		{"no name", replace("name: Comic\n", ""), `comic.yaml:1:1: name is missing`},
		{"no hosts", replace("hosts: [comic.example]\n", ""), `comic.yaml:1:1: hosts is missing`},
		{"a host that is an address", replace("[comic.example]", "[comic.example, 'https://x.example/']"), `comic.yaml:2:24: hosts: "https://x.example/" is no host`},
		{"image hosts", replace("pacing", "image_hosts: ['*']\npacing"), `comic.yaml:4:15: image_hosts: "*" is no host`},
		{"a language", replace("[en]", "[english]"), `comic.yaml:3:13: languages: "english" is no language`},
		{"a pacing that is none", replace("pacing: 1s", "pacing: fast"), `comic.yaml:4:9: pacing: "fast" is no length of time`},
		{"a pacing too short", replace("pacing: 1s", "pacing: 10ms"), `comic.yaml:4:9: pacing: 10ms is not between 500ms and 10m0s`},
		{"a list pacing", replace("pacing: 1s", "list_pacing: 1h"), `comic.yaml:4:14: list_pacing: 1h is not between 500ms and 10m0s`},
		{"an interval", replace("pacing: 1s", "interval: 1m"), `comic.yaml:4:11: interval: 1m is not between 1h0m0s and 336h0m0s`},
		{"images in flight", replace("pacing: 1s", "images_in_flight: 9"), `comic.yaml:4:19: images_in_flight: "9" is no number between 1 and 4`},
		{"list life", replace("pacing: 1s", "list_life: 0s"), `comic.yaml:4:12: list_life: 0s is not between`},
		{"browser", replace("pacing: 1s", "browser: perhaps"), `comic.yaml:4:10: browser is true or false, not "perhaps"`},
		{"work prefix", replace("pacing: 1s", "work_prefix: ../x"), `comic.yaml:4:14: work_prefix "../x" begins the names of folders`},
		{"charset", replace("pacing: 1s", "charset: klingon"), `comic.yaml:4:10: charset: "klingon" is no character set`},
		{"a canary that is no id", replace("pacing: 1s", "canary: '..'"), `comic.yaml:4:9: canary: ".." cannot be an id; it is what stands for {id}`},
		{"a canary that is a list", replace("pacing: 1s", "canary: [a, b]"), `comic.yaml:4:9: canary must be one text, not a list`},
		{"another canary than the one Series", strings.Replace(replace("pacing: 1s", "canary: y\nlisted: [{id: x, title: X}]"), "series/{id}", "archive", 1), `comic.yaml:4:9: canary: the Site has one Series, which listed calls "x"`},
		{"no series", replace("series:\n  address: https://comic.example/series/{id}\n  landmark: main\n  title: h1\n", ""), `series is missing`},
		{"no address", replace("  address: https://comic.example/series/{id}\n", ""), `comic.yaml:6:3: series.address is missing`},
		{"an address that is none", replace("https://comic.example/series/{id}", "comic.example/{id}"), `comic.yaml:6:12: series.address: "comic.example/{id}" is no address that begins with`},
		{"an address elsewhere", replace("https://comic.example/series/{id}", "https://other.example/{id}"), `comic.yaml:6:12: series.address: other.example is not one of hosts`},
		{"an address with another name", replace("series/{id}", "series/{slug}"), `may only name {id}`},
		{"an address with a password", replace("https://comic", "https://u:p@comic"), `holds a user name`},
		{"the id in the host", replace("https://comic.example/series/{id}", "https://{id}.example/"), `has {id} in its host`},
		{"an address without id", replace("series/{id}", "archive"), `comic.yaml:6:12: series.address names no {id}: it is the address of one Series, which listed must name`},
		{"a listed Series without title", replace("pacing: 1s", "listed: [{id: x}]"), `comic.yaml:4:10: listed.title is missing`},
		{"a listed Series twice", replace("pacing: 1s", "listed: [{id: x, title: X}, {id: x, title: Y}]"), `listed.id: "x" stands twice`},
		{"no landmark", replace("  landmark: main\n  title", "  title"), `comic.yaml:6:3: series.landmark is missing: a part that every Series page has`},
		{"no title", replace("  title: h1\n", ""), `series.title is missing`},
		{"a selector that is none", replace("title: h1", "title: 'h1['"), `comic.yaml:8:10: series.title: "h1[" is no CSS selector`},
		{"an answer", replace("  title: h1", "  answer: xml\n  title: h1"), `comic.yaml:8:11: series.answer is html or json, not "xml"`},
		{"a path that is none", replace("  title: h1", "  answer: json\n  title: 'a[b'"), `comic.yaml:9:10: series.title: "a[b": a bracket is not closed`},
		{"a selector for JSON", replace("  title: h1", "  answer: json\n  title: h1 > a"), `is no path into JSON`},
		{"a regexp that is none", replace("title: h1", "title: {from: h1, match: '('}"), `comic.yaml:8:28: series.title.match: missing closing )`},
		{"two groups", replace("title: h1", "title: {from: h1, match: '(a)(b)'}"), `it has 2 groups; only the first counts`},
		{"nothing to take", replace("title: h1", "title: {match: x}"), `comic.yaml:8:10: series.title needs from, template or constant`},
		{"a constant with more", replace("title: h1", "title: {from: h1, constant: x}"), `series.title: a constant stands alone`},
		{"an open brace", replace("title: h1", "title: {template: '{h1'}"), `comic.yaml:8:21: series.title.template: a brace is empty or not closed`},
		{"a word that is none of ours", replace("  title: h1", "  title: h1\n  status: {from: p, words: {Running: alive}}"), `comic.yaml:9:38: series.status.words.Running: "alive" is none of ongoing, completed, hiatus, cancelled`},
		{"formats for no date", replace("title: h1", "title: {from: h1, formats: [iso]}"), `series.title: formats and zone are for chapters.date`},
		{"a format", replace("date: time", "date: {from: time, formats: [yesterday-ish]}"), `comic.yaml:12:32: chapters.date.formats: "yesterday-ish": "y" is no part of a format`},
		{"a format without a year", replace("date: time", "date: {from: time, formats: ['D MMM']}"), `names no year, month or day`},
		{"a zone", replace("date: time", "date: {from: time, zone: Mars/Olympus}"), `comic.yaml:12:28: chapters.date.zone: "Mars/Olympus" is no zone`},
		{"no item", replace("  item: li\n", ""), `comic.yaml:10:3: chapters.item is missing`},
		{"an order", replace("  item: li", "  item: li\n  order: random"), `comic.yaml:11:10: chapters.order is newest or oldest`},
		{"an answer without a page", replace("  item: li", "  item: li\n  answer: json"), `comic.yaml:11:11: chapters.answer is for a list that is read on its own`},
		{"two ways of paging", replace("  item: li", "  item: li\n  next: a@href\n  read: https://comic.example/{id}?p={page}"), `chapters.next and {page} in chapters.read are two ways`},
		{"too many pages", replace("  item: li", "  item: li\n  next_limit: 1000"), `comic.yaml:11:15: chapters.next_limit: "1000" is no number between 1 and 200`},
		{"no address in JSON", replace("  item: li\n  address: a@href", "  item: list\n  read: https://comic.example/api/{id}\n  answer: json"), `chapters.address is missing: where the page of a chapter lies`},
		{"no image", replace("  image: img\n", ""), `comic.yaml:14:3: pages.image is missing`},
		{"no landmark of chapter pages", replace("pages:\n  landmark: main\n", "pages:\n"), `pages.landmark is missing: a part that every chapter page has`},
		{"an identity", replace("image: img", "image: img\n  identity: name"), `comic.yaml:16:13: pages.identity is address or path, not "name"`},
		{"a script without a way to find it", script("{path: a}"), `comic.yaml:15:11: pages.script needs from, match or each`},
		{"a script both ways", script("{match: x, path: a, each: b}"), `comic.yaml:15:28: pages.script: path is for JSON and each for what is none; use one`},
		{"a script's path", script("{match: x, path: 'a..b'}"), `comic.yaml:15:28: pages.script.path:`},
		{"a search without query", plain + "search:\n  read: https://comic.example/?s=\n  item: li\n  title: a\n", `comic.yaml:17:9: search.read must name {query}`},
		{"a search without anything", plain + "search:\n  title: a\n", `comic.yaml:17:3: search.read is missing`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, problems := Parse("comic.yaml", []byte(tt.yaml))
			if s != nil {
				t.Fatal("it is taken for a good description")
			}
			var all []string
			for _, p := range problems {
				all = append(all, p.String())
				if strings.Contains(p.String(), tt.want) {
					return
				}
			}
			t.Errorf("got\n%s\nwant %s", strings.Join(all, "\n"), tt.want)
		})
	}
}

func TestAllProblemsAreToldAtOnceInOrder(t *testing.T) {
	_, problems := Parse("comic.yaml", []byte(strings.NewReplacer("pacing: 1s", "pacing: x", "title: h1", "title: 'a['", "  item: li\n", "").Replace(plain)))
	if len(problems) != 3 {
		t.Fatalf("%v", problems)
	}
	for i := 1; i < len(problems); i++ {
		if problems[i].Line < problems[i-1].Line {
			t.Errorf("%v", problems)
		}
	}
}

func TestAFileThatIsTooLargeOrBadlyNamed(t *testing.T) {
	if _, p := Parse("comic.yaml", []byte(plain+strings.Repeat("#", maxFile))); len(p) != 1 || !strings.Contains(p[0].Message, "larger than") {
		t.Errorf("%v", p)
	}
	if _, p := Parse("My Comic.yaml", []byte(plain)); len(p) != 1 || !strings.Contains(p[0].String(), "My Comic.yaml: the file's name is the Site's key") {
		t.Errorf("%v", p)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(plain))
	f.Add([]byte("a: &a [*a]\n<<: *a\n"))
	f.Add([]byte(strings.Repeat("- ", 2000)))
	f.Add([]byte("? {a: [\n"))
	f.Add([]byte(feedFile))
	f.Add([]byte(catalogFile))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, problems := Parse("comic.yaml", data)
		if (s == nil) == (len(problems) == 0) {
			t.Fatalf("a Site %v and problems %v", s != nil, problems)
		}
		if s == nil {
			return
		}
		a := s.Adapter()
		a.Recognise("https://comic.example/series/x")
		if u := a.Address("x"); s.Described != nil && u == "" {
			t.Error("a good id has no address")
		}
	})
}

func TestHostileDescriptions(t *testing.T) {
	for name, body := range map[string]string{
		"dashes": strings.Repeat("- ", maxFile/2), "maps": strings.Repeat("a: ", maxFile/3), "brackets": strings.Repeat("[", maxFile), "braces": strings.Repeat("{a: ", maxFile/4),
		"questions": strings.Repeat("? ", maxFile/2), "stairs": stairs(300), "anchors": "a: &a x\n" + strings.Repeat("b: *a\n", 5000), "merge": "a: &a {x: 1}\nb:\n  <<: *a\n",
		"keys": keys(6000), "quotes": strings.Repeat("'", maxFile), "tags": strings.Repeat("!a ", maxFile/3), "literal": "name: |\n" + strings.Repeat("  x\n", 10000), "list": "hosts: [" + strings.Repeat("a,", maxFile/2-10) + "a]",
	} {
		began := time.Now()
		if s, problems := Parse("comic.yaml", []byte(body)); s != nil || len(problems) == 0 {
			t.Errorf("%s is taken for a description", name)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s took %s", name, took)
		}
	}
}

func stairs(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func keys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("k" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + "_" + strings.Repeat("y", i%3) + letters(i) + ": 1\n")
	}
	return b.String()[:min(b.Len(), maxFile)]
}

func letters(i int) string {
	return string(rune('a'+i/676%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i%26))
}
