package declared

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mangrove/scraper/internal/source"
)

// Limits of a folder of descriptions.
const (
	// MaxSites is how many Sites may be described: each holds a database
	// connection of its own.
	MaxSites = 50
	maxFile  = 64 << 10
)

// Loaded is a Site that a file describes, of whatever kind.
type Loaded struct {
	// Described says what its keys find on a page; nil for a feed and a catalog,
	// whose pages are known.
	Described *Described
	adapter   source.Adapter
	file      string
}

// Adapter reads the Site; Site describes it; File is where it is described.
func (l *Loaded) Adapter() source.Adapter { return l.adapter }

// Site describes the Site.
func (l *Loaded) Site() source.Site { return l.adapter.Site() }

// File is where the Site is described.
func (l *Loaded) File() string { return l.file }

// Parse reads one description; it is named by the file it came from. Either a
// Site or problems come out.
func Parse(file string, data []byte) (*Loaded, []Problem) {
	d := &decoder{file: file}
	return d.load(data), d.problems
}

// load makes a Site of a file, or nil with problems in order.
func (d *decoder) load(data []byte) *Loaded {
	if len(data) > maxFile {
		d.problem(place{}, "the file is larger than %d bytes", maxFile)
		return nil
	}
	body := d.body(data)
	if body == nil {
		return nil
	}
	l, key := &Loaded{file: d.file}, keyOf(d.file)
	switch d.kind(body) {
	case kindDeclared:
		var in description
		d.decode(body, &in)
		if in.At == (place{}) && len(d.problems) > 0 {
			return nil
		}
		l.Described = d.compile(key, in)
		l.adapter = l.Described.Adapter()
	case kindFeed:
		l.adapter = d.feed(body, key)
	case kindOPDS:
		l.adapter = d.catalog(body, key)
	}
	if len(d.problems) > 0 {
		slices.SortStableFunc(d.problems, func(a, b Problem) int { return a.Line - b.Line })
		return nil
	}
	return l
}

// ReadFile reads one description from disk.
func ReadFile(file string) (*Loaded, []Problem) {
	l, _, problems := readWith(file)
	return l, problems
}

// readWith reads one description; beside are the files it was read with.
func readWith(file string) (l *Loaded, beside []string, problems []Problem) {
	data, err := readBounded(file)
	if err != nil {
		return nil, nil, []Problem{{File: file, Message: reason(err)}}
	}
	d := &decoder{file: file}
	l = d.load(data)
	return l, d.beside, d.problems
}

// readBounded reads a regular file, a little more than may be in it at most.
func readBounded(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

func reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		return "it may not be read"
	}
	return "it cannot be read"
}

func keyOf(file string) string {
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

// Load reads every description in a folder. A broken file is a list of problems
// and keeps no other from being read; a folder that is not there is empty.
// taken are the keys of adapters that Mangrove brings itself.
func Load(dir string, taken ...string) ([]*Loaded, []Problem) {
	c := NewFolder(dir, taken...).Look()
	return c.Started, c.Problems
}

// Change is what happened in a folder since it was looked at last.
type Change struct {
	// Started are new, Replaced are described anew, Ended are the keys of those
	// that are described no longer.
	Started, Replaced []*Loaded
	Ended             []string
	// Problems are of files that changed; each is told once.
	Problems []Problem
	// Mended are files whose problems are over.
	Mended []string
}

// Folder watches a folder of descriptions by looking at it again and again. It
// is for one goroutine.
type Folder struct {
	dir   string
	taken []string
	files map[string]known
	said  string // the folder's own problem
}

// known is a file as it was at the last look.
type known struct {
	modified time.Time
	size     int64
	// beside are the files it was read with, stamp is what they were like then.
	beside []string
	stamp  string
	// site is the last good one, nil when there was none yet.
	site     *Loaded
	problems []Problem
}

// NewFolder makes a watcher that has not looked yet.
func NewFolder(dir string, taken ...string) *Folder {
	return &Folder{dir: dir, taken: taken, files: map[string]known{}}
}

// Look says what changed. A file with problems keeps the Site it described
// before them.
func (f *Folder) Look() Change {
	var c Change
	entries, err := os.ReadDir(f.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		// Nothing is known, so nothing has ended.
		if said := reason(err); said != f.said {
			f.said = said
			c.Problems = []Problem{{File: f.dir, Message: said}}
		}
		return c
	}
	f.said = ""
	here := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		ext := filepath.Ext(name)
		if strings.HasPrefix(name, ".") || (ext != ".yaml" && ext != ".yml") {
			continue
		}
		// By what a link leads to: Kubernetes mounts files so.
		info, err := os.Stat(filepath.Join(f.dir, name))
		if err != nil || info.IsDir() {
			continue
		}
		here[name] = true
		f.lookAt(name, info, &c)
	}
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		if !here[name] {
			if s := f.files[name].site; s != nil {
				c.Ended = append(c.Ended, s.Site().Key)
			}
			delete(f.files, name)
		}
	}
	return c
}

func (f *Folder) lookAt(name string, info fs.FileInfo, c *Change) {
	was, before := f.files[name]
	// A file in conflict is looked at again: the other one may have gone.
	if before && was.modified.Equal(info.ModTime()) && was.size == info.Size() && was.stamp == stampOf(was.beside) && (was.site != nil || !f.conflicts(was.problems)) {
		return
	}
	file := filepath.Join(f.dir, name)
	site, beside, problems := readWith(file)
	if site != nil {
		if p, ok := f.conflict(name, site.Site().Key); ok {
			site, problems = nil, []Problem{{File: file, Message: p}}
		}
	}
	now := known{modified: info.ModTime(), size: info.Size(), beside: beside, stamp: stampOf(beside), site: site, problems: problems}
	switch {
	case site != nil && was.site != nil:
		c.Replaced = append(c.Replaced, site)
	case site != nil:
		c.Started = append(c.Started, site)
	default:
		now.site = was.site
		if !slices.Equal(problems, was.problems) {
			c.Problems = append(c.Problems, problems...)
		}
	}
	if site != nil && len(was.problems) > 0 {
		c.Mended = append(c.Mended, file)
	}
	f.files[name] = now
}

// stampOf tells whether files beside a description have changed: a new password is
// taken over like a description.
func stampOf(files []string) string {
	out := ""
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			out += fmt.Sprint(info.ModTime().UnixNano(), info.Size(), info.Mode())
		}
		out += ";"
	}
	return out
}

// conflict says why a good file may still not be used.
func (f *Folder) conflict(name, key string) (string, bool) {
	if slices.Contains(f.taken, key) {
		return fmt.Sprintf("%s%q is a Site Mangrove brings itself; give the file another name", conflictMark, key), true
	}
	n := 0
	for other, k := range f.files {
		if k.site == nil || other == name {
			continue
		}
		n++
		if k.site.Site().Key == key {
			return fmt.Sprintf("%s%q is described in %s already", conflictMark, key, other), true
		}
	}
	if n >= MaxSites {
		return fmt.Sprintf("%smore than %d Sites are described", conflictMark, MaxSites), true
	}
	return "", false
}

// conflictMark begins the problems that are not the file's own.
const conflictMark = "not used: "

func (f *Folder) conflicts(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return strings.HasPrefix(p.Message, conflictMark) })
}

// Unread is a file with problems.
type Unread struct {
	File     string
	Problems []Problem
	// Kept is true when the Site it described before them goes on.
	Kept bool
}

// Unread are the files that are not read now, by name, and the folder itself if it
// cannot be.
func (f *Folder) Unread() []Unread {
	var out []Unread
	if f.said != "" {
		out = append(out, Unread{File: f.dir, Problems: []Problem{{File: f.dir, Message: f.said}}, Kept: true})
	}
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		if k := f.files[name]; len(k.problems) > 0 {
			out = append(out, Unread{File: filepath.Join(f.dir, name), Problems: k.problems, Kept: k.site != nil})
		}
	}
	return out
}

// Adapters returns sites as adapters.
func Adapters(sites []*Loaded) []source.Adapter {
	var out []source.Adapter
	for _, s := range sites {
		out = append(out, s.adapter)
	}
	return out
}
