package inventory_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

// eventuallyPages waits until a file is known to have that many pages.
func (s *shelf) eventuallyPages(t *testing.T, what, path string, want int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var got int
		must(t, s.admin.QueryRow(t.Context(), "SELECT pages FROM scraper.library_files WHERE path = $1", path).Scan(&got))
		if got == want {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %s has %d pages, want %d", what, path, got, want)
		case <-tick.C:
		}
	}
}

// watch has the file system tell until the test ends.
func (s *shelf) watch(t *testing.T) {
	t.Helper()
	inv := inventory.New(inventory.Options{Scanner: s.lib, Log: zap.NewNop()})
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { inv.Run(ctx) })
	done.Go(func() { inventory.NewWatcher(s.lib, inv, zap.NewNop()).Run(ctx) })
	t.Cleanup(func() { cancel(); done.Wait() })
}

// Nobody asks and no half hour passes: the file system tells.
func TestTheFileSystemTells(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "Pepper/1.cbz", "sample", "1", 2)
	s.watch(t)
	s.eventually(t, "at the start", "Pepper/1.cbz", "published")
	s.put(t, "New folder/2.cbz", "sample", "2", 2)
	s.eventually(t, "a new folder", "New folder/2.cbz", "published")
	aside := filepath.Join(t.TempDir(), "aside")
	must(t, os.Rename(s.path("Pepper/1.cbz"), aside))
	s.eventually(t, "a file that went", "Pepper/1.cbz", "missing")
	must(t, os.Rename(aside, s.path("Pepper/1.cbz")))
	s.eventually(t, "a file that came back", "Pepper/1.cbz", "published")
}

// A folder that got another name is watched under it, with those in it, and a new one
// of the old name is watched too: each change below is one that only a watch tells
// of, for no folder's time moves with it.
func TestARenamedFolderIsWatched(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "Pepper/Season 1/1.cbz", "sample", "1", 2)
	s.watch(t)
	s.eventually(t, "at the start", "Pepper/Season 1/1.cbz", "published")
	must(t, os.Rename(s.path("Pepper"), s.path("Pepper and Carrot")))
	s.eventually(t, "renamed", "Pepper and Carrot/Season 1/1.cbz", "published")
	s.put(t, "Pepper and Carrot/Season 1/2.cbz", "sample", "2", 2)
	s.eventually(t, "a file in a folder of the renamed one", "Pepper and Carrot/Season 1/2.cbz", "published")
	s.put(t, "Pepper/Season 1/3.cbz", "sample", "3", 2)
	s.eventually(t, "a new folder of the old name", "Pepper/Season 1/3.cbz", "published")
	s.put(t, "Pepper/Season 1/4.cbz", "sample", "4", 2)
	s.eventually(t, "a file in it", "Pepper/Season 1/4.cbz", "published")
	s.put(t, "Pepper/Season 1/4.cbz", "sample", "4", 5)
	s.eventuallyPages(t, "a file of it, written over", "Pepper/Season 1/4.cbz", 5)
	s.put(t, "Pepper and Carrot/Season 1/2.cbz", "sample", "2", 7)
	s.eventuallyPages(t, "a file of the renamed one, written over", "Pepper and Carrot/Season 1/2.cbz", 7)
}

// More happens than the system keeps for us: what was lost is looked for everywhere.
func TestEventsThatWereLost(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "Noise/1.cbz", "sample", "1", 2)
	s.put(t, "Quiet/2.cbz", "sample", "2", 2)
	s.watch(t)
	s.eventually(t, "at the start", "Quiet/2.cbz", "published")
	s.put(t, "Quiet/2.cbz", "sample", "2", 3)
	s.eventuallyPages(t, "watched", "Quiet/2.cbz", 3)
	queue, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	must(t, err)
	events, err := strconv.Atoi(strings.TrimSpace(string(queue)))
	must(t, err)
	release := inventory.Hold(s.lib)
	defer release()
	name := s.path("Noise/0.txt")
	must(t, os.WriteFile(name, nil, 0o644))
	// The system leaves out what only repeats the last; two events a turn.
	for i := range events + 1000 {
		next := s.path("Noise/" + strconv.Itoa(i%2+1) + ".txt")
		must(t, os.Rename(name, next))
		name = next
	}
	s.put(t, "Quiet/2.cbz", "sample", "2", 6)
	release()
	s.eventuallyPages(t, "written over unheard", "Quiet/2.cbz", 6)
}
