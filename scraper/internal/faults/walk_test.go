//go:build faults

package faults

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"mangrove/internal/fakesite"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/job"
)

// TestWalk kills the scraper at every step of a chapter, once for each Job, lets
// the supervisor's next one work to the end, and looks on from outside (F01 to
// F16). again is how many pages were in flight then.
func TestWalk(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		kills []string
		again int
	}{
		{"F01 claimed", []string{"job.claimed:1"}, 0},
		{"F01 started", []string{"chapter.started:1"}, 0},
		// The first image is the cover; the first page is asked for alone.
		{"F02 requested", []string{"page.requested:2"}, 1},
		{"F03 half a page", []string{"page.half@001.png:1"}, 1},
		{"F04 written", []string{"page.written:1"}, 1},
		{"F05 half a record", []string{"journal.half:1"}, 1},
		{"F05 recorded", []string{"page.recorded:1"}, 1},
		{"F06 named", []string{"page.named:1"}, 0},
		{"F06 named, two in flight", []string{"page.named:3"}, 1},
		{"F07 half a checkpoint", []string{"file.half@checkpoint.json:2"}, 0},
		{"F07 half a page list", []string{"file.half@manifest.json:1"}, 0},
		{"F08 pacing", []string{"pacing.sleep:5"}, 1},
		{"F09 half an archive", []string{"archive.half:3"}, 0},
		{"F09 archive written", []string{"archive.written:1"}, 0},
		{"F10 archive synced", []string{"archive.synced:1"}, 0},
		{"F10 folder made", []string{"folder.made:1"}, 0},
		{"F11 renamed", []string{"chapter.renamed:1"}, 0},
		{"F12 folder synced", []string{"folder.synced:1"}, 0},
		{"F14 committed", []string{"chapter.committed:1"}, 0},
		{"F15 stage removing", []string{"stage.removing:1"}, 0},
		{"F15 done", []string{"chapter.done:1"}, 0},
		// The crash of the Job is one, however often the start after it is killed.
		{"F16 five starts", []string{"chapter.committed:1", "start.stages:1", "recovery.crash:1", "recovery.jobs:1", "recovery.crash:1", "recovery.jobs:1"}, 0},
		{"F16 a page", []string{"page.named:1", "recovery.jobs:1", "recovery.crash:1", "start.stages:1"}, 0},
		{"three in a row", []string{"page.named:1", "archive.half:2", "chapter.done:1"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 2, 4)
			w.plant()
			w.walk(tt.kills...)
			w.start("")
			w.done(tt.again)
		})
	}
}

// TestAChosenPaceIsKept over a kill in the middle of the wait, and after a page (F08).
func TestAChosenPaceIsKept(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"pacing.sleep:3", "page.named:1"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, 2)
			w.site.pacing = 2 * time.Second
			if _, err := w.db.Exec(t.Context(), "INSERT INTO scraper.settings (key, value) VALUES ('pacing/sample', '2s')"); err != nil {
				t.Fatal(err)
			}
			w.walk(fault)
			w.start("")
			w.done(1)
		})
	}
}

// TestReplacementIsKilled kills it while one release takes the place of another (F13).
func TestReplacementIsKilled(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"commit.half:1", "file.retiring:1", "chapter.renamed:1"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, 3)
			w.start("")
			w.follow()
			w.rests(job.Done)
			w.stop()
			w.site.add(t, "c-1b", "1", 3)
			w.site.serve()
			w.start(fault)
			w.until("a Poll is wished for", func(ctx context.Context) bool {
				_, err := w.api.RequestPoll(ctx, &scraperv1.RequestPollRequest{Key: w.key})
				return err == nil
			})
			w.killed(fault)
			w.start("")
			w.until("one release is left", func(context.Context) bool {
				whole, rows := w.eye.look()
				return whole == 1 && rows == 1 && len(w.gone()) == 1
			})
			w.done(0)
		})
	}
}

// TestPoisonAndRetry: the second crash at one place quarantines the Job, and a
// Retry that is killed leaves it so, with every page (F17, F19).
func TestPoisonAndRetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, 4)
	w.plant()
	w.walk("page.requested:3", "page.requested:1")
	w.start("")
	if j := w.rests(job.Quarantined); j.Class != "unknown" || !strings.Contains(j.Reason, "crashed twice") {
		t.Errorf("the Job is %+v, want it quarantined as poison", j)
	}
	pages := w.eye.stagedNow()
	if pages < 2 { // the first page; one of a planted stage is no page of ours
		t.Errorf("%d pages are staged", pages)
	}
	cmd := w.command("retry.told:1", "retry", "sample", "pepper-and-carrot")
	err := cmd.Run()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != -1 {
		t.Fatalf("the Retry ended with %v, want it killed", err)
	}
	note(func(s *score) { s.kills++; s.hit["retry.told"] = true })
	if j := w.rests(job.Quarantined); j.Class != "unknown" || w.eye.stagedNow() != pages {
		t.Errorf("after a killed Retry the Job is %+v with %d staged pages, were %d", j, w.eye.stagedNow(), pages)
	}
	w.until("it is taken up again", func(ctx context.Context) bool {
		_, err := w.queue.ActOnJob(ctx, &scraperv1.ActOnJobRequest{Id: w.jobs()[0].ID, Act: "retry"})
		return err == nil
	})
	// Two were on the wire at each crash, at most.
	w.done(3)
}

// TestQuarantineIsKilled kills it before and after a quarantine is written: the
// Job never vanishes (F18).
func TestQuarantineIsKilled(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"job.failing:1", "job.failed:1"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 2, 4)
			w.site.On("/series/pepper-and-carrot/c-2", fakesite.HTML("<html><main id=\"chapter\" data-chapter-id=\"no\"></main></html>"))
			w.walk(fault)
			w.start("")
			if j := w.rests(job.Quarantined); j.Class != "parser" {
				t.Errorf("the Job is %+v, want it quarantined for its parser", j)
			}
			w.site.Handle("/series/pepper-and-carrot/c-2", w.site.pages())
			w.until("it is taken up again", func(ctx context.Context) bool {
				_, err := w.queue.ActOnJob(ctx, &scraperv1.ActOnJobRequest{Id: w.jobs()[0].ID, Act: "retry"})
				return err == nil
			})
			w.done(0)
		})
	}
}
