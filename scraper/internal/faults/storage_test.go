//go:build faults

package faults

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mangrove/internal/smalldisk"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/job"
)

// pagesAsked counts the page images that were asked for so far.
func (s *stand) pagesAsked() (n int) {
	for _, r := range s.Ledger().Requests {
		if strings.HasPrefix(r.Path, "/images/c-") {
			n++
		}
	}
	return n
}

// onHold is what every storage failure comes to: a Hold that says why, no page
// asked for, what was staged kept, and the Site polled all the same (F67).
func (w *world) onHold(says string) {
	w.t.Helper()
	said := w.held()
	if !strings.Contains(said, says) {
		w.t.Errorf("the Hold says %q, want %q in it", said, says)
	}
	w.rests(job.Queued)
	before, staged, polls := w.site.pagesAsked(), w.eye.stagedNow(), w.site.Count("/series/pepper-and-carrot")
	w.until("a Poll is wished for", func(ctx context.Context) bool {
		_, err := w.api.RequestPoll(ctx, &scraperv1.RequestPollRequest{Key: w.key})
		return err == nil
	})
	w.until("the Series is polled on Hold", func(context.Context) bool { return w.site.Count("/series/pepper-and-carrot") > polls })
	if n := w.site.pagesAsked() - before; n != 0 {
		w.t.Errorf("%d pages were asked for on Hold", n)
		note(func(s *score) { s.heldWithRequests += n })
	}
	if now := w.eye.stagedNow(); now != staged {
		w.t.Errorf("%d pages were staged, now %d", staged, now)
	}
	if left := w.pending(); len(left) != 0 {
		w.t.Errorf("left behind: %v", left)
	}
	var incidents int
	if err := w.db.QueryRow(context.Background(), "SELECT count(*) FROM scraper.incidents WHERE kind = 'storage'").Scan(&incidents); err != nil || incidents != 1 {
		w.t.Errorf("%d incidents of one failure (%v)", incidents, err)
	}
	note(func(s *score) { s.held++ })
}

// pending are the files without their final name.
func (w *world) pending() (out []string) {
	for _, pattern := range []string{".*.part", ".*.tmp-*"} {
		found, err := filepath.Glob(filepath.Join(w.library, ".mangrove", "*", "*", pattern))
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, found...)
	}
	return out
}

// goesOn ends the Hold and looks at everything once the Job is done. ate is how
// many pages the fault may have cost: those that could not be kept.
func (w *world) goesOn(ate int) {
	w.t.Helper()
	w.release()
	w.rests(job.Done)
	if n := w.site.again(); n > ate {
		note(func(s *score) { s.twice += n - ate })
	}
	w.settled(ate)
}

// TestInjectedStorageFaults lets one operation fail, once (F67, F71, F72, S-034).
func TestInjectedStorageFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fault, says string
		ate         int
	}{
		{"mkdir@staging/:1=ENOSPC", "no space left", 0},
		{"write@manifest.json:1=ENOSPC", "no space left", 0},
		{"write@checkpoint.json:1=ENOSPC", "no space left", 0},
		{"rename@checkpoint.json:2=EDQUOT", "quota", 0},
		{"write@.001.png.part:1=ENOSPC", "no space left", 1},
		{"write@.003.png.part:1=EIO", "input/output error", images},
		{"write@pages.jsonl:2=ENOSPC", "no space left", images},
		{"rename@/001.png:1=ENOSPC", "no space left", 1},
		{"write@.chapter.cbz.part:1=ENOSPC", "no space left", 0},
		{"sync@.chapter.cbz.part:1=EIO", "input/output error", 0},
		{"mkdir@Kill Bill:1=EROFS", "read-only", 0},
		{"rename@.cbz:1=ENOSPC", "no space left", 0},
		{"sync@Kill Bill:1=EIO", "input/output error", 0},
	} {
		t.Run(tt.fault, func(t *testing.T) {
			t.Parallel()
			note(func(s *score) { s.faults++ })
			w := newWorld(t, 2, 4)
			w.plant()
			w.start(tt.fault)
			w.follow()
			w.onHold(tt.says)
			// What could not be made durable is not visible either.
			if whole, rows := w.eye.look(); whole != 0 || rows != 0 {
				t.Errorf("%d files and %d rows on Hold", whole, rows)
			}
			w.goesOn(tt.ate)
		})
	}
}

// TestTheDiskFillsUp is a real file system without room for one more byte, or for
// one more name (F67, F68).
func TestTheDiskFillsUp(t *testing.T) {
	t.Parallel()
	for name, fill := range map[string]func(dir string) error{
		"bytes": smalldisk.Fill,
		"names": smalldisk.FillNames,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 2, 4)
			tmpfs(t, w.library, "size=12m,nr_inodes=120")
			note(func(s *score) { s.faults++ })
			full := false
			pages := w.site.pages()
			w.site.Handle(imagePath("c-1", 2), http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if !full {
					full = true
					if err := fill(w.library); err != nil {
						t.Error(err)
					}
				}
				pages.ServeHTTP(rw, r)
			}))
			w.start("")
			w.follow()
			w.onHold("no space left")
			smalldisk.Free(t, w.library)
			w.goesOn(images)
		})
	}
}

// TestReadOnly is a library that is mounted anew without a right to write (F69).
func TestReadOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, 4)
	tmpfs(t, w.library, "size=12m")
	note(func(s *score) { s.faults++ })
	w.start("")
	w.follow()
	letGo := w.holdList("c-2")
	smalldisk.ReadOnly(t, w.library, true)
	letGo()
	w.onHold("read-only")
	smalldisk.ReadOnly(t, w.library, false)
	w.goesOn(0)
}

// TestAnotherUsersFolder takes the right to write from a scraper that is not root
// (F70, S-062).
func TestAnotherUsersFolder(t *testing.T) {
	t.Parallel()
	needRoot(t)
	for name, closed := range map[string]func(w *world) string{
		"library": func(w *world) string { return w.library },
		"staging": func(w *world) string { return filepath.Join(w.library, ".mangrove", "staging") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			note(func(s *score) { s.faults++ })
			w := newWorld(t, 2, 4)
			w.walk("chapter.started:1")
			w.give(65534)
			letGo := w.holdList("c-1", func() { w.start("") })
			if err := os.Chmod(closed(w), 0o555); err != nil {
				t.Fatal(err)
			}
			letGo()
			if said := w.held(); !strings.Contains(said, "permission denied") {
				t.Errorf("the Hold says %q", said)
			}
			w.rests(job.Queued)
			note(func(s *score) { s.held++ })
			w.stop()
			if err := os.Chmod(closed(w), 0o755); err != nil {
				t.Fatal(err)
			}
			if out, err := w.command("", "release", "storage").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			w.start("")
			w.done(0)
		})
	}
}

// TestStagingElsewhere is a staging folder on another file system: refused at the
// start, with both paths, before anything is asked for (F74, S-060).
func TestStagingElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, 4)
	staging := filepath.Join(w.library, ".mangrove", "staging")
	if err := os.MkdirAll(staging, 0o755); err != nil {
		t.Fatal(err)
	}
	unmount := tmpfs(t, staging, "size=12m")
	note(func(s *score) { s.faults++; s.held++ })
	w.start("")
	w.follow()
	if said := w.held(); !strings.Contains(said, staging+" is on another file system than "+w.library) {
		t.Errorf("the Hold says %q", said)
	}
	w.rests(job.Requested)
	if n := w.site.pagesAsked(); n != 0 {
		t.Errorf("%d pages were asked for", n)
	}
	unmount()
	w.release()
	w.done(0)
}

// TestUnmounted takes the library away between two chapters, over a restart:
// nothing is taken for deleted, nothing is fetched again, and nothing is written
// into the empty folder (F76, S-058).
func TestUnmounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, 4)
	real := filepath.Join(w.data, "real")
	if err := os.Mkdir(real, 0o755); err != nil {
		t.Fatal(err)
	}
	needRoot(t)
	unmount := smalldisk.Bind(t, real, w.library)
	note(func(s *score) { s.faults++ })
	w.start("")
	w.follow()
	letGo := w.holdList("c-2")
	w.eye.away.Store(true)
	unmount()
	letGo()
	said := w.held()
	w.rests(job.Queued)
	asked := w.site.pagesAsked()
	for range 3 {
		w.stop()
		w.start("")
		w.until("the scraper serves", func(ctx context.Context) bool {
			_, err := w.api.GetStatus(ctx, &scraperv1.GetStatusRequest{})
			return err == nil
		})
	}
	left, err := os.ReadDir(w.library)
	if !strings.Contains(said, "is the library mounted?") || err != nil || len(left) != 0 || w.site.pagesAsked() != asked {
		t.Errorf("the Hold says %q; %v (%v) in the empty folder, %d pages asked for since", said, left, err, w.site.pagesAsked()-asked)
	}
	if rows, err := w.eye.rows(); err != nil || len(rows) != 1 {
		t.Errorf("rows %v, %v; want the one chapter", rows, err)
	}
	note(func(s *score) { s.held++ })
	smalldisk.Bind(t, real, w.library)
	w.eye.away.Store(false)
	w.goesOn(0)
}
