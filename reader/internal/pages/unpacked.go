package pages

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mangrove/internal/archive"
	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/internal/picture"
	"mangrove/reader/internal/catalog"
)

// UnpackedLimit is how many bytes of unpacked pages are kept on disk.
const UnpackedLimit = 2 << 30

// touchEvery is how often a folder's time is renewed while it is read.
const touchEvery = time.Minute

// errNoRoom says that a page cannot be kept, so that it has to be unpacked alone.
var errNoRoom = errors.New("there is no room for unpacked pages")

// Unpacked keeps the pages of RAR and 7z archives as files while they are read. A
// page of a solid one can only be had by unpacking all before it: one way through
// the archive yields every page, and the next ones are then files. What was not
// read for longest goes first; everything in the folder can be made again.
type Unpacked struct {
	dir   string
	limit int64
	// slot lets one archive be unpacked at a time: each may take much memory.
	slot chan struct{}
	work sync.WaitGroup
	// ctx ends with Close.
	ctx  context.Context
	stop context.CancelFunc

	mu      sync.Mutex
	running map[string]*unpacking
}

// unpacking is one way through an archive. Its fields are its Unpacked's to guard.
type unpacking struct {
	// next is closed at each page that was added, and replaced; at the end it stays
	// closed.
	next chan struct{}
	done bool
	err  error
}

// NewUnpacked keeps unpacked pages in dir, at most limit bytes.
func NewUnpacked(dir string, limit int64) *Unpacked {
	u := &Unpacked{dir: dir, limit: limit, slot: make(chan struct{}, 1), running: map[string]*unpacking{}}
	u.ctx, u.stop = context.WithCancel(context.Background())
	return u
}

// Close ends what is under way and waits for it.
func (u *Unpacked) Close() {
	u.mu.Lock()
	u.stop()
	u.mu.Unlock()
	u.work.Wait()
}

// UnpackInto makes l keep unpacked pages in u.
func (l *Library) UnpackInto(u *Unpacked) { l.unpacked = u }

// open opens one page, and waits for it while its archive is unpacked.
func (u *Unpacked) open(ctx context.Context, l *Library, p catalog.Placed) (*os.File, error) {
	folder := u.folder(p)
	run := u.begin(l, folder, p.Path)
	for {
		// Before the look, so that no page that is added after it is missed.
		u.mu.Lock()
		next, done, failed := run.next, run.done, run.err
		u.mu.Unlock()
		if f, err := lookUp(folder, p); !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		if failed != nil {
			return nil, failed
		}
		if done {
			return nil, fault.Newf(fault.Page, "read", p.Path, "page %d is no longer in it", p.Position)
		}
		select {
		case <-next:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// folder is where the pages of a book's file are kept.
func (u *Unpacked) folder(p catalog.Placed) string {
	sum := sha256.Sum256([]byte(p.Fingerprint + "\x00" + p.Path))
	return filepath.Join(u.dir, hex.EncodeToString(sum[:16]))
}

// lookUp opens a page that was unpacked before; the error is fs.ErrNotExist when it
// was not.
func lookUp(folder string, p catalog.Placed) (*os.File, error) {
	f, err := os.Open(filepath.Join(folder, strconv.FormatInt(p.Offset, 10)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, errNoRoom
	}
	if st, err := f.Stat(); err != nil || st.Size() != p.Size {
		_ = f.Close() // nothing was written
		return nil, fault.Newf(fault.Page, "read", p.Path, "page %d is no longer what it was", p.Position)
	}
	if st, err := os.Stat(folder); err == nil && time.Since(st.ModTime()) > touchEvery {
		now := time.Now()
		_ = os.Chtimes(folder, now, now) // it only goes a little sooner
	}
	return f, nil
}

// begin joins the way through an archive that is under way, or starts one.
func (u *Unpacked) begin(l *Library, folder, path string) *unpacking {
	u.mu.Lock()
	defer u.mu.Unlock()
	if run, ok := u.running[folder]; ok {
		return run
	}
	run := &unpacking{next: make(chan struct{})}
	if u.ctx.Err() != nil {
		run.done, run.err = true, u.ctx.Err()
		return run
	}
	u.running[folder] = run
	u.work.Go(func() {
		err := u.unpack(l, folder, path, run)
		u.mu.Lock()
		defer u.mu.Unlock()
		run.done, run.err = true, err
		delete(u.running, folder)
		close(run.next)
	})
	return run
}

// announce tells those who wait that there is another page.
func (u *Unpacked) announce(run *unpacking) {
	u.mu.Lock()
	defer u.mu.Unlock()
	close(run.next)
	run.next = make(chan struct{})
}

// unpack goes once through the archive at path.
func (u *Unpacked) unpack(l *Library, folder, path string, run *unpacking) error {
	select {
	case u.slot <- struct{}{}:
		defer func() { <-u.slot }()
	case <-u.ctx.Done():
		return u.ctx.Err()
	}
	root, err := l.root()
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return errNoRoom
	}
	room, err := u.look(folder)
	if err != nil {
		return errNoRoom
	}
	var buf bytes.Buffer
	return archive.Unpack(u.ctx, root, path, func(offset int64, r io.Reader) error {
		name := filepath.Join(folder, strconv.FormatInt(offset, 10))
		if _, err := os.Lstat(name); err == nil {
			return nil
		}
		buf.Reset()
		if _, err := buf.ReadFrom(r); err != nil {
			if fault.Is(err, fault.Storage) {
				return err
			}
			return nil // the index left it out too
		}
		if picture.Sniff(buf.Bytes()) == "" {
			return nil
		}
		if !room.make(int64(buf.Len())) || !keep(name, buf.Bytes()) {
			return errNoRoom
		}
		u.announce(run)
		return nil
	})
}

// keep writes one page under a hidden name and renames it. It is not synced: what
// is lost can be made again.
func keep(name string, data []byte) bool {
	pending := filepath.Join(filepath.Dir(name), "."+filepath.Base(name))
	if err := os.WriteFile(pending, data, 0o600); err != nil {
		_ = os.Remove(pending) // there may be no room to say more
		return false
	}
	return os.Rename(pending, name) == nil
}

// shelf is a folder of unpacked pages of another archive.
type shelf struct {
	path string
	size int64
	read time.Time
}

// room says what may go for what is to come. Only who has the slot makes any.
type room struct {
	limit, used int64
	// others are those of other archives, the one read last first.
	others []shelf
}

// look counts what is kept, and removes what a kill left half written in folder.
func (u *Unpacked) look(folder string) (*room, error) {
	entries, err := os.ReadDir(u.dir)
	if err != nil {
		return nil, durable.Classify("read", u.dir, err)
	}
	out := &room{limit: u.limit}
	for _, e := range entries {
		s := shelf{path: filepath.Join(u.dir, e.Name())}
		pages, err := os.ReadDir(s.path)
		if err != nil {
			continue // no folder of ours
		}
		for _, p := range pages {
			if s.path == folder && strings.HasPrefix(p.Name(), ".") {
				_ = os.Remove(filepath.Join(folder, p.Name())) // it is written over
			} else if st, err := p.Info(); err == nil {
				s.size += st.Size()
			}
		}
		out.used += s.size
		if st, err := e.Info(); err == nil && s.path != folder {
			s.read = st.ModTime()
			out.others = append(out.others, s)
		}
	}
	slices.SortFunc(out.others, func(a, b shelf) int { return cmp.Or(b.read.Compare(a.read), cmp.Compare(a.path, b.path)) })
	return out, nil
}

// make makes room for size bytes more, and reports whether there is.
func (r *room) make(size int64) bool {
	for r.used+size > r.limit {
		last := len(r.others) - 1
		if last < 0 || os.RemoveAll(r.others[last].path) != nil {
			return false
		}
		r.used -= r.others[last].size
		r.others = r.others[:last]
	}
	r.used += size
	return true
}
