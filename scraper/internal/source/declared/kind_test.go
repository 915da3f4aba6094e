package declared

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/feed"
	"mangrove/scraper/internal/source/opds"
	"mangrove/scraper/internal/source/sourcetest"
)

const feedFile = `kind: feed
name: Lantern
address: https://comic.example/feed.xml
language: en
pacing: 5s
interval: 24h
direction: ltr
images: "#comic img"
`

const catalogFile = `kind: opds
name: A library
address: https://books.example/opds/v1.2/catalog
hosts: [pages.example]
language: de
width: 1600
`

// loaded parses a file of any kind that must have no problem.
func loaded(t *testing.T, file, yaml string) *Loaded {
	t.Helper()
	l, problems := Parse(file, []byte(yaml))
	if l == nil {
		t.Fatalf("%v", problems)
	}
	return l
}

func testdata(t *testing.T, file string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("..", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// read is what an adapter makes of a Series and its first chapter that must both
// be read.
func read(t *testing.T, a source.Adapter, pages sourcetest.Pages, ask source.Ask) (source.Reading, []string) {
	t.Helper()
	r, err := a.Series(t.Context(), pages, ask)
	if err != nil {
		t.Fatal(err)
	}
	list, err := a.Pages(t.Context(), pages, source.Key{Site: a.Site().Key, SeriesID: ask.SeriesID}, r.Chapters[0])
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range list {
		ids = append(ids, p.Identity)
	}
	return r, ids
}

// A feed from a file is the adapter that package feed makes of the same words.
func TestAFeedFromAFileConforms(t *testing.T) {
	l := loaded(t, "sites/lantern.yaml", feedFile)
	same, err := feed.New(feed.Config{Declaration: source.Declaration{
		Key: "lantern", Name: "Lantern", Address: "https://comic.example/feed.xml", Language: "en", Pacing: 5 * time.Second, Interval: 24 * time.Hour, Direction: "ltr",
	}, Images: "#comic img"})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(l.Site(), same.Site()) || l.Described != nil || l.File() != "sites/lantern.yaml" {
		t.Errorf("it is %+v, want %+v", l.Site(), same.Site())
	}
	pages := sourcetest.Pages{
		"/feed.xml": {Body: testdata(t, "feed/testdata/comic.rss"), MediaType: "application/rss+xml"}, "/12-5": {Body: testdata(t, "feed/testdata/page.html"), MediaType: "text/html"},
	}
	ask := source.Ask{SeriesID: "lantern", URL: "https://comic.example/feed.xml"}
	want, images := read(t, same, pages, ask)
	sourcetest.Run(t, sourcetest.Case{
		Adapter: l.Adapter(), Series: ask, SeriesPath: "/feed.xml", ChapterPath: "/12-5", Pages: pages, Want: want, Images: images,
		Empty: `<rss version="2.0"><channel><title>Lantern 14</title></channel></rss>`,
	})
}

func TestACatalogFromAFileConforms(t *testing.T) {
	l := loaded(t, "library.yml", catalogFile)
	same, err := opds.New(opds.Config{Declaration: source.Declaration{
		Key: "library", Name: "A library", Address: "https://books.example/opds/v1.2/catalog", Hosts: []string{"pages.example"}, Language: "de",
	}, Width: 1600})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(l.Site(), same.Site()) || l.Site().Login != nil {
		t.Errorf("it is %+v, want %+v", l.Site(), same.Site())
	}
	pages := sourcetest.Pages{"/opds/v1.2/series/7": {Body: testdata(t, "opds/testdata/series.xml")}, "/opds/v1.2/series/7?page=1": {Body: testdata(t, "opds/testdata/series-1.xml")}}
	ask := source.Ask{SeriesID: "/opds/v1.2/series/7", URL: "https://books.example/opds/v1.2/series/7"}
	want, images := read(t, same, pages, ask)
	sourcetest.Run(t, sourcetest.Case{
		Adapter: l.Adapter(), Series: ask, SeriesPath: "/opds/v1.2/series/7", ChapterPath: "/opds/v1.2/series/7", Pages: pages, Want: want, Images: images,
		Empty: `<feed xmlns="http://www.w3.org/2005/Atom"><title>Lantern 14</title></feed>`,
	})
	if _, ok := l.Adapter().(source.Searcher); !ok {
		t.Error("a catalog from a file cannot be searched")
	}
}

// A file may say that it describes pages; it need not.
func TestTheKindOfPagesMayBeNamed(t *testing.T) {
	if l := loaded(t, "comic.yaml", "kind: declared\n"+plain); l.Described == nil || l.Adapter().Site().Key != "comic" {
		t.Errorf("%+v", l)
	}
}

// password writes a password's file with a mode.
func password(t *testing.T, dir, said string, mode os.FileMode) string {
	t.Helper()
	file := filepath.Join(dir, "library.password")
	if err := os.WriteFile(file, []byte(said), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestProblemsOfFeedsAndCatalogs(t *testing.T) {
	dir := t.TempDir()
	open := password(t, dir, "s3cret-open\n", 0o644)
	many := filepath.Join(dir, "many")
	if err := os.WriteFile(many, []byte("s3cret-one\ns3cret-two"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(dir, "long")
	if err := os.WriteFile(long, []byte(strings.Repeat("s3cret", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(dir, "none")
	if err := os.WriteFile(none, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	login := func(file string) string { return catalogFile + "user: reader\npassword_file: " + file + "\n" }
	tests := []struct{ name, yaml, want string }{
		{"another kind", "name: x\nkind: rss\n", `comic.yaml:2:7: kind is declared, feed or opds, not "rss"`},
		{"a kind that is a list", "kind: [feed]\n", `comic.yaml:1:7: kind must be one text, not a list`},
		{"an empty kind", "kind:\nname: x\n", `comic.yaml:1:6: kind is empty`},
		{"a key of pages", feedFile + "landmark: main\n", `comic.yaml:9:1: the file: there is no key "landmark" here`},
		{"a misspelt key", strings.Replace(feedFile, "direction", "direktion", 1), `comic.yaml:7:1: the file: there is no key "direktion" here; did you mean "direction"?`},
		{"another key", feedFile + "key: other\n", `comic.yaml:9:6: key is "other", but the file's name makes it "comic"`},
		{"no name", strings.Replace(feedFile, "name: Lantern\n", "", 1), `comic.yaml:1:1: name is missing`},
		{"no address", strings.Replace(feedFile, "address: https://comic.example/feed.xml\n", "", 1), `comic.yaml:1:1: address is missing`},
		{"an address that is none", strings.Replace(feedFile, "https://comic.example/", "comic.example/", 1), `comic.yaml:3:10: address: "comic.example/feed.xml" is no address that begins with http`},
		{"a file's address", strings.Replace(feedFile, "https://comic.example/", "file:///etc/", 1), `comic.yaml:3:10: address:`},
		{"an address with a password", strings.Replace(feedFile, "https://", "https://u:p@", 1), `comic.yaml:3:10: address: it holds a user name or a password`},
		{"a host", strings.Replace(catalogFile, "[pages.example]", "[ok.example, 'https://x']", 1), `comic.yaml:4:21: hosts: "https://x" is no host`},
		{"a language", strings.Replace(feedFile, "language: en", "language: klingonisch", 1), `comic.yaml:4:11: language: "klingonisch" is no language`},
		{"haste", strings.Replace(feedFile, "pacing: 5s", "pacing: 900ms", 1), `comic.yaml:5:9: pacing: 900ms is not between 1s and 10m0s`},
		{"no haste", strings.Replace(feedFile, "pacing: 5s", "pacing: 0s", 1), `comic.yaml:5:9: pacing: 0s is not between`},
		{"a catalog's haste", catalogFile + "pacing: 100ms\n", `comic.yaml:7:9: pacing: 100ms is not between 200ms`},
		{"an interval", strings.Replace(feedFile, "24h", "1m", 1), `comic.yaml:6:11: interval: 1m is not between`},
		{"a direction", strings.Replace(feedFile, "ltr", "up", 1), `comic.yaml:7:12: direction: "up" is none of ltr, rtl, strip`},
		{"a selector", strings.Replace(feedFile, `"#comic img"`, `"#comic["`, 1), `comic.yaml:8:9: images: "#comic[" is no CSS selector`},
		{"a width", strings.Replace(catalogFile, "1600", "90000", 1), `comic.yaml:6:8: width: "90000" is no number between 1 and 10000`},
		{"a feed with a password", feedFile + "password_file: x\n", `there is no key "password_file" here`},
		{"a password in the file", catalogFile + "password: s3cret-here\n", `comic.yaml:7:1: the file: there is no key "password" here`},
		{"a user alone", catalogFile + "user: reader\n", `comic.yaml:7:7: user stands without password_file`},
		{"a password alone", catalogFile + "password_file: x\n", `comic.yaml:7:16: password_file stands without user`},
		{"a user with a colon", strings.Replace(login(password(t, t.TempDir(), "s3cret", 0o600)), "user: reader", "user: 'a:b'", 1), `comic.yaml:7:7: user holds a colon`},
		{"no password's file", login("nowhere"), `comic.yaml:8:16: password_file: nowhere: there is no such file`},
		{"a password others may read", login(open), `comic.yaml:8:16: password_file: ` + open + `: others may read it (its mode is 0644); chmod 600 it`},
		{"a password of two lines", login(many), `it holds more than one line`},
		{"a password without end", login(long), `it is larger than 1024 bytes`},
		{"an empty password", login(none), `it is empty`},
		{"a folder for a password", login(dir), `it is no file`},
		{
			"a password over a road that all can read", strings.Replace(login(password(t, t.TempDir(), "s3cret", 0o600)), "https://", "http://", 1),
			`comic.yaml:8:16: password_file: a password would be sent readable by everybody on the way`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, problems := Parse("comic.yaml", []byte(tt.yaml))
			if l != nil {
				t.Fatal("it is taken for a good description")
			}
			var all []string
			for _, p := range problems {
				all = append(all, p.String())
			}
			got := strings.Join(all, "\n")
			if !strings.Contains(got, tt.want) || strings.Contains(got, "s3cret") || len(all) > 2 {
				t.Errorf("got\n%s\nwant %s", got, tt.want)
			}
		})
	}
}

// The password is told to the catalog's own scheme and host, and to nobody who
// prints the Site.
func TestAPasswordIsForTheCatalogAlone(t *testing.T) {
	dir := t.TempDir()
	password(t, dir, "s3cret\n", 0o600)
	l := loaded(t, filepath.Join(dir, "library.yaml"), catalogFile+"user: reader\npassword_file: library.password\n")
	for address, told := range map[string]bool{
		"https://books.example/opds/x": true, "http://books.example/opds/x": false, "https://books.example:8443/": false, "https://pages.example/": false, "https://x.books.example/": false,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		user, secret, ok := l.Site().Login.For(u)
		if ok != told || told && (user != "reader" || secret != "s3cret") || !told && user+secret != "" {
			t.Errorf("%s is told %q and %q (%v)", address, user, secret, ok)
		}
	}
	site := l.Site()
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		if said := fmt.Sprintf(form, site) + fmt.Sprintf(form, site.Login); strings.Contains(said, "s3cret") {
			t.Errorf("%s prints the password: %s", form, said)
		}
	}
	home := strings.Replace(catalogFile, "https://books.example", "http://192.168.1.5:8080", 1)
	loaded(t, filepath.Join(dir, "library.yaml"), home+"user: reader\npassword_file: library.password\n")
}

// A new password is taken over like a new description; so is a new mode.
func TestAPasswordIsFollowed(t *testing.T) {
	s := newShelf(t)
	f := NewFolder(s.dir)
	file := password(t, s.dir, "s3cret", 0o644)
	s.put("library.yaml", catalogFile+"user: reader\npassword_file: library.password\n")
	if c := f.Look(); len(c.Problems) != 1 || len(c.Started) != 0 {
		t.Fatalf("%+v", c)
	}
	if c := f.Look(); len(c.Problems) != 0 {
		t.Errorf("it is told twice: %v", c.Problems)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if c := f.Look(); len(c.Started) != 1 || len(c.Mended) != 1 {
		t.Errorf("the mended mode is not seen: %+v", c)
	}
	if c := f.Look(); len(c.Started)+len(c.Replaced)+len(c.Problems) != 0 {
		t.Errorf("nothing changed: %+v", c)
	}
	s.put("library.password", "another")
	c := f.Look()
	if len(c.Replaced) != 1 {
		t.Fatalf("the new password is not seen: %+v", c)
	}
	u, err := url.Parse("https://books.example/")
	if err != nil {
		t.Fatal(err)
	}
	if _, secret, _ := c.Replaced[0].Site().Login.For(u); secret != "another" {
		t.Errorf("it is %q", secret)
	}
	s.remove("library.password")
	if c := f.Look(); len(c.Problems) != 1 || len(c.Ended) != 0 {
		t.Errorf("a password that is gone: %+v", c)
	}
}

// A file may change its kind: it is the same Site.
func TestAFileChangesItsKind(t *testing.T) {
	s := newShelf(t)
	f := NewFolder(s.dir)
	s.put("comic.yaml", plain)
	f.Look()
	s.put("comic.yaml", feedFile)
	if c := f.Look(); len(c.Replaced) != 1 || c.Replaced[0].Described != nil {
		t.Errorf("%+v", c)
	}
}

// Hosts are compared in small letters, however a person writes the address.
func TestAnAddressInLargeLetters(t *testing.T) {
	l := loaded(t, "comic.yaml", "kind: feed\nname: x\naddress: HTTPS://Comic.Example/Feed\n")
	if a := l.Adapter().Address("comic"); a != "https://comic.example/Feed" || l.Site().Hosts[0] != "comic.example" {
		t.Errorf("%s at %v", a, l.Site().Hosts)
	}
}
