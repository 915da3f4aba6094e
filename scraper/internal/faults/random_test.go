//go:build faults

package faults

import (
	"bytes"
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"mangrove/internal/failpoint"
	"mangrove/scraper/internal/job"
)

var (
	kills = flag.Int("kills", 60, "how often the scraper is killed at random moments")
	seed  = flag.Uint64("seed", 1, "seed of the moments")
)

// TestRandomKills kills it at seeded moments, as a machine that loses its power
// does: nobody tells the next one (F20).
func TestRandomKills(t *testing.T) {
	t.Parallel()
	const chapters = 12
	w := newWorld(t, chapters, 8)
	w.plant()
	r := rand.New(rand.NewPCG(*seed, 0))
	w.start("")
	w.follow()
	killed := 0
	for whole := 0; killed < *kills && whole < chapters; killed++ {
		time.Sleep(time.Duration(100+r.IntN(1500)) * time.Millisecond)
		if err := w.cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = <-w.exited
		note(func(s *score) { s.kills++ })
		whole, _ = w.eye.look()
		w.start("")
	}
	w.done(images * killed)
}

// TestAnOrdinaryBuildHasNoPoints looks into the program as it is delivered.
func TestAnOrdinaryBuildHasNoPoints(t *testing.T) {
	t.Parallel()
	symbols := func(bin string) ([]byte, []byte) {
		t.Helper()
		nm, err := exec.Command("go", "tool", "nm", bin).Output()
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(bin)
		if err != nil {
			t.Fatal(err)
		}
		return nm, data
	}
	bin, err := build("mangrove-scraper", "nodynamic")
	if err != nil {
		t.Fatal(err)
	}
	nm, data := symbols(bin)
	for _, left := range append(failpoint.Points(), failpoint.Env) {
		if bytes.Contains(data, []byte(left)) {
			t.Errorf("the program holds the words %q", left)
		}
	}
	if bytes.Contains(nm, []byte("internal/failpoint")) {
		t.Error("the program holds symbols of the points")
	}
	// The same look at the other build finds them, so it can fail.
	if bin, err = program(); err != nil {
		t.Fatal(err)
	}
	if nm, data = symbols(bin); !bytes.Contains(nm, []byte("internal/failpoint")) || !bytes.Contains(data, []byte(failpoint.Env)) {
		t.Error("the build with points shows none")
	}
}

// TestWhatAChapterWrites counts transactions that write from outside, by their
// numbers, over ten chapters of two Jobs and all that goes on beside them. It runs
// alone: the numbers are the whole server's.
func TestWhatAChapterWrites(t *testing.T) {
	w := newWorld(t, 11, 2)
	newest := func() (n int64) {
		t.Helper()
		if err := w.db.QueryRow(context.Background(), "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	published := func(n int) {
		w.until("chapters are published", func(context.Context) bool {
			rows, err := w.eye.rows()
			return err == nil && len(rows) >= n
		})
	}
	w.start("")
	w.follow()
	published(1)
	before := newest()
	published(11)
	n := newest() - before
	w.rests(job.Done)
	w.settled(0)
	note(func(s *score) { s.commits = float64(n) / 10 })
}
