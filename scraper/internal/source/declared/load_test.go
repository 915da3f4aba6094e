package declared

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// shelf is a folder whose files get a new time with each change, however coarse
// the file system's clock.
type shelf struct {
	t   *testing.T
	dir string
	now time.Time
}

func newShelf(t *testing.T) *shelf { return &shelf{t, t.TempDir(), time.Now()} }

func (s *shelf) put(name, body string) {
	s.t.Helper()
	file := filepath.Join(s.dir, name)
	if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.now = s.now.Add(time.Second)
	if err := os.Chtimes(file, s.now, s.now); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shelf) remove(name string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
		s.t.Fatal(err)
	}
}

func keysIn(sites []*Loaded) string {
	var out []string
	for _, s := range sites {
		out = append(out, s.Site().Key)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestLoad(t *testing.T) {
	s := newShelf(t)
	s.put("a.yaml", plain)
	s.put("b.yml", plain)
	s.put("broken.yaml", strings.Replace(plain, "title: h1", "titel: h1", 1))
	s.put("sample.yaml", plain)
	s.put("b.yaml", plain)
	s.put(".hidden.yaml", "x")
	s.put("c.yaml.example", plain)
	if err := os.Mkdir(filepath.Join(s.dir, "folder.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	sites, problems := Load(s.dir, "sample")
	if keysIn(sites) != "a b" {
		t.Errorf("loaded %s", keysIn(sites))
	}
	var all []string
	for _, p := range problems {
		all = append(all, strings.TrimPrefix(p.String(), s.dir+"/"))
	}
	got := strings.Join(all, "\n")
	for _, want := range []string{
		`b.yml: not used: "b" is described in b.yaml already`, `sample.yaml: not used: "sample" is a Site Mangrove brings itself`,
		`broken.yaml:8:3: series: there is no key "titel"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if sites, problems := Load(filepath.Join(s.dir, "none")); len(sites)+len(problems) > 0 {
		t.Errorf("a folder that is not there: %v %v", sites, problems)
	}
	if _, problems := Load(filepath.Join(s.dir, "a.yaml")); len(problems) != 1 {
		t.Errorf("a folder that is a file: %v", problems)
	}
}

func TestAFolderIsFollowed(t *testing.T) {
	s := newShelf(t)
	f := NewFolder(s.dir)
	// expect looks and compares: started, replaced, ended, problems, mended.
	expect := func(step, started, replaced, ended string, problems, mended int) {
		t.Helper()
		c := f.Look()
		if keysIn(c.Started) != started || keysIn(c.Replaced) != replaced || strings.Join(c.Ended, " ") != ended || len(c.Problems) != problems || len(c.Mended) != mended {
			t.Errorf("%s: started %q, replaced %q, ended %q, problems %v, mended %v", step, keysIn(c.Started), keysIn(c.Replaced), c.Ended, c.Problems, c.Mended)
		}
	}
	expect("empty", "", "", "", 0, 0)
	s.put("comic.yaml", plain)
	expect("added", "comic", "", "", 0, 0)
	expect("nothing", "", "", "", 0, 0)
	s.put("comic.yaml", strings.Replace(plain, "1s", "3s", 1))
	expect("changed", "", "comic", "", 0, 0)
	s.put("comic.yaml", strings.Replace(plain, "h1", "h1[", 1))
	expect("broken", "", "", "", 1, 0)
	expect("said once", "", "", "", 0, 0)
	if u := f.Unread(); len(u) != 1 || u[0].File != filepath.Join(s.dir, "comic.yaml") || !u[0].Kept || len(u[0].Problems) != 1 || u[0].Problems[0].Line != 8 {
		t.Errorf("it stands as %v", u)
	}
	s.put("comic.yaml", strings.Replace(plain, "h1", "h2", 1))
	expect("mended", "", "comic", "", 0, 1)
	if u := f.Unread(); len(u) != 0 {
		t.Errorf("mended, it stands as %v", u)
	}
	s.put("comic.yml", plain)
	expect("a second of the key", "", "", "", 1, 0)
	expect("said once", "", "", "", 0, 0)
	s.remove("comic.yaml")
	expect("the first is gone", "", "", "comic", 0, 0)
	expect("the second comes in its place", "comic", "", "", 0, 1)
	s.put("new.yaml", "name: [")
	expect("broken from the start", "", "", "", 1, 0)
	if u := f.Unread(); len(u) != 1 || u[0].Kept {
		t.Errorf("it stands as %v", u)
	}
	s.remove("new.yaml")
	s.remove("comic.yml")
	expect("removed", "", "", "comic", 0, 0)
	s.put("many.yaml", plain)
	for i := range MaxSites {
		s.put("c"+letters(i)+".yaml", plain)
	}
	c := f.Look()
	if len(c.Started) != MaxSites || len(c.Problems) != 1 || !strings.Contains(c.Problems[0].Message, "more than 50 Sites") {
		t.Errorf("%d started, %v", len(c.Started), c.Problems)
	}
}

func TestEachDescriptionIsItsOwnAdapter(t *testing.T) {
	s := newShelf(t)
	s.put("a.yaml", plain)
	s.put("b.yaml", plain+"search:\n  read: https://comic.example/?s={query}\n  item: li\n  title: a\n")
	sites, _ := Load(s.dir)
	adapters := Adapters(sites)
	if len(adapters) != 2 || adapters[0].Site().Key != "a" || adapters[0].Site().WorkPrefix != "a-" || sites[0].File() != filepath.Join(s.dir, "a.yaml") {
		t.Errorf("%v", adapters)
	}
}
