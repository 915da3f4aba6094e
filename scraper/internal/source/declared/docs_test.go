package declared

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

const docs = "../../../../docs/sites.md"

func TestThePageNamesEveryKey(t *testing.T) {
	data, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	named := map[string]bool{}
	for _, k := range keyNames(reflect.TypeFor[description]()) {
		named[k] = true
		if strings.Contains(k, ".script.") {
			k = k[strings.LastIndexByte(k, '.')+1:]
		}
		if !strings.Contains(page, "\n| `"+k+"` |") {
			t.Errorf("docs/sites.md has no row for %s", k)
		}
	}
	for k := range keysOf(reflect.TypeFor[valueKeys]()) {
		named[k] = true
		if !strings.Contains(page, "\n| `"+k+"` |") {
			t.Errorf("docs/sites.md has no row for %s of a value", k)
		}
	}
	_, rows, _ := strings.Cut(page, "## All keys")
	rows, _, _ = strings.Cut(rows, "A script is cut out")
	for _, line := range strings.Split(rows, "\n") {
		k, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` |")
		if ok && strings.HasPrefix(line, "| `") && !named[k] {
			t.Errorf("docs/sites.md explains %s, which is no key", k)
		}
	}
}

// What a feed and a catalog may hold has tables of its own, and the example before
// each is a description without a fault.
func TestThePageNamesEveryKeyOfFeedsAndCatalogs(t *testing.T) {
	data, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	for heading, of := range map[string]reflect.Type{"## A web comic with a feed": reflect.TypeFor[feedText](), "## Another library's catalog": reflect.TypeFor[opdsText]()} {
		_, section, _ := strings.Cut(string(data), heading+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		known := map[string]bool{}
		for _, k := range keyNames(of) {
			known[k] = true
			if !strings.Contains(section, "\n| `"+k+"` |") {
				t.Errorf("%s has no row for %s", heading, k)
			}
		}
		for _, line := range strings.Split(section, "\n") {
			if k, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` |"); ok && strings.HasPrefix(line, "| `") && !known[k] {
				t.Errorf("%s explains %s, which is no key", heading, k)
			}
		}
		_, example, _ := strings.Cut(section, "```yaml\n")
		example, _, _ = strings.Cut(example, "```")
		if l := loaded(t, "example.yaml", example); l.Described != nil {
			t.Errorf("the example of %s describes pages", heading)
		}
	}
}

// The worked example of the page is a description without a fault.
func TestThePagesExample(t *testing.T) {
	data, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	_, steps, _ := strings.Cut(string(data), "1. **Whom to ask.**")
	steps, _, _ = strings.Cut(steps, "5. **Check it**")
	var yaml strings.Builder
	for _, block := range strings.Split(steps, "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for _, line := range strings.Split(block, "\n") {
			yaml.WriteString(strings.TrimPrefix(line, "   ") + "\n")
		}
	}
	s := good(t, "shelf.yaml", yaml.String())
	if s.site.Name != "Shelf" {
		t.Errorf("it describes %+v", s.site)
	}
}

func TestTheShippedExamples(t *testing.T) {
	files, err := filepath.Glob("../../../../deploy/sites/*.yaml.example")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	theme := answers{
		"https://manga.example/manga/one/": `<div class="post-title"><h1> One </h1></div><div class="summary_image"><img data-src="https://cdn.manga.example/c.jpg"></div>
			<div class="post-status"><div class="summary-content">OnGoing</div></div><div class="listing-chapters_wrap"><ul>
			<li class="wp-manga-chapter"><a href="https://manga.example/manga/one/chapter-2/">Chapter 2 - Two</a><span class="chapter-release-date">May 3, 2024</span></li>
			<li class="wp-manga-chapter"><a href="https://manga.example/manga/one/chapter-1/">Chapter 1</a></li></ul></div>`,
		"https://manga.example/manga/one/chapter-2/": `<div class="reading-content"><img data-src=" https://cdn.manga.example/1.jpg "><img src="https://cdn.manga.example/2.jpg"></div>`,
	}
	web := answers{
		"https://comic.example/archive": `<ul id="archive"><li><a href="/1">First</a> <time datetime="2020-01-02"></time></li><li><a href="/2">Second</a></li></ul>`,
		"https://comic.example/2":       `<div id="comic"><img src="/img/2.png"></div>`,
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := good(t, strings.TrimSuffix(file, ".example"), string(data))
		pages, id := theme, "one"
		if len(s.listed) > 0 {
			pages, id = web, s.listed[0].ID
		}
		readsTwo(t, s, pages, id)
	}
}

// readsTwo expects two chapters, the newest of which has pages.
func readsTwo(t *testing.T, s *Described, pages answers, id string) {
	t.Helper()
	r := poll.Check(t.Context(), s.Adapter(), pages, source.Ask{SeriesID: id})
	if r.Outcome != poll.OK || len(r.Reading.Chapters) != 2 {
		t.Fatalf("%s: %s, %v", s.file, r, r.Reading.Chapters)
	}
	list, err := s.Pages(t.Context(), pages, source.Key{SeriesID: id}, r.Reading.Chapters[0])
	if err != nil || len(list) == 0 {
		t.Errorf("%s: %v, %v", s.file, list, err)
	}
}
