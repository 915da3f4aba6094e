package inventory_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"mangrove/scraper/internal/inventory"
)

// eventually waits until the store knows want: the file system tells when it likes.
func (s *shelf) eventually(t *testing.T, what, path, state string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for s.states(t)[path] != state {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %s is %q, want %q", what, path, s.states(t)[path], state)
		case <-tick.C:
		}
	}
}

// Nobody asks and no half hour passes: the file system tells.
func TestTheFileSystemTells(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "Pepper/1.cbz", "sample", "1", 2)
	inv := inventory.New(inventory.Options{Scanner: s.lib, Log: zap.NewNop()})
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { inv.Run(ctx) })
	done.Go(func() { inventory.NewWatcher(s.lib, inv, zap.NewNop()).Run(ctx) })
	defer done.Wait()
	defer cancel()
	s.eventually(t, "at the start", "Pepper/1.cbz", "published")
	s.put(t, "New folder/2.cbz", "sample", "2", 2)
	s.eventually(t, "a new folder", "New folder/2.cbz", "published")
	aside := filepath.Join(t.TempDir(), "aside")
	must(t, os.Rename(s.path("Pepper/1.cbz"), aside))
	s.eventually(t, "a file that went", "Pepper/1.cbz", "missing")
	must(t, os.Rename(aside, s.path("Pepper/1.cbz")))
	s.eventually(t, "a file that came back", "Pepper/1.cbz", "published")
}
