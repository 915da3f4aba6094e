package catalog

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/internal/unreadable"
	"mangrove/reader/internal/scraperclient"
)

// Cursor is how far the change log has been applied.
type Cursor struct {
	Epoch    string
	Revision int64
}

// Entry is one change with the pages found in its file. Pages is nil when the
// file could not be read: the book is known all the same. Why is the reason, "" when
// the disk was to blame: its pages are then looked for again when someone opens it.
type Entry struct {
	scraperclient.Change
	Pages []Page
	Why   unreadable.Reason
}

// Batch is what one transaction applies.
type Batch struct {
	From, To Cursor
	Entries  []Entry
	// Whole is true when To is the head of the log: books that the log of this
	// epoch never named are then marked removed.
	Whole bool
}

// Store keeps the catalog.
type Store interface {
	Cursor(ctx context.Context) (Cursor, error)
	// Indexed reports whether the book of this chapter has its pages for this
	// fingerprint already, so that a full resync reopens no file needlessly.
	Indexed(ctx context.Context, key scraperclient.Key, chapterID, fingerprint, path string) (bool, error)
	// Apply stores entries and cursor in one transaction, or fails with
	// fault.Stale when the cursor is not at From any more.
	Apply(ctx context.Context, b Batch) error
}

// Log is the scraper's change log.
type Log interface {
	ListChanges(ctx context.Context, epoch string, after int64, limit int) (scraperclient.Changes, error)
}

// Indexer finds the pages in a file of the library.
type Indexer interface {
	Index(ctx context.Context, path string) ([]Page, error)
}

// batchSize bounds one transaction.
const batchSize = 100

// Follower applies the change log.
type Follower struct {
	store Store
	log   Log
	index Indexer
	zap   *zap.Logger
	wake  chan struct{}

	mu   sync.Mutex
	next chan struct{}
}

// NewFollower makes a follower; Run starts it.
func NewFollower(store Store, log Log, index Indexer, z *zap.Logger) *Follower {
	return &Follower{store: store, log: log, index: index, zap: z, wake: make(chan struct{}, 1), next: make(chan struct{})}
}

// Wake says that the log may have moved. It never blocks.
func (f *Follower) Wake() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Changed returns a channel that is closed at the next change of the catalog.
func (f *Follower) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.next
}

func (f *Follower) announce() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.next)
	f.next = make(chan struct{})
}

// Run catches up at each Wake, and every minute in case one was missed, until
// ctx ends. A failure is tried again: soon, because a page may wait for it.
func (f *Follower) Run(ctx context.Context) {
	for {
		again := time.Minute
		if err := f.CatchUp(ctx); err != nil && ctx.Err() == nil {
			if !fault.Is(err, fault.Away) {
				f.zap.Warn("the library's changes could not be applied", zap.Error(err))
			}
			again = 3 * time.Second
		}
		t := time.NewTimer(again)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-f.wake:
		case <-t.C:
		}
		t.Stop()
	}
}

// CatchUp applies everything the log holds after the cursor.
func (f *Follower) CatchUp(ctx context.Context) error {
	for {
		from, err := f.store.Cursor(ctx)
		if err != nil {
			return err
		}
		got, err := f.log.ListChanges(ctx, from.Epoch, from.Revision, batchSize)
		if err != nil {
			return err
		}
		b := Batch{From: from, To: Cursor{Epoch: got.Epoch, Revision: from.Revision}}
		if got.Epoch != from.Epoch {
			f.zap.Info("the library has a new epoch; reading its log from the start", zap.String("epoch", got.Epoch))
			b.To.Revision = 0
		}
		for _, c := range got.Changes {
			if c.Revision <= b.To.Revision {
				return fault.Newf(fault.Invalid, "read", "the library's changes", "revision %d after %d", c.Revision, b.To.Revision)
			}
			b.To.Revision = c.Revision
			entry, err := f.entry(ctx, c)
			if err != nil {
				return err
			}
			b.Entries = append(b.Entries, entry)
		}
		// An answer without changes ends the log even where head is higher.
		b.Whole = len(got.Changes) == 0 || b.To.Revision >= got.Head
		if b.From == b.To && len(b.Entries) == 0 {
			return nil
		}
		if err := f.store.Apply(ctx, b); fault.Is(err, fault.Stale) {
			continue // another reader was faster; go on from where it is
		} else if err != nil {
			return err
		}
		f.announce()
		if b.Whole {
			return nil
		}
	}
}

func (f *Follower) entry(ctx context.Context, c scraperclient.Change) (Entry, error) {
	e := Entry{Change: c, Why: unreadable.Known(c.Unreadable)}
	if c.Removed || e.Why != "" {
		return e, nil
	}
	if done, err := f.store.Indexed(ctx, c.Series.Key, c.Chapter.ID, c.Fingerprint, c.Path); err != nil || done {
		return e, err
	}
	pages, err := f.index.Index(ctx, c.Path)
	if err != nil {
		if ctx.Err() != nil {
			return e, ctx.Err()
		}
		// A look at every page may find what the list did not show. Else a later change
		// may say that the file is gone; if not, opening the chapter tries again.
		e.Why = unreadable.Of(err)
		f.zap.Warn("a chapter's file could not be read", zap.String("path", c.Path), zap.Error(err))
		return e, nil
	}
	e.Pages = pages
	return e, nil
}
