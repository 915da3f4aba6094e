package inventory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"
)

const (
	// quiet is how long nothing must happen before the library is looked at.
	quiet = time.Second
	// maxQuiet is how long it may go on happening before it is looked at all the same.
	maxQuiet = 30 * time.Second
	// maxWatches bounds the folders that are watched: the system's own bound is
	// shared with other programs.
	maxWatches = 8192
	// standing is how soon it is found that another folder stands where the library
	// stood.
	standing = 10 * time.Second
	// watchAgain is how soon a watch that failed is tried again.
	watchAgain = time.Minute
)

// Watcher has the file system tell of changes in the library, where it does. It
// only makes for looks; what is so is found by them.
type Watcher struct {
	root    string
	library *Library
	inv     *Inventory
	log     *zap.Logger
}

// NewWatcher makes the Watcher of a library and its Inventory.
func NewWatcher(library *Library, inv *Inventory, log *zap.Logger) *Watcher {
	return &Watcher{root: library.root, library: library, inv: inv, log: log}
}

// Run watches until ctx ends. Where it cannot, it says so, tries again later, and
// the Inventory looks at everything now and then instead.
func (w *Watcher) Run(ctx context.Context) {
	said := ""
	for ctx.Err() == nil {
		w.inv.mended(ctx)
		err := w.watch(ctx)
		w.inv.SetWatched(false)
		if err != nil && err.Error() != said {
			said = err.Error()
			w.log.Info("the library is not watched; it is looked at every half hour instead", zap.Error(err))
		}
		timer := time.NewTimer(watchAgain)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// Why a watch ends.
var (
	errTooMany = errors.New("it has more folders than may be watched")
	errMoved   = errors.New("another folder stands where it was")
)

// watch works one watch until it fails or ctx ends.
func (w *Watcher) watch(ctx context.Context) error {
	if err := tells(w.root); err != nil {
		return err
	}
	began, err := os.Stat(w.root)
	if err != nil {
		return err
	}
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer func() { _ = fs.Close() }()
	have := map[string]bool{}
	// add watches the folders that came. What happened in one before is looked for.
	add := func() error {
		before := len(have)
		defer func() {
			if len(have) > before {
				w.inv.Invalidate()
			}
		}()
		for _, dir := range append([]string{""}, w.library.folders()...) {
			if have[dir] {
				continue
			}
			if len(have) >= maxWatches {
				return errTooMany
			}
			if err := fs.Add(filepath.Join(w.root, filepath.FromSlash(dir))); err != nil && !os.IsNotExist(err) {
				return err
			} else if err == nil {
				have[dir] = true
				w.library.Dirty(dir)
			}
		}
		return nil
	}
	looked := w.inv.looked()
	if err := add(); err != nil {
		return err
	}
	w.inv.SetWatched(true)
	more := time.NewTicker(standing)
	defer more.Stop()
	// The zero deadline is none; since is when the first event of a burst came.
	var since time.Time
	burst := time.NewTimer(time.Hour)
	burst.Stop()
	defer burst.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-looked:
			// It may have found folders.
			looked = w.inv.looked()
			if err := add(); err != nil {
				return err
			}
		case e, ok := <-fs.Events:
			if !ok {
				return fsnotify.ErrClosed
			}
			dir, ours := w.folder(e)
			if !ours {
				continue
			}
			w.library.Dirty(dir)
			if e.Has(fsnotify.Create) || e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
				w.forget(fs, have, e.Name)
			}
			if since.IsZero() {
				since = time.Now()
			}
			burst.Reset(min(quiet, max(0, maxQuiet-time.Since(since))))
		case err, ok := <-fs.Errors:
			if !ok {
				return fsnotify.ErrClosed
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return err
			}
			// Some events are lost: nobody knows what changed.
			w.inv.InvalidateAll()
		case <-burst.C:
			since = time.Time{}
			w.inv.Invalidate()
		case <-more.C:
			// Unmounted, or mounted over: what is watched is not the library.
			if now, err := os.Stat(w.root); err != nil || !os.SameFile(began, now) {
				w.inv.InvalidateAll()
				return errMoved
			}
		}
	}
}

// forget lets go of a folder that went, came or got another name, and of those in
// it: the system goes on watching them by what they are, and would tell of them under
// names that they no longer have. They are watched anew once a look has found them.
func (w *Watcher) forget(fs *fsnotify.Watcher, have map[string]bool, at string) {
	name := filepath.ToSlash(strings.TrimPrefix(at, w.root+string(filepath.Separator)))
	if !have[name] {
		return
	}
	for dir := range have {
		if dir == name || strings.HasPrefix(dir, name+"/") {
			delete(have, dir)
			// One that the system let go of by itself is an error here, and as wanted.
			_ = fs.Remove(filepath.Join(w.root, filepath.FromSlash(dir)))
		}
	}
}

// folder is the folder that an event is about; ours is false for what the library
// does not count, such as our own hidden files.
func (w *Watcher) folder(e fsnotify.Event) (dir string, ours bool) {
	name, err := filepath.Rel(w.root, e.Name)
	if err != nil {
		return "", false
	}
	name = filepath.ToSlash(name)
	for part := range strings.SplitSeq(name, "/") {
		// The marker is looked at before each look.
		if strings.HasPrefix(part, ".") && part != "." {
			return "", false
		}
	}
	return folderOf(name), e.Op != fsnotify.Chmod
}

// tells returns why the file system of a folder does not tell of changes: over a
// network, those that others make are not heard of.
func tells(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return err
	}
	return silent(int64(st.Type))
}

// silent is tells by the type of the file system.
func silent(kind int64) error {
	names := map[int64]string{
		unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "CIFS",
		unix.FUSE_SUPER_MAGIC: "FUSE", unix.V9FS_MAGIC: "9P", unix.AFS_SUPER_MAGIC: "AFS", unix.CODA_SUPER_MAGIC: "Coda",
	}
	if name, ok := names[kind]; ok {
		return errors.New("a file system of kind " + name + " does not tell of all changes")
	}
	return nil
}
