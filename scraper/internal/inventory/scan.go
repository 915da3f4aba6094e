package inventory

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"sync"
	"time"

	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/internal/unreadable"
	"mangrove/scraper/internal/source"
)

// When more than half of the files are gone at once, and there were this many, the
// look after this one has to find the same before they are marked (ADR 0015).
const manyFiles = 20

// wholeAfter is how long a file that is empty or cut short has to lie still to be taken
// for a damaged one, and not for one that is still being written.
const wholeAfter = time.Minute

// copying is how long after its last change a file that cannot be read may still
// be being written.
const copying = 10 * time.Minute

// notThere is the failure of a library that is not the one that was there before.
type notThere struct{ err error }

func (e notThere) Error() string { return e.err.Error() }
func (e notThere) Unwrap() error { return e.err }

// NotThere reports whether a look failed because the library is missing, empty,
// unmarked or marked otherwise (INV-5): a storage failure, while other failures
// of a look say nothing of what may be written.
func NotThere(err error) bool {
	var n notThere
	return errors.As(err, &n)
}

// Library is the Scanner of a library folder. One goroutine uses it at a time,
// but for what the Watcher calls.
type Library struct {
	root   string
	marker *Marker
	store  Store

	// known is the tree as the last good look left it, head the change log's.
	known map[string]folder
	head  int64
	// unread are files that were passed over, with the stamp they had; unsettled are
	// those of the last look that may still be being written.
	unread    map[string]Stamp
	unsettled map[string]bool
	// deep is true during a look at every file: one that could not be read is tried
	// again.
	deep   bool
	odd    int
	counts Counts
	// suspect is what a look found gone that was too much to believe.
	suspect [sha256.Size]byte

	mu    sync.Mutex
	dirty map[string]bool
	dirs  []string
}

// NewLibrary makes the Scanner of the library in root.
func NewLibrary(root string, marker *Marker, s Store) *Library {
	return &Library{root: root, marker: marker, store: s, unread: map[string]Stamp{}, dirty: map[string]bool{}}
}

// Dirty says that something in a folder changed, which its own time need not tell.
func (l *Library) Dirty(dir string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.dirty) < maxFolders {
		l.dirty[dir] = true
	}
}

// Scan implements Scanner. Without deep, folders whose time has not changed are
// believed: a file that was written over in place is found by the next deep look,
// or by whoever calls Dirty.
func (l *Library) Scan(ctx context.Context, deep bool) (Counts, int, error) {
	if err := l.there(ctx); err != nil {
		return Counts{}, 0, err
	}
	_, head, err := l.store.LibraryHead(ctx)
	if err != nil {
		return Counts{}, 0, err
	}
	l.mu.Lock()
	dirty := l.dirty
	l.dirty = map[string]bool{}
	l.mu.Unlock()
	if l.deep = deep; deep {
		clear(l.unread)
	}
	counts, changed, err := l.scan(ctx, head, func(dir string) bool { return deep || dirty[dir] })
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		for dir := range dirty {
			l.dirty[dir] = true
		}
	} else if l.known != nil {
		l.dirs = slices.Collect(maps.Keys(l.known))
	}
	return counts, changed, err
}

// folders are those that the last good look found, the root included.
func (l *Library) folders() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dirs
}

// there looks at the marker, as a failure that NotThere knows.
func (l *Library) there(ctx context.Context) error {
	err := l.marker.Check(ctx)
	if fault.Is(err, fault.Storage) {
		return notThere{err}
	}
	return err
}

func (l *Library) scan(ctx context.Context, head int64, again func(string) bool) (Counts, int, error) {
	root, err := os.OpenRoot(l.root)
	if err != nil {
		return Counts{}, 0, durable.Classify("open", l.root, err)
	}
	defer func() { _ = root.Close() }() // nothing was written
	t, err := walk(ctx, root, l.known, again)
	if err != nil {
		return Counts{}, 0, err
	}
	var gone []string
	for dir := range l.known {
		if _, ok := t.folders[dir]; !ok {
			gone = append(gone, dir)
		}
	}
	if l.known != nil && len(t.files) == 0 && len(gone) == 0 && head == l.head {
		l.known = t.folders
		return l.counts, 0, nil
	}
	c, unread, err := l.compare(ctx, root, t, gone, head)
	if err != nil {
		return Counts{}, 0, err
	}
	// The library may have been unmounted meanwhile.
	if err := l.there(ctx); err != nil {
		return Counts{}, 0, err
	}
	if err := l.believe(ctx, c); err != nil {
		return Counts{}, 0, err
	}
	changed, err := l.store.ApplyInventory(ctx, c)
	if err != nil {
		return Counts{}, 0, err
	}
	counts, err := l.store.LibraryCounts(ctx)
	if err != nil {
		return Counts{}, 0, err
	}
	if _, l.head, err = l.store.LibraryHead(ctx); err != nil {
		return Counts{}, 0, err
	}
	if l.head != head+int64(changed) {
		// Something was published meanwhile; the next look compares again.
		l.head = head
	}
	for p, stamp := range unread {
		dir := folderOf(p)
		if f := t.folders[dir]; time.Since(time.Unix(0, stamp.Mod)) < copying {
			f.sure = false
			t.folders[dir] = f
		}
	}
	l.keepUnread(t, gone, unread)
	l.known, l.suspect = t.folders, [sha256.Size]byte{}
	if len(c.Gone) > 0 && len(l.unread) > 0 {
		// What was a second copy may be the only one now: the next look reads all.
		l.known = nil
		clear(l.unread)
	}
	counts.PassedOver, counts.Unsettled = len(l.unread)+l.odd, len(l.unsettled)
	l.counts = counts
	return counts, changed, nil
}

// keepUnread remembers the files that were passed over in the folders read now.
func (l *Library) keepUnread(t tree, gone []string, unread map[string]Stamp) {
	for p := range l.unread {
		dir := folderOf(p)
		if _, read := t.files[dir]; read || slices.Contains(gone, dir) {
			delete(l.unread, p)
		}
	}
	for p, stamp := range unread {
		l.unread[p] = stamp
	}
	if _, read := t.files[""]; read || t.odd > 0 {
		l.odd = t.odd
	}
}

// compare finds what is otherwise than the store knows it. unread are the files
// that are passed over.
func (l *Library) compare(ctx context.Context, root *os.Root, t tree, gone []string, head int64) (c Changes, unread map[string]Stamp, err error) {
	var folders []string
	if l.known != nil {
		folders = slices.Clone(gone)
		for dir := range t.files {
			folders = append(folders, dir)
		}
	}
	if l.known != nil && len(folders) == 0 {
		return Changes{Head: head}, nil, nil
	}
	rows, err := l.store.FilesIn(ctx, folders)
	if err != nil {
		return c, nil, err
	}
	c.Head = head
	known := make(map[string]bool, len(rows))
	reread := map[string]Row{}
	var toRead []string
	for _, r := range rows {
		known[r.Path] = true
		stamp, there, sure := t.file(r.Path)
		switch {
		case !sure, r.State == "removed":
			// Of a closed folder nothing is known; a file whose place another took is
			// removed by whoever replaced it.
		case !there && r.State == "published" && r.Revision > head:
			t.unsure(folderOf(r.Path))
		case !there:
			if r.State == "published" {
				c.Gone = append(c.Gone, r.Path)
			}
		case r.Unreadable != "" && l.deep:
			reread[r.Path] = r
			toRead = append(toRead, r.Path)
		case stamp == r.Stamp || r.Stamp.Mod == 0 && stamp.Size == r.Stamp.Size:
			if r.State == "missing" {
				c.Back = append(c.Back, Stamped{r.Path, stamp})
			} else if stamp != r.Stamp {
				c.Touched = append(c.Touched, Stamped{r.Path, stamp})
			}
		default:
			reread[r.Path] = r
			toRead = append(toRead, r.Path)
		}
	}
	unread = map[string]Stamp{}
	for dir, files := range t.files {
		for name, stamp := range files {
			p := path.Join(dir, name)
			switch {
			case known[p]:
			case l.unread[p] == stamp && !l.unsettled[p]:
				unread[p] = stamp
			default:
				toRead = append(toRead, p)
			}
		}
	}
	slices.Sort(toRead)
	read, err := readAll(ctx, root, t, toRead)
	if err != nil {
		return c, nil, err
	}
	var fresh []Found
	l.unsettled = map[string]bool{}
	for _, p := range toRead {
		f, ok := read[p]
		r, had := reread[p]
		switch {
		case !ok:
			// Gone since, or closed: what is known of it stays until it can be read.
			unread[p], _, _ = t.file(p)
		case halfWritten(f):
			unread[p] = f.Stamp
			l.unsettled[p] = true
		case !had:
			fresh = append(fresh, f)
		case r.Key.Site != LocalSite && f.Key.Site != LocalSite && f.Fingerprint != r.Fingerprint && (f.Key != r.Key || f.Chapter.ID != r.ChapterID):
			// Another chapter's file stands under this one's name.
			unread[p] = f.Stamp
			if r.State == "published" {
				c.Gone = append(c.Gone, p)
			}
		case f.Fingerprint == r.Fingerprint && f.Stamp.Size == r.Stamp.Size && f.Unreadable == r.Unreadable:
			if r.State == "missing" {
				c.Back = append(c.Back, Stamped{p, f.Stamp})
			} else if f.Stamp != r.Stamp {
				c.Touched = append(c.Touched, Stamped{p, f.Stamp})
			}
		default:
			f.Key, f.Chapter.ID = r.Key, r.ChapterID
			c.Reread = append(c.Reread, f)
		}
	}
	return c, unread, l.place(ctx, &c, fresh, unread)
}

// writing reports whether a file may still be being written.
func writing(s Stamp) bool {
	age := time.Since(time.Unix(0, s.Mod))
	return age >= 0 && age < wholeAfter
}

// halfWritten reports whether a file looks damaged because it is not whole yet.
func halfWritten(f Found) bool {
	return (f.Unreadable == unreadable.Corrupt || f.Unreadable == unreadable.Empty) && writing(f.Stamp)
}

// place says of each file that has no row whether it is a known one under another
// name, a second copy, or new.
func (l *Library) place(ctx context.Context, c *Changes, fresh []Found, unread map[string]Stamp) error {
	if len(fresh) == 0 {
		return nil
	}
	like, err := l.store.FilesLike(ctx, fresh)
	if err != nil {
		return err
	}
	type chapter struct {
		key source.Key
		id  string
	}
	byFingerprint, byChapter := map[string]Row{}, map[chapter]Row{}
	for _, r := range like {
		byFingerprint[r.Fingerprint] = r
		byChapter[chapter{r.Key, r.ChapterID}] = r
	}
	gone := map[string]bool{}
	for _, p := range c.Gone {
		gone[p] = true
	}
	c.Moved = map[string]Found{}
	taken := map[chapter]bool{}
	for _, f := range fresh {
		// What the archive says of itself is surer than whose chapter it says it is:
		// a Series may have moved, a chapter been given another id.
		r, ok := byFingerprint[f.Fingerprint]
		if !ok {
			r, ok = byChapter[chapter{f.Key, f.Chapter.ID}]
		}
		_, moved := c.Moved[r.Path]
		switch {
		case ok && !moved && (gone[r.Path] || r.State == "missing"):
			f.Key, f.Chapter.ID = r.Key, r.ChapterID
			c.Moved[r.Path] = f
		case ok, taken[chapter{f.Key, f.Chapter.ID}]:
			unread[f.Path] = f.Stamp
		default:
			taken[chapter{f.Key, f.Chapter.ID}] = true
			c.New = append(c.New, f)
		}
	}
	c.Gone = slices.DeleteFunc(c.Gone, func(p string) bool { _, moved := c.Moved[p]; return moved })
	return nil
}

// believe returns an error the first time that most of a library is gone at once:
// a folder that was mounted over, or an emptied one with its marker left, looks
// the same for a moment and is worth a second look.
func (l *Library) believe(ctx context.Context, c Changes) error {
	if len(c.Gone) < manyFiles/2 {
		return nil
	}
	before, err := l.store.LibraryCounts(ctx)
	if err != nil || before.Files < manyFiles || 2*len(c.Gone) <= before.Files {
		return err
	}
	slices.Sort(c.Gone)
	sum := sha256.New()
	for _, p := range c.Gone {
		_, _ = io.WriteString(sum, p+"\x00") // a hash cannot fail
	}
	digest := [sha256.Size]byte(sum.Sum(nil))
	if digest == l.suspect {
		return nil
	}
	l.suspect = digest
	return fault.New(fault.Storage, "look at", "the library", fmt.Errorf("%d of %d files are gone at once; they are marked missing if the next look finds the same", len(c.Gone), before.Files))
}

// file is the stamp of a file; sure is false where nothing is known of it.
func (t tree) file(p string) (stamp Stamp, there, sure bool) {
	dir := folderOf(p)
	for d := p; ; d = folderOf(d) {
		if slices.Contains(t.closed, d) {
			return Stamp{}, false, false
		}
		if d == "" {
			break
		}
	}
	if _, ok := t.folders[dir]; !ok {
		return Stamp{}, false, true
	}
	files, ok := t.files[dir]
	if !ok {
		return Stamp{}, false, false
	}
	stamp, there = files[path.Base(p)]
	return stamp, there, true
}

// unsure makes the next look read a folder again.
func (t tree) unsure(dir string) {
	f := t.folders[dir]
	f.sure = false
	t.folders[dir] = f
}

// folderOf is the folder of a path, "" for the root.
func folderOf(p string) string {
	if dir := path.Dir(p); dir != "." {
		return dir
	}
	return ""
}
